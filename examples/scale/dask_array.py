"""
Dask: rows on other machines or disks
=====================================

A Dask array can be passed like any other array. Here threads of this process read its chunks from a file; with a
``distributed.Client`` the same lines run on a cluster.
"""

from pathlib import Path
from tempfile import mkdtemp

import dask.array as da
import numpy as np

from horopca import HoroPCA, metrics
from horopca.datasets import make_hierarchical_normals
from horopca.plots import plot_plane

data = make_hierarchical_normals(60_000, 10, branching=3, depth=3, step=1.5, random_state=0)
path = Path(mkdtemp()) / "points.npy"
np.save(path, data.points)

# %%
# Chunks of whole rows. Nothing is read yet.
X = da.from_array(np.load(path, mmap_mode="r"), chunks=(10_000, -1))
X

# %%
# ``fit`` reads the chunks immediately, and sends only a sample of the rows to this process. ``transform`` is lazy: its result
# has the chunks of X and is computed when it is written or drawn.
pca = HoroPCA(2, spine="free", random_state=0).fit(X)
Y = pca.transform(X)
Y

# %%
# The metrics are estimated from a sample, with a standard error.
distortion, error = metrics.average_distortion(X, Y, n_pairs=20_000, return_error=True, random_state=0)
print(f"average distortion {distortion:.3f} ± {error:.3f}")

# %%
# The first rows of the result, coloured by the branch of the tree that they belong to.


def branch(node):
    return f"branch {node}" if 0 < node <= 3 else branch((node - 1) // 3) if node else "root"


plot_plane(Y[:3000].compute(), [branch(node) for node in data.labels[:3000]], title="3,000 of 60,000 rows")
