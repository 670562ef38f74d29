"""One direction: the horospherical projection against the geodesic one."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..definitions import Cell, Experiment, Picture, Results, Section, Size
from ..drawing import histograms
from ..markdown import spread, table

SIGMAS = (1.0, 2.0, 4.0)  # standard deviations of the tangent vectors, as lengths; the paper does not say which it used
DRAWN = 2.0  # the standard normal vectors of the paper's ball, where exp(u) is at the distance 2 |u|


def _cells(size: Size) -> list[Cell]:
    runs, sigmas = (1, (DRAWN,)) if size.quick else (size.runs, SIGMAS)
    return [
        Cell("histogram", f"{sigma:g}.{run}", "histogram.project_on_lines", {"sigma": sigma, "run": run}, 5)
        for sigma in sigmas
        for run in range(runs)
    ]


def pairs_of_means(results: Results, sigma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean distortions of both projections, and how often the horospherical one is smaller, for each run."""
    found = [(np.array(f["horospherical"]), np.array(f["geodesic"])) for f in results.where("project_on_lines", sigma=sigma)]
    return tuple(np.array(part) for part in zip(*((h.mean(), g.mean(), np.mean(h < g)) for h, g in found), strict=True))  # type: ignore[return-value]


def _section(results: Results) -> Section:
    sigmas = [sigma for sigma in SIGMAS if results.where("project_on_lines", sigma=sigma)]
    rows = []
    for sigma in sigmas:
        horo, geo, wins = pairs_of_means(results, sigma)
        rows.append([f"σ = {sigma:g}", spread(horo, 3), spread(geo, 3), f"{wins.mean():.0%}"])
    drawn = results.first("project_on_lines", sigma=DRAWN, run=0) or {"horospherical": [], "geodesic": []}
    text = (
        f"{paper.HISTOGRAM_POINTS} points of the plane (normal tangent vectors at the origin with standard deviation σ, mapped "
        "by the exponential map) are projected on the geodesics through the origin towards "
        f"{paper.HISTOGRAM_DIRECTIONS} random ideal points. The table shows the average distortion, as mean ± standard "
        "deviation over draws. The paper does not state σ; it shows a histogram and prints no numbers.\n\n"
        + table(["", "horospherical", "geodesic", "directions in which the horospherical one is smaller"], rows)
        + "\n\n{histogram}"
    )
    draw = lambda figure: histograms(figure, {name: np.array(drawn[name]) for name in ("horospherical", "geodesic")})
    caption = f"Histogram of the average distortion of both projections in 100 directions, σ = {DRAWN:g}"
    return Section(text, (Picture("histogram", caption, draw),))


HISTOGRAM = Experiment(
    "histogram", "Projections on one direction", "Figure 6 of the paper (`fig:distortion_hist`)", _cells, _section
)
