"""What a reduction keeps: explained variance, components on unseen rows, distances before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_count, check_generator
from .._input.coordinates import check_coordinates
from .._input.rows import check_rows
from .._optimize.pairs import some_offsets
from ..geometry import ModelName
from ..statistics import pair_distances, relative_change
from .figures import draw_colour_bar, new_figure, proportion, ramp, text_size, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 3000  # More pairs are counted in bins: dots would cover each other.


def plot_explained_variance(ratio: Any, *, threshold: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the fraction of the variance kept by 1, 2, ... components, and the number of components that keep enough.

    Parameters
    ----------
    ratio : array (K,), or a fitted estimator
        The fraction that each component adds, such as ``explained_variance_ratio_`` of ``HoroPCA(K, strategy="greedy")``.
        The first k components of a joint fit may keep much less than a fit with k components.
    threshold : float
        The fraction that is enough.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> ax = plot_explained_variance([0.6, 0.3, 0.07, 0.03])
    >>> ax.get_title()
    '3 components keep 95 % of the variance'
    """
    ratio = np.asarray(getattr(ratio, "explained_variance_ratio_", ratio), dtype=np.float64)
    if ratio.ndim != 1 or not len(ratio) or not np.isfinite(ratio).all():
        raise ValueError(f"ratio must be a sequence of fractions, or a fitted estimator, but has shape {ratio.shape}.")
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be a fraction above 0 and up to 1, but is {threshold!r}.")
    ax = new_figure().subplots() if ax is None else ax
    theme, kept = theme_of(ax), np.cumsum(ratio)
    k, enough = np.arange(1, len(kept) + 1), np.flatnonzero(kept >= threshold)
    ax.plot(k, kept, marker="o", markersize=5 * proportion(ax), color=theme.classes[0], clip_on=False, zorder=3)
    ax.axhline(threshold, color=theme.edge, linewidth=0.8, linestyle="dashed")
    wanted = f"{threshold * 100:g} % of the variance"
    title = f"{len(kept)} components keep {kept[-1]:.0%}, less than {wanted}"
    if enough.size:
        n = int(k[enough[0]])
        ax.axvline(n, color=theme.edge, linewidth=0.8, linestyle="dashed")
        title = f"{n} components keep {wanted}" if n > 1 else f"1 component keeps {wanted}"
    ax.set_title(title, fontsize=text_size(ax, 11))
    ax.set(ylim=(0, 1.02), xlim=(0.8, len(kept) + 0.2))
    _label(ax, "components", "variance kept", whole_numbers=True)
    return ax


def plot_components(curve: Any, *, figure: Figure | None = None) -> Figure:
    """Draw what unseen rows keep against the number of components, and what each component adds compared with chance.

    Bars are standard errors over the folds. The last panel compares the fraction that a component adds with what it adds to
    copies of the data without that component, up to the first component that adds no more than chance. A dashed line marks
    the chosen number of components.

    Parameters
    ----------
    curve : `horopca.metrics.ComponentCurve`, or a fitted `HoroPCACV`
    figure : matplotlib figure, optional
        By default a new one.

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import component_curve
    >>> curve = component_curve(make_hierarchy(random_state=0).points, 2, cv=2, copies=0, rule="one_se")
    >>> [ax.get_title() for ax in plot_components(curve).axes]
    ['average distortion', 'variance kept', 'neighbours kept']
    """
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
        _label(ax, "components", "", whole_numbers=True)
    panels[0].legend(frameon=False, fontsize=9)
    return figure


def _draw_unseen(ax: Axes, k: np.ndarray, found: Any, title: str) -> None:
    """Draw means among unseen rows with their errors, and crosses for pairs of an unseen and a seen row."""
    theme, size = theme_of(ax), proportion(ax)
    style: dict[str, Any] = {"marker": "o", "markersize": 4 * size, "capsize": 2.5 * size, "linewidth": 1.4 * size}
    ax.errorbar(k, found.mean, found.error, color=theme.classes[0], label="among unseen rows", zorder=3, **style)
    ax.plot(k, found.across.mean(axis=0), "x", color=theme.classes[1], label="unseen with seen", markersize=5 * size, zorder=4)
    ax.set_title(title, fontsize=11)
    ax.set_ylim(bottom=0)


def _draw_chance(ax: Axes, curve: Any) -> None:
    """Draw what each component adds, and the most that it adds to copies by chance."""
    from matplotlib.ticker import LogLocator, NullLocator

    theme, size, k = theme_of(ax), proportion(ax), curve.n_components
    line: dict[str, Any] = {"color": theme.classes[0], "markersize": 4 * size, "linewidth": 1.4 * size}
    ax.plot(k, curve.added, "o-", label="the points", zorder=3, **line)
    mark: dict[str, Any] = {"color": theme.ink, "markersize": 15 * size, "markeredgewidth": 1.6 * size}
    tested, label = k[: curve.null.shape[1]], f"most by chance, of {len(curve.null)} copies"
    ax.plot(tested, curve.null.max(axis=0), "_", label=label, zorder=4, **mark)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_title("fraction that each component adds", fontsize=11)
    ax.legend(frameon=False, fontsize=9)


def plot_distortion(
    X: Any,
    Y: Any,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    n_pairs: int = 200_000,
    random_state: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distances between points after a reduction against those before it.

    Up to 3000 pairs are drawn as dots; more are counted in hexagonal bins. Distances on the line are unchanged. The title
    gives the average distortion of the pairs, the mean of ``|d(Y) - d(X)| / d(X)``.

    Parameters
    ----------
    X, Y : arrays of shape (n, .)
        The points before and after, of any two dimensions, in one model and curvature.
    model, curvature : of X and Y
    n_pairs : int
        The approximate number of random pairs (at least n) that are drawn if there are more.
    random_state : int, RandomState, Generator or None
    ax : matplotlib axes, optional

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    >>> plot_distortion(X, X).get_title()
    'average distortion 0.000'
    """
    coordinates = check_coordinates(model, curvature)
    before, after = check_rows(X, coordinates, min_rows=2, name="X"), check_rows(Y, coordinates, min_rows=2, name="Y")
    if before.shape[0] != after.shape[0]:
        raise ValueError(f"X and Y must have the same number of rows, but have {before.shape[0]} and {after.shape[0]}.")
    d, e = (part / coordinates.scale for part in _sample(before, after, check_count("n_pairs", n_pairs, 1), random_state))
    ax = new_figure().subplots() if ax is None else ax
    theme, top = theme_of(ax), 1.04 * max(float(d.max()), float(e.max()), 1e-9)
    changes = relative_change(d, e)
    distortion = float(np.mean(changes)) if len(changes) else 0.0
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set_title(f"average distortion {distortion:.3f}", fontsize=text_size(ax, 11))
    _label(ax, "distance in the original", "distance after the reduction")
    if len(d) <= DOTS:
        ax.scatter(d, e, s=6 * proportion(ax) ** 2, c=theme.classes[0], alpha=0.5, linewidths=0)
    ax.plot([0, top], [0, top], color=theme.rim, linewidth=0.9 * proportion(ax))
    if len(d) > DOTS:
        options: dict[str, Any] = {"extent": (0, top, 0, top), "bins": "log", "mincnt": 1, "linewidths": 0}
        bins = ax.hexbin(d, e, gridsize=70, cmap=ramp("value", theme), rasterized=True, **options)
        draw_colour_bar(ax, (bins.norm, bins.get_cmap()), "pairs")
    return ax


def _label(ax: Axes, x: str, y: str, *, whole_numbers: bool = False) -> None:
    """Name the axes, in proportion to their size, and remove the box around them."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(x, fontsize=text_size(ax, 10))
    ax.set_ylabel(y, fontsize=text_size(ax, 10))
    ax.tick_params(labelsize=text_size(ax, 9))
    ax.spines[["top", "right"]].set_visible(False)
    if whole_numbers:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _sample(before: Any, after: Any, n_pairs: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distances of the same pairs before and after: of all pairs, or of random ones."""
    n = before.shape[0]
    order, offsets = np.arange(n), None
    if n * (n - 1) // 2 > n_pairs and n > 3:
        rng = check_generator(random_state)
        order, offsets = rng.permutation(n), some_offsets(n, max(1, n_pairs // n), rng)
    parts = list(pair_distances(before.take(order), after.take(order), offsets=offsets))
    first, second = (np.concatenate([np.ravel(part[k]) for part in parts]) for k in (0, 1))
    return first, second
