"""Embeddings of the paper's graphs, of phylogenies and of WordNet's mammals, beside the paper's, plain Adam's and gensim's.

    HOROPCA_DATA=... python -m benchmarks.embeddings [TREE ...]

takes about twenty minutes on one core. The phylogenies are those in scikit-bio's package, and files that you name (Newick,
Nexus, PhyloXML); the rows of Adam and of gensim need torch and gensim.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from reproduction.paper import EMBEDDING
from rich.console import Console
from rich.table import Table

from horopca.datasets import fetch_graph, load_mammals
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, reconstruction
from horopca.embed.forms import as_graph
from horopca.embed.graphs import shortest_paths
from horopca.io import EdgeList

from .data import NAMES

DIMENSIONS = (2, 10, 50)
ADAM_STEPS = 3000
SEEDS = 3  # of every figure of a phylogeny
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


def phylogenies(files: list[Path]) -> Table:
    """Weighted trees: ours, within the default radius and without one, and plain Adam on the same objective."""
    files = [*_trees_of_scikit_bio(), *files]
    table = Table(
        title="Average distortion of weighted phylogenies in 2 / 10 dimensions, the median of three seeds and their range, "
        "seconds of processor time below"
    )
    for column in ("", *(file.stem for file in files)):
        table.add_column(column, justify="left" if not column else "right")
    rows: list[tuple[str, Callable[[Path, int, int], float]]] = [
        ("DistortionEmbedding", lambda file, d, seed: DistortionEmbedding(d, random_state=seed).fit(file).distortion_),
        (
            "  any radius",
            lambda file, d, seed: DistortionEmbedding(d, max_radius=None, random_state=seed).fit(file).distortion_,
        ),
        (
            "SarkarEmbedding, any radius",
            lambda file, d, seed: SarkarEmbedding(d, max_radius=None, random_state=seed).fit(file).distortion_,
        ),
        ("Adam, any radius", adam),
    ]
    for label, measured in rows:
        found = [[_timed(measured, file, d) for d in DIMENSIONS[:2]] for file in files]
        table.add_row(label, *(" / ".join(values for values, _ in cell) for cell in found))
        table.add_row("", *(" / ".join(f"{seconds:.1f}" for _, seconds in cell) for cell in found))
    return table


def _trees_of_scikit_bio() -> list[Path]:
    spec = find_spec("skbio")
    folder = Path(str(spec.origin)).parent / "tree" / "tests" / "data" if spec is not None else Path("nowhere")
    return [folder / name for name in ("mp100.nj.nwk", "mp100.upgma.nwk", "mp100.bme.nwk") if (folder / name).exists()]


def _timed(measured: Callable[[Path, int, int], float], file: Path, d: int) -> tuple[str, float]:
    start = time.process_time()
    low, median, high = sorted(measured(file, d, seed) for seed in range(SEEDS))
    return f"{median:.4f} ({low:.4f}-{high:.4f})", (time.process_time() - start) / SEEDS


def adam(file: Path, d: int, seed: int) -> float:
    """The distortion that torch's Adam reaches from a small cloud, on all pairs at once, with a learnt scale and any radius."""
    try:
        import torch
    except ImportError:
        return float("nan")
    wanted = torch.tensor(shortest_paths(as_graph(file).adjacency, None))
    i, j = torch.triu_indices(*wanted.shape, 1)
    wanted = wanted[i, j]
    torch.manual_seed(seed)
    v = (0.1 * torch.randn(int(j.max()) + 1, d, dtype=torch.float64)).requires_grad_()
    log_scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([v, log_scale], lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, ADAM_STEPS)
    best = float("inf")
    for _ in range(ADAM_STEPS):
        size = torch.linalg.norm(v, dim=1, keepdim=True)
        s = v * torch.sinh(size) / size
        t = torch.sqrt(1 + (s * s).sum(dim=1))
        gap = ((s[i] - s[j]) ** 2).sum(dim=1) - (t[i] - t[j]) ** 2
        distances = 2 * torch.asinh(torch.sqrt(gap.clamp(min=1e-24)) / 2)
        loss = (distances / (torch.exp(log_scale) * wanted) - 1).abs().mean()
        best = min(best, float(loss.detach()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return best


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
    console.print(phylogenies([Path(name) for name in sys.argv[1:]]))
    console.print(distortions())


if __name__ == "__main__":
    main()
