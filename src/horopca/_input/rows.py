"""Rows in memory: NumPy arrays, data frames, lists of lists; and what passes over the rows of any array share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_numpy_array
from sklearn.utils.validation import check_array, validate_data

from ..geometry._arrays import Array, array_namespace, to_numpy
from ..geometry._points import Chunk, T, add, row_slices
from .coordinates import LARGEST_RADIUS, Coordinates, check_points
from .threads import allowed_threads, one_blas_thread

CHUNK_ELEMENTS = 1 << 19  # A chunk in memory has so many elements: what stays in a core's cache.
THREAD_ELEMENTS = 1 << 21  # A chunk for one of several threads has so many: work for long enough to let another one run.
DEVICE_ELEMENTS = 1 << 27  # A chunk on an accelerator has so many: starting a kernel costs more than running it.


class Asked(NamedTuple):
    """What is asked of a user's array, and on whose behalf."""

    coordinates: Coordinates
    estimator: Any = None
    reset: bool = False
    min_rows: int = 1
    name: str = "X"
    graph: bool = False  # whether gradients go through what becomes of it

    def check_shape(self, X: Array) -> None:
        """Refuse an array with too few rows, or too few columns for its model."""
        if X.shape[0] < self.min_rows:
            rows = f"{self.min_rows} row{'s' * (self.min_rows > 1)}"
            raise ValueError(f"{self.name} must have at least {rows}, but has {X.shape[0]} (n_samples = {X.shape[0]}).")
        if self.coordinates.dimension(X.shape[1]) < 1:
            raise ValueError(
                f"{self.name} must have at least 2 columns for model={self.coordinates.model!r} (time and space), but has "
                f"{X.shape[1]} feature(s)."
            )

    @property
    def n_jobs(self) -> int | None:
        return getattr(self.estimator, "n_jobs", None)


class Rows:
    """The rows of a user's array as `Points`, here for arrays in memory."""

    remote = False  # whether the rows are elsewhere, where passes over them are made

    def __init__(self, X: Any, coordinates: Coordinates, n_jobs: int | None = None) -> None:
        self.X, self.coordinates = X, coordinates
        self.shape: tuple[int, int] = (X.shape[0], coordinates.dimension(X.shape[1]) + 1)
        large = is_numpy_array(X) and X.size > 4 * THREAD_ELEMENTS
        self.threads = allowed_threads(n_jobs) if large else 1

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        """Refuse rows that are not finite or not points of the model within `reach`; `name` is that of the user's argument."""
        for rows in self._slices():
            check_points(self._rows(rows), self.coordinates, rows.start, name, reach)

    def chunks(self) -> Iterator[Chunk]:
        """The points in order, a chunk at a time."""
        return map(self._chunk, self._slices())

    def take(self, indices: np.ndarray) -> np.ndarray:
        """Some of the points (m, d+1), on the host."""
        return np.asarray(self.coordinates.to_hyperboloid(to_numpy(self.raw(indices))))

    def raw(self, indices: np.ndarray) -> Any:
        """Some rows of the user's, as they are."""
        xp = array_namespace(self.X)
        return xp.take(self.X, xp.asarray(indices, device=device(self.X)), axis=0)

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        """The rows of function(chunk) for all chunks in order, as one array of the user's library."""
        return array_namespace(self.X).concat(list(self._each(function, self.threads)), axis=0)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add, *, serial: bool = False) -> T:
        """function(chunk) for all chunks, put together two by two with an associative `combine`.

        If `serial`, on one thread: for what reads faster than two threads could share.
        """
        return reduce(combine, self._each(function, 1 if serial else self.threads))

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        """The sum of function(chunk, the same rows of another array) over all chunks."""
        return reduce(add, (function(self._chunk(rows), other._chunk(rows)) for rows in self._slices()))

    def all(self) -> Any:
        """All points (n, d+1), in an array of the user's library."""
        return self.map(Chunk.points)

    def _rows(self, rows: slice) -> Any:
        return self.X[rows, :]

    def _chunk(self, rows: slice) -> Chunk:
        return self.coordinates.chunk(self._rows(rows), rows.start)

    def _each(self, function: Callable[[Chunk], T], threads: int) -> Iterator[T]:
        """function of every chunk, in order, on several threads (NumPy lets others run while it works)."""
        work = lambda rows: function(self._chunk(rows))
        with one_blas_thread():
            if threads == 1:
                yield from map(work, self._slices())
                return
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(work, self._slices(threads))

    def _slices(self, threads: int = 1) -> Iterable[slice]:
        return chunk_slices(self.X, threads, self.shape[0])

    def repeated(self, copies: np.ndarray) -> Rows:
        """The rows, each as often as `copies` (n,) says."""
        return self if (copies == 1).all() else Repeated(self, copies)


class Repeated(Rows):
    """The rows of another, each so many times in a row. No copy is written out before it is asked for."""

    def __init__(self, rows: Rows, copies: np.ndarray) -> None:
        super().__init__(rows.X, rows.coordinates)
        self.threads, self.shape = rows.threads, (int(copies.sum()), rows.shape[1])
        self._once, self._ends = rows, np.cumsum(copies)

    def raw(self, indices: np.ndarray) -> Any:
        return self._once.raw(np.searchsorted(self._ends, indices, side="right"))

    def _rows(self, rows: slice) -> Any:
        return self.raw(np.arange(rows.start, rows.stop))


def chunk_slices(X: Array, threads: int = 1, n: int | None = None) -> Iterable[slice]:
    """Slices of the rows of X (or of n such rows), as many at a time as suit the place where it lives."""
    elements = DEVICE_ELEMENTS if str(device(X)) != "cpu" else CHUNK_ELEMENTS if threads == 1 else THREAD_ELEMENTS
    return row_slices(X.shape[0] if n is None else n, max(64, elements // X.shape[1]))


def enter(X: Any, asked: Asked) -> Rows:
    """Whatever NumPy makes an array of, as rows."""
    options = {"dtype": [np.float64, np.float32, np.float16], "ensure_min_samples": 0, "ensure_all_finite": False}
    if asked.estimator is not None:
        X = validate_data(asked.estimator, X, reset=asked.reset, **options)
    else:
        X = check_array(X, input_name=asked.name, **options)
    asked.check_shape(X)
    return Rows(X, asked.coordinates, asked.n_jobs)
