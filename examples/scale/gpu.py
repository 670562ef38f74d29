"""
On a GPU
========

A tensor on a device stays there: the computation runs on the device, and the images are tensors on the same device. Without
a GPU the same lines run on the CPU; the output below shows which device was used.
"""

import time

import torch

from horopca import HoroPCA
from horopca.datasets import make_hierarchical_normals
from horopca.plots import plot_plane

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    print("No GPU was found: the same lines run on the CPU.")

# %%
data = make_hierarchical_normals(50_000, 32, branching=4, depth=2, step=2.0, random_state=0)
X = torch.as_tensor(data.points, device=device)

start = time.perf_counter()
pca = HoroPCA(2, random_state=0).fit(X)
Y = pca.transform(X)
print(f"{tuple(X.shape)} to {tuple(Y.shape)} on {Y.device} in {time.perf_counter() - start:.1f} s")

# %%
# ``pairs="all"`` optimises over all pairs of all rows in the last round, which is slow without a GPU. Gradients are kept:
# `horopca.torch.HoroProjection` is the same map as a layer.
plot_plane(Y.cpu(), [f"node {label}" for label in data.labels], title=f"50,000 points on {device}")
