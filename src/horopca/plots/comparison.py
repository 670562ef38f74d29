"""Several disks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry import align, from_hyperboloid
from ..statistics import FRAME_ROWS
from .figures import mark_area, new_figure
from .given import checked_points
from .plane import plot_disk

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_comparison(
    images: Mapping[str, Any],
    labels: Sequence[Any] | None = None,
    *,
    edges: Any = None,
    palette: Any = None,
    captions: Sequence[str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw several reductions of the same points side by side, a disk to each.

    Reductions are known up to isometry: each disk is moved and turned, by `horopca.geometry.align`, to match the first.

    Parameters
    ----------
    images : mapping of str to array (n, 2)
        Points of the unit disk under the title of each disk, all in the same order of rows.
    labels, edges, palette
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
    columns = columns_for(len(images))
    lines = -(-len(images) // columns)
    figure.set_size_inches(3.1 * columns, 3.4 * lines + (0.5 if labels is not None else 0))
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    legend, names = None, []
    for ax, (title, Y), caption in zip(panels, aligned(images).items(), captions or [""] * len(images), strict=False):
        plot_disk(Y, labels, edges=edges, palette=palette, ax=ax, size=mark_area(len(Y), 25.0))
        ax.set_title(f"{title}\n{caption}" if caption else title, fontsize=11)
        if ax.get_legend() is not None:
            legend = ax.get_legend()
            names = [text.get_text() for text in legend.get_texts()]
            legend.remove()
    for ax in panels[len(images) :]:
        ax.remove()
    if legend is not None:
        across = max(1, int(3.1 * columns * 72 / (4.8 * (max(map(len, names)) + 4))))  # letters of 9 points, and the dot
        columns = min(across, len(names))
        figure.set_size_inches(*(figure.get_size_inches() + [0, 0.2 * (-(-len(names) // columns) - 1)]))
        figure.legend(legend.legend_handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def columns_for(n: int) -> int:
    """In how many columns n disks leave the fewest places empty: three to five, the more if it is all one.

    >>> [columns_for(n) for n in (2, 4, 9, 10, 11)]
    [2, 4, 3, 5, 4]
    """
    return min(n, min((5, 4, 3), key=lambda columns: -n % columns))


def aligned(images: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Each image (n, 2) of the same points, moved by an isometry of the disk to where it matches the first best.

    >>> turned = aligned({"one": [[0.5, 0.0], [-0.5, 0.0], [0.0, 0.2]], "two": [[0.0, 0.5], [0.0, -0.5], [0.2, 0.0]]})
    >>> bool(np.allclose(turned["one"], turned["two"]))
    True
    """
    points = {title: checked_points(Y) for title, Y in images.items()}
    first, *others = points.values()
    for title, x in points.items():
        if len(x) != len(first):
            raise ValueError(f"images must be of the same points, but {title!r} has {len(x)} rows and the first {len(first)}.")
    some = slice(None, None, -(-len(first) // FRAME_ROWS) or 1)
    moved = [align(x[some], first[some], squares=True).move(x) if len(x) else x for x in others]
    return {title: from_hyperboloid(x, "poincare") for title, x in zip(points, [first, *moved], strict=True)}
