"""Figures, themes, sizes in proportion to the axes, legends and colour bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .palette import DARK, LIGHT, RAMPS, Theme, class_colours, label_texts, value_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MANY = 5000  # More points or lines than this are rasterized in vector files, which would be slow to open otherwise.
USUAL_SIZE = 4.6  # Inches that the axes of a single plot measure, for which sizes of marks, lines and texts are chosen.
SMALLEST_TEXT = 5.5  # Points: smaller text is not legible in print.
LAYOUTS = 4  # Passes of matplotlib's layout. With a legend beside round axes one pass may leave the legend cut off.
LEGEND_LINES = 32  # A legend of more lines would not be legible beside axes of the usual size.


def new_figure(*, interactive: bool = True) -> Figure:
    """A new figure of pyplot; or, if not `interactive`, one that pyplot does not know and that can only be saved."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install matplotlib.") from error
    return (plt.figure if interactive else Figure)(figsize=(7, 6), layout="constrained")


def save_figure(figure: Figure, path: str | Path, *, dpi: float = 160.0) -> None:
    """Write a figure to a file, cropped to what it shows.

    A PDF has TrueType fonts, as publishers require, and an SVG has text as text, so both can be searched and edited.

    Parameters
    ----------
    figure : matplotlib figure
        Such as ``ax.figure`` of the axes that a plot returns.
    path : str or Path
        The ending selects the format, as in matplotlib.
    dpi : float, default=160
        Pixels per inch of a bitmap.

    See Also
    --------
    plot_plane : returns axes of a figure

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from horopca.plots import plot_plane, save_figure
    >>> ax = plot_plane([[0.0, 0.0], [0.5, 0.0]])
    >>> save_figure(ax.figure, f"{mkdtemp()}/disk.svg")
    """
    from matplotlib import rc_context

    with rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        figure.savefig(path, dpi=dpi, bbox_inches="tight")


def figure_of(ax: Axes) -> Figure:
    """The figure that contains the axes, also if they are in a subfigure."""
    return cast("Figure", ax.get_figure(root=True))


def theme_of(ax: Axes) -> Theme:
    """The theme of the axes: dark if the figure is dark or, for a transparent figure, if matplotlib's text colour is light."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(figure_of(ax).get_facecolor())
    if alpha < 0.5:
        red, green, blue = (1 - part for part in to_rgba(rcParams["text.color"])[:3])
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue  # ITU-R BT.709
    return DARK if luminance < 0.4 else LIGHT


def _inches(ax: Axes) -> np.ndarray:
    """Width and height of the axes before the layout, which are the same for all panels of a grid."""
    grid, figure = ax.get_subplotspec(), figure_of(ax)
    box = ax.get_position(original=True) if grid is None else grid.get_position(figure)
    return np.asarray(figure.get_size_inches() * [box.width, box.height])


def proportion(ax: Axes) -> float:
    """The size of the axes relative to those of a single plot, by which the sizes of marks, lines and texts are multiplied."""
    return float(np.clip(_inches(ax).min() / USUAL_SIZE, 0.3, 2.0))


def mark_area(n: int, largest: float = 45.0) -> float:
    """The area in square points of each of n marks."""
    return float(np.clip(10 * largest / np.sqrt(max(n, 1)), 1, largest))


def text_size(ax: Axes, usual: float) -> float:
    """A font size in proportion to the axes, but legible."""
    return max(SMALLEST_TEXT, usual * proportion(ax))


def wrapped(ax: Axes, text: str, usual: float, *, vertical: bool = False) -> str:
    """A text of a usual size in lines no longer than the axes are wide or, if vertical, than a colour bar is high."""
    width, height = _inches(ax) * 72
    length = 0.6 * height if vertical else width
    return fill(text, max(20, int(length / (0.6 * text_size(ax, usual)))))  # a letter is at most 0.6 of its size wide


def draw_lines(ax: Axes, segments: Any, colour: Any, width: float, zorder: float = 1, **options: Any) -> None:
    """Draw polylines, with a width in proportion to the axes."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(list(segments), colors=colour, linewidths=width * proportion(ax), zorder=zorder, **options)
    lines.set_rasterized(len(segments) > MANY)
    ax.add_collection(lines, autolim=False)


def by_label(labels: list[Any] | None, n: int, theme: Theme, palette: Any = None) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """Colours (n, 4) of points by class; and texts and colours of a legend of the most frequent classes, in natural order."""
    from matplotlib.colors import to_rgba_array

    if labels is None:
        colour = theme.classes[0] if palette is None or isinstance(palette, Mapping) else next(iter(palette))
        return np.tile(to_rgba_array(colour), (n, 1)), []
    colours, texts = class_colours(labels, palette, theme.name), label_texts(labels)
    listed = [*colours]
    if len(colours) > LEGEND_LINES:
        listed = [text for text, _ in Counter(dict.fromkeys(colours, 0) | Counter(texts)).most_common(LEGEND_LINES - 1)]
    legend = [(text, colour) for text, colour in colours.items() if text in listed]
    if len(legend) < len(colours):
        legend.append((f"and {len(colours) - len(legend)} more classes", "none"))
    return to_rgba_array([colours[text] for text in texts]), legend


def ramp(name: str, theme: Theme) -> Colormap:
    """A colour map of `RAMPS`; missing values are grey."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, list(RAMPS[name][theme.name])).with_extremes(bad=theme.other)


def by_value(values: np.ndarray, theme: Theme, norm: Any = None) -> tuple[np.ndarray, tuple[Any, Colormap]]:
    """Colours (n, 4) of points by value; and the norm and the colour map of a colour bar."""
    from matplotlib.colors import CenteredNorm, Normalize, TwoSlopeNorm

    known = np.ma.masked_invalid(values)
    norm = Normalize(*value_range(values)) if norm is None else copy(norm)
    norm.autoscale_None(known)
    colours = ramp("diverging" if isinstance(norm, CenteredNorm | TwoSlopeNorm) else "value", theme)
    return np.asarray(colours(norm(known))), (norm, colours)


def plain(text: str, longest: int = 32) -> str:
    """A user's text for matplotlib: shortened, and with $ escaped, so that it is not taken for mathematics."""
    ends = text.split(" – ")  # the first and the last leaf of a clade without a name: each is shortened by itself
    longest = longest if len(ends) == 1 else 20
    short = [end if len(end) <= longest else f"{end[: longest // 2 + 2]}…{end[4 - longest // 2 :]}" for end in ends]
    return " – ".join(short).replace("$", r"\$")


def draw_legend(ax: Axes, legend: list[tuple[str, str]]) -> None:
    """Draw the classes, if there are any, beside the axes, inside the figure."""
    from matplotlib.lines import Line2D

    if not legend:
        return
    theme = theme_of(ax)
    font = max(SMALLEST_TEXT, min(9 * proportion(ax), 72 * _inches(ax)[1] / (1.6 * len(legend))))
    style: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgecolor": theme.halo, "markersize": 0.7 * font}
    dots = [Line2D([], [], color=colour, **style) for _, colour in legend]
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "borderaxespad": 0.3, "handletextpad": 0.2}
    box = ax.legend(dots, [plain(text) for text, _ in legend], frameon=False, fontsize=font, labelspacing=0.4, **beside)
    ax.set_anchor("W")  # round axes in the middle of a wide space would push the legend out of the figure
    figure = figure_of(ax)
    engine = figure.get_layout_engine()
    if engine is None:
        _narrow(ax, box)
    else:
        for _ in range(LAYOUTS):
            engine.execute(figure)


def _narrow(ax: Axes, legend: Any) -> None:
    """Narrow the axes, in a figure without a layout engine, so that their legend fits beside them."""
    figure, box = figure_of(ax), ax.get_position(original=True)
    figure.draw_without_rendering()
    room = (legend.get_window_extent().width + figure.dpi / 6) / figure.bbox.width  # 12 points for the gap and rounding
    ax.set_position((box.x0, box.y0, max(box.width - room, 0.3 * box.width), box.height))


def draw_colour_bar(ax: Axes, bar: tuple[Any, Colormap], name: str | None) -> None:
    from matplotlib.cm import ScalarMappable

    label = wrapped(ax, plain(name or "", 80), 9, vertical=True)
    drawn = figure_of(ax).colorbar(ScalarMappable(*bar), ax=ax, shrink=0.6, pad=0.02)
    drawn.outline.set_visible(False)
    drawn.set_label(label, fontsize=text_size(ax, 9))
    drawn.ax.tick_params(labelsize=text_size(ax, 8), length=2)
