"""Embeddings of the paper's graphs, and of WordNet's mammals as the public script makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from horopca.datasets import load_mammals
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding
from horopca.embed.descent import Targets
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate_to_origin
from horopca.io import EdgeList
from horopca.statistics import frechet_mean

from . import data
from .ball import CLIP, capped
from .defects import bsa_with_one_more, pga_with_clipped_midpoints

KINDS = {
    "DistortionEmbedding": lambda d, seed: DistortionEmbedding(d, max_radius=None, random_state=seed),
    "SarkarEmbedding": lambda d, seed: SarkarEmbedding(d, max_radius=None, random_state=seed),
    "SarkarEmbedding, Lorentz": lambda d, seed: SarkarEmbedding(d, model="lorentz", max_radius=None, random_state=seed),
}

# what the public script for Poincaré embeddings of the mammals passes, in the ten dimensions of the paper
PUBLIC: dict[str, Any] = {"epochs": 300, "burn_in": 20, "learning_rate": 0.3, "negatives": 50, "batch_size": 10}


def embed(kind: str, graph: str, dimension: int, run: int) -> dict[str, Any]:
    """Average distortion of graph distances at the best scale; the same after clipping, and the fraction of clipped nodes."""
    found = KINDS[kind](dimension, run).fit(data.graph(graph))
    record = {"distortion": found.distortion_, "scale": found.distance_scale_}
    if found.model != "poincare":
        return record
    clipped = to_hyperboloid(capped(found.embedding_, CLIP))
    beyond = float(np.mean(np.linalg.norm(found.embedding_, axis=1) > CLIP))
    wanted = Targets.of(data.graph(graph), np.random.default_rng(0))
    return {**record, "beyond": beyond, "clipped": wanted.fit(clipped[wanted.order])[1]}


def published_file(graph: str, dimension: int) -> dict[str, Any]:
    """The file that comes with the paper, measured as it is (scale 1) and at its best scale."""
    z, wanted = data.embedding(graph, dimension), Targets.of(data.graph(graph), np.random.default_rng(0))
    x = to_hyperboloid(z)[wanted.order]
    clipped = np.linalg.norm(z, axis=1) > CLIP - 1e-8
    return {
        "as_is": wanted.fit(x, 1.0)[1],
        "distortion": wanted.fit(x)[1],
        "clipped": float(clipped.mean()),
    }


def train_mammals(run: int, clip: bool) -> dict[str, Any]:
    """The closure of the mammals embedded with the settings of the public script; with its clip of norms, or without."""
    mammals = load_mammals()
    embedding = _Clipped if clip else PoincareEmbedding
    found = embedding(10, closure=True, max_radius=None, random_state=run, **PUBLIC)
    found.fit(EdgeList(mammals.synsets, mammals.edges))
    at_clip = float(np.mean(np.linalg.norm(found.embedding_, axis=1) > CLIP - 1e-8))
    return {"map": found.map_, "mean_rank": found.mean_rank_, "at_clip": at_clip, "points": found.embedding_.tolist()}


class _Clipped(PoincareEmbedding):
    """Poincaré embedding in a ball whose points are brought back to the norm 1 - 1e-5 after every epoch."""

    def _epoch(self, x: np.ndarray, *arguments: Any) -> float:
        loss = super()._epoch(x, *arguments)
        x[:] = to_hyperboloid(capped(from_hyperboloid(x, "poincare"), CLIP))
        return loss


def slipped_mammals(given: dict[str, Any], run: int) -> dict[str, Any]:
    """A trained embedding of the mammals reduced by PGA and BSA with the errors of the published code."""
    x = to_hyperboloid(np.array(given["points"]))
    x = translate_to_origin(x, frechet_mean(x).point)
    return {"pga": pga_with_clipped_midpoints(x, run)["distortion"], "bsa": bsa_with_one_more(x, run)["distortion"]}
