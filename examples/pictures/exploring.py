"""
Exploring
=========

A picture of the hyperbolic plane shows its middle. `horopca.explore` makes a page in which to fly to any point,
select, refit to what is selected, and see where not to trust the picture.
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
# A still picture, coloured by trust: the share of false neighbours among the ten nearest of each point. Rings are
# distances from the centre.
false = metrics.false_neighbours(X, Y)["false"] / 10
plot_plane(Y, values=false, norm=Normalize(0, 1), edges=mammals.edges, title="false neighbours", view="equidistant")

# %%
# The page. It is one file, which needs no server and no network: ``.save("mammals.html")`` and mail it.
#
# * Drag and scroll to move; double-click to fly; ``/`` finds a name.
# * Click on a class in the legend, then *Refit to these*: the picture that is best for these alone.
# * *Colour* shows false neighbours, trustworthiness, local distortion, and columns of your own.
depth, above = np.zeros(len(X)), mammals.parent
while (above >= 0).any():  # from everyone to the parent, until all have come to the root
    depth += above >= 0
    above = np.where(above >= 0, mammals.parent[above], -1)
about = {"names": mammals.names, "edges": mammals.edges, "original": X, "values": {"depth in the tree": depth}}
explore(Y, mammals.labels, **about, title="Mammals of WordNet")
