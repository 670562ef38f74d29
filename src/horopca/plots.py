"""Pictures of the Poincaré disk, in matplotlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["geodesic_arcs", "new_figure", "plot_disk"]

# Okabe and Ito's colours, told apart by colour-blind readers too; in an order that keeps neighbours far apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
OTHER = "#B0B0B0"
MANY = 5000  # points from which a vector picture stores them as pixels


def plot_disk(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    edges: Any = None,
    ax: Axes | None = None,
    size: float | None = None,
    title: str | None = None,
) -> Axes:
    """Draw points of the Poincaré disk.

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk.
    labels : sequence of n, optional
        A class for each point.  The eight most frequent get a colour and a line in the legend, the rest are grey.
    names : sequence of n, optional
        A text to write beside each point; an empty one writes nothing.
    edges : array of int (m, 2), optional
        Pairs of rows of Y to join, by geodesics: arcs of circles that meet the boundary at right angles.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    size : float, optional
        Area of a marker in square points; chosen from n otherwise.
    title : str, optional

    Returns
    -------
    matplotlib axes
        Nothing is shown or saved: ``ax.figure.savefig("disk.png")`` does that.

    Examples
    --------
    >>> ax = plot_disk([[0.0, 0.0], [0.5, 0.0], [0.0, 0.9]], ["root", "leaf", "leaf"], edges=[[0, 1], [0, 2]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['leaf', 'root']
    """
    Y = _checked_points(Y)
    labels, names = _one_per_point(labels, "labels", Y), _one_per_point(names, "names", Y)
    segments = geodesic_arcs(*_checked_ends(edges, Y)) if edges is not None else None
    ax = _empty_disk(new_figure().subplots() if ax is None else ax)
    if segments is not None:
        _draw_edges(ax, segments)
    colours, legend = _colours(labels, len(Y))
    _draw_points(ax, Y, colours, size)
    for y, name in zip(Y, names or (), strict=False):
        ax.annotate(str(name), y, xytext=(3, 3), textcoords="offset points", fontsize=7, color="#333333", zorder=4)
    if legend:
        _draw_legend(ax, legend)
    if title:
        ax.set_title(title)
    return ax


def new_figure(*, interactive: bool = True) -> Figure:
    """A figure: one of pyplot's, or (not interactive) one that can only be saved and leaves no trace."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'horopca[plot]'.") from error
    return (plt.figure if interactive else Figure)(figsize=(7, 6), layout="constrained")


def geodesic_arcs(a: Any, b: Any, n_points: int = 33) -> np.ndarray:
    """Geodesics of the disk from each a (m, 2) to each b (m, 2), as points (m, n_points, 2) evenly spaced to the eye.

    >>> geodesic_arcs([[0.5, 0.0]], [[-0.5, 0.0]], 3).round(6) + 0.0
    array([[[ 0.5,  0. ],
            [ 0. ,  0. ],
            [-0.5,  0. ]]])
    """
    a, b = _complex(a)[:, None], _complex(b)[:, None]
    # The arc orthogonal to the boundary turns by 2 phi between a and b, where phi = arg(1 - conj(a) b).
    phi = np.angle(1 - np.conj(a) * b)
    phi = np.where(np.abs(phi) < 1e-6, 1e-6, phi)  # a straight line, to less than any pixel
    turned = phi * np.linspace(-1, 1, n_points)
    z = (a + b) / 2 + (b - a) / 2 * (np.sin(turned) - 1j * (np.cos(turned) - np.cos(phi))) / np.sin(phi)
    return np.stack([z.real, z.imag], axis=-1)


def _complex(y: Any) -> np.ndarray:
    y = np.asarray(y, dtype=np.float64)
    return y[..., 0] + 1j * y[..., 1]


# ---------------------------------------------------------------- the door


def _checked_points(Y: Any) -> np.ndarray:
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[1] != 2:
        raise ValueError(f"Y must be points of the disk, of shape (n, 2), but it has shape {Y.shape}.")
    if not np.isfinite(Y).all():
        raise ValueError(f"Y must be finite, but row {np.argmin(np.isfinite(Y).all(axis=1))} is not.")
    norms = np.hypot(*Y.T)
    outside = np.flatnonzero(norms > 1 + 1e-6)  # a point may round to the boundary, in float32 from radius 17 on
    if outside.size:
        raise ValueError(
            f"Y must lie in the unit disk, but {outside.size} of {len(Y)} rows do not (row {outside[0]} has norm "
            f"{norms[outside[0]]:.3g}). Convert other models and other curvatures to it first."
        )
    return Y


def _one_per_point(values: Sequence[Any] | None, what: str, Y: np.ndarray) -> list[Any] | None:
    if values is None:
        return None
    if len(values) != len(Y):
        raise ValueError(f"{what} must have one entry per point, but has {len(values)} for {len(Y)} points.")
    return list(values)


def _checked_ends(edges: Any, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = np.asarray(edges)
    if edges.size == 0:
        edges = np.empty((0, 2), dtype=np.intp)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f"edges must be pairs of row numbers, of shape (m, 2), but has shape {edges.shape}.")
    wrong = edges[(edges < 0) | (edges >= len(Y))]
    if wrong.size:
        raise ValueError(f"edges must name rows 0 to {len(Y) - 1} of Y, but one names row {wrong[0]}.")
    return Y[edges[:, 0]], Y[edges[:, 1]]


# ---------------------------------------------------------------- drawing


def _empty_disk(ax: Axes) -> Axes:
    """Axes with the disk and nothing else."""
    from matplotlib.patches import Circle

    ax.add_patch(Circle((0, 0), 1, facecolor="#FAFAFA", edgecolor="#444444", linewidth=1, zorder=0))
    ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), aspect="equal")
    ax.set_axis_off()
    return ax


def _colours(labels: list[Any] | None, n: int) -> tuple[list[str], list[tuple[str, str]]]:
    """A colour for each point, and the legend's lines (text, colour)."""
    if labels is None:
        return [COLOURS[0]] * n, []
    frequent = [label for label, _ in Counter(labels).most_common(len(COLOURS))]
    palette = dict(zip(frequent, COLOURS, strict=False))
    legend = [(str(label), colour) for label, colour in palette.items()]
    if set(labels) - set(frequent):
        legend.append(("other", OTHER))
    return [palette.get(label, OTHER) for label in labels], legend


def _draw_points(ax: Axes, Y: np.ndarray, colours: list[str], size: float | None) -> None:
    n = max(len(Y), 1)
    order = sorted(range(len(Y)), key=lambda i: colours[i] != OTHER)  # grey below
    ax.scatter(
        Y[order, 0],
        Y[order, 1],
        c=[colours[i] for i in order],
        s=np.clip(450 / np.sqrt(n), 1, 45) if size is None else size,
        alpha=1 if n <= 1000 else 0.7,
        linewidths=0.5 if n <= 1000 else 0,
        edgecolors="white",
        rasterized=n > MANY,
        zorder=3,
        clip_on=False,
    )


def _draw_edges(ax: Axes, segments: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    width = np.clip(12 / np.sqrt(max(len(segments), 1)), 0.2, 0.9)
    lines = LineCollection(list(segments), colors="#8C8C8C", linewidths=width, zorder=2)
    lines.set_rasterized(len(segments) > MANY)
    ax.add_collection(lines, autolim=False)


def _draw_legend(ax: Axes, legend: list[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    dots = [Line2D([], [], marker="o", linestyle="", color=colour, markeredgecolor="white") for _, colour in legend]
    texts = [text if len(text) <= 32 else f"{text[:18]}…{text[-12:]}" for text, _ in legend]
    # beside the disk, not over it
    ax.legend(dots, texts, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
