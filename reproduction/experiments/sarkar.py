"""Reductions to two dimensions of Sarkar's embeddings."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..cells.ball import RIM
from ..cells.reduction import SARKARS
from ..cells.systems import SYSTEMS
from ..definitions import Cell, Experiment, Results, Section, Size
from ..markdown import ABSENT, short, table
from .reduction import BY, runs_held, system_cells, system_rows

SKIPPED = ("pga-noise", "bsa-noise", "hae", "hae-ours")  # not in the paper's table
HEADS = {
    "paper": "### As in the paper\n\n"
    "The scale is 3.5. Children have random directions, drawn anew for each run, and are placed by inversions of float64 "
    "coordinates in the ball. From about depth ten on, nodes fall on the rim. Norms are limited to 1 − 10⁻¹⁵ "
    "(radius 35.2), and "
    "true distances are measured, which are at most 70. Average distortion / Fréchet variance, {runs}.",
    "lorentz": "### Without saturation\n\n"
    '`SarkarEmbedding(10, model="lorentz")`: evenly spread directions on the hyperboloid, at the scale with the smallest '
    "distortion of graph distances. The paper has no such table; {runs}.",
}


def _cells(size: Size) -> list[Cell]:
    systems = [name for name in SYSTEMS if name not in SKIPPED]
    cells = system_cells("sarkar", systems, size, drawn=True, sarkar="paper")
    if size.quick:
        return cells
    cells += system_cells("sarkar", systems, size._replace(runs=1), 3.0, sarkar="lorentz")
    for graph, file in paper.GRAPHS.items():
        for run in range(size.runs):
            arguments = {"graph": graph, "run": run}
            cells.append(Cell("sarkar", f"{file}.saturated.{run}", "defects.saturated_sarkar", arguments, 4))
    return cells


def _section(results: Results) -> Section:
    parts = []
    for kind in SARKARS:
        if results.where(BY, sarkar=kind):
            printed = paper.SARKAR if kind == "paper" else {}
            parts.append(HEADS[kind].format(runs=runs_held(results, BY, sarkar=kind)))
            parts.append(table(["", *paper.GRAPHS], system_rows(results, printed, {}, sarkar=kind)))
            if kind == "paper":
                theirs = ", ".join(f"{short(d)} / {v} on {g}" for g, (d, v) in paper.SARKAR_TODAY.items())
                parts.append(
                    "Our random directions differ from those of the paper. On the embeddings that the published code makes "
                    "with "
                    f"its seed, `HoroPCA()` has {theirs}."
                )
    if results.where("saturated_sarkar"):
        parts += ["### Two published numbers without meaning", _saturation(results)]
    return Section("\n\n".join(parts))


LINES = {
    "nodes at the rim": ("at_rim", "{:.0%}"),
    "pairs at the largest possible distance, 35.2": ("pairs_at_35", "{:.0%}"),
    "distortion of graph distances, with limited distances": ("embedding_distortion", "{:.3f}"),
    "distortion of `HoroPCA()`, with limited distances, pairs at least an edge apart": ("distortion", "{:.3f}"),
    "its median over pairs": ("median", "{:.4f}"),
}


def _saturation(results: Results) -> str:
    rows = []
    for words, (quantity, form) in LINES.items():
        found = [results.values(quantity, "saturated_sarkar", graph=g) for g in paper.GRAPHS]
        rows.append([words, *(form.format(values.mean()) if len(values) else ABSENT for values in found)])
    outside, nodes = paper.SARKAR_NODES_OUTSIDE
    largest = (2 * np.arctanh(RIM)) ** 2
    return (
        f"**Phylo tree, .01.** The published code places {outside} of its {nodes} nodes at norm 1 or more, outside the "
        "ball, because its inversions lose all digits. It measures distances by Moebius addition with norms limited to "
        "1 − 10⁻¹⁵, so no distance exceeds 35.2 (ten edges); between nodes outside the ball, distances are 0/0, "
        "made finite by a "
        "clamp. Most pairs are then at the largest possible distance, before and after any map that leaves them "
        "at the rim, and "
        "count as preserved perfectly. The published variance, 1190, is the square of 34.5. No method is measured by it.\n\n"
        f"**CS Ph.D., hMDS 1241.34.** This is (2 artanh(1 − 10⁻¹⁵))² = {largest:.2f}: every node is at the limit.\n\n"
        "The effect of the limit, measured on our own saturated embedding:\n\n" + table(["", *paper.GRAPHS], rows)
    )


SARKAR = Experiment(
    "sarkar",
    "Sarkar's 10-dimensional embeddings reduced to two dimensions",
    "Table 5 of the paper (`tab:sarkar_reduction`)",
    _cells,
    _section,
)
