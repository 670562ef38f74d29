"""A user's script, which mypy --strict and pyright check: every documented import."""

import numpy as np
import torch
from numpy.typing import NDArray

import horopca.anndata
from horopca import HoroPCA, HoroPCACV, HyperbolicSVC, compare, explore, from_geoopt, refine
from horopca.embed import DistortionEmbedding
from horopca.metrics import average_distortion, bootstrap
from horopca.neighbors import HyperbolicNeighbors
from horopca.plots import plot_plane
from horopca.torch import HoroProjection


def reduce_array(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return HoroPCA(model="lorentz").fit(X).transform(X)


def reduce_tensor(X: torch.Tensor) -> torch.Tensor:
    return HoroPCACV(4).fit_transform(X)


def project(X: torch.Tensor) -> torch.Tensor:
    layer = HoroProjection(10, 2)
    return layer.inverse(layer(X))


FUNCTIONS = (average_distortion, bootstrap, compare, explore, from_geoopt, horopca.anndata.reduce, plot_plane, refine)
ESTIMATORS = (DistortionEmbedding, HoroPCA, HoroPCACV, HyperbolicNeighbors, HyperbolicSVC)
