"""Reductions to two dimensions of Sarkar's embeddings."""

from __future__ import annotations

from .. import paper
from ..experiment import Cell, Claim, Experiment, Page, Results, Size
from ..tables import ABSENT, printed, table
from .reduction import OURS, SECONDS, comparison_rows, runs_of

METHODS = ("pca", "tpca", "pga", "bsa", "hmds", *OURS)
KINDS = {True: "as the paper makes it", False: "unsaturated"}


def _cells(size: Size) -> list[Cell]:
    cells = [
        Cell(
            "sarkar",
            f"{paper.GRAPHS[graph]}.{method}.{'saturated' if saturated else 'unsaturated'}.{run}",
            "reduction.reduce_sarkar",
            {"graph": graph, "method": method, "run": run, "saturated": saturated},
            (0.5 if saturated else 3.0) + SECONDS.get(method, 1.5),
        )
        for saturated in ((True,) if size.quick else (True, False))
        for graph in paper.GRAPHS
        for method in METHODS
        for run in runs_of(method, size)
    ]
    defects = [
        Cell("sarkar", f"{file}.saturated_sarkar", "defects.saturated_sarkar", {"graph": graph, "run": 0}, 5)
        for graph, file in paper.GRAPHS.items()
    ]
    return cells if size.quick else cells + defects


def _page(results: Results) -> Page:
    parts = []
    for saturated, words in KINDS.items():
        if results.where("reduce_sarkar", saturated=saturated):
            published = paper.SARKAR if saturated else {}
            rows = comparison_rows(results, published, "reduce_sarkar", saturated=saturated)
            parts += [f"### {words[0].upper()}{words[1:]}", TEXT[saturated], table(["", *paper.GRAPHS], rows)]
    if results.where("saturated_sarkar"):
        parts += ["### What the ball of float64 does to it", _saturation(results)]
    return Page("\n\n".join(parts))


TEXT = {
    True: "Scale 3.5, children in random directions, placed by inversions of float64 coordinates in the ball. From about depth "
    "ten on nodes fall on the rim; norms are brought back to 1 − 10⁻¹⁵ (radius 35.2), and distances are measured as what they "
    "are, up to 70. Average distortion / Fréchet variance.",
    False: '`SarkarEmbedding(10, model="lorentz")`: evenly spread directions, on the hyperboloid, at the scale with the least '
    "distortion of graph distances. The paper has no such table.",
}


def _saturation(results: Results) -> str:
    rows, lines = (
        [],
        {
            "nodes at the rim": ("at_rim", "{:.0%}"),
            "pairs at the largest distance there is, 35.2": ("pairs_at_35", "{:.0%}"),
            "distortion of graph distances, by these distances": ("embedding_distortion", "{:.3f}"),
            "distortion of `HoroPCA()`, by these distances, pairs an edge or more apart": ("distortion", "{:.3f}"),
            "the median of it over pairs": ("median", "{:.4f}"),
        },
    )
    for words, (quantity, form) in lines.items():
        found = [results.first("saturated_sarkar", graph=g) for g in paper.GRAPHS]
        rows.append([words, *(form.format(f[quantity]) if f else ABSENT for f in found)])
    published = [printed(paper.SARKAR["horopca"][g].distortion) for g in paper.GRAPHS]
    rows.append(["HoroPCA's distortion in the paper", *published])
    return (
        "The paper measures by Moebius addition in the ball, where no two points are farther apart than 35.2 (ten edges). On "
        "the phylo tree most pairs are at that distance before and after any projection that keeps points at the rim, and "
        "count as kept perfectly; the published Fréchet variance there, 1190, is the square of 34.5. That is how a distortion "
        "as small as the published .01 comes about (ours, measured that way, is not as small in the mean, but 0 in the "
        "median). By true distances no method is near it, unless the embedding is unsaturated.\n\n"
        + table(["", *paper.GRAPHS], rows)
    )


def _claims(results: Results) -> list[Claim]:
    found = {g: results.values("distortion", "reduce_sarkar", graph=g, method="horopca", saturated=True) for g in paper.GRAPHS}
    if not all(len(values) for values in found.values()):
        return []
    known = {g: paper.SARKAR["horopca"][g].distortion.mean for g in paper.GRAPHS}
    words = "Sarkar's embedding as the paper makes it, {}: distortion of `HoroPCA()` at most {}"
    why = {False: " by true distances (see there what the ball of float64 does to it)", True: ""}
    reached = {g: bool(found[g].mean() <= known[g]) for g in paper.GRAPHS}
    return [
        Claim(words.format(g, f"{known[g]:.2f}"), f"{found[g].mean():.3f}{why[reached[g]]}", reached[g]) for g in paper.GRAPHS
    ]


SARKAR = Experiment(
    "sarkar",
    "Sarkar's 10-dimensional embeddings reduced to two dimensions",
    _cells,
    _page,
    _claims,
    "runs after the first, the unsaturated embeddings, and the measurement of saturation",
)
