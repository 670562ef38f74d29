"""Means and variances of points of H^d, blocked: O(n) memory.

Points x are on the hyperboloid at curvature -1: an array (n, d+1), or whatever else keeps to the protocol `Points`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from array_api_compat import device

from .geometry import (
    Chunk,
    Frame,
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
    "Cloud",
    "Mean",
    "Points",
    "Seen",
    "added",
    "frame_of",
    "frechet_mean",
    "mean_of_blocks",
    "mean_relative_change",
    "mean_square_distance",
    "pair_distances",
    "principal_axes",
    "relative_change",
    "sampled_mean_square_distance",
    "some_of",
    "standard_error",
    "turned_to",
    "variance_about",
]

BLOCK_ROWS = 1 << 13  # A chunk of points in hand has so many: with a few dozen coordinates it stays in a core's cache.

UNSEEN = 1e-14  # A change of a variance by less than this fraction of it is lost in its rounding.
FRAME_ROWS = 1 << 15  # The canonical frame of more images than this is that of so many of them.

T = TypeVar("T")


def added(first: Any, second: Any) -> Any:
    """The sum of two numbers or arrays, or of two tuples of such, entry by entry."""
    return tuple(map(added, first, second)) if isinstance(first, tuple) else first + second


@runtime_checkable
class Points(Protocol):
    """Points of H^d on the hyperboloid at curvature -1, wherever they live: in memory, on a device, on a cluster.

    Whoever asks for all of them is handed `Chunk`s of a few thousand, where they live: points that need not be written out.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d+1)."""

    def chunks(self) -> Iterator[Chunk]:
        """The points in order, a chunk at a time."""

    def take(self, indices: np.ndarray) -> np.ndarray:
        """Some of the points (m, d+1), on the host."""

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        """The rows of function(chunk) for all chunks in order, as one array that lives where the points do."""

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        """function(chunk) for all chunks, put together two by two with an associative `combine`."""


class Cloud:
    """Points x (n, d+1) in hand."""

    def __init__(self, x: Array) -> None:
        self.x, self.shape = x, (x.shape[0], x.shape[1])

    def chunks(self) -> Iterator[Chunk]:
        for rows in row_slices(self.shape[0]):
            yield Chunk.of(self.x[rows, :], rows.start)

    def take(self, indices: np.ndarray) -> np.ndarray:
        return to_numpy(
            array_namespace(self.x).take(self.x, array_namespace(self.x).asarray(indices, device=device(self.x)), axis=0)
        )

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        return array_namespace(self.x).concat([function(chunk) for chunk in self.chunks()], axis=0)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        return reduce(combine, map(function, self.chunks()))


class Seen:
    """Points as seen from one of their space (d+1,), which becomes the origin."""

    def __init__(self, points: Array | Points, origin: np.ndarray) -> None:
        self.points, self.origin = as_points(points), origin
        self.shape = self.points.shape

    def chunks(self) -> Iterator[Chunk]:
        return map(self._moved(lambda chunk: chunk), self.points.chunks())

    def take(self, indices: np.ndarray) -> np.ndarray:
        return to_numpy(translate_to_origin(self.points.take(indices), self.origin))

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        return self.points.map(self._moved(function))

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        return self.points.fold(self._moved(function), combine)

    def _moved(self, function: Callable[[Chunk], T]) -> Callable[[Chunk], T]:
        origin = self.origin  # and not self: a cluster is sent what the function holds

        def moved(chunk: Chunk) -> T:
            return function(Chunk.of(translate_to_origin(chunk.points(), from_numpy(origin, chunk.t)), chunk.start))

        return moved


def as_points(x: Array | Points) -> Points:
    """An array (n, d+1) as points; points as they are."""
    return x if isinstance(x, Points) else Cloud(x)


class Mean(NamedTuple):
    """A Fréchet mean and how the search for it ended."""

    point: Any  # (d+1,), in the library of the points
    variance: float  # mean squared distance to it
    n_iter: int
    converged: bool
    status: str


def frechet_mean(x: Array | Points, *, start: np.ndarray | None = None, max_iter: int = 100, tol: float = 1e-12) -> Mean:
    """The point that minimises the mean squared distance to x (n, d+1), by Newton's method.

    The Hessian of half the squared distance is 1 along the geodesic to a point and d coth d across it, so it is known in
    closed form, and four or five steps are enough. (A unit gradient step diverges on wide data.) A step that does
    not lower the variance is halved. `start` (d+1,) saves passes over many points, from the mean of some of them.

    >>> x = lift(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]))
    >>> frechet_mean(x).point.round(6) + 0.0
    array([1., 0., 0.])
    """
    points = as_points(x)
    first = next(points.chunks())
    like, m = first.t, _first_guess(points, first) if start is None else start
    variance, gradient, hessian = newton_terms(points, m)
    before = np.inf
    for n_iter in range(max_iter):
        step = np.linalg.solve(hessian, gradient)
        size = float(np.linalg.norm(step))
        if size <= tol * (1 + np.sqrt(variance)):
            return Mean(from_numpy(m, like), variance, n_iter, True, "converged")
        if before / 2 < size < 1e-2:  # Newton's steps shrink fast until rounding, of the points or of the mean, stops them
            return Mean(from_numpy(m, like), variance, n_iter, True, "converged to rounding")
        before = size
        blind = gradient @ step <= UNSEEN * variance  # so near, rounding says more than the variance, and Newton is right
        for _ in range(40):
            candidate = exp_from(m, step)
            terms = newton_terms(points, candidate)
            if blind or terms[0] <= variance * (1 + UNSEEN):
                break
            step, before = step / 2, np.inf
        else:
            return Mean(from_numpy(m, like), variance, n_iter, False, "found no way down")
        m, (variance, gradient, hessian) = candidate, terms
    return Mean(from_numpy(m, like), variance, max_iter, False, f"stopped after {max_iter} iterations")


def _first_guess(points: Points, first: Chunk) -> np.ndarray:
    """The centroid, or one of a few of the points if that is nearer to the first chunk of them."""
    some = to_numpy(first.points())
    guesses = [_centroid(points), *some[:: max(1, len(some) // 8)]]
    return min(guesses, key=lambda m: variance_about(some, m))


def _centroid(points: Points) -> np.ndarray:
    """The mean of x / t, a point of the Klein ball: bounded, so that no far point owns it."""

    def klein(chunk: Chunk) -> np.ndarray:
        x = chunk.points()
        return to_numpy(array_namespace(x).sum(x[:, 1:] / x[:, :1], axis=0))

    k = points.fold(klein) / points.shape[0]
    return to_numpy(lift(k / np.sqrt(max(1 - float(k @ k), 1e-6))))


def newton_terms(points: Points, m: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Variance at m, minus half its gradient, half its Hessian, in the tangent space carried to the origin."""
    n, d = points.shape[0], len(m) - 1

    def terms(chunk: Chunk) -> tuple[float, float, np.ndarray, np.ndarray]:
        y = chunk.points()
        xp = array_namespace(y)
        r, u = radius(y), unit(y[:, 1:])
        c = xp.where(r > 0, r / xp.tanh(xp.where(r > 0, r, xp.ones_like(r))), xp.ones_like(r))
        pull = to_numpy(xp.sum(r[:, None] * u, axis=0))
        return float(xp.sum(r * r)), float(xp.sum(c)), pull, to_numpy((u * (1 - c)[:, None]).T @ u)

    square, across, pull, curve = Seen(points, m).fold(terms)
    return square / n, pull / n, (across * np.eye(d) + curve) / n


def exp_from(m: np.ndarray, v: np.ndarray) -> np.ndarray:
    """exp at m of a tangent vector given in the frame carried from the origin."""
    size = np.linalg.norm(v)
    return to_numpy(translate(lift(v * (np.sinh(size) / size if size > 0 else 1.0)), m))


def variance_about(x: Array | Points, point: Array) -> float:
    """Mean squared distance of x (n, d+1) to a point (d+1,)."""
    return as_points(x).fold(lambda chunk: _sum_of_squares(distance(chunk.points(), point))) / x.shape[0]


def mean_square_distance(x: Array) -> float:
    """Mean squared distance over all n^2 ordered pairs of x (n, d+1): the paper's variance."""
    if x.shape[1] == 2:  # on a line it needs no pairs
        xp = array_namespace(x)
        along = xp.asinh(x[:, 1])
        return 2 * _sum_of_squares(along - xp.mean(along)) / x.shape[0]
    return float(2 * sum(_sum_of_squares(d) for (d,) in pair_distances(x)) / x.shape[0] ** 2)


def sampled_mean_square_distance(x: Array, offsets: Sequence[int]) -> tuple[float, float]:
    """The same from the pairs (i, i + o mod n) for each offset o, rows in random order: an estimate and its standard error."""
    n = x.shape[0]
    means = [_sum_of_squares(d) / n for (d,) in pair_distances(x, offsets=offsets)]
    share = (n - 1) / n  # the n pairs of a point with itself are among the n^2
    return share * float(np.mean(means)), share * standard_error(means)


def relative_change(d: Array, image: Array) -> Array:
    """|d' - d| / d for the pairs at a distance d > 0, d' the distance of their images: what a distortion is the mean of."""
    apart = d > 0
    return array_namespace(d).abs(image[apart] - d[apart]) / d[apart]


def mean_relative_change(x: Array, y: Array, offsets: Sequence[int] | None = None) -> tuple[float, float]:
    """Mean of |d' - d| / d over the pairs of x (n, d+1) and their images y (n, K+1), and its standard error (0: all pairs).

    Pairs at distance 0 in x are left out.
    """
    blocks = (relative_change(*block) for block in pair_distances(x, y, offsets=offsets))
    return mean_of_blocks(blocks, sampled=offsets is not None)


def mean_of_blocks(blocks: Iterable[Array], sampled: bool) -> tuple[float, float]:
    """Mean of the numbers in all blocks, and its standard error: 0, or if sampled, from the means of independent blocks."""
    sums, counts = [], []
    for block in blocks:
        sums.append(float(array_namespace(block).sum(block)))
        counts.append(math.prod(block.shape))
    means = [s / c for s, c in zip(sums, counts, strict=True) if c]
    return sum(sums) / max(sum(counts), 1), standard_error(means) if sampled else 0.0


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


def principal_axes(x: Array | Points) -> tuple[np.ndarray, np.ndarray]:
    """Axes (rows, d x d) and variances (d,) of the tangent PCA at the origin of points x (n, d+1), in falling order.

    Signs are fixed by the data alone: along each axis the third moment is positive (where it vanishes, the farthest
    point is on the positive side), so an isometry of the data turns the axes with it.
    """
    points = as_points(x)
    variances, columns = np.linalg.eigh(points.fold(lambda chunk: _gram(_tangents(chunk))) / points.shape[0])
    variances, columns = variances[::-1].clip(0), columns[:, ::-1]

    def skew(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a = _tangents(chunk) @ columns
        return np.sum(a**3, axis=0), np.sum(np.abs(a) ** 3, axis=0), _farther(a.max(axis=0), a.min(axis=0))

    third, size, farthest = points.fold(skew, lambda a, b: (a[0] + b[0], a[1] + b[1], _farther(a[2], b[2])))
    sign = np.where(np.abs(third) > 1e-6 * size, third, farthest)
    return columns.T * np.where(sign < 0, -1.0, 1.0)[:, None], variances


def some_of(points: Points, most: int = FRAME_ROWS) -> np.ndarray:
    """At most so many of the points, evenly chosen, on the host."""
    return points.take(np.arange(0, points.shape[0], -(-points.shape[0] // most)))


def frame_of(y: Array | Points, centre: np.ndarray | None = None) -> Frame:
    """The canonical frame of points y (n, K+1): mean at the origin, axes in falling order of variance, signs fixed.

    A `centre` (K+1,) is at the origin instead of the mean, if it is given.
    """
    centre = to_numpy(frechet_mean(y).point) if centre is None else centre
    return Frame(centre, principal_axes(Seen(y, centre))[0])


def turned_to(frame: Frame, y: np.ndarray, wanted: np.ndarray) -> Frame:
    """The frame turned about its origin until it sees points y (n, K+1) nearest to where they are wanted (n, K+1).

    Nearest in tangent coordinates, by least squares: the turn, or turn and reflection, is a closed form (Procrustes).
    """
    seen, there = (from_hyperboloid(x, "tangent") for x in (frame.enter(y), wanted))
    left, _, right = np.linalg.svd(there.T @ seen)
    return Frame(frame.mean, left @ right @ frame.axes)


def _tangents(chunk: Chunk) -> np.ndarray:
    return to_numpy(from_hyperboloid(chunk.points(), "tangent"))


def _gram(v: np.ndarray) -> np.ndarray:
    return np.asarray(v.T @ v)


def _farther(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.abs(a) >= np.abs(b), a, b)


def row_slices(n: int, step: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover n rows, a few thousand at a time."""
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
