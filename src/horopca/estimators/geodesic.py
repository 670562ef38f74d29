"""The base of PGA and BSA: reduction by geodesic projection on a submanifold."""

# Annotations are evaluated here: see linear.py.
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from .._input.arguments import check_generator, check_verbose
from .._input.rows import Rows
from .._input.threads import one_blas_thread
from .._optimize.multi_start import Flag, SearchOptions
from .._optimize.objectives import Sample, as_sample
from .._optimize.result import Ending
from .._optimize.submanifolds import nested_frame
from ..geometry import lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, to_numpy
from ..geometry._points import Chunk
from ..statistics.means import principal_axes
from .fitting import check_point, check_starts, check_stopping, in_model, log, search_ending, store_mean
from .linear import LinearReduction

HULL_ROWS = 1 << 13  # The search uses a random sample of at most this many rows.
SAMPLED_TOL = 1e-6  # The smallest tolerance for a search on a sample, whose sampling error is larger.
HULL_STARTS = 8  # Starting points of each kind for n_init="auto".


@dataclass(eq=False, repr=False, kw_only=True)
class GeodesicReduction(LinearReduction):
    """Projection to the nearest points of a totally geodesic submanifold, which subclasses choose by `_search`."""

    base_point: Any
    n_init: int | Literal["auto"] = "auto"
    max_iter: int = 1000
    tol: float = 1e-8
    random_state: Any = None
    verbose: int = 0

    @abstractmethod
    def _search(self, sample: Sample, K: int, options: SearchOptions, rng: np.random.Generator) -> Flag:
        """Nested submanifolds for a sample with the base point at the origin."""

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        rng = check_generator(self.random_state)
        mean = store_mean(self, rows)
        point = check_point(self, "base_point", (None, "mean"))
        base = self._mean if point is None else point
        x = translate_to_origin(rows.take(rng.permutation(rows.shape[0])[:HULL_ROWS]), base)
        axes, _ = principal_axes(x)
        tol = self.tol if len(x) == rows.shape[0] else max(self.tol, SAMPLED_TOL)
        options = SearchOptions(check_starts(self.n_init, HULL_STARTS), 0, self.max_iter, tol, partial(log, self))
        with one_blas_thread():
            nested = self._search(as_sample(lift(x[:, 1:] @ axes.T)), K, options, rng)
        frame = nested_frame(nested.bases, through=self.base_point is not None)
        frame[:, 1:] = frame[:, 1:] @ axes
        # the point of the frame, and points at distance 1 along its directions: points are translated exactly, directions not
        points = translate(np.concatenate([frame[:1], np.cosh(1) * frame[0] + np.sinh(1) * frame[1:]]), base)
        turn, _, back = np.linalg.svd(translate_to_origin(points[1:], points[0])[:, 1:], full_matrices=False)
        self._store_map(rows, points[0], np.asarray(turn @ back))
        self.base_point_ = None if self.base_point is None else in_model(self, base)
        self.unexplained_variance_ = self._residuals(rows)
        self._store_points(points)
        return search_ending(mean, nested, options)

    def _store_points(self, points: np.ndarray) -> None:
        """Store attributes that a subclass has for the points (K+1, d+1), of which the first k+1 span the k-th submanifold."""

    def _check_parameters(self) -> str:
        check_stopping(self)
        check_verbose(self.verbose)
        check_starts(self.n_init, HULL_STARTS)
        return super()._check_parameters()

    @staticmethod
    def _factor(t: Array, square: Array, rest: Array) -> Array:
        # `rest` is sinh^2 of the distance to the submanifold
        return 1 / array_namespace(t).sqrt(1 + rest)

    def _residuals(self, rows: Rows) -> np.ndarray:
        """Mean squared distance (K,) of points to the nested submanifolds, in the user's unit of length."""

        def squares(chunk: Chunk) -> np.ndarray:
            _, b, rest = self._products(chunk)
            b, rest = to_numpy(b), to_numpy(rest)
            across = rest + np.concatenate([np.cumsum(b[:0:-1] ** 2, axis=0)[::-1], np.zeros((1, len(rest)))])
            return np.asarray(np.sum(np.arcsinh(np.sqrt(np.maximum(across, 0))) ** 2, axis=1))

        # the distance to a larger submanifold is not larger: only rounding can violate this order
        return np.minimum.accumulate(rows.fold(squares) / rows.shape[0] / rows.coordinates.scale**2)
