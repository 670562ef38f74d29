"""Geodesics, horocycles, the projection along them, and entailment cones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_number
from ..geometry import MODELS, ModelName, horosphere, origin, radius, to_hyperboloid, translate, translate_to_origin
from ..geometry.isometries import translate_ideal, translate_ideal_to_origin
from .curves import cone_borders, cone_ends, horocycle_arcs
from .figures import draw_lines, proportion, theme_of
from .palette import COLOURS
from .validation import check_numbers, check_plane
from .views import axes_in_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (-2.0, -1.0, 0.0, 1.0, 2.0)
AT_ROOT = 1e-12  # A point is the root if its distance from it is below this fraction of its time coordinate: rounding error.


def plot_geodesics(a: Any, b: Any, *, colour: str = COLOURS[0], ax: Axes | None = None) -> Axes:
    """Draw the geodesics from each a to each b, in the Poincaré disk or in the view on `ax`.

    Parameters
    ----------
    a, b : arrays (m, 2)
        Points of the unit disk.
    colour : str
        The colour of the lines.
    ax : matplotlib axes, optional
        Such as those of `plot_plane`, whose view and centre are kept. By default a new disk.

    See Also
    --------
    plot_plane : draws edges as geodesics

    Examples
    --------
    >>> ax = plot_geodesics([[0.5, 0.0]], [[0.0, 0.5]])
    >>> ax.collections[0].get_segments()[0][[0, -1]].round(6) + 0.0
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    a, b = (check_plane(points) for points in (a, b))
    if a.shape != b.shape:
        raise ValueError(f"a and b must have the same number of rows, but have {len(a)} and {len(b)}.")
    ax, view, centre = axes_in_view(ax)
    a, b = (view.place(translate_to_origin(points, centre)) for points in (a, b))
    draw_lines(ax, view.arcs(a, b, 33), colour, 1.2, zorder=2)
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
        Points of the disk through which horocycles are drawn.
    levels : sequence of float
        Otherwise, values of the Busemann functions: 0 is through the origin, smaller values are nearer to q.
    colour : str, optional
        By default one for each ideal point.
    ax : matplotlib axes, optional
        By default those of a new figure.

    See Also
    --------
    plot_projection : the projection along horocycles
    horopca.geometry.horosphere : centre and radius

    Examples
    --------
    >>> ax = plot_horocycles([1.0, 0.0], levels=[0.0])
    >>> circle = ax.patches[-1]
    >>> circle.center, circle.radius
    ((0.5, 0.0), 0.5)
    """
    from matplotlib.patches import Circle

    ideal = _ideal(q)
    points = None if through is None else check_plane(through)
    heights = np.tanh(-np.asarray(levels, dtype=np.float64) / 2)[:, None]  # on the ray from the origin to q
    ax, _, centre = axes_in_view(ax, "plot_horocycles")
    for k, one in enumerate(ideal):
        line = colour or COLOURS[k % len(COLOURS)]
        on = points if points is not None else np.asarray(to_hyperboloid(heights * one))
        one = translate_ideal_to_origin(one, centre)
        for (x, y), size in zip(*horosphere(one, translate_to_origin(on, centre)), strict=True):
            circle = Circle((float(x), float(y)), float(size), fill=False, edgecolor=line, linewidth=proportion(ax), zorder=2)
            ax.add_patch(circle)
        ax.scatter(one[0], one[1], s=22 * proportion(ax) ** 2, c=line, zorder=3, clip_on=False)
    return ax


def plot_projection(x: Any, q: Any, *, base: Any = (0.0, 0.0), ax: Axes | None = None) -> Axes:
    """Draw the horospherical projection of points on the geodesic from a base point towards an ideal point.

    Draws each point, its image, and the arc of the horocycle between them.

    Parameters
    ----------
    x : array (n, 2)
        Points of the unit disk.
    q : array (2,)
        The ideal point, a unit vector.
    base : array (2,)
        A point of the disk on the geodesic.
    ax : matplotlib axes, optional
        By default those of a new figure.

    See Also
    --------
    horopca.projections.horospherical_projection : computes it

    Examples
    --------
    >>> ax = plot_projection([[0.0, 0.5]], [1.0, 0.0])
    >>> ax.collections[-1].get_offsets().data.round(6).tolist()      # the image
    [[-0.25, 0.0]]
    """
    points, ideal, b = check_plane(x), _ideal(q), check_plane([base])[0]
    if len(ideal) != 1:
        raise ValueError(f"q must be one ideal point, of shape (2,), but has shape {np.shape(q)}.")
    ax, _, centre = axes_in_view(ax, "plot_projection")
    points, b = translate_to_origin(points, centre), translate_to_origin(b, centre)
    end = translate_ideal_to_origin(ideal[0], centre)
    toward = translate_ideal_to_origin(end, b)

    def back(curves: np.ndarray) -> np.ndarray:
        return np.asarray(MODELS["poincare"].from_hyperboloid(translate(to_hyperboloid(curves), b)))

    arcs = back(horocycle_arcs(MODELS["poincare"].from_hyperboloid(translate_to_origin(points, b)), toward))
    line = back(np.linspace(-1, 1, 401)[:, None] * toward * (1 - 1e-9))
    theme, area = theme_of(ax), proportion(ax) ** 2
    draw_lines(ax, [line], theme.rim, 1.4, zorder=2)
    draw_lines(ax, arcs, COLOURS[1], 1.2, zorder=2, linestyles="dashed")
    ax.scatter(end[0], end[1], s=30 * area, c=theme.rim, zorder=3, clip_on=False)
    style: dict[str, Any] = {"s": 26 * area, "edgecolors": theme.halo, "linewidths": 0.5, "zorder": 4, "clip_on": False}
    for xy, colour in ((arcs[:, 0], COLOURS[0]), (arcs[:, -1], COLOURS[3])):
        ax.scatter(xy[:, 0], xy[:, 1], c=colour, **style)
    return ax


def plot_cones(
    Y: Any,
    *,
    K: float = 0.1,
    angles: Any = None,
    root: Any = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    colour: str = COLOURS[0],
    ax: Axes | None = None,
) -> Axes:
    """Draw the entailment cones of points in the Poincaré disk, between geodesics to the rim.

    The cone of a point opens away from the root: it contains the points within an angle ``psi`` of the continued geodesic from
    the root. At distance r, ``sin(psi) = 2 K / sinh(r)`` at curvature -1, and psi is at most a right angle. This is
    ``K (1 - |x|^2) / |x|`` in the unit ball (Ganea, Becigneul and Hofmann, 2018), and ``2 K / (sqrt(c) |x|)`` with the space
    components of Lorentz coordinates (MERU).

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    K : float
        The width of the cones.
    angles : array (n,), optional
        Half-apertures ``psi`` in radians, instead of K, such as those of the points before a reduction.
    root : array (2,), optional
        The root in the coordinates of Y; by default the origin. It has no cone.
    model, curvature : str and float
        The coordinates of Y.
    colour : str
        The colour of the lines.
    ax : matplotlib axes, optional
        Such as those of `plot_plane`, whose centre is kept. By default a new disk.

    See Also
    --------
    plot_plane : points of the plane

    Examples
    --------
    >>> ax = plot_cones([[0.5, 0.0], [0.0, -0.8]])
    >>> len(ax.collections[-1].get_paths())
    2
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    check_number("K", K, "a positive number", above=0)
    x = check_plane(Y, model, curvature)
    middle = origin(2) if root is None else check_plane([root], model, curvature, name="root")[0]
    seen = translate_to_origin(x, middle)
    if angles is not None:
        psi = check_numbers(angles, "angles", len(x))
    else:
        with np.errstate(divide="ignore", over="ignore"):
            psi = np.arcsin(np.minimum(2 * K / np.sinh(radius(seen)), 1))
    if not ((psi >= 0) & (psi <= np.pi)).all():
        raise ValueError(f"angles must be half-apertures between 0 and pi, in radians, but are {angles!r}.")
    ax, _, centre = axes_in_view(ax, "plot_cones")
    apart = radius(seen) > AT_ROOT * (1 + x[:, 0])
    ends = translate_ideal_to_origin(translate_ideal(cone_ends(seen[apart], psi[apart]), middle), centre)
    cones = cone_borders(translate_to_origin(x[apart], centre), ends)
    style: dict[str, Any] = {"facecolors": [to_rgba(colour, 0.13)], "edgecolors": colour, "linewidths": proportion(ax)}
    ax.add_collection(PolyCollection(list(cones), zorder=1.5, **style))
    return ax


def _ideal(q: Any) -> np.ndarray:
    """Validate unit vectors, and return them as (k, 2)."""
    q = np.atleast_2d(np.asarray(q, dtype=np.float64))
    sizes = np.linalg.norm(q, axis=1) if q.ndim == 2 else np.empty(0)
    if q.ndim != 2 or q.shape[1] != 2 or not np.allclose(sizes, 1, atol=1e-6):
        raise ValueError(f"q must be unit vectors, of shape (2,) or (k, 2), but has shape {q.shape} and lengths {sizes}.")
    return np.asarray(q / sizes[:, None])
