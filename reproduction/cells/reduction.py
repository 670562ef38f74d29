"""Reductions of the paper's embeddings, of Sarkar's, and of the mammals: one system on one cloud of points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from horopca import BSA, PGA
from horopca.datasets import load_mammals
from horopca.embed import SarkarEmbedding
from horopca.geometry import distance, to_hyperboloid
from horopca.metrics import average_distortion, frechet_variance, pair_variance

from . import data
from .ball import capped, sarkar_in_ball
from .systems import SYSTEMS, noisy

SARKARS = ("paper", "lorentz")  # as in the paper; and as far out as float64 can distinguish points


def cloud(graph: str, dimension: int = 10, sarkar: str = "", run: int = 0) -> dict[str, Any]:
    """The variances of the points that are reduced."""
    X, model = _points(graph, dimension, sarkar, run)
    return {
        "frechet_variance": frechet_variance(X, model=model),
        "pair_variance": pair_variance(X, model=model),
        "size": len(X),
    }


def reduce_embedding(
    graph: str, system: str, run: int, components: int = 2, dimension: int = 10, sarkar: str = ""
) -> dict[str, Any]:
    """The paper's optimised embedding, or Sarkar's (`SARKARS`), reduced; the paper's Sarkar is drawn anew for each run."""
    X, model = _points(graph, dimension, sarkar, run)
    return _reduced(X, SYSTEMS[system].make(components, run, model=model), keep=run == 0 and dimension == 10 and not sarkar)


def noisy_base(graph: str, method: str, noise: float, run: int) -> dict[str, Any]:
    """PGA or BSA through a base point moved from the mean by Gaussian noise of standard deviation `noise`."""
    kind, options = (PGA, {"strategy": "greedy"}) if method == "pga" else (BSA, {})
    return _reduced(data.embedding(graph), noisy(kind, noise)(2, random_state=run, **options))


def reduce_mammals(system: str, run: int) -> dict[str, Any]:
    """The bundled embedding of the mammals, reduced."""
    return _mammals(load_mammals().points, system, run)


def reduce_trained(given: dict[str, Any], system: str, run: int, clip: bool) -> dict[str, Any]:
    """An embedding of the mammals that another cell has trained, reduced."""
    return _mammals(np.array(given["points"]), system, run)


def _mammals(X: np.ndarray, system: str, run: int) -> dict[str, Any]:
    return _reduced(X, SYSTEMS[system].make(2, run), keep=run == 0, see=hierarchy_seen)


def hierarchy_seen(X: np.ndarray, Y: np.ndarray) -> dict[str, Any]:
    """How well an image Y of the mammals X shows their hierarchy, by distances from `mammal`.

    `above`: the fraction of hypernyms that are nearer to it than their hyponyms; `in_order`: whether feline, cat, burmese cat
    have increasing distances; `feline_cat` and `cat_burmese`: their distances in the image as fractions of those in X.
    """
    mammals = load_mammals()
    place = mammals.names.index
    x, y = to_hyperboloid(X), to_hyperboloid(Y)
    out = distance(y, y[place("mammal")])
    child = np.flatnonzero(mammals.parent >= 0)
    path = [place(name) for name in ("feline", "cat", "burmese cat")]
    kept = [float(distance(y[i], y[j]) / distance(x[i], x[j])) for i, j in pairwise(path)]
    return {
        "above": float(np.mean(out[mammals.parent[child]] < out[child])),
        "in_order": bool(np.all(np.diff(out[path]) > 0)),
        "feline_cat": kept[0],
        "cat_burmese": kept[1],
    }


def _points(graph: str, dimension: int, sarkar: str, run: int) -> tuple[np.ndarray, str]:
    if sarkar == "lorentz":
        return _sarkar(graph), "lorentz"
    if sarkar == "paper":
        return capped(sarkar_in_ball(data.graph(graph), dimension, seed=run)), "poincare"
    return data.embedding(graph, dimension), "poincare"


@lru_cache(maxsize=4)
def _sarkar(graph: str) -> np.ndarray:
    return SarkarEmbedding(10, model="lorentz", max_radius=None, random_state=0).fit(data.graph(graph)).embedding_


def _reduced(X: np.ndarray, estimator: Any, keep: bool = False, see: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Measures of the images, whether the search converged, and optionally what `see` returns and the images themselves."""
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
        **({"seen": see(X, Y)} if see else {}),
    }
    kappa = getattr(getattr(estimator, "spine_", None), "kappa", None)
    if kappa is not None and Y.shape[1] == (3 if model == "lorentz" else 2):
        found["kappa"] = float(kappa)
        if kappa >= 0:  # the two ideal points, seen from the mean: their middle is at (1 - kappa) / (1 + kappa)
            found["angle"] = float(np.degrees(2 * np.arctan2(2 * np.sqrt(kappa), 1 - kappa)))
    return {**found, "points": np.round(Y, 9).tolist()} if keep else found


def _one_thread() -> None:
    """Use one thread in torch, so that sums are the same on every machine."""
    try:
        import torch
    except ImportError:
        return  # the import of the autoencoder raises an error
    torch.set_num_threads(1)
