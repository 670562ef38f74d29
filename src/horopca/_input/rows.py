"""The rows of a user's array as points: NumPy arrays, data frames, memory-mapped files, and arrays of torch, CuPy or JAX.

`choose_coordinates` finds the model and the curvature of an array. `check_rows` validates it, wherever it is stored, and wraps
it.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array, is_torch_array
from sklearn.utils.validation import assert_all_finite, validate_data

from ..geometry import MODELS
from ..geometry._arrays import array_namespace, as_floats, on_host, take_rows, to_numpy
from ..geometry._points import Chunk, Points, T, add, chunk_slices
from . import cuda
from .arguments import check_choice
from .coordinates import LARGEST_RADIUS, Coordinates, check_coordinates, check_points
from .libraries import as_plain_array, coordinates_of
from .recognition import recognise
from .threads import allowed_threads, one_blas_thread

LARGE_ELEMENTS = 1 << 23  # Arrays of more elements are processed by several threads.


class Rows(Points):
    """The rows of an array as `Points`.

    `start` is the index of the first row, and `source` the memory-mapped file that the array is a view of, if any.
    """

    remote = False  # whether passes over the rows are made on other machines

    def __init__(self, X: Any, coordinates: Coordinates, n_jobs: int | None = None, source: Any = None, start: int = 0) -> None:
        self.X, self.coordinates, self.source, self.start = X, coordinates, source, start
        self.shape = (X.shape[0], coordinates.dimension(X.shape[1]) + 1)
        large = is_numpy_array(X) and X.size > LARGE_ELEMENTS
        self.threads = allowed_threads(n_jobs) if large else 1
        self.weights: np.ndarray | None = None  # (n,), how much each row counts

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        """Raise ValueError if rows are not finite, not points of the model, or farther than `reach` from the origin."""
        X, (model, _), scale = self.X, self.coordinates, self.coordinates.scale
        if not is_numpy_array(X) and cuda.usable_for(X, model) and cuda.rows_outside(X, model, scale) == 0:
            return
        for rows in chunk_slices(X):
            check_points(self.raw(rows), self.coordinates, self.start + rows.start, name, reach)

    def chunk(self, rows: slice) -> Chunk:
        return self.coordinates.chunk(self.raw(rows), self.start + rows.start)

    def points(self, indices: np.ndarray) -> Any:
        """The points (m, d+1) at some indices: a tensor on a GPU if the array is one, else a NumPy array."""
        raw = self.raw(indices)
        return self.coordinates.to_hyperboloid(to_numpy(raw) if on_host(raw) or not is_torch_array(raw) else raw.detach())

    def raw(self, indices: np.ndarray | slice) -> Any:
        """Some rows of the user's array, unchanged.

        Raises ValueError if its mapped file has become shorter: reading beyond its end would kill the process (SIGBUS).
        """
        source = self.source
        if source is not None:
            end = source.offset - source.offset % mmap.ALLOCATIONGRANULARITY + len(source._mmap)
            if source._mmap.size() < end:
                raise ValueError(f"{source.filename} was truncated while it was being read. Write it again.")
        return self.X[indices, :] if isinstance(indices, slice) else take_rows(self.X, indices)

    def fold_beside(self, other: Rows, function: Callable[[Chunk, Chunk], Any]) -> Any:
        """The sum of function(chunk, the same rows of another array) over all chunks."""
        return reduce(add, (function(self.chunk(rows), other.chunk(rows)) for rows in chunk_slices(self.X)))

    def all(self) -> Any:
        """All points (n, d+1), in an array of the user's library."""
        return self.map(Chunk.points)

    def each(self, function: Callable[[Chunk], T]) -> Iterator[T]:
        """function of every chunk, in order, on several threads (NumPy releases the interpreter's lock)."""
        with one_blas_thread():
            if self.threads == 1:
                yield from map(function, self.chunks())
                return
            with ThreadPoolExecutor(self.threads) as pool:
                yield from pool.map(lambda rows: function(self.chunk(rows)), chunk_slices(self.X))


def choose_coordinates(X: Any, model: str, curvature: Any, name: str = "X") -> Coordinates:
    """The coordinates of X: model and curvature as given; "auto" means the only model that fits.

    The defaults ("poincare" and -1) and "auto" give way to the manifold of a tensor of geoopt or HypLL; `check_rows` compares
    the result with it. Raises ValueError if the arguments are invalid, or if several models fit.
    """
    check_choice("model", model, (*MODELS, "auto"))
    own = None if isinstance(X, np.ndarray) else coordinates_of(X)
    if own is not None:
        given = check_coordinates(own.model if model in ("auto", "poincare") else model, curvature)
        return given if given.curvature != -1 else given._replace(curvature=own.curvature)
    if model != "auto":
        return check_coordinates(model, curvature)
    if is_dask(X):
        raise ValueError(f"model='auto' needs the rows of {name} in memory. Pass a model.")
    anything = check_coordinates("tangent", curvature)
    X = check_rows(X, anything, name=name, points=False).X
    x, eps = to_numpy(X) * anything.scale, float(array_namespace(X).finfo(X.dtype).eps)
    found = recognise(lambda: iter([x[np.isfinite(x).all(axis=1)]]), x.shape[1], eps)
    if not found.candidates:
        raise ValueError(f"model='auto' found no model that the rows of {name} fit ({found.evidence}). Pass a model.")
    if found.coordinates is None:
        could = " or ".join(map(repr, found.candidates))
        raise ValueError(f"model='auto' is ambiguous: the rows of {name} could be {could} ({found.evidence}). Pass a model.")
    return check_coordinates(found.coordinates.model, curvature)


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
    finite: bool = False,
    graph: bool = False,
) -> Rows:
    """Validate X, wherever it is stored, and wrap it. Raises ValueError if it is not an array of points within `reach`.

    Parameters
    ----------
    estimator, reset : as in scikit-learn's ``validate_data``; `estimator` may be None
    min_rows : int, the number of rows that are required
    name : str, the user's name of the argument, for messages
    points : bool, whether to check each row; otherwise the caller calls ``check()``
    finite : bool, whether a NumPy array must be finite, though its rows are not checked
    graph : bool, whether a tensor that requires gradients keeps its graph
    """
    array = X if isinstance(X, np.ndarray) else as_plain_array(X, coordinates, name)
    kind: type[Rows] = Rows
    if is_dask(X):
        from .dask import DaskRows, as_dask_array

        kind, array = DaskRows, as_dask_array(X, name)
    array = as_floats(array, name)
    if hasattr(array, "detach") and not (graph and sys.modules["torch"].is_grad_enabled()):
        array = array.detach()
    if array.ndim != 2:
        one = f" Reshape your data: a single point is {name}.reshape(1, -1)." if array.ndim == 1 else ""
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has shape {tuple(array.shape)}.{one}")
    if finite and is_numpy_array(array):
        assert_all_finite(array, input_name=name)
    if estimator is not None:
        named = getattr(X, "_meta", X) if hasattr(X, "columns") else array  # of Dask, a data frame without rows
        validate_data(estimator, named, reset=reset, skip_check_array=True)
    check_shape(array, coordinates, min_rows, name)
    source = X if isinstance(X, np.memmap) and np.may_share_memory(array, X) else None
    rows = kind(array, coordinates, getattr(estimator, "n_jobs", None), source)
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
        least = coordinates.columns(1)
        raise ValueError(
            f"{name} must have at least {least} column{'s' * (least > 1)} for model={coordinates.model!r}, but has "
            f"{X.shape[1]} feature(s) (shape={tuple(X.shape)}) while a minimum of {least} is required."
        )
