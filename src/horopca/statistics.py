"""Means and variances of points of H^d, blocked: O(n) memory.

Points x are on the hyperboloid at curvature -1: an array (n, d+1), or any object with `shape` and `folded(function, combine)`,
which puts together function(points) for such arrays, a few thousand rows at a time, wherever they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .geometry import (
    boost_to_origin,
    distance,
    from_hyperboloid,
    lift,
    pairwise_distance,
    radius,
    translate,
    translate_to_origin,
)
from .geometry._arrays import Array, array_namespace, from_numpy, to_numpy, unit
from .geometry.hyperboloid import BLOCK_ELEMENTS

__all__ = [
    "Mean",
    "average_distortion",
    "frechet_mean",
    "frechet_variance",
    "mean_of_many",
    "pair_distances",
    "pair_variance",
    "principal_axes",
    "sampled_pair_variance",
    "standard_error",
]

BLOCK_ROWS = 1 << 13
MANY_PASSES = 16
FAR = 100.0  # cosh of the distance from the origin beyond which a product with a point cancels too much, and points are moved


class Mean(NamedTuple):
    """A Fréchet mean and how the search for it ended."""

    point: Array  # (d+1,)
    variance: float  # mean squared distance to it
    n_iter: int
    converged: bool
    status: str


def frechet_mean(x: Any, *, start: np.ndarray | None = None, max_iter: int = 100, tol: float = 1e-12) -> Mean:
    """The point that minimises the mean squared distance to x (n, d+1), by Newton's method.

    The Hessian of half the squared distance is 1 along the geodesic to a point and d coth d across it, so it is known in
    closed form, and four or five steps are enough. (A unit gradient step diverges on wide data.) A step that does
    not lower the variance is halved. `start` (d+1,) saves passes over many points, from the mean of some of them.

    >>> x = lift(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]))
    >>> frechet_mean(x).point.round(6) + 0.0
    array([1., 0., 0.])
    """
    like = first_block(x)
    m = _first_guess(x, like) if start is None else start
    variance, gradient, hessian = _newton_terms(x, m)
    before = np.inf
    for n_iter in range(max_iter):
        step = np.linalg.solve(hessian, gradient)
        size = float(np.linalg.norm(step))
        if size <= tol * (1 + np.sqrt(variance)):
            return Mean(from_numpy(m, like), variance, n_iter, True, "converged")
        if before / 2 < size < 1e-2:  # Newton's steps shrink fast until rounding, of the points or of the mean, stops them
            return Mean(from_numpy(m, like), variance, n_iter, True, "converged to rounding")
        before = size
        for _ in range(40):
            candidate = _exp_from(m, step)
            terms = _newton_terms(x, candidate)
            if terms[0] <= variance * (1 + 1e-14):  # the rounding of the variance must not stop the last steps
                break
            step, before = step / 2, np.inf
        else:
            return Mean(from_numpy(m, like), variance, n_iter, False, "found no way down")
        m, (variance, gradient, hessian) = candidate, terms
    return Mean(from_numpy(m, like), variance, max_iter, False, f"stopped after {max_iter} iterations")


def mean_of_many(rows: Any, sample: np.ndarray, first: Mean | None = None) -> Mean:
    """The Fréchet mean of more rows than one likes to pass over, from that of a random sample (m, d+1) of them (`first`).

    Newton's method with the gradient of all rows and the Hessian of the sample, corrected by what each step teaches
    (Broyden): a pass (two products with the user's own array) brings the mean nearer by the square root of the number of
    points in the sample, and more from pass to pass.
    """
    first = frechet_mean(sample) if first is None else first
    if first.point[0] > FAR:
        return frechet_mean(rows, start=first.point)
    m, variance = first.point, np.inf
    inverse = np.linalg.inv(_newton_terms(sample, m)[2])
    gradient, step = np.zeros(len(m) - 1), np.zeros(len(m) - 1)
    for n_iter in range(1, MANY_PASSES + 1):
        square, pull = rows.sum(_pull_of(rows.door, m), light=True)
        if not square / rows.shape[0] <= variance * (1 + 1e-12):
            break
        variance = square / rows.shape[0]
        last, before = gradient, float(np.linalg.norm(step))
        gradient = (boost_to_origin(m) @ pull)[1:] / rows.shape[0]
        if before > 0:  # Broyden: what the last step has taught
            change = inverse @ (last - gradient)
            inverse += np.outer(step - change, step @ inverse) / (step @ change)
        step = inverse @ gradient
        size = float(np.linalg.norm(step))
        m = _exp_from(m, step)
        next_size = size * min(1.0, size / before) if before > 0 else size
        if next_size <= 1e-9 * (1 + np.sqrt(variance)):
            return Mean(m, variance, n_iter, True, "converged")
    return frechet_mean(rows, start=first.point)  # a sample that says little of the whole


def _pull_of(door: Any, m: np.ndarray) -> Callable:
    """For a chunk of rows: the sum of their squared distances d from m (d+1,), and of d / sinh d times the points."""

    def pull(X: Array, _: int) -> tuple[float, np.ndarray]:
        chunk = door.chunk(X)
        xp = array_namespace(chunk.t)
        against = from_numpy(m * np.where(np.arange(len(m)) == 0, 1.0, -1.0), chunk.t)
        cosh = chunk.products(against[None, :])[0, :]
        cosh = xp.where(cosh > 1, cosh, xp.ones_like(cosh))
        sinh = xp.sqrt(cosh - 1) * xp.sqrt(cosh + 1)
        d = xp.log(cosh + sinh)
        weight = xp.where(sinh > 1e-8, d / xp.where(sinh > 1e-8, sinh, xp.ones_like(sinh)), xp.ones_like(sinh))
        return float(xp.sum(d * d)), to_numpy(chunk.gather(weight[None, :]))[0]

    return pull


def _first_guess(x: Any, like: Array) -> np.ndarray:
    """The centroid, or one of a few of the points if that is nearer to the first block of them."""
    some = to_numpy(like)
    guesses = [_centroid(x), *some[:: max(1, len(some) // 8)]]
    return min(guesses, key=lambda m: frechet_variance(some, m))


def _centroid(x: Any) -> np.ndarray:
    """The mean of x / t, a point of the Klein ball: bounded, so that no far point owns it."""
    k = folded(x, lambda block: to_numpy(array_namespace(block).sum(block[:, 1:] / block[:, :1], axis=0))) / x.shape[0]
    return lift(k / np.sqrt(max(1 - k @ k, 1e-6)))


def _newton_terms(x: Any, m: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Variance at m, minus half its gradient, half its Hessian, in the tangent space carried to the origin."""
    n, d = x.shape[0], len(m) - 1

    def terms(block: Array) -> tuple[float, float, np.ndarray, np.ndarray]:
        xp = array_namespace(block)
        y = translate_to_origin(block, from_numpy(m, block))
        r, u = radius(y), unit(y[:, 1:])
        c = xp.where(r > 0, r / xp.tanh(xp.where(r > 0, r, xp.ones_like(r))), xp.ones_like(r))
        pull = to_numpy(xp.sum(r[:, None] * u, axis=0))
        return float(xp.sum(r * r)), float(xp.sum(c)), pull, to_numpy((u * (1 - c)[:, None]).T @ u)

    square, across, pull, curve = folded(x, terms, sums)
    return square / n, pull / n, (across * np.eye(d) + curve) / n


def _exp_from(m: np.ndarray, v: np.ndarray) -> np.ndarray:
    """exp at m of a tangent vector given in the frame carried from the origin."""
    size = np.linalg.norm(v)
    return translate(lift(v * (np.sinh(size) / size if size > 0 else 1.0)), m)


def frechet_variance(x: Any, mean: Array | None = None) -> float:
    """Mean squared distance of x (n, d+1) to its Fréchet mean (or to a given point)."""
    if mean is None:
        return frechet_mean(x).variance
    return folded(x, lambda block: _sum_of_squares(distance(block, mean))) / x.shape[0]


def pair_variance(x: Array) -> float:
    """Mean squared distance over all n^2 ordered pairs of x (n, d+1): the paper's variance."""
    return 2 * sum(_sum_of_squares(d) for (d,) in pair_distances(x)) / x.shape[0] ** 2


def sampled_pair_variance(x: Array, offsets: Sequence[int]) -> tuple[float, float]:
    """The same from the pairs (i, i + o mod n) for each offset o, rows in random order: an estimate and its standard error."""
    n = x.shape[0]
    means = [_sum_of_squares(d) / n for (d,) in pair_distances(x, offsets=offsets)]
    share = (n - 1) / n  # the n pairs of a point with itself are among the n^2
    return share * float(np.mean(means)), share * standard_error(means)


def average_distortion(x: Array, y: Array, offsets: Sequence[int] | None = None) -> tuple[float, float]:
    """Mean of |d' - d| / d over the pairs of x (n, d+1) and their images y (n, K+1), and its standard error (0: all pairs).

    Pairs at distance 0 in x are left out.
    """
    sums, counts = [], []
    for d, image in pair_distances(x, y, offsets=offsets):
        xp = array_namespace(d)
        apart = d > 0
        change = xp.abs(image - d) / xp.where(apart, d, xp.ones_like(d))
        sums.append(float(xp.sum(xp.where(apart, change, xp.zeros_like(change)))))
        counts.append(int(xp.count_nonzero(apart)))
    value = sum(sums) / max(sum(counts), 1)
    means = [s / max(c, 1) for s, c in zip(sums, counts, strict=True)]
    return value, 0.0 if offsets is None else standard_error(means)


def standard_error(means: Sequence[float]) -> float:
    """Standard error of the mean of independent numbers."""
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("inf")


def pair_distances(*clouds: Array, offsets: Sequence[int] | None = None) -> Iterator[tuple[Array, ...]]:
    """Distances of the same pairs in several clouds of n points each, every unordered pair once, a block at a time.

    With `offsets`, only the pairs (i, i + o mod n): one block of n pairs for each o.
    """
    n = clouds[0].shape[0]
    if offsets is not None:
        for o in offsets:
            yield tuple(_shifted_distances(x, o) for x in clouds)
        return
    step = max(1, min(512, BLOCK_ELEMENTS // n))
    for start in range(0, n, step):
        here, after = slice(start, min(start + step, n)), slice(min(start + step, n), n)
        if after.start < n:
            yield tuple(pairwise_distance(x[here, :], x[after, :]) for x in clouds)
        if here.stop - here.start > 1:
            yield tuple(_upper_triangle(pairwise_distance(x[here, :])) for x in clouds)


def _shifted_distances(x: Array, o: int) -> Array:
    """Distances (n,) of each row to the one o rows further, the first rows coming after the last."""
    n, parts = x.shape[0], []
    for rows in row_slices(n):
        wrap = max(rows.start, min(rows.stop, n - o))
        for low, high, shift in ((rows.start, wrap, o), (wrap, rows.stop, o - n)):
            if high > low:
                parts.append(distance(x[low:high, :], x[low + shift : high + shift, :]))
    return array_namespace(x).concat(parts)


def _upper_triangle(square: Array) -> Array:
    xp = array_namespace(square)
    mask = xp.triu(xp.ones_like(square), k=1) > 0
    return square[mask]


def _sum_of_squares(a: Array) -> float:
    return float(array_namespace(a).sum(a * a))


def principal_axes(x: Array) -> tuple[np.ndarray, np.ndarray]:
    """Axes (rows, d x d) and variances (d,) of the tangent PCA at the origin of points x (n, d+1), in falling order.

    Signs are fixed by the data alone: along each axis the third moment is positive (where it vanishes, the farthest
    point is on the positive side), so an isometry of the data turns the axes with it.
    """
    second = folded(x, lambda block: _gram(_tangents(block)))
    variances, columns = np.linalg.eigh(second / x.shape[0])
    variances, columns = variances[::-1].clip(0), columns[:, ::-1]

    def skew(block: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a = _tangents(block) @ columns
        return np.sum(a**3, axis=0), np.sum(np.abs(a) ** 3, axis=0), _farther(a.max(axis=0), a.min(axis=0))

    third, size, farthest = folded(x, skew, lambda a, b: (a[0] + b[0], a[1] + b[1], _farther(a[2], b[2])))
    sign = np.where(np.abs(third) > 1e-6 * size, third, farthest)
    return columns.T * np.where(sign < 0, -1.0, 1.0)[:, None], variances


def _tangents(block: Array) -> np.ndarray:
    return to_numpy(from_hyperboloid(block, "tangent"))


def _gram(v: np.ndarray) -> np.ndarray:
    return v.T @ v


def _farther(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.abs(a) >= np.abs(b), a, b)


def folded(x: Any, function: Callable[[Array], Any], combine: Callable[[Any, Any], Any] = operator.add) -> Any:
    """function of the points of x, a few thousand rows at a time, put together two by two with an associative `combine`."""
    return x.folded(function, combine) if hasattr(x, "folded") else reduce(combine, map(function, row_blocks(x)))


def added(parts: Iterable[tuple]) -> tuple:
    """Tuples of numbers and arrays, added entry by entry."""
    return reduce(sums, parts)


def sums(first: tuple, second: tuple) -> tuple:
    """Two tuples of numbers and arrays, added entry by entry."""
    return tuple(a + b for a, b in zip(first, second, strict=True))


def first_block(x: Any) -> Array:
    """The first few thousand points of x."""
    return x.first() if hasattr(x, "first") else next(row_blocks(x))


def row_blocks(x: Array) -> Iterator[Array]:
    """The rows of an array, a few thousand at a time."""
    for rows in row_slices(x.shape[0]):
        yield x[rows, :]


def row_slices(n: int, step: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover n rows, a few thousand at a time."""
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
