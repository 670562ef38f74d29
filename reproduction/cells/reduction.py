"""Reductions of the paper's embeddings, of Sarkar's, and of the mammals: one system on one cloud of points."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from horopca import BSA, PGA
from horopca.datasets import load_mammals
from horopca.embed import SarkarEmbedding
from horopca.metrics import average_distortion, frechet_variance, pair_variance

from . import data
from .ball import capped, sarkar_in_ball
from .systems import SYSTEMS

SARKARS = ("paper", "lorentz")  # as the paper makes it; and as far out as float64 can tell points apart


def cloud(graph: str, dimension: int = 10, sarkar: str = "") -> dict[str, Any]:
    """What there is to keep: the variances of the points that are reduced."""
    X, model = _points(graph, dimension, sarkar)
    return {
        "frechet_variance": frechet_variance(X, model=model),
        "pair_variance": pair_variance(X, model=model),
        "size": len(X),
    }


def reduce_embedding(
    graph: str, system: str, run: int, components: int = 2, dimension: int = 10, sarkar: str = ""
) -> dict[str, Any]:
    """The paper's optimised embedding, or Sarkar's (`SARKARS`), reduced."""
    X, model = _points(graph, dimension, sarkar)
    return _reduced(X, SYSTEMS[system].make(components, run, model=model), keep=run == 0 and dimension == 10 and not sarkar)


def noisy_base(graph: str, method: str, noise: float, run: int) -> dict[str, Any]:
    """PGA or BSA through a base point moved from the mean by Gaussian noise of standard deviation `noise`."""
    options = {"base_noise": noise, "random_state": run}
    estimator = PGA(2, strategy="greedy", **options) if method == "pga" else BSA(2, base_point="mean", **options)
    return _reduced(data.embedding(graph), estimator)


def reduce_mammals(system: str, run: int) -> dict[str, Any]:
    """The bundled embedding of the mammals, reduced."""
    return _reduced(load_mammals().points, SYSTEMS[system].make(2, run), keep=run == 0)


def reduce_trained(given: dict[str, Any], system: str, run: int, clip: bool) -> dict[str, Any]:
    """An embedding of the mammals that another cell has trained, reduced."""
    return _reduced(np.array(given["points"]), SYSTEMS[system].make(2, run), keep=run == 0)


def _points(graph: str, dimension: int, sarkar: str) -> tuple[np.ndarray, str]:
    if sarkar == "lorentz":
        return _sarkar(graph), "lorentz"
    return (capped(sarkar_in_ball(data.graph(graph), dimension)) if sarkar else data.embedding(graph, dimension)), "poincare"


@lru_cache(maxsize=4)
def _sarkar(graph: str) -> np.ndarray:
    return SarkarEmbedding(10, model="lorentz", max_radius=None, random_state=0).fit(data.graph(graph)).embedding_


def _reduced(X: np.ndarray, estimator: Any, keep: bool = False) -> dict[str, Any]:
    """What is measured of the images, how the search ended, and (if asked) the images."""
    _one_thread()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = estimator.fit_transform(X)
    model = estimator.model
    found = {
        "distortion": average_distortion(X, Y, model=model),
        "frechet_variance": frechet_variance(Y, model=model),
        "pair_variance": pair_variance(Y, model=model),
        "converged": bool(getattr(estimator, "converged_", True)),
    }
    kappa = getattr(getattr(estimator, "spine_", None), "kappa", None)
    if kappa is not None and Y.shape[1] == (3 if model == "lorentz" else 2):
        found["kappa"] = float(kappa)
        if kappa >= 0:  # the two ideal points, seen from the mean: their middle is at (1 - kappa) / (1 + kappa)
            found["angle"] = float(np.degrees(2 * np.arctan2(2 * np.sqrt(kappa), 1 - kappa)))
    return {**found, "points": np.round(Y, 9).tolist()} if keep else found


def _one_thread() -> None:
    """The same sums whatever the machine: torch adds in as many parts as it has threads."""
    try:
        import torch
    except ImportError:
        return  # the autoencoder says what to install
    torch.set_num_threads(1)
