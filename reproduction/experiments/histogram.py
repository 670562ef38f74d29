"""One direction: the horospherical projection against the geodesic one."""

from __future__ import annotations

import numpy as np

from .. import paper
from ..drawing import histograms
from ..experiment import Cell, Claim, Experiment, Page, Picture, Results, Size


def _cells(size: Size) -> list[Cell]:
    return [Cell("histogram", "lines", "histogram.project_on_lines", {"seed": 0}, 6)]


def _page(results: Results) -> Page:
    text = (
        f"{paper.HISTOGRAM_POINTS} points of the plane from a wrapped normal distribution at the origin, projected on the "
        f"lines through the origin towards {paper.HISTOGRAM_DIRECTIONS} random ideal points."
    )
    found = results.first("project_on_lines")
    if found is None:
        return Page(text)
    horo, geo = (np.array(found[name]) for name in ("horospherical", "geodesic"))
    text += (
        f" Average distortion: horospherical {horo.mean():.3f} ± {horo.std():.3f}, geodesic {geo.mean():.3f} ± {geo.std():.3f}."
        f" The horospherical projection distorts less in {np.mean(horo < geo):.0%} of the directions. (The paper shows the "
        "histogram and prints no figures.)\n\n{histogram}"
    )
    draw = lambda figure: histograms(figure, {"horospherical": horo, "geodesic": geo})
    return Page(
        text, (Picture("histogram", "Histogram of average distortions of horospherical and geodesic projections", draw),)
    )


def _claims(results: Results) -> list[Claim]:
    found = results.first("project_on_lines")
    if found is None:
        return []
    wins = float(np.mean(np.array(found["horospherical"]) < np.array(found["geodesic"])))
    return [Claim("horospherical projections distort less than geodesic ones", f"in {wins:.0%} of the directions", wins > 0.5)]


HISTOGRAM = Experiment("histogram", "Projections on one direction", _cells, _page, _claims, "")
