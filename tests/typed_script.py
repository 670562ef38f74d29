"""A user's script, which mypy --strict and pyright check: every documented import."""

import io
import statistics

import numpy as np
import torch
from numpy.typing import NDArray

import horopca.anndata
from horopca import *  # noqa: F403  (it hides neither io nor statistics nor torch)
from horopca import BSA, HoroPCA, HoroPCACV, HyperbolicMDS, HyperbolicSVC, compare, explore, from_geoopt, refine
from horopca.embed import DistortionEmbedding
from horopca.geometry import distance, from_hyperboloid, lift, translate
from horopca.metrics import average_distortion, bootstrap
from horopca.neighbors import HyperbolicNeighbors
from horopca.plots import plot_plane
from horopca.torch import HoroProjection


def reduce_array(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return HoroPCA(model="lorentz").fit(X).transform(X)


def reduce_tensor(X: torch.Tensor) -> torch.Tensor:
    return HoroPCACV(4).fit_transform(X)


def reduce_distances(D: torch.Tensor) -> torch.Tensor:
    return HyperbolicMDS(2, metric="precomputed").fit(D).transform(D)


def reconstruct(X: torch.Tensor) -> torch.Tensor:
    bsa = BSA(2).fit(X)
    return bsa.inverse_transform(bsa.transform(X))


def of_numpy(s: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
    return distance(lift(s), translate(lift(s), m))


def of_torch(s: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    return from_hyperboloid(translate(lift(s), m), "klein")


def project(X: torch.Tensor) -> torch.Tensor:
    layer = HoroProjection(10, 2)
    return layer.inverse(layer(X))


FUNCTIONS = (average_distortion, bootstrap, compare, explore, from_geoopt, horopca.anndata.reduce, plot_plane, refine)
STANDARD_LIBRARY = (io.StringIO, statistics.mean)
ESTIMATORS = (DistortionEmbedding, HoroPCA, HoroPCACV, HyperbolicNeighbors, HyperbolicSVC)
