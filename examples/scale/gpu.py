"""
On a GPU
========

A tensor on a device stays there: the passes over its rows run where it lives, and the images come back as tensors on
the same device. Without a GPU the same lines run on the CPU, as they did where this page was built unless it says
otherwise.
"""

import time

import torch

from horopca import HoroPCA
from horopca.datasets import make_hierarchical_normals
from horopca.plots import plot_plane

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    print("There is no GPU here: the same lines run on the CPU.")

# %%
data = make_hierarchical_normals(50_000, 32, branching=4, depth=2, step=2.0, random_state=0)
X = torch.as_tensor(data.points, device=device)

start = time.perf_counter()
pca = HoroPCA(2, random_state=0).fit(X)
Y = pca.transform(X)
print(f"{tuple(X.shape)} to {tuple(Y.shape)} on {Y.device} in {time.perf_counter() - start:.1f} s")

# %%
# ``pairs="all"`` climbs on all pairs of all rows at the end: seconds for a hundred thousand points on a GPU, and
# much patience elsewhere. Gradients are kept too: `horopca.torch.HoroProjection` is the same map as a layer.
plot_plane(Y.cpu(), [f"node {label}" for label in data.labels], title=f"50,000 points on {device}")
