"""Classification of networks, on the points themselves and on whitened features."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..cells.whitening import BASELINES, DIRECTIONS, SCORES
from ..definitions import Cell, Experiment, Picture, Results, Section, Size
from ..drawing import whitening_bars
from ..markdown import bold, printed, spread, table

VERSIONS = (1, 2, 3, 4, 5)
SECONDS = {"polbooks": 2.3, "football": 2.8, "polblogs": 2.0}
PUBLISHED = {"HoroPCA, greedy": "HoroPCA + eSVM"}  # what the paper's last row is, as written
ROWS = (*BASELINES, *DIRECTIONS)
LABELS = {
    "HoroPCA, greedy": "as written: along HoroPCA's directions (the equation)",
    "HoroPCA, orthonormal": "as coded: along HoroPCA's directions (orthonormal)",
    "HoroPCA, joint": "along the directions of `HoroPCA()`",
    "a random orthonormal pair": "along a random orthonormal pair",
    "BusemannWhitener(2)": "ours: `BusemannWhitener(2)`",
    "BusemannWhitener(4)": "ours: `BusemannWhitener(4)`, the default",
}


def _cells(size: Size) -> list[Cell]:
    networks = ("polbooks", "football") if size.quick else paper.NETWORKS
    versions, runs = ((1, 2), 1) if size.quick else (VERSIONS, size.runs)
    return [
        Cell(
            "whitening",
            f"{network}.{version}.{classifiers}.{run}",
            "whitening.classify",
            {"network": network, "version": version, "run": run, "classifiers": classifiers},
            SECONDS[network] / (1 if classifiers == "baselines" else 2),
        )
        for network in networks
        for version in versions
        for run in range(runs)
        for classifiers in ("baselines", "directions")
    ]


def scores(results: Results, network: str, row: str, metric: str) -> np.ndarray:
    """In percent: for each embedding, the mean over the splits that all classifiers have."""
    kinds = ("baselines", "directions") if row in BASELINES else ("directions", "baselines")
    seen: dict[tuple[int, str], dict[int, dict]] = {(v, kind): {} for v in VERSIONS for kind in kinds}
    for a, result in results.of_function("classify"):
        if a["network"] == network:
            seen[a["version"], a["classifiers"]][a["run"]] = result
    means = []
    for version in VERSIONS:
        mine, theirs = (seen[version, kind] for kind in kinds)
        shared = [mine[run] for run in mine if run in theirs or not theirs]
        means += [100 * np.mean([result[row][metric] for result in shared])] if shared else []
    return np.array(means)


def held(results: Results, network: str) -> list[str]:
    """The rows that have results."""
    return [row for row in ROWS if len(scores(results, network, row, "accuracy"))]


def network_tables(results: Results) -> str:
    """A table for each network: every classifier by every metric, with the published numbers."""
    own, tables = results.of("whitening"), []
    for network in paper.NETWORKS:
        if not own.where("classify", network=network):
            continue
        rows = []
        means = {metric: {row: scores(own, network, row, metric).mean() for row in held(own, network)} for metric in SCORES}
        for row in held(own, network):
            texts = [bold(spread(scores(own, network, row, j), 1), means[j][row] == max(means[j].values())) for j in SCORES]
            known = paper.WHITENING.get(PUBLISHED.get(row, row))
            rows.append([LABELS.get(row, row), *texts, printed(known and known[paper.NETWORKS.index(network)], 1)])
        tables.append(table([f"{network}, %", *SCORES, "in the paper"], rows))
    return "\n\n".join(tables)


def correlations(results: Results, network: str, row: str) -> np.ndarray:
    """The absolute correlation of the two coordinates, over embeddings and halvings."""
    return np.abs([found[row]["correlation"] for found in results.where("classify", network=network, classifiers="directions")])


def _section(results: Results) -> Section:
    networks = [n for n in paper.NETWORKS if results.where("classify", network=n)]
    kinds = {a["classifiers"] for a, _ in results}
    halves = min((len({a["run"] for a, _ in results if a["classifiers"] == kind}) for kind in kinds), default=0)
    versions = len({arguments["version"] for arguments, _ in results})
    parts = [
        f"{versions} embeddings of each network in the Poincaré disk, and {halves} stratified splits of each into halves. The "
        "whitening is learnt and C is chosen on the training half alone. Numbers are percentages, mean ± standard "
        "deviation over "
        "the embeddings, with the best of each column in bold. The paper prints one number, which its caption "
        "calls accuracy and "
        "its text average precision. It agrees best with the area under the precision-recall curve by trapezoids, as computed "
        "by the code published with the data ([whitening.md](whitening.md) has the argument).",
        network_tables(results),
        *([_degenerate(results, networks)] if all(len(held(results, n)) == len(ROWS) for n in networks) else []),
        "**PGA.** Two principal geodesics span the plane, so whitening by PGA is the same as whitening by tangent "
        "PCA. We could "
        "not reproduce the paper's low numbers for PGA.",
        "{whitening}",
    ]
    bars = {
        n: [
            (
                LABELS.get(row, row).replace("`", ""),
                scores(results, n, row, "trapezoid area"),
                known and known[paper.NETWORKS.index(n)],
            )
            for row in held(results, n)
            for known in [paper.WHITENING.get(PUBLISHED.get(row, row))]
        ]
        for n in networks
    }
    caption = (
        "Area under the precision-recall curve, by trapezoids, of every classifier, with deviations and the published numbers"
    )
    return Section("\n\n".join(parts), (Picture("whitening", caption, lambda figure: whitening_bars(figure, bars)),))


def _degenerate(results: Results, networks: list[str]) -> str:
    """The result of whitening along the directions of HoroPCA itself."""
    mean = lambda row: ", ".join(f"{scores(results, n, row, 'average precision').mean():.1f}" for n in networks)
    medians = ", ".join(f"{np.median(correlations(results, n, 'HoroPCA, greedy')):.2f}" for n in networks)
    return (
        "**Along HoroPCA's directions, as written.** In the plane K = d = 2, and the objective is degenerate: every pair of "
        "ideal points whose spine has all the data on one side keeps all distances. The search often returns two ideal points "
        "that are close together, so their coordinates are redundant: the median of the absolute correlation is "
        f"{medians} on {', '.join(networks)}. The average precision along them is {mean('HoroPCA, greedy')}. It is "
        f"{mean('HoroPCA, orthonormal')} if the two are kept orthonormal, as in the published code, and "
        f"{mean('a random orthonormal pair')} along a random orthonormal pair. `BusemannWhitener`, which chooses informative "
        f"directions, has {mean('BusemannWhitener(2)')} with two directions and {mean('BusemannWhitener(4)')} with four."
    )


WHITENING = Experiment("whitening", "Whitening and classification", "Table 3 of the paper (`tab:cls`)", _cells, _section)
