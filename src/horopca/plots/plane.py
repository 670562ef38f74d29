"""Points of the hyperbolic plane, in any of its views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry import ModelName, radius
from . import figures
from .names import draw_names, importance, names_note
from .palette import Theme
from .regions import draw_regions, opacity
from .validation import check_plane_arguments
from .views import VIEWS, View, choose_view, draw_rings, fraction_on_rim, why_equidistant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

CROWD = 50_000  # From this number of points on, a plot shows their density instead of a mark for each.
BINS = 500  # The number of bins of the density in each direction: about one for each pixel of a single plot.
SHORTEST_EDGE = 0.002  # If there are many edges, those shorter than this fraction of the radius, about one pixel, are omitted.
COMPANION_AREA = 42.0  # Square points: larger than the marks of 1,000 points, which are 14.


def plot_plane(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    view: str = "auto",
    names: Sequence[str] | None = None,
    edges: Any = None,
    values: Any = None,
    value_name: str | None = None,
    norm: Any = None,
    palette: Any = None,
    centre: int | Any = None,
    grid: bool = False,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    ax: Axes | None = None,
    size: Any = None,
    title: str | None = None,
    companions: Mapping[str, Any] | None = None,
    regions: Any = None,
) -> Axes:
    """Draw points of the hyperbolic plane.

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    labels : sequence of n, optional
        A class for each point, in a colour of `class_colours`. The legend lists the 32 most frequent ones in natural order;
        points without a label are grey.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        How the plane is drawn: the Poincaré disk, in which angles are true; Klein's disk, in which geodesics are straight;
        by distance and direction from the centre, with numbered rings; or the upper half-plane. "auto" is the Poincaré disk,
        or "equidistant" if more than half of the points would be on the rim of the disk; a note says so.
    names : sequence of n, optional
        A text to write beside each point; an empty one writes nothing. Where names would overlap each other or a point, those
        of points near the centre and with many edges are kept, and a note says how many fit.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join by geodesics.
    values : array (n,), optional
        Numbers to colour by instead of labels, with a colour bar; NaN where one is missing.
    value_name : str, optional
        The label of the colour bar.
    norm : matplotlib.colors.Normalize, optional
        How numbers become colours, such as ``Normalize(0, 1)``, ``LogNorm()``, or ``CenteredNorm()`` for diverging colours.
        By default linear over the range of the values, without 1 % at each end if that halves the range.
    palette : sequence or mapping of "#rrggbb", optional
        Colours of the classes, in order or by class; see `class_colours`.
    centre : int or array (2,), optional
        A row of Y, or a point in the coordinates of Y, to move to the centre.
    grid : bool
        Whether to draw numbered circles around the centre and rays. The equidistant view always has them.
    model, curvature : str and float
        The coordinates of Y.
    ax : matplotlib axes, optional
        By default those of a new figure.
    size : float or array (n,), optional
        Areas of the marks in square points. By default they depend on n, and are smaller towards a rim.
    title : str, optional
        The title of the plot.
    companions : mapping of names to points (2,), optional
        Points to draw on top as diamonds, in the coordinates of Y: a root, prototypes, anchors of classes. Their names have
        priority.
    regions : result of `horopca.metrics.bootstrap`, optional
        A confidence region around each point. The larger the region, the paler its point; regions wider than the spread of
        the points are omitted, and a note says how many.

    Returns
    -------
    matplotlib axes
        Nothing is shown or saved: ``ax.figure.savefig("plane.png")`` does that. From 50,000 points on the plot shows how many
        there are in each pixel, in the mean of their colours.

    See Also
    --------
    plot_ball : three dimensions
    horopca.explore : an interactive page

    Examples
    --------
    >>> ax = plot_plane([[0.0, 0.0], [0.5, 0.0], [0.0, 0.9]], ["root", "leaf", "leaf"], edges=[[0, 1], [0, 2]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['leaf', 'root']
    >>> ax = plot_plane([[9.0, 0.0], [0.0, 10.0], [-11.0, 0.0]], model="tangent")
    >>> ax.texts[-1].get_text()
    'by distance from the centre: 100% of the points would lie on the rim of the Poincaré disk'
    """
    data = check_plane_arguments(locals())
    return draw_plane(data, figures.new_figure().subplots() if ax is None else ax)


def draw_plane(data: SimpleNamespace, ax: Axes, everything: np.ndarray | None = None, note_lines: int = 0) -> Axes:
    """Draw validated points, with a note below them, for which at least `note_lines` lines are reserved.

    The view and its limits are those for `everything` (n, 3): in an animation, the points of all pictures.
    """
    n, theme = len(data.x), figures.theme_of(ax)
    everything = np.concatenate([data.x, data.diamonds]) if everything is None else everything
    name = choose_view(everything) if data.view == "auto" else data.view
    view = VIEWS[name]
    xy, beside = view.place(data.x), view.place(data.diamonds)
    legend, bar = list[tuple[str, str]](), None
    if data.values is None:
        colours, legend = figures.by_label(data.labels, n, theme, data.palette)
    else:
        colours, bar = figures.by_value(data.values, theme, data.norm)
    size = view.frame(ax, view.place(everything), theme)
    if data.grid or view.ringed:
        draw_rings(ax, view, size, data.unit, theme)
    notes = [why_equidistant(data.x)] if data.view == "auto" and view.ringed else []
    if not view.ringed and (low := fraction_on_rim(data.x)) > 0.5:
        notes.append(f'{low:.0%} of the points appear to lie on the rim: view="equidistant" separates them')
    if data.edges is not None:
        notes.append(_draw_edges(ax, xy, data.edges, view, size, theme))
    areas = _mark_areas(ax, data, view)
    alpha = np.ones(n)
    if data.regions is not None and n:
        alpha = opacity(data)
        notes.append(draw_regions(ax, data, view, size, colours, alpha))
    if n < CROWD:
        _draw_points(ax, xy, colours, areas, theme, alpha)
    else:
        _draw_crowd(ax, xy, colours)
    diamond = COMPANION_AREA * figures.proportion(ax) ** 2
    if len(beside):
        style: dict[str, Any] = {"edgecolors": theme.halo, "linewidths": 0.9 * figures.proportion(ax), "gid": "companions"}
        ax.scatter(beside[:, 0], beside[:, 1], marker="D", c=theme.ink, s=diamond, zorder=3.8, clip_on=False, **style)
    if data.title:
        ax.set_title(figures.plain(data.title, 200), fontsize=figures.text_size(ax, 11))
    names = [*map(str, data.names or [""] * n), *data.companions]
    more = names_note(len(names), len(names)) if any(names) else ""
    note = _draw_note(ax, "; ".join(filter(None, notes)), more, note_lines, theme)
    vars(note)["horopca"] = name, data.centre  # for `axes_in_view`; removed when the axes are cleared
    figures.draw_legend(ax, legend)
    if any(names):
        weight = np.concatenate([importance(radius(data.x), data.edges), np.full(len(beside), np.inf)])
        marks = np.concatenate([areas, np.full(len(beside), diamond)])
        draw_names(ax, np.concatenate([xy, beside]), names, weight, marks, note)
    if bar:  # last: it takes space from the axes, whose size determines all other sizes
        figures.draw_colour_bar(ax, bar, data.value_name)
    return ax


def _draw_note(ax: Axes, text: str, more: str, lines: int, theme: Theme) -> Text:
    """Write a note below the lower left corner. A blank text reserves its space, so that the axes never move."""
    from matplotlib.transforms import offset_copy

    style: dict[str, Any] = {"fontsize": figures.text_size(ax, 6), "color": theme.edge, "va": "top", "ha": "left"}
    style["transform"] = offset_copy(ax.transAxes, figures.figure_of(ax), y=-2, units="points")
    longest = figures.wrapped(ax, "; ".join(filter(None, [text, more])), 6)
    lines = max(lines, longest.count("\n") + 1 if longest else 0)
    ax.text(0, 0, "\n".join(["\u00a0"] * lines), **style)  # no-break spaces have a height
    return ax.text(0, 0, figures.wrapped(ax, text, 6), zorder=5, gid="note", in_layout=False, **style)


def _mark_areas(ax: Axes, data: SimpleNamespace, view: View) -> np.ndarray:
    """Areas (n,) of the marks in square points; by default smaller towards a rim, where points are closer to each other."""
    n = len(data.x)
    if data.size is not None:
        return np.broadcast_to(np.asarray(data.size, dtype=np.float64), (n,))
    near = 1 / np.cosh(radius(data.x) / 2) ** 2 if view.rim else np.full(n, 0.6)
    return np.asarray(figures.mark_area(n) * (0.3 + 0.7 * near) * figures.proportion(ax) ** 2)


def _draw_points(ax: Axes, xy: np.ndarray, colours: np.ndarray, areas: np.ndarray, theme: Theme, alpha: np.ndarray) -> None:
    """Draw marks in a fixed random order: in the order of the rows, the last class could hide the first."""
    from matplotlib.colors import to_rgba

    order, few = np.random.default_rng(0).permutation(len(xy)), len(xy) <= 1000
    grey = (colours == to_rgba(theme.other)).all(axis=1)
    order = order[np.argsort(~grey[order], kind="stable")]  # points without a class or value are below the others
    shades = colours[order]
    shades[:, 3] = (1 if few else 0.7) * alpha[order]
    line = 0.5 * figures.proportion(ax) if few else 0
    style: dict[str, Any] = {"edgecolors": theme.halo, "linewidths": line, "clip_on": False}
    ax.scatter(xy[order, 0], xy[order, 1], s=areas[order], c=shades, rasterized=len(xy) > figures.MANY, zorder=3, **style)


def _draw_crowd(ax: Axes, xy: np.ndarray, colours: np.ndarray) -> None:
    """Draw the density as an image: each bin has the mean colour of its points, and is more opaque if it has more points."""
    limits = [ax.get_ylim(), ax.get_xlim()]
    count, *sums = (np.histogram2d(xy[:, 1], xy[:, 0], BINS, limits, weights=part)[0] for part in (None, *colours[:, :3].T))
    strength = np.where(count > 0, 0.25 + 0.75 * np.log1p(count) / np.log1p(count.max()), 0)
    image = np.stack([*(part / np.maximum(count, 1) for part in sums), strength], axis=-1).clip(0, 1)
    ax.imshow(image, origin="lower", extent=(*limits[1], *limits[0]), interpolation="nearest", zorder=3)


def _draw_edges(ax: Axes, xy: np.ndarray, edges: np.ndarray, view: View, size: float, theme: Theme) -> str:
    """Draw edges as geodesics. Returns a note about those that are omitted."""
    a, b = xy[edges[:, 0]], xy[edges[:, 1]]
    many = len(edges) > figures.MANY
    seen = np.linalg.norm(a - b, axis=1) > SHORTEST_EDGE * size if many else np.ones(len(edges), dtype=bool)
    segments = view.arcs(a[seen], b[seen], 9 if many else 33)
    figures.draw_lines(ax, segments, theme.edge, float(np.clip(12 / np.sqrt(max(len(segments), 1)), 0.2, 0.9)), zorder=2)
    omitted = len(edges) - int(seen.sum())
    return f"edges too short to see: {omitted:,} of {len(edges):,}" if omitted else ""
