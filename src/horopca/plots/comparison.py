"""Several reductions side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_choice
from ..geometry import align, from_hyperboloid
from .figures import mark_area, new_figure
from .plane import plot_plane
from .validation import check_plane, check_same_rows, one_per_point
from .views import VIEWS, choose_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL, TITLED_PANEL = 3.1, 3.4  # The width of a panel, and its height with a title of two lines, in inches.
ALIGNED_ROWS = 1 << 15  # An isometry is found from at most this many points: with more, it hardly changes.


def plot_comparison(
    images: Mapping[str, Any],
    labels: Sequence[Any] | None = None,
    *,
    edges: Any = None,
    palette: Any = None,
    captions: Sequence[str] | None = None,
    view: str = "auto",
    figure: Figure | None = None,
) -> Figure:
    """Draw several reductions of the same points side by side.

    Reductions are determined up to isometry: each one is moved by `horopca.geometry.align` to match the first.

    Parameters
    ----------
    images : mapping of str to array (n, 2)
        Titles and points of the unit disk, all in the same order of rows.
    labels, edges, palette
        As for `plot_plane`, for every panel; there is one legend.
    captions : sequence of str, optional
        A line below the title of each panel.
    view : {"auto", "disk", "klein", "equidistant", "halfplane"}
        The view of every panel. "auto" is the Poincaré disk, or the equidistant one if more than half of the points of all
        panels would be on the rim of the former.
    figure : matplotlib figure, optional
        By default a new one.

    Returns
    -------
    matplotlib figure

    See Also
    --------
    horopca.compare : the numbers

    Examples
    --------
    >>> figure = plot_comparison({"one": [[0.0, 0.1]], "two": [[0.2, 0.0]]}, captions=["first", "second"])
    >>> [ax.get_title() for ax in figure.axes]
    ['one\\nfirst', 'two\\nsecond']
    """
    if not images:
        raise ValueError("images must contain at least one reduction, but is empty.")
    below = one_per_point(captions, "captions", len(images), "image") or [""] * len(images)
    check_choice("view", view, ("auto", *VIEWS))
    points = aligned(images)
    chosen = choose_view(np.concatenate(list(points.values()))) if view == "auto" else view
    figure = new_figure() if figure is None else figure
    columns = min(len(images), min((5, 4, 3), key=lambda columns: -len(images) % columns))  # with the fewest gaps
    rows = -(-len(images) // columns)
    figure.set_size_inches(PANEL * columns, TITLED_PANEL * rows + (0.5 if labels is not None else 0))  # 0.5 for a legend
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (title, x), caption in zip(panels, points.items(), below, strict=False):
        options: dict[str, Any] = {"edges": edges, "palette": palette, "size": mark_area(len(x), 25.0), "model": "lorentz"}
        plot_plane(from_hyperboloid(x, "lorentz"), labels, view=chosen, ax=ax, **options)
        ax.set_title(f"{title}\n{caption}" if caption else title, fontsize=11)
    for ax in panels[len(images) :]:
        ax.remove()
    _share_legend(figure, columns)
    return figure


def _share_legend(figure: Figure, columns: int) -> None:
    """Replace the legends of all panels by one below them, in as many columns as fit."""
    legends = [ax.get_legend() for ax in figure.axes]
    for ax, legend in zip(figure.axes, legends, strict=True):
        if legend is not None:
            legend.remove()
            ax.set_anchor("C")
    if legends and legends[0] is not None:
        names = [text.get_text() for text in legends[0].get_texts()]
        fitting = int(PANEL * columns * 72 / (4.8 * (max(map(len, names)) + 4)))  # letters of 9 points, and the dot
        across = max(1, min(fitting, len(names)))
        figure.set_size_inches(*(figure.get_size_inches() + [0, 0.2 * (-(-len(names) // across) - 1)]))
        handles: Any = legends[0].legend_handles
        style: dict[str, Any] = {"frameon": False, "fontsize": 9, "markerscale": 1.6}  # dots as large as letters
        figure.legend(handles, names, loc="outside lower center", ncols=across, **style)


def aligned(images: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Images of the same points on the hyperboloid (n, 3), each moved by an isometry to match the first."""
    points = {title: check_plane(Y) for title, Y in images.items()}
    first = next(iter(points.values()))
    check_same_rows("images", [len(x) for x in points.values()])
    some = slice(None, None, -(-len(first) // ALIGNED_ROWS) or 1)
    moved = {title: align(x[some], first[some], squares=True).move(x) for title, x in list(points.items())[1:] if len(x)}
    return {title: np.asarray(moved.get(title, x)) for title, x in points.items()}
