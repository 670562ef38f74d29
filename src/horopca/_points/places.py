"""The places where a user's rows may live: one file and one row in the table for each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from .door import LARGEST_RADIUS, Door
from .memory import Asked, Rows


class Place(NamedTuple):
    """Whether an array lives there, and the file of this room whose ``enter(X, asked)`` takes it from there."""

    holds: Callable[[Any], bool]
    file: str


PLACES = (
    Place(lambda X: type(X).__module__.split(".")[0] in ("dask", "dask_expr"), "dask"),
    Place(lambda X: is_array_api_obj(X) and not isinstance(X, np.ndarray), "foreign"),
    Place(lambda X: isinstance(X, np.memmap), "mapped"),
    Place(lambda X: True, "memory"),
)


def check_rows(
    X: Any,
    door: Door,
    *,
    estimator: Any = None,
    reset: bool = False,
    min_rows: int = 1,
    name: str = "X",
    reach: float = LARGEST_RADIUS,
    points: bool = True,
) -> Rows:
    """X as points within `reach` of the origin, or a sentence that says what is wrong with it.

    With points=False, ``check()`` of the rows is left to the caller.
    """
    place = next(place for place in PLACES if place.holds(X))
    rows: Rows = import_module(f".{place.file}", __package__).enter(X, Asked(door, estimator, reset, min_rows, name))
    if points:
        rows.check(name, reach)
    return rows
