"""Charts of what a reduction preserves: components on unseen rows, distances before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_generator
from .._input.coordinates import check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, distance
from ..geometry._arrays import to_numpy
from ..statistics.pairs import relative_change
from .figures import draw_colour_bar, new_figure, proportion, ramp, text_size, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIRS = 50_000  # Pairs that are drawn: the standard error of their mean distortion is below a hundredth of it.


def plot_components(curve: Any, *, figure: Figure | None = None) -> Figure:
    """Draw what is preserved of unseen rows against the number of components, and what each component adds beyond chance.

    Bars are standard errors over the folds. The last panel compares the fraction that a component adds with what it adds to
    copies of the data without that component, up to the first component that adds no more than chance. A dashed line marks
    the chosen number of components.

    Parameters
    ----------
    curve : `horopca.metrics.ComponentCurve`, or a fitted `HoroPCACV`
        The result of `horopca.metrics.component_curve`, or an estimator with one.
    figure : matplotlib figure, optional
        By default a new one.

    Returns
    -------
    matplotlib figure

    See Also
    --------
    horopca.metrics.component_curve : what is drawn

    Examples
    --------
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import component_curve
    >>> curve = component_curve(make_hierarchy(2, 3, random_state=0).points, 2, cv=2, copies=0, rule="one_se")
    >>> [ax.get_title() for ax in plot_components(curve).axes]
    ['average distortion', 'variance kept', 'neighbours kept']
    """
    from matplotlib.ticker import MaxNLocator

    curve = getattr(curve, "curve_", curve)
    titles = {"distortion": "average distortion", "variance": "variance kept", "neighbours": "neighbours kept"}
    if not all(hasattr(curve, name) for name in titles):
        raise ValueError(f"curve must be a result of component_curve, or a fitted HoroPCACV, but is {type(curve).__name__}.")
    figure = new_figure() if figure is None else figure
    chance = len(curve.null) > 0
    figure.set_size_inches((8.2, 6.4) if chance else (11, 3.4))
    panels = figure.subplots(2, 2).ravel() if chance else figure.subplots(1, 3)
    for ax, (name, title) in zip(panels, titles.items(), strict=False):
        _draw_unseen(ax, curve.n_components, getattr(curve, name), title)
    if chance:
        _draw_chance(panels[-1], curve)
    for ax in panels:
        if curve.chosen:
            ax.axvline(curve.chosen, color=theme_of(ax).edge, linewidth=0.9, linestyle="dashed", zorder=1)
        ax.set_xlim(0.5, len(curve.n_components) + 0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        _label(ax, "components", "", 9)
    panels[0].legend(frameon=False, fontsize=9)
    return figure


def _draw_unseen(ax: Axes, k: np.ndarray, found: Any, title: str) -> None:
    """Draw means among unseen rows with their errors, and crosses for pairs of an unseen and a seen row."""
    theme = theme_of(ax)
    style: dict[str, Any] = {"marker": "o", "markersize": 2.5, "capsize": 1.6, "linewidth": 0.9, "zorder": 3}
    ax.errorbar(k, found.mean, found.error, color=theme.classes[0], label="among unseen rows", **style)
    ax.plot(k, found.across.mean(axis=0), "x", color=theme.classes[1], label="unseen with seen", markersize=3, zorder=4)
    ax.set_title(title, fontsize=10)
    ax.set_ylim(bottom=0)


def _draw_chance(ax: Axes, curve: Any) -> None:
    """Draw what each component adds, and the most that it adds to copies by chance."""
    from matplotlib.ticker import LogLocator, NullLocator

    theme, k = theme_of(ax), curve.n_components
    ax.plot(k, curve.added, "o-", label="the points", color=theme.classes[0], markersize=2.5, linewidth=0.9, zorder=3)
    mark: dict[str, Any] = {"color": theme.ink, "markersize": 10, "zorder": 4}
    tested, label = k[: curve.null.shape[1]], f"most by chance, of {len(curve.null)} copies"
    ax.plot(tested, curve.null.max(axis=0), "_", label=label, **mark)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_title("fraction that each component adds", fontsize=10)
    ax.legend(frameon=False, fontsize=9)


def plot_distortion(
    X: Any,
    Y: Any,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    random_state: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distances between points after a reduction against those before it, counted in hexagonal bins.

    Distances on the line are unchanged. The title gives the average distortion of the pairs, the mean of
    ``|d(Y) - d(X)| / d(X)``. Of more than 50,000 pairs, a random sample of this size is drawn.

    Parameters
    ----------
    X, Y : arrays of shape (n, .)
        The points before and after, of any two dimensions, in one model and curvature.
    model, curvature : str and float
        The coordinates of X and Y.
    random_state : int, RandomState, Generator or None
        Seeds the random choices.
    ax : matplotlib axes, optional
        By default those of a new figure.

    See Also
    --------
    horopca.metrics.average_distortion : the mean over pairs

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    >>> plot_distortion(X, X).get_title()
    'average distortion 0.000'
    """
    coordinates = check_coordinates(model, curvature)
    x, y = (to_numpy(check_rows(part, coordinates, min_rows=2, name=name).all()) for part, name in ((X, "X"), (Y, "Y")))
    n = len(x)
    if len(y) != n:
        raise ValueError(f"X and Y must have the same number of rows, but have {n} and {len(y)}.")
    i, j = np.triu_indices(n, 1) if n * (n - 1) // 2 <= PAIRS else check_generator(random_state).integers(n, size=(2, PAIRS))
    d, e = (distance(part[i[i != j]], part[j[i != j]]) / coordinates.scale for part in (x, y))
    ax = new_figure().subplots() if ax is None else ax
    theme, top = theme_of(ax), 1.04 * max(float(d.max()), float(e.max()), 1e-9)
    changes = relative_change(d, e)
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set_title(f"average distortion {np.mean(changes) if len(changes) else 0:.3f}", fontsize=text_size(ax, 11))
    _label(ax, "distance in the original", "distance after the reduction", text_size(ax, 10))
    ax.plot([0, top], [0, top], color=theme.rim, linewidth=0.9 * proportion(ax))
    options: dict[str, Any] = {"extent": (0, top, 0, top), "bins": "log", "mincnt": 1, "linewidths": 0}
    bins = ax.hexbin(d, e, gridsize=70, cmap=ramp("value", theme), rasterized=True, **options)
    draw_colour_bar(ax, (bins.norm, bins.get_cmap()), "pairs")
    return ax


def _label(ax: Axes, x: str, y: str, size: float) -> None:
    """Name the axes in a font size, and remove the box around them."""
    ax.set_xlabel(x, fontsize=size)
    ax.set_ylabel(y, fontsize=size)
    ax.tick_params(labelsize=0.9 * size)
    ax.spines[["top", "right"]].set_visible(False)
