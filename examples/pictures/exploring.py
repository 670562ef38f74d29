"""
Exploring
=========

A still picture of the hyperbolic plane shows only its centre in detail. `horopca.explore` makes a page on which you can move
to any point, select points, refit the picture to a selection, and see where the picture is not reliable.
"""

import numpy as np
from matplotlib.colors import Normalize

from horopca import HoroPCA, explore, metrics
from horopca.datasets import load_mammals
from horopca.plots import plot_plane

mammals = load_mammals()
X = mammals.points
Y = HoroPCA(2, spine="free").fit_transform(X)

# %%
# A still picture, coloured by the fraction of false neighbours among the ten nearest neighbours of each point. Rings show
# distances from the centre.
false = metrics.false_neighbours(X, Y)["false"] / 10
plot_plane(Y, values=false, norm=Normalize(0, 1), edges=mammals.edges, title="false neighbours", view="equidistant")

# %%
# The page is one file that needs no server and no network. ``.save("mammals.html")`` writes it.
#
# * Drag and scroll to move; double-click on a point to centre it; ``/`` searches for a name.
# * Click on a class in the legend, then *Refit to these*, for the best picture of this class alone.
# * *Colour* selects false neighbours, trustworthiness, local distortion, or your own columns.
depth, above = np.zeros(len(X)), mammals.parent
while (above >= 0).any():  # one level up in each step, until all are at the root
    depth += above >= 0
    above = np.where(above >= 0, mammals.parent[above], -1)
about = {"names": mammals.names, "edges": mammals.edges, "original": X, "values": {"depth in the tree": depth}}
explore(Y, mammals.labels, **about, title="Mammals of WordNet")
