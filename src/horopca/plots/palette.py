"""Colours of classes and of values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers too; in an order that keeps neighbours far apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
OTHER = "#B0B0B0"
RAMP = "viridis"


class Colouring(NamedTuple):
    """A colour for each point, and what explains it: lines of a legend, or the range of a colour bar."""

    points: Any  # (n,) colours, or (n, 4)
    legend: list[tuple[str, str]]  # text, colour
    range: tuple[float, float] | None = None


def by_label(labels: list[Any] | None, n: int) -> Colouring:
    """The eight most frequent labels have a colour of their own, the rest are grey."""
    if labels is None:
        return Colouring([COLOURS[0]] * n, [])
    frequent = [label for label, _ in Counter(labels).most_common(len(COLOURS))]
    palette = dict(zip(frequent, COLOURS, strict=False))
    legend = [(str(label), colour) for label, colour in palette.items()]
    if set(labels) - set(frequent):
        legend.append(("other", OTHER))
    return Colouring([palette.get(label, OTHER) for label in labels], legend)


def by_value(values: np.ndarray) -> Colouring:
    """A ramp of steadily changing lightness; missing values are grey."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba

    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    part = (values - low) / (high - low if high > low else 1.0)
    colours = colormaps[RAMP](np.nan_to_num(part))
    colours[~np.isfinite(values)] = to_rgba(OTHER)
    return Colouring(colours, [], (low, high))


def draw_legend(ax: Axes, legend: list[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    dots = [Line2D([], [], marker="o", linestyle="", color=colour, markeredgecolor="white") for _, colour in legend]
    texts = [text if len(text) <= 32 else f"{text[:18]}…{text[-12:]}" for text, _ in legend]
    # beside the disk, not over it
    ax.legend(dots, texts, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)


def draw_colour_bar(ax: Axes, ends: tuple[float, float], name: str | None) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = ax.figure.colorbar(ScalarMappable(Normalize(*ends), RAMP), ax=ax, shrink=0.6, pad=0.02, label=name or "")
    bar.outline.set_visible(False)
