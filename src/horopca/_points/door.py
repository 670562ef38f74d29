"""The door: user's arrays to points of the hyperboloid at curvature -1 in float64, and back.

The model, the curvature, the dtype, the array library and data frames exist here and nowhere behind.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj
from sklearn.utils.validation import assert_all_finite, check_array, validate_data

from ..geometry import MODELS
from ..geometry._arrays import Array, has_kernels, norm, to_numpy
from .memory import Door, Rows, squared_norm

HYPERBOLOID_SLACK = 1e-4  # of t^2: six digits are enough, since only the space part is used
LARGEST_RADIUS = 350.0  # beyond it the product of two times, e^{2 radius} / 4, leaves float64


def check_door(model: str, curvature: float) -> Door:
    """The door of a model and a curvature, or a sentence."""
    check_choice("model", model, MODELS)
    if not isinstance(curvature, numbers.Real) or not 1e-100 <= -float(curvature) <= 1e100:
        raise ValueError(
            f"curvature must be a negative number (of size 1e-100 to 1e100), but is {curvature!r}. A ball of radius R has "
            "curvature -1/R**2; hyperbolic space of the textbooks has -1."
        )
    return Door(model, float(curvature))


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse a value that is not among the choices of the argument `name`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, but is {value!r}.")


def check_count(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """A whole number of at least `low` (and at most `high`), or a sentence."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < low or (high and int(value) > high):
        bounds = f"from {low} to {high}" if high else f"of at least {low}"
        raise ValueError(f"{name} must be a whole number {bounds}{why}, but is {value!r}.")
    return int(value)


def check_rows(
    X: Any, door: Door, *, estimator: Any = None, reset: bool = False, min_rows: int = 1, name: str = "X", points: bool = True
) -> Rows:
    """X as points, or a sentence that says what is wrong with it; with points=False, `check_points` is left to the caller."""
    options = {"dtype": [np.float64, np.float32], "ensure_min_samples": min_rows, "ensure_all_finite": False}
    chunked = type(X).__module__.split(".")[0] in ("dask", "dask_expr")
    if chunked:
        X = _check_dask(X, estimator, reset, min_rows, name)
    elif is_array_api_obj(X) and not isinstance(X, np.ndarray):
        X = _check_foreign(X, estimator, reset, min_rows, name)
    elif estimator is not None:
        X = validate_data(estimator, X, reset=reset, **options)
    else:
        X = check_array(X, input_name=name, **options)
    if door.dimension(X.shape[1]) < 1:
        raise ValueError(
            f"{name} must have at least 2 columns for model='lorentz' (time, then space), but has {X.shape[1]} feature(s)."
        )
    n_jobs = getattr(estimator, "n_jobs", None)
    if chunked:
        from .dask import DaskRows

        check = lambda block, start: _check_block(block, door, start, name)
        return DaskRows(X, door, n_jobs, check)  # which checks when it first reads
    rows = Rows(X, door, n_jobs)
    if points:
        check_points(rows, name)
    return rows


def check_points(rows: Rows, name: str = "X") -> None:
    """Refuse rows that are not finite or not points of the model."""
    if has_kernels(rows.X):
        from .cuda import rows_outside

        if rows_outside(rows.X, rows.door.model, rows.door.scale) == 0:
            return
    if not isinstance(rows.X, np.ndarray):
        _check_finite(rows.X, name)
    for _ in rows.each(lambda block, start: _check_block(block, rows.door, start, name), light=True):
        pass


def _check_block(X: Array, door: Door, start: int, name: str) -> None:
    """Refuse rows that are not finite or not points of the model. Where all are well inside the ball, one pass says so."""
    if door.model in ("poincare", "klein"):
        xp = array_namespace(X)
        if bool(xp.all(squared_norm(xp.astype(X, xp.float64, copy=False)) * door.scale**2 < 1 - 1e-9)):
            return
    if isinstance(X, np.ndarray):
        assert_all_finite(X, input_name=name)
    CHECKS[door.model](X, door, start, name)


def _check_dask(X: Any, estimator: Any, reset: bool, min_rows: int, name: str) -> Any:
    """X as a Dask array of floats with chunks of whole rows. Nothing of it is read."""
    from .dask import as_dask_array

    names = getattr(X, "_meta", X) if hasattr(X, "columns") else None  # an empty data frame of the same columns
    X = as_dask_array(X, name)
    if X.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers, but has dtype {X.dtype}.")
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    _check_rows_enough(X, min_rows, name)
    if estimator is not None:
        validate_data(estimator, X if names is None else names, reset=reset, skip_check_array=True)
    return X


def _check_rows_enough(X: Array, min_rows: int, name: str) -> None:
    if X.shape[0] < min_rows:
        raise ValueError(f"{name} must have at least {min_rows} rows, but has {X.shape[0]}.")


def _check_foreign(X: Array, estimator: Any, reset: bool, min_rows: int, name: str) -> Array:
    xp = array_namespace(X)
    X = X.detach() if hasattr(X, "detach") else X
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has shape {tuple(X.shape)}.")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{name} must hold real numbers, but has dtype {X.dtype}.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    _check_rows_enough(X, min_rows, name)
    if estimator is not None:
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        elif X.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"{name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
    return X


def _check_finite(X: Array, name: str) -> None:
    xp = array_namespace(X)
    if not bool(xp.all(xp.isfinite(X))):
        row = int(xp.argmin(xp.astype(xp.all(xp.isfinite(X), axis=1), xp.int8)))
        raise ValueError(f"{name} must be finite, but row {row} holds NaN or infinity. Drop or repair such rows.")


def _refuse(bad: np.ndarray, start: int, sentence: str) -> None:
    """Raise the sentence if any row is bad, with {count}, {n} and {row} filled in."""
    if bad.any():
        first = int(bad.argmax())
        raise ValueError(sentence.format(count=int(bad.sum()), row=start + first, first=first, n=len(bad)))


def _check_ball(X: Array, door: Door, start: int, name: str) -> None:
    size = to_numpy(norm(array_namespace(X).astype(X, array_namespace(X).float64) * door.scale))  # as `enter` computes it
    bad = size >= 1
    if bad.any():
        ball = "the unit ball" if door.curvature == -1 else f"the ball of radius {1 / door.scale:.6g}"
        largest = size.max() / door.scale
        other = -1 / (1.01 * largest) ** 2
        _refuse(
            bad,
            start,
            f"{name} must lie inside {ball}, but {{count}} of rows {start} to {start + len(bad) - 1} have norm >= "
            f"{1 / door.scale:.6g} (row {{row}} has norm {size[bad.argmax()] / door.scale:.6g}). For Lorentz coordinates pass "
            f"model='lorentz'; for a larger ball pass its curvature, e.g. curvature={other:.3g} (radius {1.01 * largest:.3g}).",
        )


def _check_lorentz(X: Array, door: Door, start: int, name: str) -> None:
    x = to_numpy(X) * door.scale
    square = x[:, 0] ** 2 - np.sum(x[:, 1:] ** 2, axis=1)
    slack = HYPERBOLOID_SLACK * (1 + x[:, 0] ** 2)
    bad = (np.abs(square - 1) > slack) | (x[:, 0] <= 0)
    if bad.any():
        first = bad.argmax()
        found = (x[first, 0] ** 2 - np.sum(x[first, 1:] ** 2)) / door.scale**2
        hint = f" Its curvature would be {-1 / found:.6g}." if found > 0 and x[first, 0] > 0 else ""
        _refuse(
            bad,
            start,
            f"{name} must lie on the hyperboloid t^2 - |s|^2 = {1 / door.scale**2:.6g}, t > 0 (time first), but {{count}} of "
            f"rows {start} to {start + len(bad) - 1} do not (row {{row}} has t = {x[first, 0] / door.scale:.6g} and "
            f"t^2 - |s|^2 = {found:.6g}).{hint} For ball coordinates pass model='poincare'.",
        )
    _check_radius(np.arccosh(np.maximum(x[:, 0], 1)), start, name)


def _check_halfspace(X: Array, door: Door, start: int, name: str) -> None:
    height = to_numpy(X[:, -1])
    bad = height <= 0
    if bad.any():
        _refuse(
            bad,
            start,
            f"{name} must have heights > 0 in its last column (model='halfspace'), but {{count}} of rows {start} to "
            f"{start + len(bad) - 1} do not (row {{row}} has height {height[bad.argmax()]:.6g}).",
        )
    # the distance from (0, 1), to within a few units, from logarithms alone
    aside = np.log(np.maximum(np.abs(to_numpy(X[:, :-1])).max(axis=1, initial=0.0), 1.0))
    _check_radius(np.maximum(np.abs(np.log(height)), 2 * aside - np.log(height)), start, name)


def _check_tangent(X: Array, door: Door, start: int, name: str) -> None:
    _check_radius(to_numpy(norm(array_namespace(X).astype(X, array_namespace(X).float64))) * door.scale, start, name)


def _check_radius(radius: np.ndarray, start: int, name: str) -> None:
    bad = radius > LARGEST_RADIUS
    if bad.any():
        _refuse(
            bad,
            start,
            f"{name} must lie within hyperbolic distance {LARGEST_RADIUS:g} of the origin (float64 holds no more), but "
            f"{{count}} rows do not (row {{row}} is at {radius[bad.argmax()]:.6g}). Divide the data by a scale, or pass a "
            "curvature nearer to 0.",
        )


CHECKS = {
    "poincare": _check_ball,
    "klein": _check_ball,
    "lorentz": _check_lorentz,
    "halfspace": _check_halfspace,
    "tangent": _check_tangent,
}
