"""Points of three-dimensional hyperbolic space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry import MODELS, ModelName, geodesic
from .figures import MANY, by_label, draw_legend, mark_area, new_figure, proportion, text_size, theme_of
from .palette import Theme
from .validation import check_edges, check_plane, one_per_point

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D


def plot_ball(
    Y: Any,
    labels: Sequence[Any] | None = None,
    *,
    edges: Any = None,
    palette: Any = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    ax: Axes3D | None = None,
    size: float | None = None,
    title: str | None = None,
) -> Axes3D:
    """Draw points of three-dimensional hyperbolic space in the Poincaré ball.

    Parameters
    ----------
    Y : array (n, 3)
        Points of the unit ball, or of another `model`.
    labels, edges, palette, model, curvature, size, title
        As for `plot_plane`.
    ax : matplotlib 3-D axes, optional
        Such as ``figure.add_subplot(projection="3d")``. By default those of a new figure.

    See Also
    --------
    plot_plane : points in the plane

    Examples
    --------
    >>> ax = plot_ball([[0.0, 0.0, 0.0], [0.5, 0.0, 0.3]], edges=[[0, 1]])
    >>> ax.name
    '3d'
    """
    x = check_plane(Y, model, curvature, d=3)
    classes = one_per_point(labels, "labels", len(x))
    pairs = None if edges is None else check_edges(edges, len(x))
    if ax is not None and getattr(ax, "name", "") != "3d":
        raise ValueError(f"ax must be 3-D axes, such as figure.add_subplot(projection='3d') returns, but is {ax!r}.")
    ax = new_figure().add_subplot(projection="3d") if ax is None else ax
    theme, in_ball = theme_of(ax), MODELS["poincare"].from_hyperboloid
    _draw_sphere(ax, theme)
    if pairs is not None and len(pairs):
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        arcs = in_ball(geodesic(x[pairs[:, 0], None], x[pairs[:, 1], None], np.linspace(0, 1, 25)[None, :]))
        ax.add_collection3d(Line3DCollection(list(arcs), colors=theme.edge, linewidths=0.6 * proportion(ax)))
    z, (colours, legend) = np.asarray(in_ball(x)), by_label(classes, len(x), theme, palette)
    area = mark_area(len(z)) * proportion(ax) ** 2 if size is None else size
    ax.scatter(*z.T, c=colours, s=area, depthshade=True, linewidths=0, rasterized=len(z) > MANY)
    draw_legend(ax, legend)
    if title:
        ax.set_title(title, fontsize=text_size(ax, 11))
    return ax


def _draw_sphere(ax: Axes3D, theme: Theme) -> None:
    """Draw three great circles of the boundary."""
    angle = np.linspace(0, 2 * np.pi, 121)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
    for axes in ((0, 1, 2), (0, 2, 1), (2, 0, 1)):
        ax.plot(*ring[list(axes)], color=theme.grid, linewidth=0.6 * proportion(ax))
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ax.set_box_aspect((1, 1, 1), zoom=1.4)
    ax.set_axis_off()
