"""Embeddings of the paper's graphs, of phylogenies and of WordNet's mammals, beside the paper's, plain Adam's and gensim's.

    HOROPCA_DATA=... python -m benchmarks.embeddings [TREE ...]
    python -m benchmarks.embeddings cells FOLDER
    python -m benchmarks.embeddings new

The first takes about twenty minutes on one core. The phylogenies are those in scikit-bio's package, and files that you name
(Newick, Nexus, PhyloXML); the rows of Adam and of gensim need torch and gensim. The second compares with the published
coordinates of single cells in FOLDER, a clone of facebookresearch/PoincareMaps. The third embeds held-out nodes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from reproduction.paper import EMBEDDING
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

from horopca.datasets import fetch_graph, load_mammals, make_hierarchical_normals, random_tree
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, reconstruction
from horopca.embed.graphs import as_graph, shortest_paths
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.io import EdgeList
from horopca.metrics import neighbours_kept
from horopca.metrics.distances import best_scale

from .data import NAMES

DIMENSIONS = (2, 10, 50)
ADAM_STEPS = 3000
SEEDS = 3  # of every figure of a phylogeny
EPOCHS = 50  # of the race against gensim, and of held-out relations
DRAWS = 5  # of held-out nodes

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


CELLS = {"Olsson": (15, 20), "MyeloidProgenitors": (30, 0)}  # neighbours, and principal components (0: all), of the authors


def cells(folder: Path) -> Table:
    """Distances and neighbours of the neighbour graphs of single cells, kept in the plane."""
    table = Table(title="Single cells: average distortion and ten neighbours kept")
    for column in ("", *CELLS):
        table.add_column(column, justify="left" if not column else "right")
    graphs = {name: _cell_graph(folder / "datasets" / f"{name}.csv", *settings) for name, settings in CELLS.items()}
    for weight in (0.0, 0.1, 0.2, 0.3):
        fits = (
            DistortionEmbedding(2, neighbor_weight=weight, random_state=0).fit_transform(graph) for graph in graphs.values()
        )
        table.add_row(f"neighbor_weight={weight}", *(_kept(*pair) for pair in zip(graphs.values(), fits, strict=True)))
    published = (next((folder / "results").glob(f"{name}_MFI*_connected.csv")) for name in CELLS)
    rows = (_kept(graph, np.loadtxt(path, delimiter=",")) for graph, path in zip(graphs.values(), published, strict=True))
    table.add_row("published coordinates", *rows)
    return table


def _cell_graph(path: Path, k: int, components: int) -> csr_array:
    x = np.array([row.split(",")[:-1] for row in path.read_text().splitlines()[1:]], dtype=float)
    x = PCA(components, random_state=0).fit_transform(x) if components else x
    graph = kneighbors_graph(x, k, mode="distance")
    return csr_array(graph.maximum(graph.T))


def _kept(graph: csr_array, X: np.ndarray) -> str:
    D, E = shortest_paths(graph), pairwise_distance(to_hyperboloid(X))
    pairs = np.triu_indices(len(D), 1)
    ratios = E[pairs] / D[pairs]
    distortion = np.mean(np.abs(ratios / best_scale(ratios) - 1))
    return f"{distortion:.3f}  {neighbours_kept(D, E, metric='precomputed'):.3f}"


def new_nodes() -> tuple[Table, Table]:
    """A tenth of the nodes embedded by `transform`, beside a new fit of all nodes."""
    kinds = ("uniform", "recursive", "preferential")
    graphs: dict[str, Any] = {f"{kind} tree": random_tree(100, kind=kind, random_state=21).parent for kind in kinds}
    graphs |= {"karate club": nx.karate_club_graph(), "scale-free": nx.barabasi_albert_graph(100, 2, seed=5)}
    graphs |= {"small world": nx.connected_watts_strogatz_graph(100, 4, 0.1, seed=4)}
    matrices = {name: shortest_paths(as_graph(graph).adjacency) for name, graph in graphs.items()}
    normals = make_hierarchical_normals(100, 10, random_state=1).points
    matrices |= {"distances of normals": pairwise_distance(to_hyperboloid(normals))}
    columns = ("", "transform", "new fit", "ratio", "its range")
    distances = Table(*columns, title=f"Held-out nodes: average distortion, medians of {DRAWS} draws")
    for name, D in matrices.items():
        _add_draws(distances, name, _held_out_distances(D))
    relations = Table(*columns, title=f"Held-out leaves: mean rank of their relations, medians of {DRAWS} draws")
    _add_draws(relations, "mammals, 5 dimensions", _held_out_relations())
    return distances, relations


def _add_draws(table: Table, name: str, draws: list[tuple[float, float]]) -> None:
    found = np.array(draws)
    ratios = found[:, 0] / found[:, 1]
    values = (*np.median(found, axis=0), np.median(ratios))
    table.add_row(name, *(f"{value:.3f}" for value in values), f"{ratios.min():.2f}-{ratios.max():.2f}")


def _held_out_distances(D: np.ndarray) -> list[tuple[float, float]]:
    whole, draws = DistortionEmbedding(2, n_init=1, random_state=0).fit(D), []
    for seed in range(DRAWS):
        new = np.random.default_rng(seed).choice(len(D), len(D) // 10, replace=False)
        known = np.setdiff1d(np.arange(len(D)), new)
        wanted = D[np.ix_(new, known)]
        part = DistortionEmbedding(2, n_init=1, random_state=0).fit(D[np.ix_(known, known)])
        pairs = ((part.transform(wanted), part.embedding_, part), (whole.embedding_[new], whole.embedding_[known], whole))
        ratios = (pairwise_distance(*map(to_hyperboloid, pair)) / (fit.distance_scale_ * wanted) for *pair, fit in pairs)
        draws.append(tuple(float(np.mean(np.abs(ratio - 1))) for ratio in ratios))
    return draws


def _held_out_relations() -> list[tuple[float, float]]:
    data, draws = load_mammals(), []
    make = lambda: PoincareEmbedding(5, closure=True, epochs=EPOCHS, burn_in=10, learning_rate=0.1, random_state=0)
    whole = make().fit(EdgeList(data.synsets, data.edges))
    leaves = np.setdiff1d(data.edges[:, 0], data.edges[:, 1])
    for seed in range(DRAWS):
        held = np.isin(data.edges[:, 0], np.random.default_rng(seed).choice(leaves, len(leaves) // 10, replace=False))
        named = [(data.synsets[child], data.synsets[parent]) for child, parent in data.edges]
        part = make().fit([edge for edge, new in zip(named, held, strict=True) if not new])
        new = [edge for edge, new in zip(named, held, strict=True) if new]
        points = dict(zip(part.names_, part.embedding_, strict=True))
        points |= dict(zip(dict.fromkeys(child for child, _ in new), part.transform(new), strict=True))
        pairs = whole.pairs_[np.isin(whole.pairs_[:, 0], data.edges[held, 0])]
        both = (np.stack([points[name] for name in whole.names_]), whole.embedding_)
        draws.append(tuple(reconstruction(X, pairs).mean_rank for X in both))
    return draws


def main() -> None:
    console = Console(width=170)
    if sys.argv[1:2] == ["new"]:
        return console.print(*new_nodes())
    if sys.argv[1:2] == ["cells"]:
        return console.print(cells(Path(sys.argv[2])))
    console.print(mammals())
    console.print(phylogenies([Path(name) for name in sys.argv[1:]]))
    console.print(distortions())


if __name__ == "__main__":
    main()
