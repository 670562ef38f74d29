"""Rows of a Dask array or data frame: passes over them run on the active scheduler.

A pass has one task per chunk, which processes a few thousand rows at a time, and a tree of tasks that combine the results.
Only small arrays are transferred, not rows. The parameters of the tasks are a node of the graph: they are sent once, and can
be sent again if a worker dies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from typing import Any
from uuid import uuid4

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import Delayed, delayed
from sklearn.utils.validation import validate_data

from ..geometry import lift
from ..geometry._arrays import Array, array_namespace
from ..geometry._points import Chunk, T, add, chunk_slices
from .coordinates import LARGEST_RADIUS, Coordinates, check_points
from .rows import Rows
from .threads import one_blas_thread

with suppress(ImportError):
    import distributed  # noqa: F401  (before its settings are changed: importing it later would overwrite ours)

BRANCHES = 8  # The number of results that a task of the tree combines.
GATHERED_ROWS = 1 << 15  # The largest number of rows that is brought to one machine.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}  # Graphs contain the sample of the rows.

Check = Callable[[Any, int], None]  # called as check(rows, index of the first row)


def as_dask_array(X: Any, name: str, estimator: Any = None, reset: bool = False) -> da.Array:
    """A Dask array or data frame as a floating-point array of known size, with chunks of whole rows. No rows are read."""
    names = getattr(X, "_meta", X) if hasattr(X, "columns") else None  # an empty data frame with the same columns
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not isinstance(X, da.Array):
        raise ValueError(f"{name} must be a Dask array or data frame, but is a {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has {X.ndim} dimensions.")
    if X.dtype.kind == "c":
        raise ValueError(f"{name} must be real, but has dtype {X.dtype}.")
    if np.isnan(X.shape[0]):
        X = X.copy().compute_chunk_sizes()  # a copy, since that changes the array in place
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    if estimator is not None:
        validate_data(estimator, X if names is None else names, reset=reset, skip_check_array=True)
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


class DaskRows(Rows):
    """The rows of a Dask array as `Points`. Nothing is read in advance; the first pass validates all rows."""

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

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add) -> T:
        return self._pass(function, combine, self)

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        Y = other.X if isinstance(other, DaskRows) else da.from_array(other.X)
        unchecked = other.unchecked if isinstance(other, DaskRows) else None
        beside = DaskRows(Y.rechunk((self.X.chunks[0], -1)), other.coordinates, unchecked=unchecked)
        return self._pass(function, add, self, beside)

    def raw(self, indices: np.ndarray | slice) -> np.ndarray:
        """Some of the rows, on the host. Each chunk is read once, and no other rows are transferred."""
        indices = np.arange(self.shape[0])[indices] if isinstance(indices, slice) else indices
        order = np.argsort(indices, kind="stable")
        ascending = np.asarray(indices)[order]
        ends, check, tasks = np.searchsorted(ascending, self.starts), _node(self.unchecked), []
        for block, start, (low, high) in zip(self.blocks, self.starts[:-1], pairwise(ends), strict=True):
            if low < high or self.unchecked is not None:
                tasks.append(delayed(_take, pure=False)(block, ascending[low:high], start, check))
        found = np.concatenate(self._compute(tasks))
        self.unchecked = None
        rows = np.empty_like(found)
        rows[order] = found
        return rows

    def all(self) -> np.ndarray:
        n = self.shape[0]
        if n > GATHERED_ROWS:
            raise ValueError(
                f"X must have at most {GATHERED_ROWS:,} rows here, since they are brought to one machine, but this Dask array "
                f"has {n:,}. Pass a sample of the rows."
            )
        return self.take(np.arange(n))

    def map(self, function: Callable[[Chunk], Array]) -> da.Array:
        """The concatenated rows of function(chunk), a lazy array."""
        function = cloudpickle.loads(cloudpickle.dumps(function))  # a copy: its estimator may be fitted again
        origin = lift(np.zeros((1, self.shape[1] - 1)))
        like: Any = function(self.coordinates.chunk(self.coordinates.from_hyperboloid(origin, self.X.dtype)))[:0]
        work = _node((function, self.coordinates, self.unchecked, self.starts, like))
        chunks = (self.X.chunks[0], like.shape[1:])
        return self.X.map_blocks(_map_block, work, name=f"horopca-{uuid4().hex}", chunks=chunks, dtype=like.dtype, meta=like)

    def _pass(self, function: Callable[..., T], combine: Callable[[T, T], T], *several: DaskRows) -> T:
        """The combined values of function(chunk of each array)."""
        work = _node((function, combine, tuple((rows.coordinates, rows.unchecked) for rows in several)))
        blocks = zip(*(rows.blocks for rows in several), strict=True)
        filled = [(start, block) for start, block, n in zip(self.starts[:-1], blocks, self.X.chunks[0], strict=True) if n]
        parts = [delayed(_process, pure=False)(work, start, *block) for start, block in filled]
        while len(parts) > 1:
            bunches = (parts[i : i + BRANCHES] for i in range(0, len(parts), BRANCHES))
            parts = [delayed(_combine, pure=False)(work, *bunch) for bunch in bunches]
        (result,) = self._compute(parts)
        for rows in several:
            rows.unchecked = None
        return result

    def _compute(self, tasks: Any) -> tuple[Any, ...]:
        with one_blas_thread(), dask.config.set(SETTINGS):
            return compute(*tasks, traverse=False)


def _node(value: Any) -> Delayed:
    """A value as a separate node of the graph."""
    return delayed(_identity, pure=False, traverse=False)(value)


def _identity(value: Any) -> Any:
    return value


def _chunks(block: Array, coordinates: Coordinates, check: Check | None, start: int, slices: Any) -> Iterator[Chunk]:
    for rows in slices:
        if check is not None:
            check(block[rows, :], start + rows.start)
        yield coordinates.chunk(block[rows, :], start + rows.start)


def _process(work: tuple[Any, ...], start: int, *blocks: Array) -> Any:
    """The combined results of a chunk of each array, a few thousand rows at a time."""
    arrays: tuple[tuple[Coordinates, Check | None], ...]
    function, combine, arrays = work
    slices = list(chunk_slices(blocks[0]))
    several = (_chunks(block, *how, int(start), slices) for block, how in zip(blocks, arrays, strict=True))
    return reduce(combine, (function(*chunks) for chunks in zip(*several, strict=True)))


def _combine(work: tuple[Any, ...], *parts: Any) -> Any:
    return reduce(work[1], parts)


def _take(block: Array, indices: np.ndarray, start: int, check: Check | None) -> np.ndarray:
    """The rows of a chunk at some indices, after validation of the whole chunk."""
    if check is not None:
        for rows in chunk_slices(block):
            check(block[rows, :], int(start) + rows.start)
    return np.asarray(block[indices - start, :])


def _map_block(block: Array, work: tuple[Any, ...], block_id: tuple[int, int]) -> Any:
    """The images of a chunk, a few thousand rows at a time."""
    function, coordinates, check, starts, empty = work
    images = map(function, _chunks(block, coordinates, check, int(starts[block_id[0]]), chunk_slices(block)))
    return array_namespace(empty).concat([empty, *images], axis=0)
