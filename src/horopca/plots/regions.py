"""Regions around points, where these may lie: drawn as true as the points themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..geometry import distance, from_hyperboloid
from ..statistics import frechet_mean, variance_about
from .figures import MANY, proportion
from .views import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALEST = 0.25  # A point that may lie anywhere is as pale as this, and its region, which is all of the picture, is left out.
FILLED = 0.3  # The inside of a small region; larger ones are paler, so that what lies under them is seen.


def firmness(x: np.ndarray, borders: np.ndarray) -> np.ndarray:
    """How sure it is where points x (n, 3) lie, from 1 down to `PALEST`: by the size of regions against that of the picture."""
    if not borders.size:
        return np.ones(len(x))
    reach = np.max(distance(borders, x[:, None, :]), axis=1)
    whole = np.sqrt(variance_about(x, frechet_mean(x).point)) or 1.0
    return np.asarray(np.clip(1 - reach / whole / 2, PALEST, 1.0))


def draw_regions(ax: Axes, borders: np.ndarray, view: View, colours: np.ndarray, firm: np.ndarray) -> str:
    """Regions with borders (n, m, 3), in the colours (n, 4) of their points, the largest below; says how many were left out."""
    from matplotlib.collections import PolyCollection

    order = np.argsort(firm, kind="stable")
    order = order[firm[order] > PALEST]
    polygons = np.asarray(from_hyperboloid(borders[order], view.model))
    faces, edges = colours[order].copy(), colours[order].copy()
    crowd = max(1.0, np.sqrt(len(order)) / 10)  # many lie on top of each other
    faces[:, 3] *= FILLED * firm[order] ** 2 / crowd
    edges[:, 3] *= firm[order] / crowd
    drawn = PolyCollection(list(polygons), facecolors=faces, edgecolors=edges, linewidths=0.5 * proportion(ax), zorder=2.5)
    drawn.set_gid("regions")
    drawn.set_rasterized(len(polygons) > MANY)
    ax.add_collection(drawn, autolim=False)
    left = len(firm) - len(order)
    return f"{left:,} of {len(firm):,} regions are as large as the picture" if left else ""
