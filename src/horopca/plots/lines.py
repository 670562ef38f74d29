"""Geodesics, horocycles, and the projection along them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_number
from ..geometry import (
    ModelName,
    from_hyperboloid,
    horosphere,
    origin,
    radius,
    to_hyperboloid,
    translate,
    translate_ideal,
    translate_ideal_to_origin,
    translate_to_origin,
)
from .curves import cone_angles, cone_borders, cone_ends, geodesic_arcs, geodesic_lines, horocycle_arcs
from .figures import draw_lines, new_figure, proportion, theme_of
from .given import checked_points, one_per_point
from .palette import COLOURS
from .views import VIEWS, view_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT_THE_ROOT = 1e-12  # A point so much nearer to the root than to the origin is the root, moved by rounding.

LEVELS = (-2.0, -1.0, 0.0, 1.0, 2.0)


def plot_geodesics(a: Any, b: Any, *, extended: bool = False, colour: str = COLOURS[0], ax: Axes | None = None) -> Axes:
    """Draw the geodesics from each a to each b, in the Poincaré disk or the view that is on `ax`.

    Parameters
    ----------
    a, b : arrays (m, 2)
        Points of the unit disk.
    extended : bool
        Draw the whole geodesics, from rim to rim, and not only the segments: in the Poincaré disk only.
    colour : str
    ax : matplotlib axes, optional
        Where to draw, such as those of `plot_plane`: in their view, and from their centre. A new disk otherwise.

    Examples
    --------
    >>> ax = plot_geodesics([[0.5, 0.0]], [[0.0, 0.5]])
    >>> ax.collections[0].get_segments()[0][[0, -1]].round(6) + 0.0
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    a, b = (checked_points(points) for points in (a, b))
    if a.shape != b.shape:
        raise ValueError(f"a and b must have as many rows as each other, but have {len(a)} and {len(b)}.")
    if extended and (a == b).all(axis=1).any():
        row = int((a == b).all(axis=1).argmax())
        raise ValueError(f"Two different points determine a geodesic, but row {row} of a and b is the same point.")
    ax, centre = _disk(ax, "plot_geodesics(extended=True)") if extended else _axes(ax)
    view = VIEWS[view_on(ax)[0]].model
    a, b = (from_hyperboloid(translate_to_origin(points, centre), view) for points in (a, b))
    draw_lines(ax, geodesic_lines(a, b) if extended else geodesic_arcs(a, b, model=view), colour, 1.2, zorder=2)
    return ax


def plot_cones(
    Y: Any,
    *,
    K: float = 0.1,
    angles: Any = None,
    root: Any = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    colour: Any = COLOURS[0],
    ax: Axes | None = None,
) -> Axes:
    """Draw the entailment cones of points in the Poincaré disk, between geodesics to the rim.

    The cone of a point opens away from the root: it holds what lies within an angle ``psi`` of the geodesic that comes from the
    root. At a distance r from it ``sin(psi) = 2 K / sinh(r)``, in lengths of curvature -1, and never more than a right angle.
    That is ``K (1 - |x|^2) / |x|`` in the unit ball, as of Ganea, Becigneul and Hofmann (2018), and ``2 K / (sqrt(c) |x|)``
    of the space components of Lorentz coordinates, as of MERU: two ways to write one function.

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    K : float
        How wide the cones are.
    angles : float, array (n,) or callable, optional
        Half-apertures ``psi`` in radians instead, such as those of the points that Y are the images of; or a function that
        takes the distances r (n,) to them.
    root : array (2,), optional
        What cones open away from, in the coordinates of Y; the origin otherwise. It has no cone itself.
    model, curvature : the coordinates of Y
    colour : str, or a sequence of n
    ax : matplotlib axes, optional
        Where to draw, such as those of `plot_disk`, from their centre; a new disk otherwise.

    Examples
    --------
    >>> ax = plot_cones([[0.5, 0.0], [0.0, -0.8]])
    >>> len(ax.collections[-1].get_paths())
    2
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    check_number("K", K, "a positive number", above=0)
    x = checked_points(Y, model, curvature)
    middle = origin(2) if root is None else checked_points([root], model, curvature, name="root")[0]
    seen = translate_to_origin(x, middle)
    angles = angles(radius(seen)) if callable(angles) else angles
    given = angles if angles is None or np.ndim(angles) == 0 else one_per_point(angles, "angles", len(x))
    psi = np.broadcast_to(cone_angles(radius(seen), K) if given is None else np.asarray(given, dtype=np.float64), len(x))
    if not (np.isfinite(psi).all() and (psi >= 0).all() and (psi <= np.pi).all()):
        raise ValueError(f"angles must be half-apertures between 0 and pi, in radians, but are {angles!r}.")
    shades = to_rgba_array(colour)
    if len(shades) not in (1, len(x)):
        raise ValueError(f"colour must be one colour or one for each of the {len(x)} points, but is {len(shades)} of them.")
    (ax, centre), apart = _disk(ax, "plot_cones"), radius(seen) > AT_THE_ROOT * (1 + x[:, 0])
    ends = translate_ideal_to_origin(translate_ideal(cone_ends(seen[apart], psi[apart]), middle), centre)
    cones = cone_borders(translate_to_origin(x[apart], centre), ends)
    tints = np.broadcast_to(shades, (len(x), 4))[apart]
    width = proportion(ax)
    ax.add_collection(PolyCollection(cones, facecolors=tints * [1, 1, 1, 0.13], edgecolors=tints, linewidths=width, zorder=1.5))
    return ax


def plot_horocycles(
    q: Any, *, through: Any = None, levels: Any = LEVELS, colour: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw horocycles of the Poincaré disk: the circles that touch its rim, level lines of the Busemann functions.

    Parameters
    ----------
    q : array (2,) or (k, 2)
        Ideal points, unit vectors.
    through : array (m, 2), optional
        Points of the disk: horocycles go through them.
    levels : sequence of float
        Values of the Busemann functions otherwise: 0 goes through the origin, smaller ones are nearer to q.
    colour : str, optional
        One for all; otherwise one for each ideal point.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> ax = plot_horocycles([1.0, 0.0], levels=[0.0])
    >>> circle = ax.patches[-1]
    >>> circle.center, circle.radius
    ((0.5, 0.0), 0.5)
    """
    from matplotlib.patches import Circle

    ideal = _ideal(q)
    points = None if through is None else checked_points(through)
    ax, centre = _disk(ax, "plot_horocycles")
    for k, one in enumerate(ideal):
        line = colour or COLOURS[k % len(COLOURS)]
        on = points if points is not None else _at_levels(one, levels)
        one = translate_ideal_to_origin(one, centre)
        for middle, size in zip(*horosphere(one, translate_to_origin(on, centre)), strict=True):
            place = float(middle[0]), float(middle[1])
            ax.add_patch(Circle(place, float(size), fill=False, edgecolor=line, linewidth=proportion(ax), zorder=2))
        ax.scatter(one[0], one[1], s=22 * proportion(ax) ** 2, c=line, zorder=3, clip_on=False)
    return ax


def plot_projection(x: Any, q: Any, *, base: Any = (0.0, 0.0), ax: Axes | None = None) -> Axes:
    """Draw the horospherical projection of points on the geodesic from a base point towards an ideal point.

    Each point, its image, and the arc of the horocycle between them, along which nothing moves towards q or away from it.

    Parameters
    ----------
    x : array (n, 2)
        Points of the unit disk.
    q : array (2,)
        The ideal point, a unit vector.
    base : array (2,)
        A point of the disk that the geodesic goes through.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> ax = plot_projection([[0.0, 0.5]], [1.0, 0.0])
    >>> ax.collections[-1].get_offsets().data.round(6).tolist()      # the image
    [[-0.25, 0.0]]
    """
    points, ideal = checked_points(x), _ideal(q)
    if len(ideal) != 1:
        raise ValueError(f"q must be one ideal point, of shape (2,), but has shape {np.shape(q)}.")
    b = checked_points([base])[0]
    ax, centre = _disk(ax, "plot_projection")
    points, b = (translate_to_origin(place, centre) for place in (points, b))
    ideal = translate_ideal_to_origin(ideal, centre)
    moved = translate_to_origin(points, b)
    toward = translate_ideal_to_origin(ideal[0], b)

    def back(curves: np.ndarray) -> np.ndarray:
        return np.asarray(from_hyperboloid(translate(to_hyperboloid(curves), b), "poincare"))

    arcs = back(horocycle_arcs(from_hyperboloid(moved, "poincare"), toward))
    line = back(np.linspace(-1, 1, 401)[:, None] * toward * (1 - 1e-9))
    theme, area = theme_of(ax), proportion(ax) ** 2
    draw_lines(ax, [line], theme.rim, 1.4, zorder=2)
    draw_lines(ax, arcs, COLOURS[1], 1.2, zorder=2, linestyles="dashed")
    ax.scatter(ideal[0, 0], ideal[0, 1], s=30 * area, c=theme.rim, zorder=3, clip_on=False)
    for places, colour in ((arcs[:, 0], COLOURS[0]), (arcs[:, -1], COLOURS[3])):
        style: dict[str, Any] = {"edgecolors": theme.halo, "linewidths": 0.5, "zorder": 4, "clip_on": False}
        ax.scatter(places[:, 0], places[:, 1], s=26 * area, c=colour, **style)
    return ax


def _axes(ax: Axes | None) -> tuple[Axes, np.ndarray]:
    """The axes, with a disk on them if there is none yet, and where their picture is seen from (3,)."""
    ax = new_figure().subplots() if ax is None else ax
    if not hasattr(ax, "patches"):
        raise ValueError(f"ax must be axes of matplotlib, such as plot_disk returns them, but is {ax!r}.")
    name, centre = view_on(ax)
    if name == "disk" and not ax.patches:
        VIEWS["disk"].frame(ax, np.empty((0, 2)), theme_of(ax))
    return ax, centre


def _disk(ax: Axes | None, what: str) -> tuple[Axes, np.ndarray]:
    """The same, but a sentence where they show another view than the Poincaré disk."""
    ax, centre = _axes(ax)
    name = view_on(ax)[0]
    if name != "disk":
        raise ValueError(f"{what} draws in the Poincaré disk, but ax shows {VIEWS[name].title}. Pass the axes of plot_disk.")
    return ax, centre


def _ideal(q: Any) -> np.ndarray:
    q = np.atleast_2d(np.asarray(q, dtype=np.float64))
    sizes = np.linalg.norm(q, axis=1) if q.ndim == 2 else np.empty(0)
    if q.ndim != 2 or q.shape[1] != 2 or not np.allclose(sizes, 1, atol=1e-6):
        raise ValueError(f"q must be unit vectors, of shape (2,) or (k, 2), but has shape {q.shape} and lengths {sizes}.")
    return np.asarray(q / sizes[:, None])


def _at_levels(q: np.ndarray, levels: Any) -> np.ndarray:
    """The points of the ray to q at which its Busemann function has the levels."""
    return np.asarray(to_hyperboloid(np.tanh(-np.asarray(levels, dtype=np.float64) / 2)[:, None] * q))
