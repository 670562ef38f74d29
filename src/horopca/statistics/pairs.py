"""Distances between pairs of points: their mean square, their relative change under a map, their lower quartile."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..geometry import pairwise_distance
from ..geometry._arrays import Array, array_namespace, from_numpy, row_slices, to_numpy
from ..geometry._points import Chunk, as_float64, as_weights, chunk_slices
from ..geometry.hyperboloid import BLOCK_ELEMENTS, distance_blocks

QUARTILE_ROWS = 1 << 10  # `lower_quartile_distance` uses all pairs of up to this many points, and as many pairs of more points.


def mean_square_distance(x: Array, weights: Any = None) -> float:
    """The mean squared distance over all pairs of points, the variance of the paper.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    weights : array of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float
        The mean over all n**2 ordered pairs.

    See Also
    --------
    horopca.metrics.pair_variance : the same for points of any model
    variance_about : about a point

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import to_hyperboloid
    >>> from horopca.statistics import mean_square_distance
    >>> round(mean_square_distance(to_hyperboloid(np.array([[0.5], [-0.5]]))), 6)
    2.413898
    """
    x = as_float64(x)
    xp = array_namespace(x)
    if weights is None and x.shape[1] > 2:
        return float(2 * sum(float(xp.sum(d * d)) for (d,) in pair_distances(x)) / x.shape[0] ** 2)
    w = xp.ones_like(x[:, 0]) if weights is None else from_numpy(as_weights(weights, x.shape[0]), like=x)
    w = w / xp.sum(w)
    if x.shape[1] == 2:  # on a line, from the variance of a coordinate
        along = xp.asinh(x[:, 1])
        return 2 * float(w @ (along - w @ along) ** 2)
    return sum(float(w[rows] @ d**2 @ w) for rows, d in distance_blocks(x))


def sampled_mean_square_distance(x: Array, offsets: Sequence[int]) -> tuple[float, float]:
    """`mean_square_distance` and its standard error, from the pairs (i, i + o mod n) of rows in random order."""
    mean, error = mean_of_blocks((d * d for (d,) in pair_distances(x, offsets=offsets)), sampled=True)
    share = (x.shape[0] - 1) / x.shape[0]  # the n^2 ordered pairs include n of a point with itself
    return share * mean, share * error


def relative_change(d: Array, image: Array) -> Array:
    """|d' - d| / d for the pairs at a distance d > 0, where d' is the distance of their images. Its mean is the distortion."""
    apart = d > 0
    return array_namespace(d).abs(image[apart] - d[apart]) / d[apart]


def mean_relative_change(x: Array, y: Array, offsets: Sequence[int] | None = None) -> tuple[float, float]:
    """Mean of |d' - d| / d over the pairs of x (n, d+1) and their images y (n, K+1), and its standard error (0: all pairs).

    Pairs at distance 0 in x are skipped.
    """
    blocks = (relative_change(*block) for block in pair_distances(x, y, offsets=offsets))
    return mean_of_blocks(blocks, sampled=offsets is not None)


def mean_of_blocks(blocks: Iterable[Array], sampled: bool) -> tuple[float, float]:
    """The mean over all blocks, and its standard error: from the means of independent blocks if `sampled`, else 0."""
    sums, counts = [], []
    for block in blocks:
        sums.append(float(array_namespace(block).sum(block)))
        counts.append(math.prod(block.shape))
    means = [s / c for s, c in zip(sums, counts, strict=True) if c]
    return sum(sums) / max(sum(counts), 1), standard_error(means) if sampled else 0.0


def standard_error(means: Sequence[float]) -> float:
    """Standard error of the mean of independent numbers."""
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("inf")


def pair_offsets(n: int, count: int | None = None, rng: np.random.Generator | None = None) -> range:
    """Offsets o of pairs (i, i + o mod n) of n points: all, or `count` consecutive ones, beginning with a random one."""
    if count is None or rng is None or count >= (n - 1) // 2:
        return range(1, max(n // 2, 1) + 1)
    first = 1 + int(rng.integers((n - 1) // 2 - count + 1))
    return range(first, first + count)


def random_offsets(n: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Up to `count` different random offsets below n/2, for rows that are not in random order."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(count, most), replace=False)))


def pair_distances(*clouds: Array, offsets: Sequence[int] | None = None) -> Iterator[tuple[Array, ...]]:
    """Distances of the same pairs in several arrays of n points each, in blocks; every unordered pair occurs once.

    With `offsets`, only the pairs (i, i + o mod n): one block of n pairs per offset o.
    """
    n = clouds[0].shape[0]
    if offsets is not None:
        for o in offsets:
            yield tuple(_shifted_distances(x, o) for x in clouds)
        return
    step = max(1, BLOCK_ELEMENTS // n)
    for here in row_slices(n, step):
        if here.stop < n:
            yield tuple(pairwise_distance(x[here, :], x[here.stop :, :]) for x in clouds)
        if (m := here.stop - here.start) > 1:
            upper = np.triu(np.ones((m, m), dtype=bool), k=1)
            yield tuple(pairwise_distance(x[here, :])[from_numpy(upper, x) > 0] for x in clouds)


def _shifted_distances(x: Array, o: int) -> Array:
    """Distances (n,) of each row to the row o later, cyclically."""
    xp, n, parts = array_namespace(x), x.shape[0], []
    for rows in chunk_slices(x):
        low, high = rows.start + o, rows.stop + o
        later = xp.concat([x[min(low, n) : min(high, n), :], x[max(low - n, 0) : max(high - n, 0), :]])
        parts.append(Chunk.of(x[rows, :]).distances(later))
    return xp.concat(parts)


def lower_quartile_distance(x: Array, weights: Any = None) -> float:
    """The lower quartile of the distances between distinct points x (n, d+1): a scale that outliers cannot dominate.

    If fewer than half of the points are outliers, at least a quarter of all pairs contain none: the idea of Rousseeuw and
    Croux's Q_n. For many points it is estimated from a sample of pairs. It is 1 if all points coincide.

    >>> from horopca.geometry import lift
    >>> x = lift(np.sinh(np.array([[0.0], [1.0], [2.0], [30.0]])))
    >>> round(lower_quartile_distance(x), 6)
    1.0
    """
    n = x.shape[0]
    offsets = 1 + np.random.default_rng(0).permutation(n // 2)[: max(1, QUARTILE_ROWS**2 // n)]
    w = np.ones(n) if weights is None else to_numpy(weights)
    found = np.concatenate([np.zeros(1), *(to_numpy(d) for (d,) in pair_distances(x, offsets=offsets.tolist()))])
    mass = np.concatenate([np.zeros(1), *(w * np.roll(w, -o) / (1 + (2 * o == n)) for o in offsets)])
    apart = (found > 0) & (mass > 0)
    return float(np.quantile(found[apart], 0.25, weights=mass[apart], method="inverted_cdf")) if apart.any() else 1.0
