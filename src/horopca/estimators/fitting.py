"""What all fits share: the checks, the number of components, the variances, and saying how it ended."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning

from .._input.arguments import check_count, check_number
from .._input.coordinates import Coordinates, check_coordinates
from .._input.means import mean_of
from .._input.recognition import choose_coordinates
from .._input.rows import Rows, check_rows
from .._optimize.multi_start import Progress
from .._optimize.result import Ending
from .._optimize.variances import REPORTED_PAIRS, pair_variances
from ..geometry import origin
from ..geometry._arrays import to_numpy
from ..statistics import Mean

MEASURED_ROWS = 1 << 14  # Variances are measured on at most so many rows.
ONE_POINT = 1e-28  # A pair variance below this is rounding: the points are one.


def begin_fit(estimator: Any, X: Any) -> Rows:
    """X as points. What `transform` reads later is in the model and curvature of now, kept as ``model_`` and ``curvature_``."""
    coordinates = choose_coordinates(X, estimator.model, estimator.curvature)
    rows = check_rows(X, coordinates, estimator=estimator, reset=True, min_rows=2)
    estimator.model_, estimator.curvature_ = coordinates
    return rows


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Validate the weights of n rows, or one weight for all. Raises ValueError unless two of them are positive."""
    try:
        weight = to_numpy(sample_weight)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must hold numbers, one for each row of X, but is {sample_weight!r:.60}.") from None
    if weight.ndim and weight.shape != (n,):
        raise ValueError(f"sample_weight must have one number for each of the {n} rows of X, but has shape {weight.shape}.")
    weight = np.broadcast_to(weight, (n,)).astype(np.float64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"sample_weight must hold finite numbers that are not negative, but row {row} has {weight[row]:g}.")
    if np.count_nonzero(weight) < 2:
        zero = "all of them" if not weight.any() else "all but one of them"
        raise ValueError(f"sample_weight must be positive for at least two points, but is zero for {zero}.")
    return weight


def as_fitted(estimator: Any, name: str) -> Any:
    """A parameter as it was when the estimator was fitted, if that is kept, whatever it was set to since."""
    return getattr(estimator, f"{name}_", getattr(estimator, name))


def keeps_graph(estimator: Any) -> bool:
    """Whether `transform` returns arrays, through which gradients go, and not the data frames of ``set_output``."""
    own = getattr(estimator, "_sklearn_output_config", {})
    return str(own.get("transform", get_config()["transform_output"])) == "default"


def fitted_coordinates(estimator: Any) -> Coordinates:
    """The coordinates of the fit."""
    return check_coordinates(as_fitted(estimator, "model"), as_fitted(estimator, "curvature"))


# ---------------------------------------------------------------- the number of components


def check_components(n_components: Any, d: int | None, n: int) -> int | float:
    """The number of components for n points of dimension d (or any), or the share of the variance to keep, or a sentence.

    None: all. An int: so many. A float in (0, 1): as many as keep that share of the variance (see `fewest_components`).
    """
    if n_components is None:
        return n if d is None else min(d, n)
    if isinstance(n_components, float | np.floating) and 0 < n_components < 1:
        return float(n_components)
    why = f"{'' if d is None else f' (the dimension of X is {d})'}, a share of the variance between 0 and 1, or None for all"
    K = check_count("n_components", n_components, 1, d, why)
    if n < K:
        raise ValueError(
            f"n_components must be at most the number of points, but is {K} for n_samples = {n}: so few points span no more "
            "dimensions. Lower n_components."
        )
    return K


def fewest_components(learn: Callable[[int], float], most: int, share: float) -> int:
    """The fewest components, at most `most`, that keep a share of the variance.

    `learn(K)` fits K components and returns the share that they keep, which does not fall as K grows. Its last call
    is for the answer.
    """
    few, enough = 0, 1
    while (kept := learn(enough)) < share and enough < most:
        few, enough = enough, min(2 * enough, most)
    last = enough
    while kept >= share and enough - few > 1:
        last = (few + enough) // 2
        few, enough = (few, last) if learn(last) >= share else (last, enough)
    if last != enough:
        learn(enough)
    return enough


def check_starts(n_init: Any, auto: int) -> int:
    """How many starts are climbed: `auto` of them for "auto", or a whole number, or a sentence."""
    return auto if isinstance(n_init, str) and n_init == "auto" else check_count("n_init", n_init, 1, why=", or 'auto'")


def check_climb(estimator: Any) -> None:
    """Refuse limits of a search that are none."""
    check_count("max_iter", estimator.max_iter, 1)
    if not (isinstance(estimator.tol, str) and estimator.tol == "auto"):
        check_number("tol", estimator.tol, "a positive number", above=0)


# ---------------------------------------------------------------- the mean, and other points


def check_point(estimator: Any, name: str, words: tuple[str | None, ...]) -> np.ndarray | None:
    """A parameter that is a point of the estimator's model, on the hyperboloid (d+1,); or one of the words, of which "origin"
    is a point too, and others are None."""
    value = getattr(estimator, name)
    if value is None or isinstance(value, str):
        if value not in words:
            said = " or ".join(repr(word) for word in words if word is not None)
            raise ValueError(f"{name} must be {said} or a point in the model of X, but is {value!r}.")
        return origin(fitted_coordinates(estimator).dimension(estimator.n_features_in_)) if value == "origin" else None
    point = to_numpy(value)
    if point.shape != (estimator.n_features_in_,):
        raise ValueError(
            f"{name} must be one point in the model of X, of shape ({estimator.n_features_in_},), but has shape {point.shape}."
        )
    return to_numpy(check_rows(point[None], fitted_coordinates(estimator), name=name).all()[0])


def store_mean(estimator: Any, rows: Rows) -> Mean:
    """The Fréchet mean of the rows, kept as ``mean_`` in the user's model and as ``_mean`` on the hyperboloid."""
    mean = mean_of(rows)
    estimator._mean = to_numpy(mean.point)
    estimator.mean_ = in_model(estimator, estimator._mean)
    return mean


def in_model(estimator: Any, point: np.ndarray) -> np.ndarray:
    """A point (d+1,) of the hyperboloid in the estimator's model and curvature."""
    return np.asarray(fitted_coordinates(estimator).from_hyperboloid(point[None], point.dtype)[0])


# ---------------------------------------------------------------- variances


def measured_rows(n: int) -> np.ndarray:
    """The rows of n that variances are measured on: all, or a fixed random choice."""
    return np.random.default_rng(0).permutation(n)[:MEASURED_ROWS]


def nested_variances(clouds: Sequence[np.ndarray]) -> np.ndarray:
    """Pair variances of clouds of measured rows: images on more and more components."""
    n = len(clouds[0])
    pairs = REPORTED_PAIRS // max(1, len(clouds) // 4)  # many clouds take as long as a few
    return pair_variances(clouds, np.random.default_rng(0), pairs)[0] * (n - 1) / n


def store_variances(estimator: Any, cumulative: Any, total: float) -> None:
    """Keep what each component adds to the pair variance, from what the first k keep together, k = 1 .. K.

    Pair variance is the mean squared distance over ordered pairs: of the points (`total`) and of their images on the first
    k components (`cumulative`), at curvature -1. It is the one variance that all reductions report; the sum of
    ``explained_variance_`` is that of the images, and the sum of ``explained_variance_ratio_`` the share that is kept.
    """
    unit = fitted_coordinates(estimator).scale ** 2
    added = np.diff(np.asarray(cumulative, dtype=float), prepend=0.0)
    nothing = total <= ONE_POINT  # points that are one have nothing to lose
    estimator.explained_variance_ = added / unit
    estimator.explained_variance_ratio_ = np.eye(1, len(added))[0] if nothing else added / total
    estimator.total_variance_ = float(total) / unit


# ---------------------------------------------------------------- how it ended


def report_end(estimator: Any, ending: Ending) -> None:
    """Keep how a fit ended; if it did not converge, warn with a remedy. To be called by `fit` itself.

    A search that has no step to make has still looked: its look at the start is an iteration.
    """
    n_iter, estimator.converged_, estimator.status_, remedy = ending
    estimator.n_iter_ = np.maximum(n_iter, 1) if isinstance(n_iter, np.ndarray) else max(n_iter, 1)
    if not ending.converged:
        sentence = f"{type(estimator).__name__} {ending.status} without converging. {remedy}"
        warnings.warn(sentence.strip(), ConvergenceWarning, stacklevel=3)


def mean_ending(mean: Mean) -> Ending:
    """How the fit of a method ended that has a closed form but for the mean."""
    return Ending.of(mean, "The points may lie too far out for the Fréchet mean.")


def ending_after(mean: Mean, ending: Ending) -> Ending:
    """How a fit ended that found a mean first: if that was not found, what follows it is of no worth."""
    return ending if mean.converged else mean_ending(mean)


def tell(estimator: Any, text: str) -> None:
    """A line on stderr, if the estimator is verbose."""
    if estimator.verbose:
        print(f"{type(estimator).__name__}: {text}", file=sys.stderr)


def teller(estimator: Any) -> Progress:
    """The report of a search: a line for each round."""
    return lambda number, runners, value: tell(estimator, f"round {number}, {runners} starts, best {value:.6g}")
