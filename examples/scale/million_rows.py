"""
A million rows
==============

A fit does not grow with the number of rows as pairs do: the search runs on a sample, and the answer is corrected by a
pass over all of them. No copy is made of the array.
"""

import time

import numpy as np

from horopca import HoroPCA
from horopca.datasets import make_hierarchical_normals
from horopca.plots import plot_plane

# %%
# A million points around the nodes of a tree, in single precision.
data = make_hierarchical_normals(1_000_000, 16, branching=3, depth=3, step=1.5, random_state=0)
X = data.points.astype(np.float32)

start = time.process_time()
pca = HoroPCA(2, random_state=0).fit(X)
fitted = time.process_time()
Y = pca.transform(X)
print(f"fit {fitted - start:.1f} s, transform {time.process_time() - fitted:.2f} s of processor time")

# %%
# The variance kept is a sum over pairs of rows, estimated with its standard error. Distances are measured on a
# sample too.
kept, error = pca.explained_variance_ratio_.sum(), pca.variance_error_ / pca.total_variance_
print(f"kept: {100 * kept:.2f} % ± {100 * error:.2f} % of the variance")

# %%
# From 50,000 points on, a picture shows how many there are in each place. Colours are by depth in the tree: 1, 3, 9
# and 27 nodes.
depth = np.array(["root", "depth 1", "depth 2", "depth 3"])[np.searchsorted([0, 3, 12], data.labels)]
plot_plane(Y, depth, title="a million points")
