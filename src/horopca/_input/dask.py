"""Rows of a Dask array or data frame: passes over them run on the active scheduler.

A pass has one task per chunk, which processes the chunk as an array in memory, and a tree of tasks that combine the results.
Only small arrays are transferred, not rows. The parameters of the tasks are a node of the graph: they are sent once, and can
be sent again if a worker dies.
"""

from __future__ import annotations

from collections.abc import Callable
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

from ..geometry import origin
from ..geometry._arrays import Array
from ..geometry._points import Chunk, T, add
from .coordinates import LARGEST_RADIUS, Coordinates
from .rows import Rows
from .threads import one_blas_thread

with suppress(ImportError):
    import distributed  # noqa: F401  (before its settings are changed: importing it later would overwrite ours)

BRANCHES = 8  # The number of results that a task of the tree combines.
GATHERED_ROWS = 1 << 15  # The largest number of rows that is brought to one machine.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}  # Graphs contain the sample of the rows.

Form = tuple[Coordinates, tuple[str, float] | None]  # of a chunk: its coordinates; the arguments of `Rows.check`, if it is due


def as_dask_array(X: Any, name: str) -> da.Array:
    """A Dask array or data frame as an array of known size, with chunks of whole rows. No rows are kept."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not isinstance(X, da.Array):
        raise ValueError(f"{name} must be a Dask array or data frame, but is a {type(X).__name__}.")
    if np.isnan(X.shape).any():
        X = X.copy().compute_chunk_sizes()  # a copy, since that changes the array in place
    return X.rechunk({-1: -1})


class DaskRows(Rows):
    """The rows of a Dask array as `Points`. Nothing is read in advance; the first pass validates all rows."""

    remote = True
    unchecked: tuple[str, float] | None = None  # the arguments of `check`, until all rows are validated

    def __init__(self, X: da.Array, coordinates: Coordinates, *options: Any) -> None:
        super().__init__(X, coordinates, *options)
        self.starts = np.cumsum([0, *X.chunks[0]])
        self.blocks = X.to_delayed().ravel().tolist()

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        self.unchecked = name, reach

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add) -> T:
        return self._pass(lambda rows: rows.fold(function, combine), combine, self)

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        beside = DaskRows(da.asarray(other.X).rechunk((self.X.chunks[0], -1)), other.coordinates)
        beside.unchecked = getattr(other, "unchecked", None)
        return self._pass(lambda rows, others: rows.fold_beside(others, function), add, self, beside)

    def raw(self, indices: np.ndarray | slice) -> np.ndarray:
        """Some of the rows, on the host. Each chunk is read once, and no other rows are transferred."""
        indices = np.arange(self.shape[0])[indices]
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        ends, form, tasks = np.searchsorted(ascending, self.starts), _node((self.coordinates, self.unchecked)), []
        for block, start, (low, high) in zip(self.blocks, self.starts[:-1], pairwise(ends), strict=True):
            if low < high or self.unchecked is not None:
                tasks.append(delayed(_take, pure=False)(block, ascending[low:high], start, form))
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
        example = self.coordinates.from_hyperboloid(origin(self.shape[1] - 1)[None], self.X.dtype)
        like: Any = function(self.coordinates.chunk(example))[:0]
        work = _node((function, (self.coordinates, self.unchecked), self.starts, like))
        chunks = (self.X.chunks[0], like.shape[1:])
        return self.X.map_blocks(_map_block, work, name=f"horopca-{uuid4().hex}", chunks=chunks, dtype=like.dtype, meta=like)

    def _pass(self, function: Callable[..., T], combine: Callable[[T, T], T], *several: DaskRows) -> T:
        """The combined values of function(the rows of a block of each array)."""
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


# ------------------------------------------------------------ the tasks


def _rows(block: Array, form: Form, start: int) -> Rows:
    """The rows of a chunk, validated if that is due."""
    coordinates, unchecked = form
    rows = Rows(block, coordinates, n_jobs=1, start=int(start))
    if unchecked is not None:
        rows.check(*unchecked)
    return rows


def _process(work: tuple[Any, ...], start: int, *blocks: Array) -> Any:
    function, _, forms = work
    return function(*(_rows(block, form, start) for block, form in zip(blocks, forms, strict=True)))


def _combine(work: tuple[Any, ...], *parts: Any) -> Any:
    return reduce(work[1], parts)


def _take(block: Array, indices: np.ndarray, start: int, form: Form) -> np.ndarray:
    return np.asarray(_rows(block, form, start).raw(indices - start))


def _map_block(block: Array, work: tuple[Any, ...], block_id: tuple[int, int]) -> Any:
    function, form, starts, empty = work
    return _rows(block, form, starts[block_id[0]]).map(function) if len(block) else empty
