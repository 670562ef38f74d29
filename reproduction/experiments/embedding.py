"""How well the embeddings themselves keep the distances of their graphs."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..cells.embedding import KINDS
from ..definitions import Cell, Experiment, Results, Section, Size
from ..markdown import short, spread, table
from .reduction import runs_held

PUBLISHED = {"DistortionEmbedding": "optimised", "SarkarEmbedding": "Sarkar", "SarkarEmbedding, Lorentz": "Sarkar"}
SECONDS = {"balanced tree": 3.0, "phylo tree": 15.0, "diseases": 20.0, "CS Ph.D.": 40.0}  # of an optimised embedding
PLAIN = "DistortionEmbedding"
LARGE = ("diseases", "CS Ph.D.")  # two runs: a run takes long, and differs little from another


def _cells(size: Size) -> list[Cell]:
    cells = [
        Cell(
            "embedding",
            f"{paper.GRAPHS[graph]}.{kind.replace(', ', '-')}.{d}.{run}",
            "embedding.embed",
            {"kind": kind, "graph": graph, "dimension": d, "run": run},
            (1.5 if d == 2 else 1.0) * SECONDS[graph] * (1.0 if kind == PLAIN else 0.15),
        )
        for kind in KINDS
        for graph in paper.GRAPHS
        for d in paper.DIMENSIONS
        for run in range(1 if size.quick else min(size.runs, 2) if graph in LARGE else size.runs)
        if not size.quick or (kind != PLAIN and graph != "CS Ph.D.") or (graph == "balanced tree" and d == 10)
    ]
    for graph, file in paper.GRAPHS.items():
        for d in (10, 50):
            arguments = {"graph": graph, "dimension": d}
            cells.append(Cell("embedding", f"{file}.published_file.{d}", "embedding.published_file", arguments, 0.3))
    return cells


def distortions(results: Results, kind: str, graph: str, d: int) -> np.ndarray:
    return results.values("distortion", "embedding.embed", kind=kind, graph=graph, dimension=d)


def _section(results: Results) -> Section:
    rows = []
    for published in ("optimised", "Sarkar"):
        printed = paper.EMBEDDING[published]
        rows.append([f"**{published}**, in the paper", *(" / ".join(short(v) for v in printed[g]) for g in paper.GRAPHS)])
        if published == "optimised":
            for words, quantity in (("its files, at scale 1", "as_is"), ("its files, at the best scale", "distortion")):
                rows.append([words, *(_files(results, g, quantity) for g in paper.GRAPHS)])
        rows += [
            [_name(kind), *(_ours(results, kind, g) for g in paper.GRAPHS)] for kind in KINDS if PUBLISHED[kind] == published
        ]
    text = (
        "Average distortion of graph distances in 2 / 10 / 50 dimensions. Our embeddings, and the second row of the paper's "
        "files, are measured at the scale with the smallest distortion; "
        f"{runs_held(results, 'embedding.embed')}{_widest(results)}.\n\n" + table(["", *paper.GRAPHS], rows)
    )
    clipped = [g for g in ("phylo tree", "CS Ph.D.") if len(distortions(results, PLAIN, g, 10))]
    return Section(f"{text}\n\n### The cost of clipping\n\n{_clip_text(results, clipped)}" if clipped else text)


def _name(kind: str) -> str:
    name, comma, rest = kind.partition(",")
    return f"`{name}`{comma}{rest}"


def _files(results: Results, graph: str, quantity: str) -> str:
    found = [results.first("published_file", graph=graph, dimension=d) for d in paper.DIMENSIONS]
    return " / ".join(short(f and f[quantity]) for f in found)


def _ours(results: Results, kind: str, graph: str) -> str:
    found = [distortions(results, kind, graph, d) for d in paper.DIMENSIONS]
    return " / ".join(short(values.mean() if len(values) else None) for values in found)


def _widest(results: Results) -> str:
    found = [distortions(results, k, g, d) for k in KINDS for g in paper.GRAPHS for d in paper.DIMENSIONS]
    widest = max((float(values.std()) for values in found if len(values) > 1), default=None)
    return "" if widest is None else f"; the largest standard deviation over runs is {widest:.3f}"


def _clip_text(results: Results, graphs: list[str]) -> str:
    rows = []
    for graph in graphs:
        of = lambda quantity, graph=graph: results.values(quantity, "embedding.embed", kind=PLAIN, graph=graph, dimension=10)
        printed = paper.EMBEDDING["optimised"][graph][1]
        rows.append(
            [graph, spread(of("distortion"), 3), f"{of('beyond').mean():.0%}", spread(of("clipped"), 3), f"{printed:.3f}"]
        )
    head = [
        "",
        "ours, 10 dimensions",
        "nodes beyond norm 1 − 10⁻⁵",
        "the same, clipped there",
        "optimised with clipping, in the paper",
    ]
    shares = {g: f["clipped"] for g in paper.GRAPHS if (f := results.first("published_file", graph=g, dimension=10))}
    held = ", ".join(f"{share:.0%} of {graph}" for graph, share in shares.items() if share > 0)
    return (
        "The paper's embeddings were optimised in a ball clipped at norm 1 − 10⁻⁵ (radius 12.2), so the distance of two nodes "
        f"is at most 24.4. In its files, {held} are on the clipping radius. If our embedding extends beyond that radius, "
        "clipping it removes its advantage; if it does not, the published number comes from a search that ended too early.\n\n"
        + table(head, rows)
    )


EMBEDDING = Experiment(
    "embedding", "Average distortion of the embeddings", "Table 4 of the paper (`tab:datasets`)", _cells, _section
)
