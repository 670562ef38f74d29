"""Embeddings of the paper's graphs and of WordNet's mammals, beside the paper's and gensim's.

    HOROPCA_DATA=... python -m benchmarks.embeddings

takes a few minutes on one core; the rows of gensim need it installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from reproduction.paper import EMBEDDING
from rich.console import Console
from rich.table import Table

from horopca.datasets import fetch_graph, load_mammals
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, reconstruction
from horopca.io import EdgeList

from .data import NAMES

DIMENSIONS = (2, 10, 50)
EPOCHS = 50  # of the race against gensim

# average distortion in 2, 10 and 50 dimensions that ours must not exceed
TARGETS = {
    "optimised": {
        "balanced tree": (0.097, 0.022, 0.022),
        "phylo tree": (0.28, 0.27, 0.27),
        "diseases": (0.126, 0.054, 0.054),
        "CS Ph.D.": (0.189, 0.140, 0.139),
    },
    "Sarkar": {
        "balanced tree": (0.088, 0.136, 0.136),
        "phylo tree": (0.30, 0.30, 0.30),
        "diseases": (0.247, 0.212, 0.210),
        "CS Ph.D.": (0.30, 0.30, 0.30),
    },
}

OURS: list[tuple[str, str, Callable[[int], Any]]] = [
    ("optimised", "DistortionEmbedding", lambda d: DistortionEmbedding(d, random_state=0)),
    ("optimised", "DistortionEmbedding, any radius", lambda d: DistortionEmbedding(d, max_radius=None, random_state=0)),
    ("Sarkar", "SarkarEmbedding", lambda d: SarkarEmbedding(d, max_radius=None, random_state=0)),
    ("Sarkar", "SarkarEmbedding, Lorentz", lambda d: SarkarEmbedding(d, model="lorentz", max_radius=None, random_state=0)),
]


def distortions() -> Table:
    """Average distortion of graph distances, seconds of processor time below it."""
    table = Table(title="Average distortion against graph distances in 2 / 10 / 50 dimensions")
    for column in ("", *NAMES):
        table.add_column(column, justify="left" if not column else "right")
    for kind, known in EMBEDDING.items():
        table.add_row(f"paper, {kind}", *(" / ".join(f"{value:.3f}" for value in known[name]) for name in NAMES))
        for row, label, make in OURS:
            if row == kind:
                cells = [_cells(make, name, TARGETS[kind][name]) for name in NAMES]
                table.add_row(label, *(values for values, _ in cells))
                table.add_row("  seconds of processor time", *(seconds for _, seconds in cells))
        table.add_section()
    return table


def _cells(make: Callable[[int], Any], name: str, targets: tuple[float, ...]) -> tuple[str, str]:
    graph, values, seconds = fetch_graph(NAMES[name]), [], []
    for d, target in zip(DIMENSIONS, targets, strict=True):
        start = time.process_time()
        found = make(d).fit(graph).distortion_
        seconds.append(f"{time.process_time() - start:.1f}")
        values.append(f"{found:.4f}{'' if found <= target else ' MISSED'}")
    return " / ".join(values), " / ".join(seconds)


def mammals() -> Table:
    """Reconstruction of the closure of the mammals in five dimensions."""
    data = load_mammals()
    graph = EdgeList(data.synsets, data.edges)
    table = Table(title="WordNet mammals, closure of 6542 relations, 5 dimensions")
    for column in ("", "epochs", "MAP", "mean rank", "seconds"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("target", "", ">= 0.92", "<= 1.3", "< 180")
    for label, options in (
        ("PoincareEmbedding", {}),
        ("PoincareEmbedding, fewer epochs", {"epochs": EPOCHS, "burn_in": 10, "learning_rate": 0.1}),
    ):
        start = time.process_time()
        model = PoincareEmbedding(5, closure=True, random_state=0, **options).fit(graph)
        seconds = time.process_time() - start
        table.add_row(label, str(model.epochs), f"{model.map_:.4f}", f"{model.mean_rank_:.3f}", f"{seconds:.1f}")
    table.add_row("gensim's PoincareModel", *_gensim(data.synsets, model.pairs_))
    return table


def _gensim(names: list[str], pairs: np.ndarray) -> tuple[str, ...]:
    try:
        from gensim.models.poincare import PoincareModel
    except ImportError:
        return (str(EPOCHS), "gensim is not installed", "", "")
    start = time.process_time()
    model = PoincareModel([(names[u], names[v]) for u, v in pairs], size=5, negative=10, burn_in=10, alpha=0.1, seed=0)
    model.train(EPOCHS)
    seconds = time.process_time() - start
    found = reconstruction(np.stack([model.kv[name] for name in names]).astype(np.float64), pairs)
    return str(EPOCHS), f"{found.mean_average_precision:.4f}", f"{found.mean_rank:.3f}", f"{seconds:.1f}"


def main() -> None:
    console = Console(width=170)
    console.print(mammals())
    console.print(distortions())


if __name__ == "__main__":
    main()
