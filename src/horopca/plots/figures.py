"""What every picture needs of matplotlib: a figure, its theme, sizes in proportion, legends that stay inside."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .palette import DARK, DARK_OTHER, LIGHT, OTHER, RAMPS, Theme, class_colours, label_texts, value_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MANY = 5000  # From so many points or lines on, a vector picture stores them as pixels.
USUAL = 4.6  # The axes of a figure of its own measure so many inches: sizes are chosen for this.
LEGIBLE = 5.5  # No text is smaller than this, in points.


def new_figure(*, interactive: bool = True) -> Figure:
    """A figure: one of pyplot's, or (not interactive) one that can only be saved and leaves no trace."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install matplotlib.") from error
    return (plt.figure if interactive else Figure)(figsize=(7, 6), layout="constrained")


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes are in, also where they are in a subfigure."""
    return cast("Figure", ax.get_figure(root=True))


def theme_of(ax: Axes) -> Theme:
    """Dark on a dark figure; where the figure is transparent, if matplotlib writes in a light colour."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(figure_of(ax).get_facecolor())
    if alpha < 0.5:
        red, green, blue = (1 - part for part in to_rgba(rcParams["text.color"])[:3])
    return DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4 else LIGHT


def proportion(ax: Axes) -> float:
    """How large the axes are beside those of a figure of its own: what sizes of marks, lines and texts are multiplied by."""
    place, (width, height) = ax.get_position(original=True), figure_of(ax).get_size_inches()
    return float(np.clip(min(place.width * width, place.height * height) / USUAL, 0.3, 2.0))


def mark_area(n: int, largest: float = 45.0) -> float:
    """The area of a mark in square points, the smaller the more of them there are."""
    return float(np.clip(10 * largest / np.sqrt(max(n, 1)), 1, largest))


def text_size(ax: Axes, usual: float) -> float:
    """A size of text in proportion to the axes, but legible."""
    return max(LEGIBLE, usual * proportion(ax))


def in_lines(ax: Axes, text: str, usual: float) -> str:
    """A text of a usual size, broken into lines no wider than the axes: a wider one would keep panels from being laid out."""
    width = ax.get_position(original=True).width * figure_of(ax).get_size_inches()[0] * 72
    return fill(text, max(20, int(width / (0.6 * text_size(ax, usual)))))  # a letter is less than 0.6 of its size wide


def draw_lines(ax: Axes, segments: Any, colour: Any, width: float, zorder: float = 1, **options: Any) -> None:
    """Polylines, as pixels where there are very many; their width in proportion to the axes."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(list(segments), colors=colour, linewidths=width * proportion(ax), zorder=zorder, **options)
    lines.set_rasterized(len(segments) > MANY)
    ax.add_collection(lines, autolim=False)


# ---------------------------------------------------------------- colours


class Colouring(NamedTuple):
    """A colour for each point, and what explains it: lines of a legend, or a colour bar."""

    points: Any  # (n,) colours, or (n, 4)
    grey: np.ndarray  # (n,): painted first, below the others
    legend: list[tuple[str, str]]  # text, colour
    bar: tuple[Any, Colormap] | None = None  # how numbers become fractions, and fractions colours


def by_label(labels: list[Any] | None, n: int, theme: Theme, palette: Any = None) -> Colouring:
    """A colour of their own for as many classes as there are colours; the others, and missing labels, are grey."""
    if labels is None:
        colour = theme.classes[0] if palette is None or isinstance(palette, Mapping) else next(iter(palette))
        return Colouring([colour] * n, np.zeros(n, dtype=bool), [])
    colours, texts = class_colours(labels, palette, theme.name), label_texts(labels)
    own = {text: colour for text, colour in colours.items() if colour not in (OTHER, DARK_OTHER)}
    legend = list(own.items())
    rest = len(colours) - len(own)
    if rest:
        only = next(text for text in colours if text not in own)
        legend.append((only if rest == 1 else f"{rest} others", theme.other))
    return Colouring([colours[text] for text in texts], np.array([text not in own for text in texts], dtype=bool), legend)


def ramp(name: str, theme: Theme) -> Colormap:
    """A colour map from low to high; `palette.RAMPS` holds it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, list(RAMPS[name][theme.name]))


def by_value(values: np.ndarray, theme: Theme, scale: str = "linear", limits: tuple[float, float] | None = None) -> Colouring:
    """A ramp of steadily changing lightness; missing values are grey."""
    from matplotlib.colors import LogNorm, Normalize, to_rgba

    ends = value_range(values, scale) if limits is None else limits
    norm = (LogNorm if scale == "log" else Normalize)(*ends, clip=True)
    colours: Any = ramp("diverging" if scale == "diverging" else "value", theme)
    missing = ~np.isfinite(values) | (values <= 0 if scale == "log" else False)
    tints = colours(np.ma.filled(norm(np.where(missing, ends[0], values)), 0.0))
    tints[missing] = to_rgba(theme.other)
    return Colouring(tints, missing, [], (norm, colours))


# ---------------------------------------------------------------- legends


def plain(text: str, longest: int = 32) -> str:
    """A user's text, for matplotlib: no mathematics in it, and not too long."""
    short = text if len(text) <= longest else f"{text[: longest - 14]}…{text[-12:]}"
    return short.replace("$", r"\$")


def draw_legend(ax: Axes, legend: list[tuple[str, str]]) -> None:
    """The classes beside the axes, inside the figure."""
    from matplotlib.lines import Line2D

    theme, size = theme_of(ax), proportion(ax)
    height = ax.get_position(original=True).height * figure_of(ax).get_size_inches()[1] * 72
    font = max(LEGIBLE, min(9 * size, height / (1.6 * len(legend))))
    dots = [
        Line2D([], [], marker="o", linestyle="", color=colour, markeredgecolor=theme.halo, markersize=0.7 * font)
        for _, colour in legend
    ]
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "borderaxespad": 0.3, "handletextpad": 0.2}
    box = ax.legend(dots, [plain(text) for text, _ in legend], frameon=False, fontsize=font, labelspacing=0.4, **place)
    if figure_of(ax).get_layout_engine() is None:
        _make_room(ax, box)


def _make_room(ax: Axes, legend: Any) -> None:
    """Without a layout engine nobody makes room for what stands beside the axes: narrow them until both fit their place."""
    figure, place = figure_of(ax), ax.get_position(original=True)
    figure.draw_without_rendering()
    width = legend.get_window_extent().width / figure.bbox.width
    ax.set_position((place.x0, place.y0, max(place.width - width, 0.3 * place.width), place.height))
    ax.set_anchor("W")


def draw_colour_bar(ax: Axes, bar: tuple[Any, Colormap], name: str | None) -> None:
    from matplotlib.cm import ScalarMappable

    drawn = figure_of(ax).colorbar(ScalarMappable(*bar), ax=ax, shrink=0.6, pad=0.02)
    drawn.outline.set_visible(False)
    drawn.set_label(plain(name or ""), fontsize=text_size(ax, 9))
    drawn.ax.tick_params(labelsize=text_size(ax, 8), length=2)
