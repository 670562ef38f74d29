"""
Comparing methods
=================

Every reduction of the package on the same points, with what each keeps: `horopca.compare` for the numbers,
`horopca.plots.plot_comparison` for the pictures.
"""

from horopca import compare
from horopca.datasets import make_hierarchy
from horopca.metrics.comparison import reductions
from horopca.plots import plot_comparison

# %%
# A tree of 121 points in ten dimensions. Less distortion is better, more of everything else.
tree = make_hierarchy(branching=3, depth=4, random_state=0)
columns = ["title", "distortion", "variance_kept", "neighbours_kept", "trustworthiness"]
table = compare(tree.points)[columns].sort_values("distortion")
table.round(3)

# %%
# Projections to the nearest point of a submanifold (PGA, BSA) crowd the middle; HoroPCA keeps the branches apart;
# with a stretch it has the right size too.
chosen = ["horopca-stretch", "horopca-free", "horopca", "tpca", "pga", "hmds"]
images = {row.record["title"]: row.Y for row in reductions(tree.points, methods=chosen)}
plot_comparison(images, tree.labels, edges=tree.edges)
