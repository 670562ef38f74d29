"""Confidence regions around points, with their exact borders in any view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from ..geometry import to_hyperboloid, translate, translate_to_origin
from ..statistics import frechet_mean, variance_about
from .figures import MANY, proportion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .views import View

PALEST = 0.25  # Opacity of a point whose region is too large to be drawn.
FILL = 0.3  # Opacity of a small region. Larger ones are paler, so that the points below them remain visible.
FLAT = 1e-3  # The largest gap between a border and its polygon, as a fraction of the radius of the plot: a third of a pixel.
ROUNDS = 30  # The largest number of bisections of an interval of angles. A region of radius 20 needs 29.


def opacity(data: SimpleNamespace) -> np.ndarray:
    """The opacity (n,) of the points: 1 for a region of size 0, `PALEST` if a semi-axis is half the spread or more."""
    spread = np.sqrt(variance_about(data.x, frechet_mean(data.x).point)) or 1.0
    return np.asarray(np.clip(1 - np.linalg.norm(data.ellipses, ord=2, axis=(1, 2)) / spread * 1.5, PALEST, 1.0))


def _border(data: SimpleNamespace, i: int, view: View, size: float) -> np.ndarray:
    """The border exp(A u), |u| = 1, of region i in a view: points (m, 2), close to each other where it bends."""

    def at(angle: np.ndarray) -> np.ndarray:
        u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        border = translate(to_hyperboloid(u @ data.ellipses[i].T, "tangent"), data.unmoved[i])
        return view.place(translate_to_origin(border, data.centre))

    angle = np.linspace(0, 2 * np.pi, 33)
    for _ in range(ROUNDS):
        middle = (angle[1:] + angle[:-1]) / 2
        ends, between = at(angle), at(middle)
        bent = np.linalg.norm(between - (ends[1:] + ends[:-1]) / 2, axis=1) > FLAT * size
        if not bent.any():
            break
        angle = np.sort(np.concatenate([angle, middle[bent]]))
    return at(angle[:-1])


def draw_regions(ax: Axes, data: SimpleNamespace, view: View, size: float, colours: np.ndarray, alpha: np.ndarray) -> str:
    """Draw regions in the colours (n, 4) of points of opacities alpha (n,), the largest first. Returns a note about them."""
    from matplotlib.collections import PolyCollection

    order = np.argsort(alpha, kind="stable")
    order = order[alpha[order] > PALEST]
    faces, edges = colours[order].copy(), colours[order].copy()
    crowding = max(1.0, np.sqrt(len(order)) / 10)  # many regions overlap
    faces[:, 3] *= FILL * alpha[order] ** 2 / crowding
    edges[:, 3] *= alpha[order] / crowding
    borders = [_border(data, int(i), view, size) for i in order]
    drawn = PolyCollection(borders, facecolors=faces, edgecolors=edges, linewidths=0.5 * proportion(ax), zorder=2.5)
    drawn.set(gid="regions", rasterized=len(borders) > MANY)
    ax.add_collection(drawn, autolim=False)
    omitted = len(alpha) - len(order)
    left_out = f"; too large to draw: {omitted:,} of {len(alpha):,}" if omitted else ""
    return f"regions at a confidence of {data.regions.level:.0%}{left_out}"
