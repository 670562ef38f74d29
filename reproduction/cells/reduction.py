"""Reductions of the paper's embeddings, of Sarkar's, and of the mammals: one method on one cloud of points."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from horopca.datasets import load_mammals
from horopca.embed import SarkarEmbedding
from horopca.metrics.comparison import METHODS, reductions

from . import data
from .ball import capped, sarkar_in_ball


def reduce_embedding(graph: str, method: str, run: int, components: int = 2, dimension: int = 10) -> dict[str, Any]:
    """The paper's optimised embedding, reduced."""
    return _reduced(data.embedding(graph, dimension), method, run, components, keep=run == 0 and components == 2)


def reduce_sarkar(graph: str, method: str, run: int, saturated: bool) -> dict[str, Any]:
    """Sarkar's embedding in 10 dimensions, reduced: as the paper makes it, or as far out as float64 can tell points apart."""
    if saturated:
        return _reduced(capped(sarkar_in_ball(data.graph(graph), 10)), method, run)
    return _reduced(_sarkar(graph), method, run, model="lorentz")


@lru_cache(maxsize=4)
def _sarkar(graph: str) -> np.ndarray:
    return SarkarEmbedding(10, model="lorentz", random_state=0).fit(data.graph(graph)).embedding_


def reduce_mammals(method: str, run: int) -> dict[str, Any]:
    return _reduced(load_mammals().points, method, run, keep=True)


def _reduced(
    X: np.ndarray, method: str, run: int, components: int = 2, keep: bool = False, model: str = "poincare"
) -> dict[str, Any]:
    """What is measured, and (if asked) the images."""
    if METHODS[method].needs == "torch":
        _one_thread()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        (found,) = reductions(X, components, [method], model=model, random_state=run)
    names = ("distortion", "frechet_variance", "frechet_kept", "variance_kept", "converged")
    record = {name: found.record[name] for name in names} | {"warnings": sorted({str(w.message) for w in said})}
    return {**record, "points": np.round(found.Y, 9).tolist()} if keep else record


def _one_thread() -> None:
    """The same sums whatever the machine: torch adds in as many parts as it has threads."""
    try:
        import torch
    except ImportError:
        return  # the comparison says what to install
    torch.set_num_threads(1)
