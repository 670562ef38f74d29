"""How much a reduction kept: explained variance, distances before and after."""

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

DOTTED_PAIRS = 3000  # Up to so many pairs are a dot each.


def plot_explained_variance(ratio: Any, *, threshold: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the variance kept by 1, 2, ... components, and the number of components that keep enough of it.

    Parameters
    ----------
    ratio : array (K,), or a fitted estimator
        The fractions of the variance that each component adds, such as ``explained_variance_ratio_`` of
        ``HoroPCA(K, strategy="greedy")``; the first few of a joint fit may keep far less than a fit of so many.
    threshold : float
        How much is enough.
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
    theme = theme_of(ax)
    from matplotlib.ticker import MaxNLocator  # new_figure has said what to install

    k, ratio = np.arange(1, len(ratio) + 1), np.cumsum(ratio)
    enough = np.flatnonzero(ratio >= threshold)
    ax.plot(k, ratio, marker="o", markersize=5 * proportion(ax), color=theme.classes[0], clip_on=False, zorder=3)
    ax.axhline(threshold, color=theme.edge, linewidth=0.8, linestyle="dashed")
    share = f"{threshold * 100:g} % of the variance"
    if enough.size:
        ax.axvline(k[enough[0]], color=theme.edge, linewidth=0.8, linestyle="dashed")
        n = int(k[enough[0]])
        title = f"{n} components keep {share}" if n > 1 else f"1 component keeps {share}"
    else:
        title = f"{len(ratio)} components keep {ratio[-1]:.0%}, less than {share}"
    ax.set_title(title, fontsize=text_size(ax, 11))
    ax.set(ylim=(0, 1.02), xlim=(0.8, len(ratio) + 0.2))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    _label(ax, "components", "variance kept")
    return ax


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

    Up to 3000 pairs are dots; more are counted in hexagonal bins.  The line is where distances are kept, and the title
    gives the average distortion of the pairs drawn, the mean of ``|d(Y) - d(X)| / d(X)``.

    Parameters
    ----------
    X, Y : arrays of shape (n, .)
        The points before and after, of any two dimensions, in one model and curvature.
    model, curvature : of X and Y
    n_pairs : int
        Draw about so many random pairs (at least n) where there are more.
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
    n = before.shape[0]
    if after.shape[0] != n:
        raise ValueError(f"X and Y must have as many rows as each other, but have {n} and {after.shape[0]}.")
    d, e = (part / coordinates.scale for part in _sample(before, after, check_count("n_pairs", n_pairs, 1), random_state))
    ax = new_figure().subplots() if ax is None else ax
    theme, top = theme_of(ax), 1.04 * max(float(d.max()), float(e.max()), 1e-9)
    changes = relative_change(d, e)
    distortion = float(np.mean(changes)) if len(changes) else 0.0
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set_title(f"average distortion {distortion:.3f}", fontsize=text_size(ax, 11))
    _label(ax, "distance in the original", "distance after the reduction")
    if len(d) <= DOTTED_PAIRS:
        ax.scatter(d, e, s=6 * proportion(ax) ** 2, c=theme.classes[0], alpha=0.5, linewidths=0)
    ax.plot([0, top], [0, top], color=theme.rim, linewidth=0.9 * proportion(ax))
    if len(d) > DOTTED_PAIRS:  # few pairs are nearest to the background
        options: dict[str, Any] = {"extent": (0, top, 0, top), "bins": "log", "mincnt": 1, "linewidths": 0}
        bins = ax.hexbin(d, e, gridsize=70, cmap=ramp("value", theme), rasterized=True, **options)
        draw_colour_bar(ax, (bins.norm, bins.get_cmap()), "pairs")
    return ax


def _label(ax: Axes, x: str, y: str) -> None:
    """Axes without a box, with names and numbers in proportion."""
    ax.set_xlabel(x, fontsize=text_size(ax, 10))
    ax.set_ylabel(y, fontsize=text_size(ax, 10))
    ax.tick_params(labelsize=text_size(ax, 9))
    ax.spines[["top", "right"]].set_visible(False)


def _sample(before: Any, after: Any, n_pairs: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distances of the same pairs before and after: all, or shifts of the shuffled rows."""
    n = before.shape[0]
    order, offsets = np.arange(n), None
    if n * (n - 1) // 2 > n_pairs and n > 3:
        rng = check_generator(random_state)
        order, offsets = rng.permutation(n), some_offsets(n, max(1, n_pairs // n), rng)
    parts = list(pair_distances(before.take(order), after.take(order), offsets=offsets))
    first, second = (np.concatenate([np.ravel(part[k]) for part in parts]) for k in (0, 1))
    return first, second
