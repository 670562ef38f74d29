"""What the fits of several reductions share: checking, looking at the rows from a point, saying how it ended."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._points.door import check_count
from .._points.means import mean_of
from .._points.memory import Rows
from .._points.places import check_rows
from ..geometry._arrays import to_numpy
from ..statistics import Mean
from .base import HyperbolicReduction


def check_fit(estimator: Any, X: Any) -> tuple[Rows, int]:
    """X as points and the number of components, or a sentence."""
    rows = check_rows(X, estimator._door(), estimator=estimator, reset=True, min_rows=2)
    d = rows.shape[1] - 1
    K = check_count("n_components", estimator.n_components, 1, d, f" (the dimension of X is {d})")
    check_enough(rows.shape[0], K)
    return rows, K


def check_enough(n: int, K: int) -> None:
    if n < K:
        raise ValueError(
            f"n_components must be at most the number of points, but is {K} for n_samples = {n}: so few points span no more "
            "dimensions. Lower n_components."
        )


def store_mean(estimator: Any, rows: Rows) -> Mean:
    """The Fréchet mean of the rows, kept as ``mean_`` in the user's model and as ``_mean`` on the hyperboloid."""
    mean = mean_of(rows)
    estimator._mean = to_numpy(mean.point)
    estimator.mean_ = in_model(estimator, estimator._mean)
    return mean


def in_model(estimator: HyperbolicReduction, point: np.ndarray) -> np.ndarray:
    """A point (d+1,) of the hyperboloid in the estimator's model and curvature."""
    return estimator._door().leave(point[None], point.dtype)[0]


def report_end(estimator: Any, status: str, n_iter: int, converged: bool, remedy: str) -> None:
    """Keep how a fit ended; if it did not converge, warn with a remedy."""
    estimator.n_iter_, estimator.converged_, estimator.status_ = n_iter, converged, status
    if not converged:
        warnings.warn(f"{type(estimator).__name__} {status} without converging. {remedy}", ConvergenceWarning, stacklevel=3)


def report_mean(estimator: Any, mean: Mean) -> None:
    """How the fit of a method ended that has a closed form but for the mean."""
    report_end(estimator, mean.status, mean.n_iter, mean.converged, "The points may lie too far out for the Fréchet mean.")


def teller(estimator: Any) -> Any:
    """The report of a search: lines on stderr if verbose."""

    def tell(number: int, heats: int, runners: int, value: float) -> None:
        if estimator.verbose:
            name = type(estimator).__name__
            print(f"{name}: heat {number + 1} of {heats}, {runners} starts, best {value:.6g}", file=sys.stderr)

    return tell
