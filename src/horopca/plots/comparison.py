"""Several disks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .plane import new_figure, plot_disk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_comparison"]


def plot_comparison(
    images: Mapping[str, Any],
    labels: Sequence[Any] | None = None,
    *,
    edges: Any = None,
    captions: Sequence[str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw several reductions of the same points side by side, a disk to each.

    Parameters
    ----------
    images : mapping of str to array (n, 2)
        Points of the unit disk under the title of each disk, all in the same order of rows.
    labels, edges
        As for `plot_disk`, the same for every disk; one legend serves all.
    captions : sequence of str, optional
        A line below the title of each disk.
    figure : matplotlib figure, optional
        Where to draw; a new one otherwise.

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> figure = plot_comparison({"one": [[0.0, 0.1]], "two": [[0.2, 0.0]]}, captions=["first", "second"])
    >>> [ax.get_title() for ax in figure.axes]
    ['one\\nfirst', 'two\\nsecond']
    """
    if not images:
        raise ValueError("images must hold at least one disk, but is empty.")
    if captions is not None and len(captions) != len(images):
        raise ValueError(f"captions must have one entry per disk, but has {len(captions)} for {len(images)} disks.")
    figure = new_figure() if figure is None else figure
    columns = min(len(images), 4)
    lines = -(-len(images) // columns)
    figure.set_size_inches(3.1 * columns, 3.4 * lines + (0.5 if labels is not None else 0))
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    legend = None
    for ax, (title, Y), caption in zip(panels, images.items(), captions or [""] * len(images), strict=False):
        plot_disk(Y, labels, edges=edges, ax=ax, size=float(np.clip(250 / np.sqrt(max(len(Y), 1)), 1, 25)))
        ax.set_title(f"{title}\n{caption}" if caption else title, fontsize=11)
        if ax.get_legend() is not None:
            legend = ax.get_legend()
            legend.remove()
    for ax in panels[len(images) :]:
        ax.remove()
    if legend is not None:
        names = [text.get_text() for text in legend.get_texts()]
        figure.legend(legend.legend_handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=9)
    return figure
