"""Embeddings of the paper's graphs, and of WordNet's mammals as the public script makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from horopca.datasets import load_mammals
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding
from horopca.embed.pairs import measure, pairs_of
from horopca.geometry import to_hyperboloid, translate_to_origin
from horopca.io import EdgeList
from horopca.metrics.comparison import reductions
from horopca.statistics import frechet_mean

from . import data
from .ball import CLIP, capped
from .defects import bsa_with_one_more, pga_with_clipped_midpoints

KINDS = {
    "DistortionEmbedding": lambda d: DistortionEmbedding(d, random_state=0),
    "SarkarEmbedding": lambda d: SarkarEmbedding(d, random_state=0),
    "SarkarEmbedding, Lorentz": lambda d: SarkarEmbedding(d, model="lorentz", random_state=0),
}

# what the public script for Poincaré embeddings of the mammals passes, in the ten dimensions of the paper
PUBLIC: dict[str, Any] = {"epochs": 300, "burn_in": 20, "learning_rate": 0.3, "negatives": 50, "batch_size": 10}


def embed(kind: str, graph: str, dimension: int) -> dict[str, Any]:
    """Average distortion of graph distances, at the scale that makes it least; that after a clip, and the share it meets."""
    found = KINDS[kind](dimension).fit(data.graph(graph))
    record = {"distortion": found.distortion_, "scale": found.distance_scale_}
    if found.model != "poincare":
        return record
    clipped = to_hyperboloid(capped(found.embedding_, CLIP))
    beyond = float(np.mean(np.linalg.norm(found.embedding_, axis=1) > CLIP))
    return {
        **record,
        "beyond": beyond,
        "clipped": measure(clipped, pairs_of(data.graph(graph), np.random.default_rng(0))).distortion,
    }


def published_file(graph: str, dimension: int) -> dict[str, Any]:
    """The file that comes with the paper, measured as it is (scale 1) and at its best scale."""
    z, pairs = data.embedding(graph, dimension), pairs_of(data.graph(graph), np.random.default_rng(0))
    x = to_hyperboloid(z)
    ratios = np.concatenate([np.ravel(block) for block in pairs.ratios(x)])
    clipped = np.linalg.norm(z, axis=1) > CLIP - 1e-8
    return {
        "as_is": float(np.mean(np.abs(ratios - 1))),
        "distortion": measure(x, pairs).distortion,
        "clipped": float(clipped.mean()),
    }


def embed_mammals(methods: list[str], run: int) -> dict[str, Any]:
    """The closure of the mammals embedded with the settings of the public script, and reduced by every method."""
    mammals = load_mammals()
    found = PoincareEmbedding(10, closure=True, random_state=run, **PUBLIC).fit(EdgeList(mammals.synsets, mammals.edges))
    rows = reductions(found.embedding_, 2, methods, random_state=run)
    reduced = {
        row.record["method"]: {"distortion": row.record["distortion"], "points": np.round(row.Y, 9).tolist()} for row in rows
    }
    x = to_hyperboloid(found.embedding_)
    x = translate_to_origin(x, frechet_mean(x).point)
    slips = {"pga": pga_with_clipped_midpoints(x, run), "bsa": bsa_with_one_more(x, run)}
    return {"map": found.map_, "mean_rank": found.mean_rank_, "reduced": reduced, "slips": slips}
