"""What PGA and BSA share: reductions by geodesic projection on a submanifold."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._objectives.objectives import Sample, as_sample
from .._objectives.submanifolds import Profile, distance_to, mean_over_points
from .._points.door import check_count
from .._points.memory import Rows
from .._points.places import check_rows
from .._points.threads import one_blas_thread
from .._search.climb import Ascent
from .._search.submanifolds import Effort, Nested
from ..geometry import (
    Chunk,
    hull_coordinates,
    hull_points,
    lift,
    lorentz_frame,
    radius,
    to_hyperboloid,
    translate,
    translate_to_origin,
)
from ..geometry._arrays import Array, from_numpy, to_numpy
from ..statistics import Mean, Seen, frame_of, principal_axes
from .base import HyperbolicReduction
from .fitting import check_fit, in_model, report_end, store_mean, teller

SEARCH_ROWS = 1 << 15  # more points than this are searched on a random subset of so many
AUTO_STARTS = 8
RESOLVED = 30.0  # farther out, the rounding of a direction moves a point by thousandths, and at 36 by as much as 1


class GeodesicReduction(HyperbolicReduction):
    """Projection on the nearest points of a geodesic submanifold. Subclasses say which one, and what they report of it."""

    base_point: Any
    base_noise: float
    n_init: int | str
    max_iter: int
    tol: float
    random_state: Any
    verbose: int

    @abstractmethod
    def _search(self, sample: Sample, K: int, effort: Effort, rng: np.random.Generator) -> Nested:
        """Nested submanifolds for a sample with the base point at the origin."""

    @abstractmethod
    def _report(self, rows: Rows, bases: list[np.ndarray], mean: Mean) -> None:
        """Keep what was learnt: bases (k+1, d+1), k = 1 .. K, as seen from the base point."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the submanifolds nearest to the points X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.
        y : ignored

        Returns
        -------
        self
        """
        rows, K = check_fit(self, X)
        self._check_options()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        mean = store_mean(self, rows)
        self._base = self._check_base(rng)
        x = translate_to_origin(rows.take(rng.permutation(rows.shape[0])[:SEARCH_ROWS]), self._base)
        axes, _ = principal_axes(x)
        effort = Effort(AUTO_STARTS if self.n_init == "auto" else int(self.n_init), self.max_iter, self.tol, teller(self))
        with one_blas_thread():
            nested = self._search(as_sample(lift(x[:, 1:] @ axes.T)), K, effort, rng)
        bases = [np.column_stack([A[:, 0], A[:, 1:] @ axes]) for A in nested.bases]
        self._hull = lorentz_frame(bases[-1])
        self._frame = frame_of(hull_coordinates(x, self._hull))
        self._report(rows, bases, mean)
        self._n_features_out = rows.door.columns(K)
        self._report_end(nested.ascent, mean, float(radius(x).max()))
        return self

    def _report_end(self, ascent: Ascent, mean: Mean, reach: float) -> None:
        status, converged = ascent.status, ascent.converged
        if reach > RESOLVED and not converged and ascent.n_iter < self.max_iter:
            status, converged = "stopped where points are too far out for float64 to tell better from worse", True
        if not mean.converged:
            status, converged = "lost the Fréchet mean", False
        remedy = f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g})."
        report_end(self, status, ascent.n_iter, converged, remedy)

    def _check_options(self) -> None:
        check_count("max_iter", self.max_iter, 1)
        if self.n_init != "auto":
            check_count("n_init", self.n_init, 1)
        if not self.tol > 0:
            raise ValueError(f"tol must be a positive number, but is {self.tol!r}.")
        if not self.base_noise >= 0:
            raise ValueError(f"base_noise must be a standard deviation >= 0, but is {self.base_noise!r}.")
        if self.base_noise > 0 and self.base_point is None:
            raise ValueError(
                f"base_noise is {self.base_noise!r}, but there is no base point to add it to. Pass base_point='mean'."
            )

    def _check_base(self, rng: np.random.Generator) -> np.ndarray:
        """The base point (d+1,) on the hyperboloid, with its noise."""
        if self.base_point is None or isinstance(self.base_point, str):
            if self.base_point not in (None, "mean"):
                raise ValueError(f"base_point must be 'mean' or a point in the model of X, but is {self.base_point!r}.")
            base = self._mean
        else:
            point = np.asarray(self.base_point, dtype=float)
            if point.shape != (self.n_features_in_,):
                raise ValueError(
                    f"base_point must be one point in the model of X, of shape ({self.n_features_in_},), but has shape "
                    f"{point.shape}."
                )
            base = check_rows(point[None], self._door(), name="base_point").all()[0]
        noise = self.base_noise * self._door().scale * rng.standard_normal(len(base) - 1)
        return translate(to_hyperboloid(noise, "tangent"), base)

    def _mean_over(self, rows: Rows, A: np.ndarray, profile: Profile) -> float:
        """Mean over all rows of a profile for the submanifold spanned by A, in the user's unit of length."""

        def total(chunk: Chunk) -> float:
            x = to_numpy(chunk.points())
            return mean_over_points(as_sample(x), A, profile)[0] * len(x)

        return Seen(rows, self._base).fold(total) / rows.shape[0] / -self.curvature

    def _report_unexplained(self, rows: Rows, bases: list[np.ndarray]) -> None:
        # a submanifold inside another is no nearer to the points: only rounding can break the order
        self.unexplained_variance_ = np.minimum.accumulate([self._mean_over(rows, A, distance_to) for A in bases])
        self.base_point_ = None if self.base_point is None else in_model(self, self._base)

    def _project(self, x: Array) -> Array:
        moved = translate_to_origin(x, from_numpy(self._base, x))
        return self._frame.enter(hull_coordinates(moved, self._hull))

    def _embed(self, y: Array) -> Array:
        return translate(hull_points(self._frame.leave(y), self._hull), from_numpy(self._base, y))
