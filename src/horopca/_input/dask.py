"""Rows in a Dask array or data frame: passes over them, made by whichever scheduler is there.

A pass is one task for each chunk, which goes through it a few thousand rows at a time, and a tree of tasks that put their
results together: small arrays travel, rows do not. What the tasks need to know is a node of the graph, so that it is
sent once, and can be sent again where a worker has died.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import uuid4

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import Delayed, delayed
from sklearn.utils.validation import validate_data

from ..geometry import lift
from ..geometry._arrays import AnyArray, Array, array_namespace
from ..geometry._points import Chunk, T, add
from .coordinates import LARGEST_RADIUS, Coordinates, check_points
from .rows import Asked, Rows, chunk_slices
from .threads import one_blas_thread

with suppress(ImportError):
    import distributed  # noqa: F401  (before its settings are touched: it loads its own when it comes, and they would go with ours)

BRANCHES = 8  # So many results are put together at a time, in a tree.
GATHERED_ROWS = 1 << 15  # More rows than this are not brought to one place.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}  # The sample of the rows is meant to be in a graph.

Check = Callable[[AnyArray, int], None]  # of rows and the number of the first


def as_dask_array(X: Any, name: str) -> da.Array:
    """A Dask array, or a Dask data frame, as an array of known size with chunks of whole rows."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not isinstance(X, da.Array):
        raise ValueError(f"{name} must be a Dask array or data frame, but is a {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has {X.ndim} dimensions.")
    if np.isnan(X.shape[0]):
        X = X.copy().compute_chunk_sizes()  # which would change the user's array itself
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def enter(X: Any, asked: Asked) -> DaskRows:
    """A Dask array or data frame as rows. Nothing of it is read."""
    names = getattr(X, "_meta", X) if hasattr(X, "columns") else None  # an empty data frame of the same columns
    X = as_dask_array(X, asked.name)
    if X.dtype.kind == "c":
        raise ValueError(f"{asked.name} must hold real numbers, but has dtype {X.dtype}.")
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    asked.check_shape(X)
    if asked.estimator is not None:
        validate_data(asked.estimator, X if names is None else names, reset=asked.reset, skip_check_array=True)
    return DaskRows(X, asked.coordinates, asked.n_jobs)


class DaskRows(Rows):
    """The rows of a Dask array as `Points`. Nothing is read before it is needed; the first pass then checks it all."""

    remote = True

    def __init__(
        self, X: da.Array, coordinates: Coordinates, n_jobs: int | None = None, unchecked: Check | None = None
    ) -> None:
        super().__init__(X, coordinates, n_jobs)
        self.unchecked = unchecked
        self.starts = np.cumsum([0, *X.chunks[0]])
        self.blocks = X.to_delayed().ravel().tolist()

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        coordinates = self.coordinates
        self.unchecked = lambda block, start: check_points(block, coordinates, start, name, reach)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add, *, serial: bool = False) -> T:
        return self._passed(function, combine, self)

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        Y = other.X if isinstance(other, DaskRows) else da.from_array(other.X)
        unchecked = other.unchecked if isinstance(other, DaskRows) else None
        beside = DaskRows(Y.rechunk((self.X.chunks[0], -1)), other.coordinates, unchecked=unchecked)
        return self._passed(function, add, self, beside)

    def raw(self, indices: np.ndarray) -> np.ndarray:
        """Some rows of the user's, on the host. Each chunk is read once, and no other rows travel."""
        order = np.argsort(indices, kind="stable")
        ascending = np.asarray(indices)[order]
        ends, check, tasks = np.searchsorted(ascending, self.starts), _node(self.unchecked), []
        for block, start, (low, high) in zip(self.blocks, self.starts[:-1], pairwise(ends), strict=True):
            if low < high or self.unchecked is not None:
                tasks.append(delayed(_taken, pure=False)(block, ascending[low:high], start, check))
        found = np.concatenate(self._computed(tasks))
        self.unchecked = None
        rows = np.empty_like(found)
        rows[order] = found
        return rows

    def _rows(self, rows: slice) -> np.ndarray:
        return self.raw(np.arange(rows.start, rows.stop))

    def repeated(self, copies: np.ndarray) -> DaskRows:
        if (copies == 1).all():
            return self
        several = np.split(copies, self.starts[1:-1])
        arrays = [
            da.from_delayed(delayed(np.repeat)(block, times, axis=0), (int(times.sum()), self.X.shape[1]), self.X.dtype)
            for block, times in zip(self.blocks, several, strict=True)
        ]
        return DaskRows(da.concatenate(arrays), self.coordinates, unchecked=self.unchecked)

    def all(self) -> np.ndarray:
        n = self.shape[0]
        if n > GATHERED_ROWS:
            raise ValueError(
                f"A Dask array of {n:,} rows would have to be brought to one place, but more than {GATHERED_ROWS:,} rows are "
                "not. Pass a sample of the rows."
            )
        return self.take(np.arange(n))

    def map(self, function: Callable[[Chunk], Array]) -> da.Array:
        """The rows of function(chunk) for all chunks in order, a lazy array."""
        function = cloudpickle.loads(cloudpickle.dumps(function))  # as it is now: its estimator may be fitted again
        origin = lift(np.zeros((1, self.shape[1] - 1)))
        like: Any = function(self.coordinates.chunk(self.coordinates.from_hyperboloid(origin, self.X.dtype)))[:0]
        work = _node(Mapped(function, self.coordinates, self.unchecked, self.starts, like))
        chunks = (self.X.chunks[0], like.shape[1:])
        return self.X.map_blocks(_mapped, work, name=f"horopca-{uuid4().hex}", chunks=chunks, dtype=like.dtype, meta=like)

    def _passed(self, function: Callable[..., T], combine: Callable[[T, T], T], *several: DaskRows) -> T:
        """function(chunk of each) of all rows of several arrays, put together."""
        work = _node(Work(function, combine, tuple(rows.coordinates for rows in several), tuple(r.unchecked for r in several)))
        blocks = zip(*(rows.blocks for rows in several), strict=True)
        filled = [(start, block) for start, block, n in zip(self.starts[:-1], blocks, self.X.chunks[0], strict=True) if n]
        parts = [delayed(_worked, pure=False)(work, start, *block) for start, block in filled]
        while len(parts) > 1:
            bunches = (parts[i : i + BRANCHES] for i in range(0, len(parts), BRANCHES))
            parts = [delayed(_combined, pure=False)(work, *bunch) for bunch in bunches]
        (result,) = self._computed(parts)
        for rows in several:
            rows.unchecked = None
        return result

    def _computed(self, tasks: Any) -> tuple[Any, ...]:
        with one_blas_thread(), dask.config.set(SETTINGS):
            return compute(*tasks, traverse=False)


class Work(NamedTuple):
    """What a pass does to chunks, how it puts the results together; the fitting of the arrays, and how each is checked."""

    function: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    fitting: tuple[Coordinates, ...]
    checks: tuple[Check | None, ...]


class Mapped(NamedTuple):
    """What becomes of the rows of a lazy array."""

    function: Callable[[Chunk], AnyArray]
    coordinates: Coordinates
    check: Check | None
    starts: np.ndarray
    like: AnyArray  # no rows of the result


def _node(value: Any) -> Delayed:
    """A value as a node of its own in a graph."""
    return delayed(_itself, pure=False, traverse=False)(value)


def _itself(value: Any) -> Any:
    return value


def _worked(work: Work, start: int, *blocks: Array) -> Any:
    """The results of a chunk, a few thousand rows at a time."""

    def result(rows: slice) -> Any:
        chunks, number = [], int(start) + rows.start
        for block, coordinates, check in zip(blocks, work.fitting, work.checks, strict=True):
            if check is not None:
                check(block[rows, :], number)
            chunks.append(coordinates.chunk(block[rows, :], number))
        return work.function(*chunks)

    return reduce(work.combine, map(result, chunk_slices(blocks[0])))


def _combined(work: Work, *parts: Any) -> Any:
    return reduce(work.combine, parts)


def _taken(block: Array, indices: np.ndarray, start: int, check: Check | None) -> np.ndarray:
    """Some rows of a chunk, checked with all others."""
    if check is not None:
        for rows in chunk_slices(block):
            check(block[rows, :], int(start) + rows.start)
    return np.asarray(block[indices - start, :])


def _mapped(block: Array, mapped: Mapped, block_id: tuple[int, int]) -> AnyArray:
    """The images of a chunk, a few thousand rows at a time."""
    images, start = [mapped.like], int(mapped.starts[block_id[0]])
    for rows in chunk_slices(block):
        if mapped.check is not None:
            mapped.check(block[rows, :], start + rows.start)
        images.append(mapped.function(mapped.coordinates.chunk(block[rows, :], start + rows.start)))
    return array_namespace(mapped.like).concat(images, axis=0)
