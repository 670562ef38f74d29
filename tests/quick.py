"""Estimators with options that make their fits quick."""

import inspect
from typing import Any

from horopca import estimators

QUICK = {"n_init": 1, "random_state": 0, "max_components": 1, "cv": 2, "rule": "one_se", "copies": 0}
REDUCTIONS = [name for name in estimators.__all__ if name not in ("HoroPCACV", "HyperbolicSVC")]  # and whitenings


def quick(name: str, **options: Any) -> Any:
    """An estimator by its name."""
    kind = getattr(estimators, name)
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in QUICK.items() if key in known} | options)
