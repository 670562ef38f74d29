"""Points of the hyperboloid, processed a chunk at a time, wherever they are stored.

In every model but the half-space a point of the hyperboloid is (t, factor * X), X a row of the user's array, and t and
factor are functions of |X|. Products with points are therefore products with rows: a pass over a million of them reads the
user's array once and allocates nothing of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ._arrays import Array, array_namespace, as_floats, dot, from_numpy, on_host, row_slices, take_rows, to_numpy, with_rows
from .hyperboloid import distance
from .isometries import translate_to_origin
from .models import lift, on_hyperboloid

CHUNK_ELEMENTS = 1 << 19  # Coordinates in a chunk: they fit into a core's cache, and take longer than a thread switch.
DEVICE_ELEMENTS = 1 << 27  # The same on an accelerator, where launching a kernel is expensive.
CANCELLATION = 1e-9
"""cosh(d) is a difference of two products. If cosh(d) - 1 is below this fraction of the first, too many digits have cancelled,
and d is computed from the points themselves."""

T = TypeVar("T")


class Chunk(NamedTuple):
    """n points (t, factor * X) of the hyperboloid, consecutive among many."""

    X: Any  #: (n, d)
    factor: Any  #: (n,)
    t: Any  #: (n,)
    start: int = 0  #: index of the first of them among all points
    explicit: Any = None  #: (n, d+1), the points themselves, if they are in memory already

    @classmethod
    def of(cls, x: Array, start: int = 0) -> Chunk:
        """A chunk of points x (n, d+1) of the hyperboloid."""
        return cls(x[:, 1:], array_namespace(x).ones_like(x[:, 0]), x[:, 0], start, x)

    def points(self, which: Any = None) -> Any:
        """The points (n, d+1), or those selected by a mask (n,)."""
        if which is None:
            return self.explicit if self.explicit is not None else lift(self.X * self.factor[:, None])
        return self.explicit[which] if self.explicit is not None else lift(self.X[which] * self.factor[which][:, None])

    def products(self, M: Array) -> Any:
        """Euclidean products (k, n) of the rows of M (k, d+1) with the points."""
        return M[:, :1] * self.t + (M[:, 1:] @ self.X.T) * self.factor  # M first: twice as fast as X @ M.T

    def weighted_sums(self, weights: Array) -> Any:
        """Sums (k, d+1) of the points with weights (k, n)."""
        xp = array_namespace(self.t)
        return xp.concat([(weights @ self.t)[:, None], (weights * self.factor) @ self.X], axis=1)

    def distances(self, others: Array) -> Any:
        """Distances (n,) to as many other points (n, d+1), row by row."""
        xp = array_namespace(self.t)
        size = self.t * others[:, 0]
        cosh = size - self.factor * dot(self.X, others[:, 1:])
        lost = cosh - 1 < CANCELLATION * size
        safe = xp.where(lost, xp.ones_like(cosh), cosh)
        d = xp.log(safe + xp.sqrt(safe - 1) * xp.sqrt(safe + 1))
        return with_rows(d, lost, distance(self.points(lost), others[lost])) if bool(xp.any(lost)) else d


def add(first: Any, second: Any) -> Any:
    """The sum of two numbers or arrays, or of two tuples of them, entry by entry."""
    return tuple(map(add, first, second)) if isinstance(first, tuple) else first + second


class Points:
    """Points x (n, d+1) of the hyperboloid at curvature -1, which are processed in chunks where they are stored.

    Subclasses have points of other models, translated points, or points on a cluster.
    """

    def __init__(self, x: Array) -> None:
        self.X, self.shape = x, (x.shape[0], x.shape[1])

    def chunk(self, rows: slice) -> Chunk:
        """The points of a slice of rows."""
        return Chunk.of(self.X[rows, :], rows.start)

    def points(self, indices: np.ndarray) -> Any:
        """The points (m, d+1) at some indices."""
        return take_rows(self.X, indices)

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The points (m, d+1) at some indices, on the host."""
        return to_numpy(self.points(indices))

    def chunks(self) -> Iterator[Chunk]:
        """The points in order, a chunk at a time."""
        return map(self.chunk, chunk_slices(self.X))

    def each(self, function: Callable[[Chunk], T]) -> Iterator[T]:
        """The values function(chunk) of all chunks, in order."""
        return map(function, self.chunks())

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        """The concatenated rows of function(chunk), as one array stored where the points are."""
        parts = list(self.each(function))
        return array_namespace(*parts).concat(parts, axis=0)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add) -> T:
        """The values function(chunk) of all chunks, reduced with an associative `combine`."""
        return reduce(combine, self.each(function))


class TranslatedPoints(Points):
    """Points under the translation that takes a point (d+1,) to the origin."""

    def __init__(self, points: Array | Points, origin: np.ndarray) -> None:
        self.original = as_points(points)
        self.origin, self.shape = origin, self.original.shape

    def chunks(self) -> Iterator[Chunk]:
        return map(self._translated(lambda chunk: chunk), self.original.chunks())

    def points(self, indices: np.ndarray) -> Any:
        x = self.original.points(indices)
        return translate_to_origin(x, from_numpy(self.origin, x))

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        return self.original.map(self._translated(function))

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add) -> T:
        return self.original.fold(self._translated(function), combine)

    def _translated(self, function: Callable[[Chunk], T]) -> Callable[[Chunk], T]:
        origin = self.origin  # not self: the closure is sent to the workers of a cluster
        return lambda chunk: function(Chunk.of(translate_to_origin(chunk.points(), from_numpy(origin, chunk.t)), chunk.start))


def as_points(x: Array | Points) -> Points:
    """Wrap an array (n, d+1); points are returned unchanged."""
    return x if isinstance(x, Points) else Points(as_float64(x))


def as_float64(x: Array) -> Array:
    """Points (n, d+1) in float64, without gradients: for sums and searches, which end in numbers on the host."""
    x = as_floats(x, "x")
    if x.ndim != 2 or not x.shape[0] or x.shape[1] < 2:
        raise ValueError(f"x must hold at least one point (n, d+1) of the hyperboloid, but has shape {tuple(x.shape)}.")
    xp = array_namespace(x)
    x = x.detach() if hasattr(x, "detach") else x
    known = x.dtype == xp.float64
    x = xp.astype(x, xp.float64, copy=False)
    valid = on_hyperboloid(x)
    if not bool(xp.all(valid)):
        bad = int(np.argmin(to_numpy(valid)))
        raise ValueError(
            f"x must hold finite points of the hyperboloid, time first, but row {bad} is {to_numpy(x[bad, :])!s:.60}. Convert "
            "points of other models with to_hyperboloid."
        )
    return x if known else lift(x[:, 1:])


def as_point(point: Any, columns: int, name: str) -> np.ndarray:
    """A point (d+1,) of the hyperboloid on the host. Raises ValueError if it is not one, or not of the right dimension."""
    found = to_numpy(as_floats(point, name))
    if found.shape != (columns,) or not on_hyperboloid(found):
        raise ValueError(f"{name} must be a point of the hyperboloid of shape ({columns},), time first, but is {point!r:.80}.")
    return found


def as_weights(weights: Any, n: int) -> np.ndarray | None:
    """Weights of n points on the host. Raises ValueError if they are not finite and non-negative, or all zero."""
    if weights is None:
        return None
    w = to_numpy(as_floats(weights, "weights"))
    if w.shape != (n,):
        raise ValueError(f"weights must be one number for each of the {n} points, but have shape {w.shape}.")
    if not ((w >= 0).all() and 0 < w.sum() < np.inf):
        raise ValueError("weights must be finite and non-negative, and not all zero.")
    return w


def chunk_slices(X: Array) -> Iterator[slice]:
    """Slices of the rows of X, of a size that suits the device."""
    elements = CHUNK_ELEMENTS if on_host(X) else DEVICE_ELEMENTS
    return row_slices(X.shape[0], max(64, elements // X.shape[1]))
