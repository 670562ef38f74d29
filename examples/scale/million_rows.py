"""
A million rows
==============

The time of a fit grows much less than the number of pairs: the search runs on a sample of the rows, and a few passes over all
rows compute the mean and the variance. The array is not copied.
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
# The fraction of the variance that is kept is estimated from a sample of pairs, with a standard error.
kept, error = pca.explained_variance_ratio_.sum(), pca.variance_error_ / pca.total_variance_
print(f"{100 * kept:.2f} % ± {100 * error:.2f} % of the variance is kept")

# %%
# From 50,000 points on, a picture shows the density of the points. Colours show the depth in the tree, which has 1, 3, 9 and 27
# nodes at its levels.
depth = np.array(["root", "depth 1", "depth 2", "depth 3"])[np.searchsorted([0, 3, 12], data.labels)]
plot_plane(Y, depth, title="a million points")
