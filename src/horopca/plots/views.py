"""How each model of the hyperbolic plane is drawn: its frame, its rings and rays, its geodesics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometry import ModelName, from_hyperboloid, origin, radius
from .curves import geodesic_arcs, on_hyperboloid
from .figures import draw_lines, proportion, text_size
from .palette import Theme

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

RIM = 5.3  # From this radius on the Poincaré disk has less than a hundredth of its own left: the rim, to the eye.
APART = 0.06  # Rings that are drawn are at least so far from each other, in the picture's radius.
STEPS = (1, 2, 5, 10, 20, 50, 100, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)  # Steps between rings, the liked ones first.


class View(NamedTuple):
    """A model as it is drawn: what it is called, its coordinates, its frame, and where rings of given radii fall."""

    title: str
    model: ModelName
    frame: Callable[[Axes, np.ndarray, Theme], float]  # limits and boundary, for points xy; returns the picture's radius
    ring: Callable[[np.ndarray], np.ndarray]  # from hyperbolic radius to radius in the picture
    ringed: bool = False  # rings are always drawn: without them the picture has no scale


def _disk_frame(ax: Axes, xy: np.ndarray, theme: Theme) -> float:
    return _round_frame(ax, 1.0, theme)


def _equidistant_frame(ax: Axes, xy: np.ndarray, theme: Theme) -> float:
    """A circle around all points: the plane goes on outside it."""
    return _round_frame(ax, 1.03 * max(float(np.linalg.norm(xy, axis=1).max(initial=0)), 1e-3), theme)


def _round_frame(ax: Axes, size: float, theme: Theme) -> float:
    from matplotlib.patches import Circle

    width = proportion(ax)
    ax.add_patch(Circle((0, 0), size, facecolor=theme.disk, edgecolor=theme.rim, linewidth=width, zorder=0))
    ax.set(xlim=(-1.02 * size, 1.02 * size), ylim=(-1.02 * size, 1.02 * size), aspect="equal")
    ax.set_axis_off()
    return size


def _halfplane_frame(ax: Axes, xy: np.ndarray, theme: Theme) -> float:
    """Room for all points, and the boundary below them."""
    top = 1.08 * max(2.0, float(xy[:, 1].max(initial=0)))
    low, high = float(xy[:, 0].min(initial=0)), float(xy[:, 0].max(initial=0))
    middle, half = (low + high) / 2, max(1.08 * (high - low) / 2, top / 2)
    ax.axhline(0, color=theme.rim, linewidth=proportion(ax), zorder=1, clip_on=False)
    ax.set(xlim=(middle - half, middle + half), ylim=(0, top), aspect="equal", facecolor=theme.disk)
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return top


VIEWS = {
    "disk": View("the Poincaré disk", "poincare", _disk_frame, lambda r: np.tanh(r / 2)),
    "klein": View("Klein's disk", "klein", _disk_frame, np.tanh),
    "equidistant": View("the equidistant disk", "tangent", _equidistant_frame, lambda r: r, ringed=True),
    "halfplane": View("the half-plane", "halfspace", _halfplane_frame, lambda r: np.exp(np.minimum(r, 700))),
}


def share_on_rim(x: np.ndarray) -> float:
    """The share of points x (n, 3) that the Poincaré disk around the origin shows on its rim, to the eye."""
    return float(np.mean(radius(x) > RIM)) if len(x) else 0.0


def choose_view(x: np.ndarray) -> str:
    """The Poincaré disk, or the equidistant one where most points would fall on the rim of the former.

    >>> choose_view(np.array([[np.cosh(9.0), np.sinh(9.0), 0.0]])), choose_view(np.array([[1.0, 0.0, 0.0]]))
    ('equidistant', 'disk')
    """
    return "equidistant" if share_on_rim(x) > 0.5 else "disk"


def why_by_distance(x: np.ndarray) -> str:
    """Why `choose_view` shows points x (n, 3) by their distances, in words."""
    return f"by distance from the centre: {share_on_rim(x):.0%} of the points would lie on the rim of the Poincaré disk"


def lost_in(view: str, x: np.ndarray, xy: np.ndarray, size: float) -> str:
    """A sentence where most points cannot be told apart in the view; empty otherwise."""
    if view == "equidistant" or not len(x):
        return ""
    low = xy[:, 1] < 0.01 * size if view == "halfplane" else radius(x) > RIM
    if np.mean(low) <= 0.5:
        return ""
    where = "the boundary" if view == "halfplane" else "the rim"
    return f'{np.mean(low):.0%} of the points lie on {where} to the eye: view="equidistant" shows them'


# ---------------------------------------------------------------- what axes show


def mark_view(artist: Artist, name: str, centre: np.ndarray) -> None:
    """Let an artist of some axes remember their view and its centre (3,): it goes when they are cleared."""
    vars(artist)["horopca"] = name, centre


def view_on(ax: Axes) -> tuple[str, np.ndarray]:
    """The name of the view that was drawn last on the axes, and its centre (3,); the disk around the origin if none was."""
    marks = [vars(artist)["horopca"] for artist in ax.get_children() if "horopca" in vars(artist)]
    return marks[-1] if marks else ("disk", origin(2))


# ---------------------------------------------------------------- grids


def ring_radii(view: View, size: float, unit: float) -> np.ndarray:
    """Radii of rings, whole steps in the user's unit of length, that are told apart in a picture of radius `size`.

    >>> ring_radii(VIEWS["equidistant"], 10.0, 1.0)
    array([2., 4., 6., 8.])
    >>> ring_radii(VIEWS["disk"], 1.0, 1.0)
    array([1., 2., 3.])
    """
    for step in STEPS:
        radii = np.arange(1, 41) * step / unit
        places = view.ring(radii) / size
        few = radii[(places < 0.97) & (np.diff(places, prepend=0) > APART)]
        if 2 <= len(few) <= 6:
            return np.asarray(few * unit)
    return np.empty(0)


def draw_grid(ax: Axes, kind: str, view: View, size: float, unit: float, theme: Theme) -> None:
    """Numbered rings and rays around the centre, or geodesics across the axes."""
    if kind == "geodesic":
        return draw_lines(ax, geodesic_grid(view.model), theme.grid, 0.6)
    radii = ring_radii(view, size, unit)
    draw_lines(ax, [*rings(view.model, radii / unit), *rays(view.model, size)], theme.grid, 0.6)
    for r, line in zip(radii, rings(view.model, radii / unit), strict=True):
        top = line[line[:, 1].argmax()]
        style: dict[str, Any] = {"fontsize": text_size(ax, 6), "color": theme.edge, "ha": "center", "va": "center"}
        box = {"facecolor": theme.disk, "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
        ax.text(float(top[0]), float(top[1]), f"{r:g}", bbox=box, zorder=3.5, gid="ring", clip_on=True, **style)
    return None


def rings(model: ModelName, radii: np.ndarray) -> list[np.ndarray]:
    """Circles (n, 2) of hyperbolic radii around the centre, in the coordinates of a model."""
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return [_from_disk(np.tanh(r / 2) * circle, model) for r in radii]


def rays(model: ModelName, size: float) -> list[np.ndarray]:
    """Twelve rays from the centre, to the rim or to the end of the picture."""
    turns = np.arange(12) * np.pi / 6
    ends = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    if model == "tangent":
        return [np.stack([0 * end, size * end]) for end in ends]
    return [_from_disk(np.linspace(0, 1, 100)[:, None] * end * (1 - 1e-9), model) for end in ends]


def geodesic_grid(model: ModelName) -> list[np.ndarray]:
    """The geodesics that cross the axes at right angles at distances 0, 1, 2, ..."""
    ends = np.array([[np.tanh(k), 1 / np.cosh(k)] for k in range(-6, 7)]) * (1 - 1e-9)  # ideal, on the upper side
    arcs = geodesic_arcs(ends, ends * [1, -1], 129)
    return [_from_disk(curve, model) for curve in [*arcs, *arcs[..., ::-1]]]


def _from_disk(curve: np.ndarray, model: ModelName) -> np.ndarray:
    return np.asarray(from_hyperboloid(on_hyperboloid(curve), model))
