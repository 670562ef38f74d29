"""Regions around points, drawn with their true borders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..geometry import distance, from_hyperboloid, to_hyperboloid, translate, translate_to_origin
from ..statistics import frechet_mean, variance_about
from .figures import MANY, proportion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .views import View

PALEST = 0.25  # Opacity of a point whose region is as large as the plot. The region itself is not drawn.
FILL = 0.3  # Opacity of a small region. Larger ones are paler, so that the points below them remain visible.
FLAT = 1e-3  # A border and its polygon differ by less than this fraction of the radius of the plot: a third of a pixel.
ROUNDS = 30  # Halvings of an interval of angles. Seen from the centre, a region of radius 20 needs 29.


class Ellipses(NamedTuple):
    """Regions exp(A u), |u| <= 1, around points x (n, 3), with A (n, 2, 2) in their tangent spaces; drawn from a centre."""

    x: np.ndarray
    axes: np.ndarray
    centre: np.ndarray
    level: float

    def reach(self) -> np.ndarray:
        """The largest distance (n,) from a point to its border."""
        return np.asarray(np.linalg.norm(self.axes, ord=2, axis=(1, 2)))

    def border(self, i: int, view: View, size: float) -> np.ndarray:
        """The border of region i in a view: points (m, 2), close to each other where it bends."""
        angle = np.linspace(0, 2 * np.pi, 33)
        for _ in range(ROUNDS):
            middle = (angle[1:] + angle[:-1]) / 2
            ends, between = self._at(i, angle, view), self._at(i, middle, view)
            bent = np.linalg.norm(between - (ends[1:] + ends[:-1]) / 2, axis=1) > FLAT * size
            if not bent.any():
                break
            angle = np.sort(np.concatenate([angle, middle[bent]]))
        return self._at(i, angle[:-1], view)

    def _at(self, i: int, angle: np.ndarray, view: View) -> np.ndarray:
        u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        border = translate(to_hyperboloid(u @ self.axes[i].T, "tangent"), self.x[i])
        return np.asarray(from_hyperboloid(translate_to_origin(border, self.centre), view.model))


class Polygons(NamedTuple):
    """Regions with borders (n, m, 3) around points x (n, 3); drawn from a centre."""

    x: np.ndarray
    borders: np.ndarray
    centre: np.ndarray

    def reach(self) -> np.ndarray:
        """The largest distance (n,) from a point to its border."""
        return np.asarray(distance(self.borders, self.x[:, None, :]).max(axis=1))

    def border(self, i: int, view: View, size: float) -> np.ndarray:
        """The border of region i in a view: points (m, 2)."""
        return np.asarray(from_hyperboloid(translate_to_origin(self.borders[i], self.centre), view.model))


Regions: TypeAlias = Ellipses | Polygons


def opacity(regions: Regions) -> np.ndarray:
    """The opacity (n,) of points with regions, from 1 down to `PALEST`: by the size of the region against that of the plot."""
    spread = np.sqrt(variance_about(regions.x, frechet_mean(regions.x).point)) or 1.0
    return np.asarray(np.clip(1 - regions.reach() / spread / 2, PALEST, 1.0))


def draw_regions(ax: Axes, regions: Regions, view: View, size: float, colours: np.ndarray, alpha: np.ndarray) -> str:
    """Draw regions in the colours (n, 4) of their points, the largest first. Returns a note about them."""
    from matplotlib.collections import PolyCollection

    order = np.argsort(alpha, kind="stable")
    order = order[alpha[order] > PALEST]
    faces, edges = colours[order].copy(), colours[order].copy()
    crowding = max(1.0, np.sqrt(len(order)) / 10)  # many regions overlap
    faces[:, 3] *= FILL * alpha[order] ** 2 / crowding
    edges[:, 3] *= alpha[order] / crowding
    borders = [regions.border(int(i), view, size) for i in order]
    drawn = PolyCollection(borders, facecolors=faces, edgecolors=edges, linewidths=0.5 * proportion(ax), zorder=2.5)
    drawn.set_gid("regions")
    drawn.set_rasterized(len(borders) > MANY)
    ax.add_collection(drawn, autolim=False)
    level = f"regions at a confidence of {regions.level:.0%}" if isinstance(regions, Ellipses) else ""
    omitted = len(alpha) - len(order)
    left_out = f"{omitted:,} of {len(alpha):,} regions are as large as the plot and left out" if omitted else ""
    return "; ".join(filter(None, [level, left_out]))
