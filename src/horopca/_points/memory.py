"""The rows of a user's array as points, a chunk at a time, and passes over them.

In every model but the half-space a point of the hyperboloid is (t, stretch * X) for the row X itself, with t and
stretch functions of |X|. So products with points are products with rows: a pass over a million of them reads the
user's array once and writes nothing of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from joblib import effective_n_jobs
from threadpoolctl import threadpool_info, threadpool_limits

from ..geometry import MODELS, distance, from_hyperboloid, lift, to_hyperboloid
from ..geometry._arrays import Array, dot, norm, to_numpy
from ..statistics import added, row_slices

CHUNK_ELEMENTS = 1 << 19  # of a chunk in memory: what stays in a core's cache,
THREAD_ELEMENTS = 1 << 21  # and what a thread works on for long enough to let another one run
DEVICE_ELEMENTS = 1 << 27  # of a chunk on an accelerator, where starting a kernel costs more than running it


class Door(NamedTuple):
    """A model of hyperbolic space and its curvature."""

    model: str
    curvature: float

    @property
    def scale(self) -> float:
        """Lengths at curvature -1 per length of the user's."""
        return float(np.sqrt(-self.curvature))

    def _coordinate_scale(self) -> float:
        return 1.0 if self.model == "halfspace" else self.scale  # there curvature scales the metric, not the coordinates

    def enter(self, X: Array) -> Array:
        """Points (n, d+1) of the hyperboloid at curvature -1, float64."""
        xp = array_namespace(X)
        return to_hyperboloid(xp.astype(X, xp.float64) * self._coordinate_scale(), self.model)

    def chunk(self, X: Array) -> Chunk:
        """The same points, not written out."""
        xp = array_namespace(X)
        radial = MODELS[self.model].radial
        if radial is None:
            x = self.enter(X)
            return Chunk(x[:, 1:], xp.ones_like(x[:, 0]), x[:, 0])
        space = xp.astype(X[:, MODELS[self.model].extra_columns :], xp.float64, copy=False)
        scale = self._coordinate_scale()
        t, stretch = radial(squared_norm(space) * scale**2)
        return Chunk(space, stretch * scale, t)

    def leave(self, x: Array, dtype: Any) -> Array:
        """Points of the hyperboloid in the model, the curvature and a dtype."""
        xp = array_namespace(x)
        X = from_hyperboloid(x, self.model) / self._coordinate_scale()
        if self.model in ("poincare", "klein"):
            X = _inside(X, 1 / self.scale, xp.finfo(dtype).eps)
        return xp.astype(X, dtype, copy=False)

    def dimension(self, columns: int) -> int:
        """The dimension of the space whose points have so many columns."""
        return columns - MODELS[self.model].extra_columns

    def columns(self, dimension: int) -> int:
        """The number of columns of points of a space of this dimension."""
        return dimension + MODELS[self.model].extra_columns


def _inside(X: Array, radius: float, eps: float) -> Array:
    """X (float64) with the rows that a dtype of precision eps cannot tell from the boundary moved inside by a few eps."""
    xp = array_namespace(X)
    size, most = norm(X)[:, None], radius * (1 - 4 * eps)
    if not bool(xp.any(size > most)):
        return X
    return xp.where(size > most, X * (most / xp.where(size > 0, size, xp.ones_like(size))), X)


def squared_norm(X: Array) -> Array:
    """|X|^2 of each row."""
    return np.vecdot(X, X) if is_numpy_array(X) else dot(X, X)


def with_rows(a: Array, which: Array, rows: Array) -> Array:
    """a with some of its rows put in their place (in a itself, where its library allows that)."""
    if hasattr(a, "at"):
        return a.at[which].set(rows)
    a[which] = rows
    return a


class Chunk(NamedTuple):
    """Points (t, stretch * X) of the hyperboloid, n of them."""

    X: Array  # (n, d)
    stretch: Array  # (n,)
    t: Array  # (n,)

    def products(self, M: Array) -> Array:
        """Euclidean products (k, n) of the rows of M (k, d+1) with the points."""
        xp = array_namespace(self.t)
        along = self.X @ xp.asarray(M[:, 1:].T, copy=True)  # contiguous: twice as fast
        return M[:, :1] * self.t + along.T * self.stretch

    def gather(self, weights: Array) -> Array:
        """Sums (k, d+1) of the points with weights (k, n)."""
        xp = array_namespace(self.t)
        return xp.concat([(weights @ self.t)[:, None], (weights * self.stretch) @ self.X], axis=1)

    def distances(self, others: Array) -> Array:
        """Distances (n,) to as many other points (n, d+1), one for each."""
        xp = array_namespace(self.t)
        along = np.vecdot(self.X, others[:, 1:]) if is_numpy_array(self.X) else dot(self.X, others[:, 1:])
        size = self.t * others[:, 0]
        cosh = size - self.stretch * along
        lost = cosh - 1 < 1e-9 * size  # the difference of two such large numbers
        safe = xp.where(lost, xp.ones_like(cosh), cosh)
        d = xp.log(safe + xp.sqrt(safe - 1) * xp.sqrt(safe + 1))
        return with_rows(d, lost, distance(self.points(lost), others[lost])) if bool(xp.any(lost)) else d

    def points(self, which: Any = slice(None)) -> Array:
        """Some of the points (., d+1), written out."""
        return lift(self.X[which] * self.stretch[which][:, None])


class Rows:
    """A user's array behind its door."""

    remote = False  # whether the rows are elsewhere, where passes over them are made

    def __init__(self, X: Array, door: Door, n_jobs: int | None = None) -> None:
        self.X, self.door = X, door
        self.shape = (X.shape[0], door.dimension(X.shape[1]) + 1)
        large = is_numpy_array(X) and X.size > 4 * THREAD_ELEMENTS
        self.threads = allowed_threads(n_jobs) if large else 1  # asked now: a search sets other limits for itself

    def parts(self, function: Callable[[Array], Any]) -> Iterator[Any]:
        """function(points), a few thousand rows at a time, in order."""
        door = self.door
        return self.each(lambda X, _: function(door.enter(X)))

    def folded(self, function: Callable[[Array], Any], combine: Callable[[Any, Any], Any]) -> Any:
        """function(points), a few thousand rows at a time, put together two by two with an associative `combine`."""
        return reduce(combine, self.parts(function))

    def map(self, function: Callable[[Array], Array]) -> Array:
        """The rows of function(rows), an array of the user's library."""
        return array_namespace(self.X).concat(list(self.each(lambda X, _: function(X))), axis=0)

    def first(self) -> Array:
        """The first few thousand points."""
        return self.door.enter(self.X[next(chunk_slices(self.X)), :])

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The points of some rows, on the host."""
        xp = array_namespace(self.X)
        where = xp.asarray(indices) if is_numpy_array(self.X) else xp.asarray(indices, device=self.X.device)
        return self.door.enter(to_numpy(xp.take(self.X, where, axis=0)))

    def all(self) -> Array:
        """All points at once."""
        return array_namespace(self.X).concat(list(self.parts(lambda x: x)), axis=0)

    def each(self, function: Callable[[Array, int], Any], *, light: bool = False) -> Iterator[Any]:
        """function(rows, number of the first) for every chunk of the user's rows, in order.

        What is light reads faster than two threads could share: it has one.
        """
        threads = 1 if light else self.threads
        return over_slices(chunk_slices(self.X, threads), lambda rows: function(self.X[rows, :], rows.start), threads)

    def sum(self, function: Callable[[Array, int], tuple], *, light: bool = False) -> tuple:
        """The sum over all chunks of what function(rows, number of the first) returns, a tuple of numbers and arrays."""
        return added(self.each(function, light=light))

    def sum_beside(self, other: Rows, function: Callable[[Array, Array], tuple]) -> tuple:
        """The sum over all chunks of what function(rows, rows of another array) returns, a tuple of numbers and arrays."""
        return added(function(self.X[rows, :], other.X[rows, :]) for rows in chunk_slices(self.X))


def allowed_threads(n_jobs: int | None) -> int:
    """As many threads as `n_jobs` says; None: as many as the library of linear algebra is set to use."""
    if n_jobs is None:
        return max([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"], default=1)
    return effective_n_jobs(n_jobs)


def chunk_slices(X: Array, threads: int = 1) -> Iterator[slice]:
    """Slices of the rows of X, as many at a time as suit the place where it lives."""
    elements = DEVICE_ELEMENTS if str(device(X)) != "cpu" else CHUNK_ELEMENTS if threads == 1 else THREAD_ELEMENTS
    return row_slices(X.shape[0], max(64, elements // X.shape[1]))


def over_slices(slices: Iterable[slice], function: Callable[[slice], Any], threads: int) -> Iterator[Any]:
    """function of every slice, in order, on several threads (NumPy lets others run while it works)."""
    with threadpool_limits(1, "blas"):
        if threads == 1:
            yield from map(function, slices)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(function, slices)
