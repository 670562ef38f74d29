"""The views of the hyperbolic plane. A view is one row of `VIEWS`: its coordinates, geodesics, frame and rings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometry import MODELS, ModelName, origin, radius, to_hyperboloid, translate_to_origin
from ..statistics import frechet_mean
from .curves import Arcs, equidistant_arcs, halfplane_arcs, klein_arcs, poincare_arcs
from .figures import draw_lines, new_figure, proportion, text_size, theme_of
from .palette import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIM = 5.3  # Beyond this radius points of the Poincaré disk are within 1 % of its rim, and look as if they were on it.
RING_GAP = 0.06  # The smallest gap between two rings, as a fraction of the radius of the plot: room for a number.
RING_STEPS = (1, 2, 5, 10, 20, 50, 100, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)  # in order of preference


class View(NamedTuple):
    """How the hyperbolic plane is drawn: where points are, their geodesics, the frame and rings around the centre."""

    title: str
    model: ModelName
    arcs: Arcs  # geodesics between points of the view
    frame: Callable[[Axes, np.ndarray, Theme], float]  # draws the boundary, sets limits for points xy, returns the radius
    ring: Callable[[np.ndarray], np.ndarray]  # the radius in the plot of a hyperbolic radius
    rim: bool = False  # whether far points accumulate at a rim: marks are smaller there, and a note says so if most do
    ringed: bool = False  # whether rings are always drawn, because the plot has no other scale

    def place(self, x: np.ndarray) -> np.ndarray:
        """Where points x (n, 3) of the hyperboloid are in the plot, (n, 2)."""
        return np.asarray(MODELS[self.model].from_hyperboloid(x))

    def polar(self, r: Any, angle: Any) -> np.ndarray:
        """Where the points (m, 2) at distances r from the centre in directions `angle` are in the plot."""
        return self.place(to_hyperboloid(np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1), "tangent"))


def _disk_frame(ax: Axes, xy: np.ndarray, theme: Theme, size: float = 1.0) -> float:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0, 0), size, facecolor=theme.disk, edgecolor=theme.rim, linewidth=proportion(ax), zorder=0))
    ax.set(xlim=(-1.02 * size, 1.02 * size), ylim=(-1.02 * size, 1.02 * size), aspect="equal")
    ax.set_axis_off()
    return size


def _equidistant_frame(ax: Axes, xy: np.ndarray, theme: Theme) -> float:
    """A circle around all points. The plane continues outside."""
    return _disk_frame(ax, xy, theme, 1.03 * max(float(np.linalg.norm(xy, axis=1).max(initial=0)), 1e-3))


def _halfplane_frame(ax: Axes, xy: np.ndarray, theme: Theme) -> float:
    """The boundary below, and limits around all points."""
    top = 1.08 * max(2.0, float(xy[:, 1].max(initial=0)))
    low, high = float(xy[:, 0].min(initial=0)), float(xy[:, 0].max(initial=0))
    middle, half = (low + high) / 2, max(1.08 * (high - low) / 2, top / 2)
    ax.axhline(0, color=theme.rim, linewidth=proportion(ax), zorder=1, clip_on=False)
    ax.set(xlim=(middle - half, middle + half), ylim=(0, top), aspect="equal", facecolor=theme.disk, xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return top


VIEWS = {
    "disk": View("the Poincaré disk", "poincare", poincare_arcs, _disk_frame, lambda r: np.tanh(r / 2), rim=True),
    "klein": View("Klein's disk", "klein", klein_arcs, _disk_frame, np.tanh, rim=True),
    "equidistant": View("the equidistant disk", "tangent", equidistant_arcs, _equidistant_frame, lambda r: r, ringed=True),
    "halfplane": View("the half-plane", "halfspace", halfplane_arcs, _halfplane_frame, lambda r: np.exp(np.minimum(r, 700))),
}


def fraction_on_rim(x: np.ndarray) -> float:
    """The fraction of points x (n, 3) that look as if they were on the rim of the Poincaré disk around the origin."""
    return float(np.mean(radius(x) > RIM)) if len(x) else 0.0


def choose_view(x: np.ndarray) -> str:
    """The Poincaré disk, or the equidistant one if more than half of the points would be on the rim of the former."""
    return "equidistant" if fraction_on_rim(x) > 0.5 else "disk"


def why_equidistant(x: np.ndarray) -> str:
    """The reason why `choose_view` chose the equidistant view for points x (n, 3)."""
    return f"by distance from the centre: {fraction_on_rim(x):.0%} of the points would lie on the rim of the Poincaré disk"


def choose_centre(x: np.ndarray, root: int | None) -> np.ndarray:
    """The centre (3,) of a picture of points x (n, 3): the root of a tree if there is one, or else the Fréchet mean.

    It is also the mean if around the root, but not around the mean, most of the points would appear to lie on the rim.
    """
    mean = np.asarray(frechet_mean(x).point)
    if root is None or fraction_on_rim(translate_to_origin(x, x[root])) > 0.5 >= fraction_on_rim(translate_to_origin(x, mean)):
        return mean
    return np.asarray(x[root])


def axes_in_view(ax: Axes | None, disk_only: str | None = None) -> tuple[Axes, View, np.ndarray]:
    """The axes (by default new ones with a disk), and the view and centre (3,) that `plot_plane` stored in them.

    Raises ValueError if the view is not the Poincaré disk and `disk_only`, the name of a function that needs it, is given.
    """
    ax = new_figure().subplots() if ax is None else ax
    if not hasattr(ax, "patches"):
        raise ValueError(f"ax must be matplotlib axes, such as plot_plane returns, but is {ax!r}.")
    marks = [vars(artist)["horopca"] for artist in ax.get_children() if "horopca" in vars(artist)]
    name, centre = marks[-1] if marks else ("disk", origin(2))
    if disk_only and name != "disk":
        raise ValueError(
            f"{disk_only} draws in the Poincaré disk, but ax shows {VIEWS[name].title}. "
            'Pass the axes of plot_plane(..., view="disk").'
        )
    if name == "disk" and not ax.patches:
        VIEWS["disk"].frame(ax, np.empty((0, 2)), theme_of(ax))
    return ax, VIEWS[name], centre


def ring_radii(view: View, size: float, unit: float) -> np.ndarray:
    """Radii of two to six rings, multiples of a round step in the user's unit of length, for a plot of radius `size`."""
    for step in RING_STEPS:
        radii = np.arange(1, 41) * step / unit
        drawn = view.ring(radii) / size
        apart = radii[(drawn < 0.97) & (np.diff(drawn, prepend=0) > RING_GAP)]
        if 2 <= len(apart) <= 6:
            return np.asarray(apart * unit)
    return np.empty(0)


def draw_rings(ax: Axes, view: View, size: float, unit: float, theme: Theme) -> None:
    """Draw numbered circles around the centre, and twelve rays."""
    angle, turns = np.linspace(0, 2 * np.pi, 181), np.arange(12) * np.pi / 6
    reach = [0, size] if view.model == "tangent" else np.linspace(0, 20, 100)  # radius 20 is 4e-9 from the rim
    radii = ring_radii(view, size, unit)
    circles = [view.polar(r / unit, angle) for r in radii]
    draw_lines(ax, [*circles, *(view.polar(np.asarray(reach), turn) for turn in turns)], theme.grid, 0.6)
    style: dict[str, Any] = {"fontsize": text_size(ax, 6), "color": theme.edge, "ha": "center", "va": "center"}
    style["bbox"] = {"facecolor": theme.disk, "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
    for r, circle in zip(radii, circles, strict=True):
        top = circle[circle[:, 1].argmax()]
        ax.text(float(top[0]), float(top[1]), f"{r:g}", zorder=3.5, gid="ring", clip_on=True, **style)
