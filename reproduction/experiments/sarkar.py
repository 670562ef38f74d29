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
    "paper": "### As the paper makes it\n\n"
    "Scale 3.5, children in random directions, drawn anew for each run, placed by inversions of float64 coordinates in the "
    "ball. From about depth ten on nodes fall on the rim; norms are brought back to 1 − 10⁻¹⁵ (radius 35.2), and distances "
    "are measured as what they are, up to 70. Average distortion / Fréchet variance, {runs}.",
    "lorentz": "### Unsaturated\n\n"
    '`SarkarEmbedding(10, model="lorentz")`: evenly spread directions, on the hyperboloid, at the scale with the least '
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
                    "Random directions make other embeddings than the paper's. On those that the published code makes with "
                    f"its seed, `HoroPCA()` has {theirs}."
                )
    if results.where("saturated_sarkar"):
        parts += ["### Two figures that are of no method", _saturation(results)]
    return Section("\n\n".join(parts))


LINES = {
    "nodes at the rim": ("at_rim", "{:.0%}"),
    "pairs at the largest distance there is, 35.2": ("pairs_at_35", "{:.0%}"),
    "distortion of graph distances, by these distances": ("embedding_distortion", "{:.3f}"),
    "distortion of `HoroPCA()`, by these distances, pairs an edge or more apart": ("distortion", "{:.3f}"),
    "the median of it over pairs": ("median", "{:.4f}"),
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
        "ball: its inversions run out of digits. It measures by Moebius addition with norms cut off at 1 − 10⁻¹⁵, where "
        "nothing is farther than 35.2 from anything (ten edges); between nodes outside, distances are 0/0 made finite by a "
        "clamp. Most pairs then are at the largest distance there is before and after any map that leaves them at the rim, "
        "and count as kept perfectly; the printed variance, 1190, is the square of 34.5. It is the figure of no method.\n\n"
        f"**CS Ph.D., hMDS 1241.34.** That is (2 artanh(1 − 10⁻¹⁵))² = {largest:.2f}: every node at the cut-off.\n\n"
        "What the cut-off does, measured on our own saturated embedding:\n\n" + table(["", *paper.GRAPHS], rows)
    )


SARKAR = Experiment(
    "sarkar",
    "Sarkar's 10-dimensional embeddings reduced to two dimensions",
    "Table 5 of the paper (`tab:sarkar_reduction`)",
    _cells,
    _section,
)
