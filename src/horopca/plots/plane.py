"""Points of the hyperbolic plane: the Poincaré disk, Klein's disk, the half-plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._points.door import check_choice, check_door
from .._points.places import check_rows
from ..geometry import from_hyperboloid, radius, translate_to_origin
from .curves import geodesic_arcs, on_hyperboloid
from .names import place_names, weights
from .palette import OTHER, Colouring, by_label, by_value, draw_colour_bar, draw_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["new_figure", "plot_disk", "plot_halfplane", "plot_klein"]

MANY = 5000  # points from which a vector picture stores them as pixels
CROWD = 50_000  # points from which a picture shows how many there are rather than each
BINS = 500
SHORTEST = 0.002  # edges that nobody would see, in units of the picture
GRIDS = ("polar", "geodesic")


def plot_disk(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    edges: Any = None,
    values: Any = None,
    value_name: str | None = None,
    centre: int | Any = None,
    grid: str | None = None,
    model: str = "poincare",
    curvature: float = -1.0,
    ax: Axes | None = None,
    size: Any = None,
    title: str | None = None,
) -> Axes:
    """Draw points of the hyperbolic plane in the Poincaré disk.

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    labels : sequence of n, optional
        A class for each point.  The eight most frequent get a colour and a line in the legend, the rest are grey.
    names : sequence of n, optional
        A text to write beside each point; an empty one writes nothing.  Where names would overlap, those of points near
        the centre and with many edges stay.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join, by geodesics: arcs of circles that meet the boundary at right angles.
    values : array (n,), optional
        Numbers to colour by instead of labels, with a colour bar; NaN where one is missing.
    value_name : str, optional
        What stands beside the colour bar.
    centre : int or array (2,), optional
        A row of Y, or a point in the coordinates of Y, to move to the centre.
    grid : {"polar", "geodesic"}, optional
        Circles at distances 1, 2, ... from the centre and rays; or the geodesics that cross the axes at right angles
        at distances 0, 1, 2, ...
    model, curvature : the coordinates of Y
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    size : float or array (n,), optional
        Area of the markers in square points; chosen from n otherwise, and smaller towards the rim.
    title : str, optional

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
    return _plot(DISK, _check(Y, labels, **points, model=model, curvature=curvature), ax, value_name, title)


def plot_klein(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    ax: Axes | None = None,
    value_name: str | None = None,
    title: str | None = None,
    **points: Any,
) -> Axes:
    """Draw points of the hyperbolic plane in Klein's disk, where geodesics are straight. Arguments as for `plot_disk`.

    >>> ax = plot_klein([[0.0, 0.0], [0.5, 0.0]], edges=[[0, 1]])    # Y still is in the Poincaré disk
    >>> ax.collections[-1].get_offsets().data.round(3).tolist()
    [[0.0, 0.0], [0.8, 0.0]]
    """
    return _plot(KLEIN, _check(Y, labels, **points), ax, value_name, title)


def plot_halfplane(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    ax: Axes | None = None,
    value_name: str | None = None,
    title: str | None = None,
    **points: Any,
) -> Axes:
    """Draw points of the hyperbolic plane in the upper half-plane. Arguments as for `plot_disk`.

    >>> ax = plot_halfplane([[0.0, 0.0], [0.0, 0.5]])
    >>> ax.collections[-1].get_offsets().data.round(3).tolist()
    [[0.0, 1.0], [0.0, 3.0]]
    """
    return _plot(HALFPLANE, _check(Y, labels, **points), ax, value_name, title)


def new_figure(*, interactive: bool = True) -> Figure:
    """A figure: one of pyplot's, or (not interactive) one that can only be saved and leaves no trace."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'horopca[plot]'.") from error
    return (plt.figure if interactive else Figure)(figsize=(7, 6), layout="constrained")


# ---------------------------------------------------------------- the door


class Given(NamedTuple):
    """What a user passed, checked: points on the hyperboloid, as seen from the centre."""

    x: np.ndarray  # (n, 3)
    labels: list[Any] | None
    names: list[str] | None
    edges: np.ndarray | None
    values: np.ndarray | None
    grid: str | None
    size: Any


def _check(
    Y: Any,
    labels: Any = None,
    *,
    names: Any = None,
    edges: Any = None,
    values: Any = None,
    centre: Any = None,
    grid: str | None = None,
    model: str = "poincare",
    curvature: float = -1.0,
    size: Any = None,
) -> Given:
    x = checked_points(Y, model, curvature)
    n = len(x)
    if labels is not None and values is not None:
        raise ValueError("labels and values both colour the points: pass one of them.")
    if grid is not None:
        check_choice("grid", grid, GRIDS)
    texts = _one_per_point(names, "names", n)
    pairs = None if edges is None else checked_edges(edges, n)
    numbers = None if values is None else np.asarray(_one_per_point(values, "values", n), dtype=np.float64)
    if size is not None and np.ndim(size):
        size = np.asarray(_one_per_point(size, "size", n), dtype=np.float64)
    if centre is not None:
        x = translate_to_origin(x, _centre(centre, x, model, curvature))
    classes = _one_per_point(labels, "labels", n)
    return Given(x, classes, None if texts is None else [str(text) for text in texts], pairs, numbers, grid, size)


def checked_points(Y: Any, model: str = "poincare", curvature: float = -1.0, d: int = 2) -> np.ndarray:
    """Points of the plane (or of space, d = 3) on the hyperboloid, or a sentence."""
    door = check_door(model, curvature)
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[1] != door.columns(d):
        what, how = {2: ("the disk", "HoroPCA(n_components=2)"), 3: ("the ball", "HoroPCA(n_components=3)")}[d]
        raise ValueError(
            f"Y must be points of {what}, of shape (n, {door.columns(d)}), but it has shape {Y.shape}. "
            f"{how} reduces points of more dimensions."
        )
    if not np.isfinite(Y).all():
        raise ValueError(f"Y must be finite, but row {np.argmin(np.isfinite(Y).all(axis=1))} is not.")
    if model != "poincare":
        return np.asarray(check_rows(Y, door, name="Y").all()) if len(Y) else np.empty((0, d + 1))
    norms = np.linalg.norm(Y, axis=1) * door.scale
    outside = np.flatnonzero(norms > 1 + 1e-6)  # a point may round to the boundary, in float32 from radius 17 on
    if outside.size:
        raise ValueError(
            f"Y must lie in the unit disk, but {outside.size} of {len(Y)} rows do not (row {outside[0]} has norm "
            f"{norms[outside[0]] / door.scale:.3g}). Pass the model and the curvature of Y if they are others."
        )
    return on_hyperboloid(Y * door.scale)


def _one_per_point(values: Any, what: str, n: int) -> list[Any] | None:
    if values is None:
        return None
    if len(values) != n:
        raise ValueError(f"{what} must have one entry per point, but has {len(values)} for {n} points.")
    return list(values)


def checked_edges(edges: Any, n: int) -> np.ndarray:
    edges = np.asarray(edges)
    if edges.size == 0:
        edges = np.empty((0, 2), dtype=np.intp)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f"edges must be pairs of row numbers, of shape (m, 2), but has shape {edges.shape}.")
    wrong = edges[(edges < 0) | (edges >= n)]
    if wrong.size:
        raise ValueError(f"edges must name rows 0 to {n - 1} of Y, but one names row {wrong[0]}.")
    return edges


def _centre(centre: Any, x: np.ndarray, model: str, curvature: float) -> np.ndarray:
    if np.ndim(centre) == 0:
        if not isinstance(centre, int | np.integer) or not 0 <= centre < len(x):
            raise ValueError(f"centre must be a row of Y, 0 to {len(x) - 1}, or a point, but is {centre!r}.")
        return x[centre]
    return checked_points([centre], model, curvature)[0]


# ---------------------------------------------------------------- views


class View(NamedTuple):
    """A model as it is drawn."""

    model: str
    frame: Callable[[Axes, np.ndarray], None]  # limits and boundary, for points xy


def _disk_frame(ax: Axes, xy: np.ndarray) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0, 0), 1, facecolor="#FAFAFA", edgecolor="#444444", linewidth=1, zorder=0))
    ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), aspect="equal")
    ax.set_axis_off()


def _halfplane_frame(ax: Axes, xy: np.ndarray) -> None:
    """Room for all points, and the boundary below them."""
    top = 1.08 * max(2.0, float(xy[:, 1].max(initial=0)))
    low, high = float(xy[:, 0].min(initial=0)), float(xy[:, 0].max(initial=0))
    middle, half = (low + high) / 2, max(1.08 * (high - low) / 2, top / 2)
    ax.axhline(0, color="#444444", linewidth=1, zorder=1, clip_on=False)
    ax.set(xlim=(middle - half, middle + half), ylim=(0, top), aspect="equal", facecolor="#FAFAFA")
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


DISK = View("poincare", _disk_frame)
KLEIN = View("klein", _disk_frame)
HALFPLANE = View("halfspace", _halfplane_frame)


# ---------------------------------------------------------------- drawing


def _plot(view: View, given: Given, ax: Axes | None, value_name: str | None, title: str | None) -> Axes:
    xy = from_hyperboloid(given.x, view.model)
    ax = new_figure().subplots() if ax is None else ax
    colouring = by_label(given.labels, len(xy)) if given.values is None else by_value(given.values)
    view.frame(ax, xy)
    if given.grid:
        draw_lines(ax, grid_lines(given.grid, view.model), "#DDDDDD", 0.6)
    if given.edges is not None:
        _draw_edges(ax, xy, given.edges, view.model)
    if len(xy) >= CROWD:
        _draw_crowd(ax, xy, colouring)
    else:
        near = 1 / np.cosh(radius(given.x) / 2) ** 2 if view.model != "halfspace" else np.ones(len(xy))
        _draw_points(ax, xy, colouring.points, given.size, near)
    if colouring.legend:
        draw_legend(ax, colouring.legend)
    if colouring.range:
        draw_colour_bar(ax, colouring.range, value_name)
    if title:
        ax.set_title(title)
    if given.names is not None:
        place_names(ax, xy, given.names, weights(radius(given.x), given.edges))
    return ax


def _draw_points(ax: Axes, xy: np.ndarray, colours: Any, size: Any, near: np.ndarray) -> None:
    """Marks, by default smaller towards the rim, where there is less room (near: 1 at the centre, 0 at the rim)."""
    n = max(len(xy), 1)
    grey = np.array([isinstance(colour, str) and colour == OTHER for colour in colours], dtype=bool)
    order = np.argsort(~grey, kind="stable")  # grey below
    area = np.clip(450 / np.sqrt(n), 1, 45) * (0.3 + 0.7 * near) if size is None else np.broadcast_to(size, len(xy))
    ax.scatter(
        xy[order, 0],
        xy[order, 1],
        c=[colours[i] for i in order],
        s=area[order],
        alpha=1 if n <= 1000 else 0.7,
        linewidths=0.5 if n <= 1000 else 0,
        edgecolors="white",
        rasterized=n > MANY,
        zorder=3,
        clip_on=False,
    )


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


def _draw_edges(ax: Axes, xy: np.ndarray, edges: np.ndarray, model: str) -> None:
    a, b = xy[edges[:, 0]], xy[edges[:, 1]]
    scale = np.diff(ax.get_xlim())[0] / 2
    seen = np.linalg.norm(a - b, axis=1) > SHORTEST * scale if len(edges) > MANY else slice(None)
    points = 2 if model == "klein" else 33 if len(edges) <= MANY else 9
    segments = geodesic_arcs(a[seen], b[seen], points, model=model)
    width = float(np.clip(12 / np.sqrt(max(len(segments), 1)), 0.2, 0.9))
    draw_lines(ax, segments, "#8C8C8C", width, zorder=2)


def draw_lines(ax: Axes, segments: Any, colour: Any, width: float, zorder: float = 1, **options: Any) -> None:
    """Polylines, as pixels where there are very many."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(list(segments), colors=colour, linewidths=width, zorder=zorder, **options)
    lines.set_rasterized(len(segments) > MANY)
    ax.add_collection(lines, autolim=False)


def grid_lines(kind: str, model: str) -> list[np.ndarray]:
    """Lines (n, 2) of a grid around the centre, in the coordinates of a model."""
    steps = np.arange(1, 7)
    if kind == "polar":
        angle = np.linspace(0, 2 * np.pi, 181)
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        curves = [np.tanh(r / 2) * ring for r in steps]
        rays = np.stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)], axis=1)
        curves += [np.linspace(0, 1, 100)[:, None] * ray for ray in rays * (1 - 1e-9)]
    else:
        across = np.array([[np.tanh(k), 1 / np.cosh(k)] for k in range(-6, 7)]) * (1 - 1e-9)  # ideal ends, on the upper side
        arcs = geodesic_arcs(across, across * [1, -1], 129)
        curves = [*arcs, *arcs[..., ::-1]]
    return [from_hyperboloid(on_hyperboloid(curve), model) for curve in curves]
