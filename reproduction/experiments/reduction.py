"""Reductions to two dimensions of the paper's optimised embeddings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from horopca.embed.graphs import centre, rooted

from .. import paper
from ..cells import data
from ..cells.systems import NOISES, OURS, SYSTEMS
from ..definitions import Cell, Experiment, Picture, Results, Section, Size
from ..drawing import disks, dumbbells
from ..markdown import ABSENT, bold, both, short, spread, table

BRANCHES = 4  # edges from the middle of a graph at which its branches begin, for the colours
SECONDS = {"pca": 0.2, "tpca": 0.2, "hmds": 0.2, "hae": 4.0, "hae-ours": 5.0, "greedy": 2.0}  # of a cell; others take about one
BY = "reduction.reduce_embedding"
DRAWN = ("pca", "tpca", "pga", "hmds", "orthonormal", "horopca")


def runs_of(system: str, size: Size, drawn: bool = False) -> range:
    """The runs of a system; where the points themselves are `drawn`, every one has several."""
    return range(1 if size.quick or not (drawn or SYSTEMS[system].chance) else size.runs)


def system_cells(
    experiment: str, systems: Iterable[str], size: Size, factor: float = 1.0, *, drawn: bool = False, **fixed: Any
) -> list[Cell]:
    """The cells of systems on each graph, and of what the graph's points, which may be `drawn`, have to keep."""
    tag = "".join(f".{value}" for value in fixed.values())
    cells = []
    for graph, file in paper.GRAPHS.items():
        for run in runs_of("pca", size, drawn):
            arguments, last = {"graph": graph, **fixed}, f".{run}" if drawn else ""
            arguments |= {"run": run} if drawn else {}
            cells.append(Cell(experiment, f"{file}{tag}.cloud{last}", "reduction.cloud", arguments, 0.3))
        for system in systems:
            for run in runs_of(system, size, drawn):
                arguments = {"graph": graph, "system": system, "run": run, **fixed}
                cells.append(Cell(experiment, f"{file}{tag}.{system}.{run}", BY, arguments, factor * SECONDS.get(system, 1.0)))
    return cells


def _cells(size: Size) -> list[Cell]:
    cells = system_cells("reduction", SYSTEMS, size)
    if size.quick:
        return cells
    for graph, file in paper.GRAPHS.items():
        add = lambda tag, cost, module="defects", graph=graph, file=file, function="", **arguments: cells.append(
            Cell("reduction", f"{file}.{function}.{tag}", f"{module}.{function}", {"graph": graph, **arguments}, cost)
        )
        for method in ("pca", "tpca"):
            add(method, 6, function="rows_for_columns", method=method)
        for run in range(size.runs):
            add(str(run), 3, function="one_dimension_more", run=run)
            add(str(run), 0.6, function="clipped_midpoints", run=run)
            for method in ("pga", "bsa"):
                for noise in NOISES:
                    if noise != 0.5:  # which the first table has
                        add(
                            f"{method}.{noise}.{run}",
                            0.5,
                            "reduction",
                            function="noisy_base",
                            method=method,
                            noise=noise,
                            run=run,
                        )
    return cells


def figures(results: Results, graph: str, system: str, function: str = BY, **fixed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distortions and Fréchet variances over runs."""
    of = {"system": system} if system else {}
    return tuple(results.values(q, function, graph=graph, **of, **fixed) for q in ("distortion", "frechet_variance"))  # type: ignore[return-value]


def system_rows(results: Results, printed: Mapping[str, Any], today: Mapping[str, Any], **fixed: Any) -> list[list[str]]:
    """The variance of the data; for each published row its numbers, those of the code today and of the systems; then ours."""
    have = [name for name in SYSTEMS if results.where(BY, system=name, **fixed)]
    least = {}
    for graph in paper.GRAPHS:
        means = {name: d.mean() for name in have if len(d := figures(results, graph, name, **fixed)[0])}
        least[graph] = min(means, key=means.__getitem__, default="")
    clouds = [results.values("frechet_variance", "reduction.cloud", graph=g, **fixed) for g in paper.GRAPHS]
    rows = [["*the data*", *(f"– / {spread(values)}" if len(values) else ABSENT for values in clouds)]]
    shown: set[str] = set()
    for name in have:
        key = SYSTEMS[name].published
        if key in printed and key not in shown:
            shown.add(key)
            rows.append([f"**{TITLES[key]}**, in the paper", *(both(printed[key].get(g)) for g in paper.GRAPHS)])
            if key in today:
                rows.append(["published code, today", *(both(today[key].get(g)) for g in paper.GRAPHS)])
        texts = []
        for graph in paper.GRAPHS:
            d, v = figures(results, graph, name, **fixed)
            texts.append(f"{bold(spread(d, 3), name == least[graph])} / {spread(v, 2)}" if len(d) else ABSENT)
        rows.append([f"{WHOSE[SYSTEMS[name].whose]}: {SYSTEMS[name].title}", *texts])
    return rows


WHOSE = {"paper": "as written", "code": "as coded", "ours": "ours", "other": "another"}
TITLES = {
    "pca": "PCA", "tpca": "tPCA", "pga": "PGA", "pga-noise": "PGA-Noise", "bsa": "BSA", "bsa-noise": "BSA-Noise",
    "hae": "hAE", "hmds": "hMDS", "horopca": "HoroPCA",
}  # fmt: skip


def runs_held(results: Results, function: str, **fixed: Any) -> str:
    """How many runs of random methods there are, in words."""
    runs: Counter[str] = Counter()
    for arguments, _ in results.of_function(function):
        system = SYSTEMS.get(arguments.get("system", ""))
        if fixed.items() <= arguments.items() and (system is None or system.chance):
            runs[str({name: value for name, value in arguments.items() if name != "run"})] += 1
    least, most = min(runs.values(), default=1), max(runs.values(), default=1)
    if least < most:
        return f"{least} to {most} runs, seeds from 0 on"
    return f"{most} runs, seeds 0 to {most - 1}" if most > 1 else "one run, seed 0"


def _section(results: Results) -> Section:
    parts = [
        "Average distortion (less is better) / Fréchet variance (more is better, up to that of the data); "
        f"{runs_held(results, BY)}, for random methods (`HoroPCA` is not random). The smallest distortion is in bold. "
        "*Greedy* is equation (5) of the paper: one ideal point after another. *Orthonormal* is what its published code "
        "optimises: all ideal points together, kept orthonormal. `HoroPCA()` optimises all of them together, without this "
        "constraint. hAE *as described* has one layer each way and no loss but the reconstruction, which does not determine "
        "the scale of the code; `HyperbolicAutoencoder()` has a hidden layer, and distances in its loss. Maps that can "
        "lengthen distances (the autoencoders) can have more variance than the data.",
        table(["", *paper.GRAPHS], system_rows(results, paper.REDUCTION, paper.TODAY)),
        "`RadialPCA()` (which keeps radii and applies PCA to the directions) is a baseline. It can lengthen distances, and so "
        "recovers some of the length that every projection loses.",
        "{reduction}",
        "{reduction-disks}",
        "### Ideal points that merge",
        _merged(results),
    ]
    if results.where("noisy_base"):
        parts += ["### Noise at the base point", _noises(results)]
    if results.where("rows_for_columns"):
        parts += ["### Errors in the published numbers of the baselines", _slips(results)]
    bars = Picture(
        "reduction",
        "Distortion and Fréchet variance of every system on the four data sets, as published, by the published "
        "code today, and here",
        lambda figure: dumbbells(figure, _bars(results)),
        dots=100,
    )
    pictures = [bars]
    images = _images(results, "CS Ph.D.")
    draw = (lambda figure: disks(figure, images, *_branches("CS Ph.D."))) if images else None
    pictures.append(Picture("reduction-disks", "CS Ph.D. in the disk, by six systems", draw, crowded=True, dots=100))
    return Section("\n\n".join(parts), tuple(pictures))


def _merged(results: Results) -> str:
    """Kappa, the angle between the ideal points and the pair variance, for the three searches of the paper's family."""
    rows = []
    for name in ("greedy", "orthonormal", "horopca"):
        texts = []
        for graph in paper.GRAPHS:
            found = results.where(BY, graph=graph, system=name)
            angles, kappas, pairs = ([f[q] for f in found if q in f] for q in ("angle", "kappa", "pair_variance"))
            low, high = min(angles, default=0.0), max(angles, default=0.0)
            degrees = f"{high:.3f}°" if high - low < 0.01 else f"{low:.3f}–{high:.3f}°"
            texts.append(f"{degrees} / {np.mean(kappas):.2g} / {spread(pairs, 2)}" if angles else ABSENT)
        rows.append([SYSTEMS[name].title, *texts])
    clouds = [results.first("reduction.cloud", graph=g) for g in paper.GRAPHS]
    rows.append(["*the data*", *(f"– / – / {c['pair_variance']:.2f}" if c else ABSENT for c in clouds)])
    together = [
        g for g in paper.GRAPHS if (v := results.values("kappa", BY, graph=g, system="horopca")).size and v.max() < 1e-4
    ]
    known = {name: figures(results, "balanced tree", name) for name in ("orthonormal", "horopca")}
    coded, ours = (
        f"{spread(d.mean(keepdims=True), 3)} / {spread(v.mean(keepdims=True))}" if len(d) else ABSENT for d, v in known.values()
    )
    text = MERGED.format(
        merged=", ".join(together) or "no set", print=both(paper.REDUCTION["horopca"]["balanced tree"]), coded=coded, ours=ours
    )
    return text.replace("\n", " ") + "\n\n" + table(["angle / κ / pair variance", *paper.GRAPHS], rows)


MERGED = """The table shows the angle between the two ideal points as seen from the mean, κ (0 if they have merged, see
[method.md](method.md)), and the pair variance, which all three searches maximise. A remark in §3.1 of the paper requires that
no ideal point lies in the hull of the others, but at the maximum of its objective this can fail. Without a constraint, the two
ideal points merge on {merged}: the best projection there is a *limit* of the paper's family, which moves points along the
horocycles of one ideal point. The published code cannot reach it, because it keeps the ideal points orthonormal, at 90°. This
explains the published {print} on the balanced tree, where orthonormal ideal points have {coded} and free ones {ours}."""


def _noises(results: Results) -> str:
    rows = []
    for method in ("pga", "bsa"):
        printed = paper.REDUCTION[f"{method}-noise"]
        rows.append([f"**{method.upper()}-Noise**, in the paper", *(both(printed[g]) for g in paper.GRAPHS)])
        for noise in NOISES:
            texts = []
            for graph in paper.GRAPHS:
                known = {"system": f"{method}-noise"} if noise == 0.5 else {}
                where = (BY, known) if known else ("noisy_base", {"method": method, "noise": noise})
                d, v = figures(results, graph, known.get("system", ""), where[0], **({} if known else where[1]))
                texts.append(f"{spread(d)} / {spread(v)}" if len(d) else ABSENT)
            rows.append([f"σ = {noise:g}", *texts])
    return (
        "The paper adds “Gaussian noise” to the base point and does not state its standard deviation. Here σ is the standard "
        "deviation along each axis of the tangent space, in units of length:\n\n"
        + table(["", *paper.GRAPHS], rows)
        + "\n\nNoise increases the distortion, as the paper says. No σ reproduces the published numbers on all four data sets."
    )


def _bars(results: Results) -> dict[str, list[tuple[str, Any, Any, Any]]]:
    """For each graph rows (title, print, code today, (distortions, variances) over runs)."""
    return {
        graph: [
            (
                SYSTEMS[name].title.replace("`", ""),
                paper.REDUCTION.get(SYSTEMS[name].published, {}).get(graph),
                paper.TODAY.get(SYSTEMS[name].published, {}).get(graph),
                figures(results, graph, name),
            )
            for name in SYSTEMS
            if results.where(BY, graph=graph, system=name)
        ]
        for graph in paper.GRAPHS
    }


def _images(results: Results, graph: str) -> list[tuple[str, np.ndarray]]:
    found = [(name, results.first(BY, graph=graph, system=name, run=0)) for name in DRAWN]
    titles = {name: SYSTEMS[name].title.replace("`", "") for name in DRAWN}
    return [(f"{titles[n]}\ndistortion {f['distortion']:.3f}", np.array(f["points"])) for n, f in found if f and "points" in f]


def _branches(name: str) -> tuple[list[int] | None, np.ndarray | None]:
    """The branch of each node, and the edges; None if the graph is missing."""
    try:
        graph = data.graph(name)
    except data.MissingData:
        return None, None
    tree = rooted(graph.adjacency, centre(graph.adjacency))
    branch = np.arange(graph.size)
    while (deep := tree.depth[branch] > BRANCHES).any():
        branch = np.where(deep, tree.parent[branch], branch)
    return branch.tolist(), np.argwhere(np.triu(graph.adjacency.toarray()))


SLIPS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("pca", "rows for columns, nearest of 512", "rows_for_columns", {"method": "pca"}),
    ("tpca", "rows for columns, nearest of 512", "rows_for_columns", {"method": "tpca"}),
    ("bsa", "one dimension too many", "one_dimension_more", {}),
    ("pga", "midpoints clipped", "clipped_midpoints", {}),
)


def _slips(results: Results) -> str:
    """The published numbers, the code today, and the error reproduced, for each baseline with a wrong published number."""
    rows = []
    for key, slip, function, fixed in SLIPS:
        rows.append([f"**{TITLES[key]}**, in the paper", *(both(paper.REDUCTION[key][g]) for g in paper.GRAPHS)])
        rows.append(["published code, today", *(both(paper.TODAY[key].get(g)) for g in paper.GRAPHS)])
        texts = []
        for graph in paper.GRAPHS:
            d, v = figures(results, graph, "", function, **fixed)
            texts.append(f"{spread(d)} / {spread(v)}" if len(d) else ABSENT)
        rows.append([slip, *texts])
    return "\n\n".join([table(["", *paper.GRAPHS], rows), f"{_rows_text(results)}\n{SLIPS_TEXT}"])


def _rows_text(results: Results) -> str:
    """Which numbers of PCA and tangent PCA the error explains, and how often it would by chance."""
    sentences = []
    for method in ("pca", "tpca"):
        found = {g: f for g in paper.GRAPHS if (f := results.first("rows_for_columns", graph=g, method=method))}
        if not found:
            continue
        met = ", ".join(g for g, f in found.items() if f["met"]) or "none"
        chance = ", ".join(f"{f['by_chance']:.0%}" for f in found.values())
        sentences.append(
            f"{TITLES[method]} agrees in all published digits on {met}; random targets are met in {chance} of the cases"
        )
    return (
        "* **PCA and tPCA: rows for columns.** The published code takes the first two *rows* of the matrix whose *columns* "
        "are the eigenvectors. The rows depend on the arbitrary signs of the columns, so the published numbers and those of "
        "the code today differ. The table shows the closest of all 512 choices of signs. Such a search can succeed by chance, "
        "so it was repeated with the numbers of random planes as targets, on the four data sets in order. "
        f"{'. '.join(sentences)}."
    )


SLIPS_TEXT = """\
* **BSA: one dimension too many.** The fitted object has K + 1 = 3 components and is measured in three dimensions. Its loss uses
  the product with a projection that is not on the hyperboloid, which is cosh² of the distance instead of cosh. Projections are
  clipped, as those of PGA below. There is a single start, so results vary between runs, as the published ones do.
* **PGA: clipped midpoints.** The geodesic projection is computed as the midpoint of a point and its mirror image, but half of
  their distance is limited to that of norm 1 − 10⁻⁵. The published numbers on the balanced tree and on diseases are lower than
  those of a single start and have large deviations; most likely these searches had not converged. The code today is closer to
  ours.
* **hMDS.** The published numbers on the phylo tree and on CS Ph.D. (.74 and .83) are not those of the published code, which
  gives .16 and .27 today, as ours does.
* **hAE.** As described (one layer each way between exponential maps) it is a linear map of the tangent space. The published
  numbers on the balanced tree and on diseases are those of tangent PCA, computed correctly. Its code is not published."""


def readme_table(results: Results) -> str:
    """The four data sets as published and here, for the README."""
    own = results.of("reduction")
    rows = [["HoroPCA in the paper", *(both(paper.REDUCTION["horopca"][g], std=False) for g in paper.GRAPHS)]]
    for name in ("greedy", "orthonormal", *OURS):
        texts = []
        for graph in paper.GRAPHS:
            d, v = figures(own, graph, name)
            texts.append(f"{short(d.mean())} / {v.mean():.2f}" if len(d) else ABSENT)
        if own.where(BY, system=name):
            rows.append([SYSTEMS[name].title, *texts])
    return table(["", *paper.GRAPHS], rows)


NEEDS = {
    "horopca": "the method of the paper; no distance may grow",
    "free": "as much variance as possible; no distance may grow",
    "distortion": "distances preserved as well as possible; no distance may grow",
    "stretch": "distances preserved as well as possible: **pictures**",
    "tpca": "a result without a search, or for points that are close together",
    "radial": "every point at its true distance from the mean",
    "hmds": "classical scaling, or a reduction of a matrix of distances",
    "pga": "geodesic submanifolds through a base point, as in the literature",
}
PLAIN = {"tpca": "`TangentPCA()`", "hmds": "`HyperbolicMDS()`", "pga": '`PGA(strategy="greedy")`'}  # calls of the paper's own


def needs_table(results: Results) -> str:
    """Which method to use for which purpose, with its distortion on the four data sets."""
    own, rows = results.of("reduction"), []
    for name, need in NEEDS.items():
        found = [figures(own, graph, name)[0] for graph in paper.GRAPHS]
        rows.append([need, PLAIN.get(name, SYSTEMS[name].title), *(short(d.mean()) if len(d) else ABSENT for d in found)])
    return table(["you want", "use", *paper.GRAPHS], rows, left=2)


REDUCTION = Experiment(
    "reduction",
    "10-dimensional embeddings reduced to two dimensions",
    "Table 2 of the paper (`tab:pytorch_reduction`)",
    _cells,
    _section,
)
