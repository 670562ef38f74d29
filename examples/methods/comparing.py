"""
Comparing methods
=================

Every reduction of the package on the same points, and what each preserves: `horopca.compare` returns the numbers,
`horopca.plots.plot_comparison` draws the pictures.
"""

from horopca import compare
from horopca.datasets import make_hierarchy
from horopca.metrics.comparison import reductions
from horopca.plots import plot_comparison

# %%
# A tree of 121 points in ten dimensions. Low distortion is better; for the other columns, high values are better.
tree = make_hierarchy(branching=3, depth=4, random_state=0)
columns = ["title", "distortion", "variance_kept", "neighbours_kept", "trustworthiness"]
table = compare(tree.points)[columns].sort_values("distortion")
table.round(3)

# %%
# Projections to the nearest point of a submanifold (PGA, BSA) crowd the centre. HoroPCA keeps the branches separate, and
# with a stretch the picture also has the right size.
chosen = ["horopca-stretch", "horopca-free", "horopca", "tpca", "pga", "hmds"]
images = {row["title"]: Y for row, Y, _ in reductions(tree.points, methods=chosen)}
plot_comparison(images, tree.labels, edges=tree.edges)
