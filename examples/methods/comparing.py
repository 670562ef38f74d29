"""
Comparing methods
=================

Every reduction of the package on the same points, and what each preserves: `horopca.compare` returns the numbers,
`horopca.plots.plot_comparison` draws the pictures.
"""

from horopca import PGA, HoroPCA, HyperbolicMDS, TangentPCA, compare
from horopca.datasets import make_hierarchy
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
methods = {
    "HoroPCA, stretched": HoroPCA(stretch=True),
    "HoroPCA, free": HoroPCA(spine="free"),
    "HoroPCA": HoroPCA(),
    "tangent PCA": TangentPCA(),
    "PGA": PGA(),
    "hyperbolic MDS": HyperbolicMDS(),
}
images = {title: method.fit_transform(tree.points) for title, method in methods.items()}
plot_comparison(images, tree.labels, edges=tree.edges)
