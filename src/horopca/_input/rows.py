"""The rows of a user's array as points: NumPy arrays, data frames, memory-mapped files, and arrays of torch, CuPy or JAX.

`check_rows` is the entry: it validates an array, wherever it is stored, and wraps it.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

import numpy as np
from array_api_compat import device, is_array_api_obj, is_numpy_array, is_torch_array
from sklearn.utils.validation import check_array, validate_data

from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..geometry._points import Chunk, T, add, row_slices
from . import cuda
from .coordinates import LARGEST_RADIUS, Coordinates
from .libraries import as_plain_array
from .threads import allowed_threads, one_blas_thread
from .validation import check_points

CHUNK_ELEMENTS = 1 << 19  # The size of a chunk in memory: it stays in a core's cache.
THREAD_ELEMENTS = 1 << 21  # The size of a chunk for one of several threads: enough work to pay for the switch.
DEVICE_ELEMENTS = 1 << 27  # The size of a chunk on an accelerator, where launching a kernel is expensive.


class Rows:
    """The rows of an array as `Points`. `source` is the memory-mapped file that the array is a view of, if any."""

    remote = False  # whether passes over the rows are made on other machines

    def __init__(self, X: Any, coordinates: Coordinates, n_jobs: int | None = None, source: Any = None) -> None:
        self.X, self.coordinates = X, coordinates
        self.shape: tuple[int, int] = (X.shape[0], coordinates.dimension(X.shape[1]) + 1)
        large = is_numpy_array(X) and X.size > 4 * THREAD_ELEMENTS
        self.threads = allowed_threads(n_jobs) if large else 1
        self._source = source
        self.weights: np.ndarray | None = None  # (n,), how much each row counts

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        """Raise ValueError if rows are not finite, not points of the model, or farther than `reach` from the origin."""
        X, (model, _), scale = _detached(self.X), self.coordinates, self.coordinates.scale
        if not is_numpy_array(X) and cuda.usable_for(X, model) and cuda.rows_outside(X, model, scale) == 0:
            return
        for rows in self._slices():
            check_points(self._rows(rows), self.coordinates, rows.start, name, reach)

    def chunks(self) -> Iterator[Chunk]:
        """The points in order, a chunk at a time."""
        return map(self._chunk, self._slices())

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The points (m, d+1) at some indices, on the host."""
        return np.asarray(self.coordinates.to_hyperboloid(to_numpy(self.raw(indices))))

    def points(self, indices: np.ndarray) -> Any:
        """The points (m, d+1) at some indices, on the device of the array if that is a GPU; on the host otherwise."""
        return self.coordinates.to_hyperboloid(self._at(indices))

    def products(self, indices: np.ndarray, M: np.ndarray) -> Any:
        """Euclidean products (k, m) of the rows of M (k, d+1) with the points at some indices, where `points` has them."""
        chunk = self.coordinates.chunk(self._at(indices))
        return chunk.products(from_numpy(M, chunk.t))

    def _at(self, indices: np.ndarray) -> Any:
        raw = _detached(self.raw(indices))
        return raw if is_torch_array(raw) and raw.is_cuda else to_numpy(raw)

    def raw(self, indices: np.ndarray) -> Any:
        """The rows of the user's array at some indices, unchanged."""
        self._check_source()
        xp = array_namespace(self.X)
        return xp.take(self.X, xp.asarray(indices, device=device(self.X)), axis=0)

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        """The concatenated rows of function(chunk), as one array of the user's library."""
        return array_namespace(self.X).concat(list(self._each(function, self.threads)), axis=0)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = add, *, serial: bool = False) -> T:
        """The values function(chunk) of all chunks, reduced with an associative `combine`.

        If `serial`, on one thread: for functions that are limited by memory bandwidth.
        """
        return reduce(combine, self._each(function, 1 if serial else self.threads))

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        """The sum of function(chunk, the same rows of another array) over all chunks."""
        return reduce(add, (function(self._chunk(rows), other._chunk(rows)) for rows in self._slices()))

    def all(self) -> Any:
        """All points (n, d+1), in an array of the user's library."""
        return self.map(Chunk.points)

    def _rows(self, rows: slice) -> Any:
        self._check_source()
        return self.X[rows, :]

    def _check_source(self) -> None:
        """Raise ValueError if the mapped file has become shorter: reading beyond its end would kill the process (SIGBUS)."""
        source = self._source
        if source is None:
            return
        end = source.offset - source.offset % mmap.ALLOCATIONGRANULARITY + len(source._mmap)
        if source._mmap.size() < end:
            raise ValueError(f"{source.filename} was truncated while it was being read. Write it again.")

    def _chunk(self, rows: slice) -> Chunk:
        return self.coordinates.chunk(self._rows(rows), rows.start)

    def _each(self, function: Callable[[Chunk], T], threads: int) -> Iterator[T]:
        """function of every chunk, in order, on several threads (NumPy releases the interpreter's lock)."""
        work = lambda rows: function(self._chunk(rows))
        with one_blas_thread():
            if threads == 1:
                yield from map(work, self._slices())
                return
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(work, self._slices(threads))

    def _slices(self, threads: int = 1) -> Iterable[slice]:
        return chunk_slices(self.X, threads)


def chunk_slices(X: Array, threads: int = 1) -> Iterable[slice]:
    """Slices of the rows of X, of a size that suits the device."""
    elements = DEVICE_ELEMENTS if str(device(X)) != "cpu" else CHUNK_ELEMENTS if threads == 1 else THREAD_ELEMENTS
    return row_slices(X.shape[0], max(64, elements // X.shape[1]))


def check_rows(
    X: Any,
    coordinates: Coordinates,
    *,
    estimator: Any = None,
    reset: bool = False,
    min_rows: int = 1,
    name: str = "X",
    reach: float = LARGEST_RADIUS,
    points: bool = True,
    graph: bool = False,
) -> Rows:
    """Validate X, wherever it is stored, and wrap it. Raises ValueError if it is not an array of points within `reach`.

    Parameters
    ----------
    estimator, reset : as in scikit-learn's ``validate_data``; `estimator` may be None
    min_rows : int, the number of rows that are required
    name : str, the user's name of the argument, for messages
    points : bool, whether to check each row; otherwise the caller calls ``check()``
    graph : bool, whether a tensor that requires gradients keeps its graph
    """
    X = as_plain_array(X, coordinates, name)
    n_jobs = getattr(estimator, "n_jobs", None)
    if is_dask(X):
        from .dask import DaskRows, as_dask_array

        lazy = as_dask_array(X, name, estimator, reset)
        check_shape(lazy, coordinates, min_rows, name)
        rows: Rows = DaskRows(lazy, coordinates, n_jobs)
    else:
        if is_array_api_obj(X) and not isinstance(X, np.ndarray):
            array = _check_device_array(X, name, estimator, reset, graph)
        else:
            options = {"dtype": [np.float64, np.float32, np.float16], "ensure_min_samples": 0, "ensure_all_finite": False}
            if estimator is None:
                array = check_array(X, input_name=name, **options)
            else:
                array = validate_data(estimator, X, reset=reset, **options)
        check_shape(array, coordinates, min_rows, name)
        source = X if isinstance(X, np.memmap) and np.may_share_memory(array, X) else None
        rows = Rows(array, coordinates, n_jobs, source)
    if points:
        rows.check(name, reach)
    return rows


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or data frame; Dask is not imported."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def check_shape(X: Any, coordinates: Coordinates, min_rows: int = 1, name: str = "X") -> None:
    """Raise ValueError if X has too few rows, or too few columns for its model."""
    if X.shape[0] < min_rows:
        rows = f"{min_rows} row{'s' * (min_rows > 1)}"
        raise ValueError(f"{name} must have at least {rows}, but has {X.shape[0]} (n_samples = {X.shape[0]}).")
    if coordinates.dimension(X.shape[1]) < 1:
        raise ValueError(
            f"{name} must have at least 2 columns for model={coordinates.model!r} (time and space), but has "
            f"{X.shape[1]} feature(s)."
        )


def _check_device_array(X: Any, name: str, estimator: Any, reset: bool, graph: bool) -> Any:
    """Validate the shape and dtype of an array of torch, CuPy or JAX."""
    recording = is_torch_array(X) and sys.modules["torch"].is_grad_enabled()
    X = X if graph and (recording or not is_torch_array(X)) else _detached(X)
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(f"{name} must be dense, but is a sparse tensor ({X.layout}). Pass {name}.to_dense().")
    if str(getattr(X, "device", "")) == "meta":
        raise ValueError(f"{name} must contain numbers, but is on the device 'meta', which stores only shapes.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has shape {tuple(X.shape)}.")
    xp = array_namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{name} must be real, but has dtype {X.dtype}.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    if estimator is not None:
        _check_n_features(X, estimator, reset, name)
    return X


def _detached(X: Any) -> Any:
    return X.detach() if hasattr(X, "detach") else X


def _check_n_features(X: Array, estimator: Any, reset: bool, name: str) -> None:
    """What scikit-learn's ``validate_data`` does for NumPy arrays."""
    if reset:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
