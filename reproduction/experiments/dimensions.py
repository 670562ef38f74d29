"""Distortion and variance for growing numbers of components."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..cells.systems import SYSTEMS
from ..definitions import Cell, Experiment, Picture, Results, Section, Size
from ..drawing import dimension_curves
from ..markdown import ABSENT, bold, short, table
from .reduction import BY, runs_held, runs_of

GRAPHS = ("diseases", "CS Ph.D.")
# the largest number of components of the slow methods
UP_TO = {"bsa": 10, "greedy": 10, "orthonormal": 10, "distortion": 10, "stretch": 10, "pga": 20}
# the systems of the paper, and one of each kind of ours
CHOSEN = ("pca", "tpca", "pga", "bsa", "hae", "hmds", "greedy", "orthonormal", "horopca", "distortion", "stretch", "radial")
MANY = 10  # from this number of components on there is one run: runs hardly differ, and take long
SLOW = {
    "greedy": 1.5,
    "orthonormal": 0.5,
    "horopca": 1.0,
    "free": 1.0,
    "distortion": 0.8,
    "pga": 0.6,
    "bsa": 1.2,
}  # seconds per component


def _cost(graph: str, system: str, K: int) -> float:
    if system == "hae":
        return 5.0
    return (2.0 if graph == "CS Ph.D." else 1.0) * SLOW.get(system, 0.02) * min(K, 25) + 0.2


def _cells(size: Size) -> list[Cell]:
    counts = (1, 2, 3, 5) if size.quick else paper.COMPONENTS
    cells = [
        Cell("dimensions", f"{paper.GRAPHS[graph]}.cloud", "reduction.cloud", {"graph": graph, "dimension": 50}, 0.5)
        for graph in GRAPHS
    ]
    return cells + [
        Cell(
            "dimensions",
            f"{paper.GRAPHS[graph]}.{system}.{K}.{run}",
            BY,
            {"graph": graph, "system": system, "run": run, "components": K, "dimension": 50},
            _cost(graph, system, K),
        )
        for graph in (GRAPHS[:1] if size.quick else GRAPHS)
        for system in CHOSEN
        for K in counts
        for run in runs_of(system, size)[: 1 if K >= MANY else None]
        if not (size.quick and system in ("hae", "bsa")) and K <= UP_TO.get(system, 50)
    ]


def curve(results: Results, graph: str, system: str, quantity: str = "distortion") -> dict[int, np.ndarray]:
    """The quantity over runs, by numbers of components."""
    found = {K: results.values(quantity, BY, graph=graph, system=system, components=K) for K in paper.COMPONENTS}
    return {K: values for K, values in found.items() if len(values)}


def _section(results: Results) -> Section:
    graphs = [g for g in GRAPHS if any(curve(results, g, name) for name in CHOSEN)]
    parts = [
        f"50-dimensional embeddings reduced to 1 to 50 components; {runs_held(results, BY)}. The bands of the picture extend "
        "from the smallest to the largest run. With ten components or more there is one run, because runs hardly differ. With "
        "more than ten, the only methods with a search are `HoroPCA()`, PGA (up to 20) and the autoencoder. With 50 of 50 "
        "components a method can lose nothing; these points are marked at the bottom of the picture. The paper shows curves "
        "and prints no numbers.",
        "{dimensions}",
    ]
    for graph in graphs:
        parts += [
            table([f"{graph}, {words}", *map(str, paper.COMPONENTS)], _rows(results, graph, quantity, best))
            for words, quantity, best in (("distortion", "distortion", min), ("Fréchet variance", "frechet_variance", None))
        ]
    data = {
        (graph, quantity): {SYSTEMS[name].title: curve(results, graph, name, quantity) for name in CHOSEN}
        for graph in graphs
        for quantity in ("distortion", "frechet_variance")
    }
    caption = "Average distortion and Fréchet variance by number of components"
    return Section("\n\n".join(parts), (Picture("dimensions", caption, lambda figure: dimension_curves(figure, data)),))


def _rows(results: Results, graph: str, quantity: str, best: object) -> list[list[str]]:
    found = {name: curve(results, graph, name, quantity) for name in CHOSEN}
    least = {K: min((v[K].mean() for v in found.values() if K in v), default=0.0) for K in paper.COMPONENTS}
    rows = []
    if quantity == "frechet_variance" and (cloud := results.first("reduction.cloud", graph=graph)):
        rows.append(["*the data*", *[f"{cloud['frechet_variance']:.2f}"] * len(paper.COMPONENTS)])
    for name, values in found.items():
        texts = []
        for K in paper.COMPONENTS:
            mean = values[K].mean() if K in values else None
            text = ABSENT if mean is None else short(mean) if quantity == "distortion" else f"{mean:.2f}"
            texts.append(bold(text, best is min and mean == least[K] > 5e-4))
        if values:
            rows.append([SYSTEMS[name].title, *texts])
    return rows


DIMENSIONS = Experiment("dimensions", "More components", "Figure 7 of the paper (`fig:dim_plots`)", _cells, _section)
