"""What is kept against the number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import new_figure, proportion, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "distortion": "average distortion",
    "variance": "share of the variance kept",
    "neighbours": "share of neighbours kept",
}


def plot_components(curve: Any, *, figure: Figure | None = None) -> Figure:
    """Draw what unseen rows keep against the number of components, and what each component adds beside chance.

    Bars are standard errors over the folds; beside the share that a component adds stands what it adds to copies in which it
    has none but chance, up to the first that adds no more. A dashed line marks the number of components that is chosen.

    Parameters
    ----------
    curve : `horopca.metrics.ComponentCurve`, or a fitted `HoroPCACV`
    figure : matplotlib figure, optional
        Where to draw; a new one otherwise.

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import component_curve
    >>> curve = component_curve(make_hierarchy(random_state=0).points, 2, cv=2, copies=0, rule="one_se")
    >>> [ax.get_title() for ax in plot_components(curve).axes]
    ['average distortion', 'share of the variance kept', 'share of neighbours kept']
    """
    curve = getattr(curve, "curve_", curve)
    if not all(hasattr(curve, name) for name in TITLES):
        raise ValueError(f"curve must be what component_curve returns, or a fitted HoroPCACV, but is {type(curve).__name__}.")
    figure = new_figure() if figure is None else figure
    chance = len(curve.null) > 0
    figure.set_size_inches((8.2, 6.4) if chance else (11, 3.4))
    panels = figure.subplots(2, 2).ravel() if chance else figure.subplots(1, 3)
    for ax, (name, title) in zip(panels, TITLES.items(), strict=False):
        _held_out(ax, curve.n_components, getattr(curve, name))
        ax.set_title(title, fontsize=11)
    if chance:
        _beside_chance(panels[-1], curve)
    for ax in panels:
        _finish(ax, curve)
    panels[0].legend(frameon=False, fontsize=9)
    return figure


def _held_out(ax: Axes, k: np.ndarray, held: Any) -> None:
    """The mean of each number of components with its error; dots for pairs of an unseen and a seen row."""
    theme, size = theme_of(ax), proportion(ax)
    style: dict[str, Any] = {"marker": "o", "markersize": 4 * size, "capsize": 2.5 * size, "linewidth": 1.4 * size}
    ax.errorbar(k, held.mean, held.error, color=theme.classes[0], label="among unseen rows", zorder=3, **style)
    ax.plot(k, held.across.mean(axis=0), "x", color=theme.classes[1], label="unseen with seen", markersize=5 * size, zorder=4)


def _beside_chance(ax: Axes, curve: Any) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    theme, size, k = theme_of(ax), proportion(ax), curve.n_components
    line: dict[str, Any] = {"color": theme.classes[0], "markersize": 4 * size, "linewidth": 1.4 * size}
    ax.plot(k, curve.added, "o-", label="the points", zorder=3, **line)
    tested, high = k[: curve.null.shape[1]], curve.null.max(axis=0)
    mark: dict[str, Any] = {"color": theme.ink, "markersize": 15 * size, "markeredgewidth": 1.6 * size}
    ax.plot(tested, high, "_", label=f"most by chance, of {len(curve.null)} copies", zorder=4, **mark)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_title("share that each component adds", fontsize=11)
    ax.legend(frameon=False, fontsize=9)


def _finish(ax: Axes, curve: Any) -> None:
    """Axes from 0, whole numbers of components, and a line where one of them is chosen."""
    from matplotlib.ticker import MaxNLocator  # new_figure has said what to install

    if curve.chosen:
        ax.axvline(curve.chosen, color=theme_of(ax).edge, linewidth=0.9, linestyle="dashed", zorder=1)
    if ax.get_yscale() == "linear":
        ax.set_ylim(bottom=0)
    ax.set_xlim(0.5, len(curve.n_components) + 0.5)
    ax.set_xlabel("components")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
