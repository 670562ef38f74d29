"""Validation of arguments other than points: numbers, choices, seeds, matrices of distances."""

from __future__ import annotations

import numbers
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils import check_random_state

MetricName = Literal["hyperbolic", "precomputed"]
METRICS = get_args(MetricName)

SYMMETRY_TOLERANCE = 1e-6  # Of asymmetry and of the diagonal, relative to the largest distance: float32 has seven digits.


def as_number(value: Any) -> Any:
    """The number in an array or tensor with one element, such as a learnt parameter; anything else unchanged."""
    return value.item() if hasattr(value, "item") and tuple(getattr(value, "shape", (0,))) in ((), (1,)) else value


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise ValueError if the value of the argument `name` is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, but is {value!r}.")


def check_count(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """Validate a whole number from `low` to `high`. Raises ValueError otherwise."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or int(value) < low or (high is not None and int(value) > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {bounds}{why}, but is {value!r}.")
    return int(value)


def check_verbose(value: Any) -> None:
    """Validate verbose as scikit-learn does: a bool or a whole number of at least 0."""
    if not isinstance(value, bool | np.bool_):
        check_count("verbose", value, 0, why=", or True or False")


def check_number(name: str, value: Any, what: str, *, above: float | None = None, least: float | None = None) -> float:
    """Validate a finite number with a lower bound. Raises ValueError otherwise, which says `what` was expected."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not real or (above is not None and not value > above) or (least is not None and not value >= least):
        raise ValueError(f"{name} must be {what}, but is {value!r}.")
    return float(value)


def check_generator(random_state: Any) -> np.random.Generator:
    """The generator of a `random_state`: an int, a RandomState, a Generator (used itself) or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def seeded_generator(random_state: Any) -> np.random.Generator:
    """The generator of a `random_state` for synthetic data: an int seeds NumPy's directly, so that data sets never change."""
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    return np.random.default_rng(int(random_state)) if whole else check_generator(random_state)


def check_distances(D: np.ndarray, name: str = "X", *, symmetric: bool = True) -> np.ndarray:
    """Validate a matrix of distances, which must be square if `symmetric`. Raises ValueError otherwise."""
    if (D < 0).any():
        raise ValueError(f"Negative values in data: {name} must contain distances >= 0, but its smallest is {D.min():.6g}.")
    if not symmetric:
        return D
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of distances for metric='precomputed', but has shape {D.shape}. For points pass "
            "metric='hyperbolic'."
        )
    largest = float(D.max(initial=0))
    skew, own = float(np.abs(D - D.T).max(initial=0)), float(np.abs(np.diag(D)).max(initial=0))
    if skew > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"{name} must be symmetric, but differs from its transpose by up to {skew:.6g}. Pass ({name} + {name}.T) / 2."
        )
    if own > SYMMETRY_TOLERANCE * largest:
        raise ValueError(f"{name} must be 0 on its diagonal, but has {own:.6g} there. Pass distances, not similarities.")
    return D
