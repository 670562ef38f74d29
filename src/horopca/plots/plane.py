"""Points of the hyperbolic plane, in any of its views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_choice
from ..geometry import ModelName, from_hyperboloid, radius
from .figures import (
    MANY,
    Colouring,
    by_label,
    by_value,
    draw_colour_bar,
    draw_legend,
    draw_lines,
    mark_area,
    new_figure,
    plain,
    proportion,
    text_size,
    theme_of,
    wrapped,
)
from .names import draw_names, importance, names_note
from .palette import Theme
from .regions import draw_regions, opacity
from .validation import PlotData, check_plot_data
from .views import VIEWS, View, choose_view, draw_grid, mark_view, why_equidistant, why_unreadable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

CROWD = 50_000  # From this number of points on, a plot shows how many there are rather than each of them.
BINS = 500  # A crowd is counted in this number of bins in each direction: about one for each pixel of a single plot.
SHORTEST_EDGE = 0.002  # Of many edges, those shorter than this fraction of the radius of the plot, one pixel, are omitted.
COMPANION_AREA = 42.0  # square points: larger than the marks of 1,000 points, which are 14


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
        A class for each point, in a colour of `class_colours`. The legend lists the 32 most frequent ones in natural order;
        points without a label are grey.
    names : sequence of n, optional
        A text to write beside each point; an empty one writes nothing. Where names would overlap each other or a point, those
        of points near the centre and with many edges are kept, and a note says how many fit.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join by geodesics.
    values : array (n,), optional
        Numbers to colour by instead of labels, with a colour bar; NaN where one is missing.
    value_name : str, optional
        The label of the colour bar.
    limits : (low, high), optional
        The ends of the colour bar, such as (0, 1) for a fraction. By default the range of the values, without 1 % at each end
        if that halves the range.
    scale : {"linear", "log", "diverging"}
        How numbers become colours; "diverging" has its middle at 0.
    palette : sequence or mapping of "#rrggbb", optional
        Colours of the classes, in order or by class; see `class_colours`.
    centre : int or array (2,), optional
        A row of Y, or a point in the coordinates of Y, to move to the centre.
    grid : {"polar", "geodesic"}, optional
        Numbered circles around the centre and rays; or the geodesics that cross the axes at right angles at distances
        0, 1, 2, ...
    model, curvature : the coordinates of Y
    ax : matplotlib axes, optional
        By default those of a new figure.
    size : float or array (n,), optional
        Areas of the marks in square points. By default they depend on n, and are smaller towards the rim.
    title : str, optional
    companions : mapping of names to points (2,), or array (m, 2), optional
        Points to draw on top as diamonds, in the coordinates of Y: a root, prototypes, anchors of classes. Their names have
        priority.
    regions : result of `horopca.metrics.bootstrap`, or array (n, m, 2), optional
        A region around each point, or its border as m points in the coordinates of Y. The larger the region, the paler its
        point; regions as large as the plot are omitted, and a note says how many.

    Returns
    -------
    matplotlib axes
        Nothing is shown or saved: ``ax.figure.savefig("disk.png")`` does that. From 50,000 points on the plot shows how many
        there are in each pixel, in the mean of their colours.

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
    """Draw points of the hyperbolic plane in the most readable view. Other arguments as for `plot_disk`.

    Parameters
    ----------
    Y, labels, value_name, ax, title, and more
        As for `plot_disk`.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        "auto" is the Poincaré disk, or the equidistant one if more than half of the points would be on the rim of the former;
        a note says so.

    Examples
    --------
    >>> deep = [[9.0, 0.0], [0.0, 10.0], [-11.0, 0.0]]
    >>> ax = plot_plane(deep, model="tangent")
    >>> ax.texts[-1].get_text()
    'by distance from the centre: 100% of the points would lie on the rim of the Poincaré disk'
    """
    data = check_plot_data(Y, labels, **points)
    check_choice("view", view, ("auto", *VIEWS))
    chosen = choose_view(data.x) if view == "auto" else view
    note = why_equidistant(data.x) if chosen != "disk" and view == "auto" else ""
    return draw_plane(chosen, data, new_figure().subplots() if ax is None else ax, value_name, title, note)


def plot_klein(Y: Any, labels: Sequence[Any] | None = None, **options: Any) -> Axes:
    """Draw points of the hyperbolic plane in Klein's disk, where geodesics are straight. Arguments as for `plot_disk`.

    >>> ax = plot_klein([[0.0, 0.0], [0.5, 0.0]], edges=[[0, 1]])    # Y still is in the Poincaré disk
    >>> sorted(ax.collections[-1].get_offsets().data.round(3).tolist())
    [[0.0, 0.0], [0.8, 0.0]]
    """
    return plot_plane(Y, labels, view="klein", **options)


def plot_equidistant(Y: Any, labels: Sequence[Any] | None = None, **options: Any) -> Axes:
    """Draw points of the hyperbolic plane by their distance and direction from the centre. Arguments as for `plot_disk`.

    Rings are numbered with the distance. Far points, which the Poincaré disk shows on its rim, are at their distances here.
    The plane continues outside the circle.

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


def draw_plane(
    name: str, data: PlotData, ax: Axes, value_name: str | None, title: str | None, note: str = "", note_lines: int = 0
) -> Axes:
    """Draw points in a view, with a note below them, for which at least `note_lines` lines are reserved."""
    view, n, theme = VIEWS[name], len(data.x), theme_of(ax)
    xy, beside, margin = (np.asarray(from_hyperboloid(x, view.model)) for x in (data.x, data.companions, data.margin))
    if data.values is None:
        colouring = by_label(data.labels, n, theme, data.palette)
    else:
        colouring = by_value(data.values, theme, data.scale, data.limits)
    size = view.frame(ax, np.concatenate([xy, beside, margin]), theme)
    if data.grid or view.ringed:
        draw_grid(ax, data.grid or "polar", view, size, data.unit, theme)
    notes = [note, why_unreadable(view, data.x, xy, size)]
    if data.edges is not None:
        notes.append(_draw_edges(ax, xy, data.edges, view, size, theme))
    if n >= CROWD:
        _draw_crowd(ax, xy, colouring)
    areas, alpha = _mark_areas(ax, data, view), None
    if data.regions is not None and n:
        alpha = opacity(data.regions)
        notes.append(draw_regions(ax, data.regions, view, size, _rgba(colouring), alpha))
    if n < CROWD:
        _draw_points(ax, xy, colouring, areas, theme, alpha)
    diamond = COMPANION_AREA * proportion(ax) ** 2
    if len(beside):
        style: dict[str, Any] = {"edgecolors": theme.halo, "linewidths": 0.9 * proportion(ax), "gid": "companions"}
        ax.scatter(beside[:, 0], beside[:, 1], marker="D", c=theme.ink, s=diamond, zorder=3.8, clip_on=False, **style)
    if title:
        ax.set_title(plain(title, 200), fontsize=text_size(ax, 11))
    names = [*(data.names or [""] * n), *data.companion_names]
    corner = _draw_note(
        ax, "; ".join(filter(None, notes)), f"; {names_note(len(names), len(names))}" if any(names) else "", note_lines, theme
    )
    mark_view(corner, name, data.centre)
    if colouring.legend:
        draw_legend(ax, colouring.legend)
    if any(names):
        weight = np.concatenate([importance(radius(data.x), data.edges), np.full(len(beside), np.inf)])
        marks = np.concatenate([areas, np.full(len(beside), diamond)])
        draw_names(ax, np.concatenate([xy, beside]), names, weight, marks, corner)
    if colouring.bar:  # last: it takes space from the axes, whose size determines all others
        draw_colour_bar(ax, colouring.bar, value_name)
    return ax


def _draw_note(ax: Axes, text: str, more: str, lines: int, theme: Theme) -> Text:
    """Write a note below the lower left corner.

    Only a blank text is part of the layout, with at least `lines` lines and room for what is added later: the axes do not
    move when the note changes.
    """
    style: dict[str, Any] = {"fontsize": text_size(ax, 6), "color": theme.edge, "va": "top", "ha": "left"}
    style |= {"transform": ax.transAxes}
    longest = wrapped(ax, "; ".join(filter(None, [text, more])), 6)
    lines = max(lines, longest.count("\n") + 1 if longest else 0)
    ax.text(0, -0.005, "\n".join(["\u00a0"] * lines), **style)  # no-break spaces have a height
    return ax.text(0, -0.005, wrapped(ax, text, 6), zorder=5, gid="note", in_layout=False, **style)


def _mark_areas(ax: Axes, data: PlotData, view: View) -> np.ndarray:
    """Areas of the marks in square points, by default smaller towards a boundary, where points are closer to each other."""
    n = len(data.x)
    if data.size is not None:
        return np.broadcast_to(np.asarray(data.size, dtype=np.float64), (n,))
    near = 1 / np.cosh(radius(data.x) / 2) ** 2 if view.shrinks else np.full(n, 0.6)
    return np.asarray(mark_area(n) * (0.3 + 0.7 * near) * proportion(ax) ** 2)


def _rgba(colouring: Colouring) -> np.ndarray:
    from matplotlib.colors import to_rgba_array

    return np.asarray(to_rgba_array(colouring.points))


def _draw_points(
    ax: Axes, xy: np.ndarray, colouring: Colouring, areas: np.ndarray, theme: Theme, alpha: np.ndarray | None
) -> None:
    """Draw marks in a random order, always the same: in the order of rows, the last class would hide the first."""
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
        alpha=strength if alpha is None else strength * alpha[order],
        linewidths=0.5 * proportion(ax) if few else 0,
        edgecolors=theme.halo,
        rasterized=n > MANY,
        zorder=3,
        clip_on=False,
    )


def _draw_crowd(ax: Axes, xy: np.ndarray, colouring: Colouring) -> None:
    """Draw an image: in each bin the mean colour of its points, the more opaque the more there are."""
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    column, row = np.floor((xy - low) / (high - low) * BINS).astype(np.int64).clip(0, BINS - 1).T
    bins = row * BINS + column
    count = np.bincount(bins, minlength=BINS * BINS)
    colours = _rgba(colouring)[:, :3]
    means = [np.bincount(bins, part, BINS * BINS) / np.maximum(count, 1) for part in colours.T]
    strength = np.where(count > 0, 0.25 + 0.75 * np.log1p(count) / np.log1p(count.max()), 0)
    image = np.stack([*means, strength], axis=-1).reshape(BINS, BINS, 4).clip(0, 1)
    extent = (low[0], high[0], low[1], high[1])
    ax.imshow(image, origin="lower", extent=extent, interpolation="nearest", zorder=3)


def _draw_edges(ax: Axes, xy: np.ndarray, edges: np.ndarray, view: View, size: float, theme: Theme) -> str:
    """Draw edges as geodesics. Returns a note about those that are omitted."""
    a, b = xy[edges[:, 0]], xy[edges[:, 1]]
    many = len(edges) > MANY
    seen = np.linalg.norm(a - b, axis=1) > SHORTEST_EDGE * size if many else np.ones(len(edges), dtype=bool)
    segments = view.arcs(a[seen], b[seen], 9 if many else 33)
    draw_lines(ax, segments, theme.edge, float(np.clip(12 / np.sqrt(max(len(segments), 1)), 0.2, 0.9)), zorder=2)
    omitted = len(edges) - int(seen.sum())
    return f"{omitted:,} of {len(edges):,} edges are too short to see" if omitted else ""
