"""Points of the hyperbolic plane: the Poincaré disk, Klein's disk, the equidistant disk, the half-plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_choice
from ..geometry import ModelName, from_hyperboloid, radius
from .curves import geodesic_arcs
from .figures import (
    MANY,
    Colouring,
    by_label,
    by_value,
    draw_colour_bar,
    draw_legend,
    draw_lines,
    in_lines,
    mark_area,
    new_figure,
    plain,
    proportion,
    text_size,
    theme_of,
)
from .given import Given, check_given
from .names import draw_names, weights
from .palette import Theme
from .regions import draw_regions, firmness
from .views import VIEWS, View, choose_view, draw_grid, lost_in, mark_view, why_by_distance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

CROWD = 50_000  # From so many points on, a picture shows how many there are rather than each.
BINS = 500  # A crowd is counted in so many places in each direction.
SHORTEST = 0.002  # Nobody would see an edge shorter than this, in units of the picture.


def plot_disk(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    edges: Any = None,
    values: Any = None,
    value_name: str | None = None,
    limits: tuple[float, float] | None = None,
    scale: str = "linear",
    palette: Any = None,
    centre: int | Any = None,
    grid: str | None = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    ax: Axes | None = None,
    size: Any = None,
    title: str | None = None,
    companions: Any = None,
    regions: Any = None,
) -> Axes:
    """Draw points of the hyperbolic plane in the Poincaré disk.

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    labels : sequence of n, optional
        A class for each point.  Twenty have a colour of their own and a line in the legend, in the order of their names;
        rarer ones and missing labels are grey.
    names : sequence of n, optional
        A text to write beside each point; an empty one writes nothing.  Where names would hide each other or a point, those
        of points near the centre and with many edges stay, and a line in the corner says how many of how many.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join, by geodesics: arcs of circles that meet the boundary at right angles.
    values : array (n,), optional
        Numbers to colour by instead of labels, with a colour bar; NaN where one is missing.
    value_name : str, optional
        What stands beside the colour bar.
    limits : (low, high), optional
        The ends of the colour bar, such as (0, 1) for a share: otherwise those of the values, but for a hundredth at each
        end where these stretch them more than twofold.
    scale : {"linear", "log", "diverging"}
        How numbers become colours; "diverging" has its middle at 0.
    palette : sequence or mapping of "#rrggbb", optional
        Colours of the classes, one after another or by class; see `class_colours`.
    centre : int or array (2,), optional
        A row of Y, or a point in the coordinates of Y, to move to the centre.
    grid : {"polar", "geodesic"}, optional
        Numbered circles around the centre and rays; or the geodesics that cross the axes at right angles at distances
        0, 1, 2, ...
    model, curvature : the coordinates of Y
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    size : float or array (n,), optional
        Area of the markers in square points; chosen from n otherwise, and smaller towards the rim.
    title : str, optional
    companions : mapping of names to points (2,), or array (m, 2), optional
        Points to draw on top, in the coordinates of Y: a root, prototypes, anchors of classes. They have a marker of their own,
        and their names come first.
    regions : result of `horopca.metrics.bootstrap`, or array (n, m, 2), optional
        Where each point may lie: the border of a region around it, m points in the coordinates of Y. The larger it is,
        the paler is its point.

    Returns
    -------
    matplotlib axes
        Nothing is shown or saved: ``ax.figure.savefig("disk.png")`` does that.  From 50,000 points on the picture shows
        how many there are in each place, in the mean of their colours.

    Examples
    --------
    >>> ax = plot_disk([[0.0, 0.0], [0.5, 0.0], [0.0, 0.9]], ["root", "leaf", "leaf"], edges=[[0, 1], [0, 2]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['leaf', 'root']
    """
    points = {"names": names, "edges": edges, "values": values, "centre": centre, "grid": grid, "size": size}
    points |= {"limits": limits, "scale": scale, "palette": palette, "model": model, "curvature": curvature}
    points |= {"companions": companions, "regions": regions}
    return plot_plane(Y, labels, view="disk", ax=ax, value_name=value_name, title=title, **points)


def plot_plane(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    view: str = "auto",
    ax: Axes | None = None,
    value_name: str | None = None,
    title: str | None = None,
    **points: Any,
) -> Axes:
    """Draw points of the hyperbolic plane in the view that shows most. Other arguments as for `plot_disk`.

    Parameters
    ----------
    Y, labels, value_name, ax, title, and more
        As for `plot_disk`.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        "auto" is the Poincaré disk; or the equidistant one, where more than half of the points would fall on the rim of the
        former, and a line in the corner says so.

    Examples
    --------
    >>> deep = [[9.0, 0.0], [0.0, 10.0], [-11.0, 0.0]]
    >>> ax = plot_plane(deep, model="tangent")
    >>> ax.texts[-1].get_text()
    'by distance from the centre: 100% of the points would lie on the rim of the Poincaré disk'
    """
    given = check_given(Y, labels, **points)
    check_choice("view", view, ("auto", *VIEWS))
    chosen = choose_view(given.x) if view == "auto" else view
    note = why_by_distance(given.x) if chosen != "disk" and view == "auto" else ""
    return draw_plane(chosen, given, new_figure().subplots() if ax is None else ax, value_name, title, note)


def plot_klein(Y: Any, labels: Sequence[Any] | None = None, **options: Any) -> Axes:
    """Draw points of the hyperbolic plane in Klein's disk, where geodesics are straight. Arguments as for `plot_disk`.

    >>> ax = plot_klein([[0.0, 0.0], [0.5, 0.0]], edges=[[0, 1]])    # Y still is in the Poincaré disk
    >>> sorted(ax.collections[-1].get_offsets().data.round(3).tolist())
    [[0.0, 0.0], [0.8, 0.0]]
    """
    return plot_plane(Y, labels, view="klein", **options)


def plot_equidistant(Y: Any, labels: Sequence[Any] | None = None, **options: Any) -> Axes:
    """Draw points of the hyperbolic plane by their distance and direction from the centre. Arguments as for `plot_disk`.

    Rings are numbered with the distance. Where the Poincaré disk shows deep points as a line along its rim, this one keeps
    their depth apart; the plane goes on outside the circle.

    >>> ax = plot_equidistant([[0.0, 0.0], [0.5, 0.0]])
    >>> sorted(ax.collections[-1].get_offsets().data.round(3).tolist())
    [[0.0, 0.0], [1.099, 0.0]]
    """
    return plot_plane(Y, labels, view="equidistant", **options)


def plot_halfplane(Y: Any, labels: Sequence[Any] | None = None, **options: Any) -> Axes:
    """Draw points of the hyperbolic plane in the upper half-plane. Arguments as for `plot_disk`.

    >>> ax = plot_halfplane([[0.0, 0.0], [0.0, 0.5]])
    >>> sorted(ax.collections[-1].get_offsets().data.round(3).tolist())
    [[0.0, 1.0], [0.0, 3.0]]
    """
    return plot_plane(Y, labels, view="halfplane", **options)


# ---------------------------------------------------------------- drawing


def draw_plane(name: str, given: Given, ax: Axes, value_name: str | None, title: str | None, note: str = "") -> Axes:
    """Draw what was given in the view of a name; a note stands in the corner."""
    view, n = VIEWS[name], len(given.x)
    xy, beside, room = (np.asarray(from_hyperboloid(x, view.model)) for x in (given.x, given.companions, given.room))
    theme = theme_of(ax)
    if given.values is None:
        colouring = by_label(given.labels, n, theme, given.palette)
    else:
        colouring = by_value(given.values, theme, given.scale, given.limits)
    size = view.frame(ax, np.concatenate([xy, beside, room]), theme)
    if given.grid or view.ringed:
        draw_grid(ax, given.grid or "polar", view, size, given.unit, theme)
    said = [note, lost_in(name, given.x, xy, size)]
    if given.edges is not None:
        said.append(_draw_edges(ax, xy, given.edges, view, size, theme))
    if n >= CROWD:
        _draw_crowd(ax, xy, colouring)
    areas = _mark_areas(ax, given, view)
    firm = None
    if given.regions.size:
        firm, left_out = _draw_regions(ax, given, colouring, view)
        said.append(left_out)
    if n < CROWD:
        _draw_points(ax, xy, colouring, areas, theme, firm)
    _draw_companions(ax, beside, theme)
    if colouring.legend:
        draw_legend(ax, colouring.legend)
    if title:
        ax.set_title(plain(title, 200), fontsize=text_size(ax, 11))
    corner = _draw_note(ax, "; ".join(part for part in said if part), theme)
    mark_view(corner, name, given.centre)
    if given.names is not None or any(given.companion_names):
        names = [*(given.names or [""] * n), *given.companion_names]
        weight = np.concatenate([weights(radius(given.x), given.edges), np.full(len(beside), np.inf)])
        marks = np.concatenate([areas, np.full(len(beside), _companion_area(ax))])
        draw_names(ax, np.concatenate([xy, beside]), names, weight, marks, corner)
    if colouring.bar:  # last: it takes its place from the axes, whose size all others are in proportion to
        draw_colour_bar(ax, colouring.bar, value_name)
    return ax


def _draw_note(ax: Axes, text: str, theme: Theme) -> Text:
    """What the picture leaves out, in its lower left corner."""
    style: dict[str, Any] = {"fontsize": text_size(ax, 6), "color": theme.edge, "va": "top", "ha": "left"}
    return ax.text(0, -0.005, in_lines(ax, text, 6), transform=ax.transAxes, zorder=5, gid="note", **style)


def _mark_areas(ax: Axes, given: Given, view: View) -> np.ndarray:
    """Areas of the marks in square points, by default smaller towards the rim, where there is less room."""
    n = len(given.x)
    if given.size is not None:
        return np.broadcast_to(np.asarray(given.size, dtype=np.float64), (n,))
    near = 1 / np.cosh(radius(given.x) / 2) ** 2 if view.model in ("poincare", "klein") else np.full(n, 0.6)
    return np.asarray(mark_area(n) * (0.3 + 0.7 * near) * proportion(ax) ** 2)


def _draw_regions(ax: Axes, given: Given, colouring: Colouring, view: View) -> tuple[np.ndarray, str]:
    """The regions of the points: how firm these are (n,), and what was left out."""
    from matplotlib.colors import to_rgba_array

    firm = firmness(given.x, given.regions)
    return firm, draw_regions(ax, given.regions, view, np.asarray(to_rgba_array(colouring.points)), firm)


def _draw_points(
    ax: Axes, xy: np.ndarray, colouring: Colouring, areas: np.ndarray, theme: Theme, firm: np.ndarray | None
) -> None:
    """Marks in a random order, always the same: in the order of rows, the last of two classes would hide the first."""
    n = len(xy)
    order = np.random.default_rng(0).permutation(n)
    order = order[np.argsort(~colouring.grey[order], kind="stable")]  # grey below
    few = n <= 1000
    strength: Any = 1 if few else 0.7
    ax.scatter(
        xy[order, 0],
        xy[order, 1],
        c=[colouring.points[i] for i in order],
        s=areas[order],
        alpha=strength if firm is None else strength * firm[order],
        linewidths=0.5 * proportion(ax) if few else 0,
        edgecolors=theme.halo,
        rasterized=n > MANY,
        zorder=3,
        clip_on=False,
    )


def _companion_area(ax: Axes) -> float:
    return 42 * proportion(ax) ** 2


def _draw_companions(ax: Axes, xy: np.ndarray, theme: Theme) -> None:
    """Diamonds in the colour of texts, over all points."""
    if len(xy):
        style: dict[str, Any] = {"edgecolors": theme.halo, "linewidths": 0.9 * proportion(ax), "gid": "companions"}
        ax.scatter(xy[:, 0], xy[:, 1], marker="D", c=theme.ink, s=_companion_area(ax), zorder=3.8, clip_on=False, **style)


def _draw_crowd(ax: Axes, xy: np.ndarray, colouring: Colouring) -> None:
    """An image: in each place the mean colour of the points there, the stronger the more there are."""
    from matplotlib.colors import to_rgba_array

    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    column = np.floor((xy[:, 0] - left) / (right - left) * BINS).astype(np.int64).clip(0, BINS - 1)
    row = np.floor((xy[:, 1] - bottom) / (top - bottom) * BINS).astype(np.int64).clip(0, BINS - 1)
    place = row * BINS + column
    count = np.bincount(place, minlength=BINS * BINS)
    rgb = to_rgba_array(colouring.points)[:, :3]
    image = np.empty((BINS * BINS, 4))
    for k in range(3):
        image[:, k] = np.bincount(place, rgb[:, k], BINS * BINS) / np.maximum(count, 1)
    image[:, 3] = np.where(count > 0, 0.25 + 0.75 * np.log1p(count) / np.log1p(count.max()), 0)
    extent = (left, right, bottom, top)
    ax.imshow(image.reshape(BINS, BINS, 4).clip(0, 1), origin="lower", extent=extent, interpolation="nearest", zorder=3)


def _draw_edges(ax: Axes, xy: np.ndarray, edges: np.ndarray, view: View, size: float, theme: Theme) -> str:
    """The edges as geodesics; says how many of them were left out."""
    a, b = xy[edges[:, 0]], xy[edges[:, 1]]
    seen = np.linalg.norm(a - b, axis=1) > SHORTEST * size if len(edges) > MANY else np.ones(len(edges), dtype=bool)
    points = 2 if view.model == "klein" else 33 if len(edges) <= MANY else 9
    segments = geodesic_arcs(a[seen], b[seen], points, model=view.model)
    draw_lines(ax, segments, theme.edge, float(np.clip(12 / np.sqrt(max(len(segments), 1)), 0.2, 0.9)), zorder=2)
    left = len(edges) - int(seen.sum())
    return f"{left:,} of {len(edges):,} edges are too short to see" if left else ""
