"""Shared parts of all fits: validation, the number of components, variances, and how the search ended."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning

from .._input.arguments import check_count, check_number
from .._input.coordinates import Coordinates, check_coordinates
from .._input.means import mean_of
from .._input.progress import logger
from .._input.rows import Rows, check_rows
from .._optimize.multi_start import Flag, SearchOptions
from .._optimize.result import Ending
from ..geometry import origin
from ..geometry._arrays import Array, as_floats, to_numpy
from ..geometry._points import TranslatedPoints
from ..statistics import Mean, mean_square_distance
from ..statistics.means import principal_axes
from ..statistics.pairs import pair_distances, pair_offsets

MEASURED_ROWS = 1 << 14  # Variances are measured on at most this many rows: their standard error is then below 1 %.
EXACT_ROWS = 3000  # Variances of up to this many points use all pairs, if these are at most EXACT_PAIRS.
EXACT_PAIRS = 1 << 26  # Pairs of all sets of points together that take two seconds.
REPORTED_PAIRS = 1 << 18  # Pairs of more points: a standard error of about 0.2 %.
COINCIDENT_VARIANCE = 1e-28  # A smaller pair variance (distances of 1e-14) is rounding error: all points coincide.


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Validate the weights of n rows, or one weight for all. Raises ValueError unless two of them are positive."""
    try:
        weight = to_numpy(sample_weight)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must contain numbers, one for each row of X, but is {sample_weight!r:.60}.") from None
    if weight.ndim and weight.shape != (n,):
        raise ValueError(f"sample_weight must have one number for each of the {n} rows of X, but has shape {weight.shape}.")
    weight = np.broadcast_to(weight, (n,)).astype(np.float64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"sample_weight must contain finite non-negative numbers, but row {row} has {weight[row]:g}.")
    if np.count_nonzero(weight) < 2:
        zero = "all of them" if not weight.any() else "all but one of them"
        raise ValueError(f"sample_weight must be positive for at least two points, but is zero for {zero}.")
    return weight


def as_fitted(estimator: Any, name: str) -> Any:
    """The value of a parameter at the time of the fit, if it is stored, else its present value."""
    return getattr(estimator, f"{name}_", getattr(estimator, name))


def keeps_graph(estimator: Any) -> bool:
    """Whether `transform` returns arrays, which may have gradients, rather than the data frames of ``set_output``."""
    own = getattr(estimator, "_sklearn_output_config", {})
    return str(own.get("transform", get_config()["transform_output"])) == "default"


def fitted_coordinates(estimator: Any) -> Coordinates:
    """The model and curvature of the fit, as `Coordinates`."""
    return check_coordinates(as_fitted(estimator, "model"), as_fitted(estimator, "curvature"))


# ---------------------------------------------------------------- the number of components


def check_components(n_components: Any, d: int | None, n: int) -> int | float:
    """The number of components, or the fraction of the variance to keep, for n points of dimension d (None if unknown).

    Raises ValueError if n_components is not valid. `fewest_components` finds the number for a fraction.
    """
    if n_components is None:
        return n if d is None else min(d, n)
    if isinstance(n_components, float | np.floating) and 0 < n_components < 1:
        return float(n_components)
    why = f"{'' if d is None else f' (the dimension of X is {d})'}, a fraction of the variance between 0 and 1, or None for all"
    K = check_count("n_components", n_components, 1, d, why)
    if n < K:
        raise ValueError(
            f"n_components must be at most the number of points, but is {K} for n_samples = {n}. Lower n_components."
        )
    return K


def fewest_components(estimator: Any, rows: Rows, share: float) -> tuple[int, Ending]:
    """Fit the fewest components that keep a fraction `share` of the variance; return their number and how the fit ended.

    The fraction that is kept does not decrease with the number of components. From a first guess the numbers go up or down in
    doubling steps until one keeps too little and another enough, and then by bisection: a good guess takes two fits.
    """
    few, enough = 0, min(rows.shape[1] - 1, rows.shape[0])  # `few` components keep too little; `enough` keep enough, as all do
    K, step = _guess_components(rows, share, enough), 1
    found: tuple[Ending, dict[str, Any]] | None = None
    while found is None or enough - few > 1:
        ending, all_components = estimator._fit_components(rows, K), found is None and K == enough
        if all_components or estimator.explained_variance_ratio_.sum() >= share:
            enough, found = K, (ending, vars(estimator).copy())
        else:
            few = K
        K = few + step if found is None else enough - step if few == 0 else (few + enough) // 2
        K, step = min(max(K, few + 1), enough), 2 * step
    ending, fitted = found
    vars(estimator).update(fitted)
    return enough, ending


def _guess_components(rows: Rows, share: float, most: int) -> int:
    """The number of principal axes at the mean that keep a fraction `share` of the variance of the tangent vectors."""
    known = np.arange(rows.shape[0]) if rows.weights is None else np.flatnonzero(rows.weights)
    x = rows.points(known[measured_rows(len(known))])
    variances = principal_axes(TranslatedPoints(x, to_numpy(mean_of(rows).point)))[1]
    return min(most, 1 + int(np.searchsorted(variances.cumsum(), share * variances.sum())))


def check_starts(n_init: Any, auto: int) -> int:
    """Validate n_init: a positive number, or "auto" for the number `auto`."""
    return auto if isinstance(n_init, str) and n_init == "auto" else check_count("n_init", n_init, 1, why=", or 'auto'")


def check_stopping(estimator: Any) -> None:
    """Validate max_iter and tol."""
    check_count("max_iter", estimator.max_iter, 1)
    if not (isinstance(estimator.tol, str) and estimator.tol == "auto"):
        check_number("tol", estimator.tol, "a positive number", above=0)


# ---------------------------------------------------------------- the mean, and other points


def check_point(estimator: Any, name: str, words: tuple[str | None, ...]) -> np.ndarray | None:
    """A parameter that is a point of the estimator's model, on the hyperboloid (d+1,).

    It may also be one of the `words`: "origin" is the origin, others give None.
    """
    value = getattr(estimator, name)
    if value is None or isinstance(value, str):
        if value not in words:
            said = "".join(f"{word!r}, " for word in words if word is not None)
            raise ValueError(f"{name} must be {said.removesuffix(', ')} or a point in the model of X, but is {value!r}.")
        return origin(fitted_coordinates(estimator).dimension(estimator.n_features_in_)) if value == "origin" else None
    point = to_numpy(as_floats(value, name))
    if point.shape != (estimator.n_features_in_,):
        raise ValueError(
            f"{name} must be one point in the model of X, of shape ({estimator.n_features_in_},), but has shape {point.shape}."
        )
    return to_numpy(check_rows(point[None], fitted_coordinates(estimator), name=name).all()[0])


def store_mean(estimator: Any, rows: Rows) -> Mean:
    """The Fréchet mean of the rows, stored as ``mean_`` in the user's model and as ``_mean`` on the hyperboloid."""
    mean = mean_of(rows)
    estimator._mean = to_numpy(mean.point)
    estimator.mean_ = in_model(estimator, estimator._mean)
    return mean


def in_model(estimator: Any, point: np.ndarray) -> np.ndarray:
    """A point (d+1,) of the hyperboloid in the estimator's model and curvature."""
    return np.asarray(fitted_coordinates(estimator).from_hyperboloid(point[None], point.dtype)[0])


# ---------------------------------------------------------------- variances


def measured_rows(n: int) -> np.ndarray:
    """Indices of the rows that variances are measured on: all n, or a fixed random sample."""
    return np.random.default_rng(0).permutation(n)[:MEASURED_ROWS]


def pair_variances(
    clouds: Sequence[Array], rng: np.random.Generator, pairs: int = REPORTED_PAIRS, weights: Any = None
) -> tuple[np.ndarray, float]:
    """Mean squared distances over pairs of different points in several sets (n, k+1), and the number of pairs counted.

    For few points all pairs are used, and their number is given as infinite, since there is no sampling error. For more
    points, which must be in random order, about `pairs` pairs are used, the same in every set.
    """
    n = clouds[0].shape[0]
    w = np.ones(n) if weights is None else to_numpy(weights)
    if n <= EXACT_ROWS and n * n * len(clouds) <= EXACT_PAIRS:
        share = 1 - float(w @ w) / float(w.sum()) ** 2  # the weight of the pairs of different points
        return np.array([mean_square_distance(y, weights) for y in clouds]) / max(share, 1e-300), np.inf
    offsets = pair_offsets(n, max(1, pairs // n), rng)
    sums, mass = np.zeros(len(clouds)), 0.0
    for o in offsets:
        met = w * np.roll(w, -o) / (2 if 2 * o == n else 1)  # pairs of the offset n/2 occur twice
        (squares,) = [[float(met @ to_numpy(d) ** 2) for d in block] for block in pair_distances(*clouds, offsets=[o])]
        sums, mass = sums + squares, mass + float(met.sum())
    return sums / max(mass, 1e-300), n * len(offsets)


def nested_variances(clouds: Sequence[np.ndarray]) -> np.ndarray:
    """Pair variances of several arrays of points: images of the measured rows on 1, 2, ... components."""
    n = len(clouds[0])
    pairs = REPORTED_PAIRS // max(1, len(clouds) // 4)  # so that the time does not grow with the number of clouds
    return pair_variances(clouds, np.random.default_rng(0), pairs)[0] * (n - 1) / n


def store_variances(estimator: Any, cumulative: Any, total: float) -> None:
    """Store what each component adds to the pair variance.

    The pair variance is the mean squared distance over ordered pairs: of the points (`total`) and of their images on the first
    k components (`cumulative`), at curvature -1. All reductions report it: ``explained_variance_`` sums to that of the images,
    ``explained_variance_ratio_`` to the fraction that is kept.
    """
    unit = fitted_coordinates(estimator).scale ** 2
    added = np.diff(np.asarray(cumulative, dtype=float), prepend=0.0)
    coincident = total <= COINCIDENT_VARIANCE  # then the first component keeps all
    estimator.explained_variance_ = added / unit
    estimator.explained_variance_ratio_ = np.eye(1, len(added))[0] if coincident else added / total
    estimator.total_variance_ = float(total) / unit


# ---------------------------------------------------------------- how it ended


def report_end(estimator: Any, ending: Ending) -> None:
    """Store how a fit ended; if it did not converge, warn with a remedy.

    ``n_iter_`` is at least 1, as scikit-learn requires: evaluating the start counts as an iteration.
    """
    n_iter, estimator.converged_, estimator.status_, remedy = ending
    estimator.n_iter_ = np.maximum(n_iter, 1) if isinstance(n_iter, np.ndarray) else max(n_iter, 1)
    if not ending.converged:
        sentence = f"{type(estimator).__name__} {ending.status} without converging. {remedy}"
        warn_caller(sentence.strip(), ConvergenceWarning)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the user's line, outside this package."""
    inside = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent), contextlib.__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def mean_ending(mean: Mean) -> Ending:
    """How a fit ended whose only iterative part is the mean."""
    return Ending(mean.n_iter, mean.converged, mean.status.value, "The points may lie too far out for the Fréchet mean.")


def search_ending(mean: Mean, flag: Flag, options: SearchOptions) -> Ending:
    """How a fit ended that begins with the mean and then searches; if it did not converge, with the parameter to change."""
    also = "; another optimum is equally good" if flag.several and flag.status.converged else ""
    remedy = f"Raise max_iter (now {options.max_iter}) or tol (now {options.tol:g})."
    ending = Ending(flag.n_iter, flag.status.converged, flag.status.value + also, remedy)
    return ending_after(mean, ending)


def ending_after(mean: Mean, ending: Ending) -> Ending:
    """How a fit ended that starts with the mean: if the mean did not converge, the rest is not valid either."""
    return ending if mean.converged else mean_ending(mean)


def log(estimator: Any, text: str) -> None:
    """Log a line of level DEBUG, and print it to stderr if the estimator is verbose."""
    line = f"{type(estimator).__name__}: {text}"
    logger.debug(line)
    if estimator.verbose:
        print(line, file=sys.stderr)
