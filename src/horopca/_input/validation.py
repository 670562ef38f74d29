"""The places where a user's rows may live: one file and one row in the table for each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from ..geometry import MODELS, ModelName
from ..geometry._arrays import array_namespace, to_numpy
from .arguments import check_choice
from .coordinates import LARGEST_RADIUS, Coordinates, check_coordinates
from .recognition import recognise
from .rows import Asked, Rows

ModelChoice = ModelName | Literal["auto"]  # "auto": the only model that rows can be, by evidence


class Place(NamedTuple):
    """Whether an array lives there, and the file of this room whose ``enter(X, asked)`` takes it from there."""

    holds: Callable[[Any], bool]
    file: str
    remote: bool = False  # whether to look at all rows takes a pass over another machine's


PLACES = (
    Place(lambda X: type(X).__module__.split(".")[0] in ("dask", "dask_expr"), "dask", True),
    Place(lambda X: is_array_api_obj(X) and not isinstance(X, np.ndarray), "foreign"),
    Place(lambda X: isinstance(X, np.memmap), "mapped"),
    Place(lambda X: True, "rows"),
)


def _place_of(X: Any) -> Place:
    return next(place for place in PLACES if place.holds(X))


def choose_coordinates(X: Any, model: str, curvature: Any, name: str = "X") -> Coordinates:
    """Coordinates of a model and a curvature; for model="auto", of the only model that the rows of X fit."""
    check_choice("model", model, (*MODELS, "auto"))
    if model != "auto":
        return check_coordinates(model, curvature)
    scale = check_coordinates("tangent", curvature).scale
    if _place_of(X).remote or np.ndim(X) != 2 or 0 in np.shape(X):
        raise ValueError(f"model='auto' needs the rows of {name} in memory, as a matrix, to tell what they are. Pass a model.")
    x = to_numpy(X)
    found = recognise(lambda: iter([x[np.isfinite(x).all(axis=1)] * scale]), x.shape[1], rounding_of(X))
    if found.coordinates is None:
        could = " or ".join(map(repr, found.candidates)) or "of no model at this curvature"
        raise ValueError(
            f"model='auto' cannot tell what {name} is: its rows could be {could} ({found.evidence}). Pass a model."
        )
    return check_coordinates(found.coordinates.model, curvature)


def rounding_of(X: Any) -> float:
    """The relative spacing of the numbers of an array; 0 where they are whole, or no array's."""
    if not is_array_api_obj(X):
        return 0.0
    xp = array_namespace(X)
    return float(xp.finfo(X.dtype).eps) if xp.isdtype(X.dtype, "real floating") else 0.0


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
    graph: bool = False,
) -> Rows:
    """X as points within `reach` of the origin, or a sentence that says what is wrong with it.

    With points=False, ``check()`` of the rows is left to the caller. With graph=True a tensor that asks for gradients keeps
    them; else it is taken as the numbers that it holds.
    """
    if hasattr(type(X), "state_dict") and hasattr(type(X), "forward"):  # of what it is: a Dask task has every name
        raise ValueError(
            f"{name} must be an array of points, but is a module of a network ({type(X).__name__}). Pass what it returns, "
            "or its weight."
        )
    if type(X).__module__.split(".")[0] == "hypll":
        raise ValueError(f"{name} must be an array of points, but is of HypLL. horopca.from_hypll({name}) says what it holds.")
    if isinstance(X, list | tuple) and X and getattr(X[0], "requires_grad", False):
        raise ValueError(f"{name} must be an array of points, but is a list of tensors. Pass torch.stack({name}).")
    rows: Rows = import_module(f".{_place_of(X).file}", __package__).enter(
        X, Asked(coordinates, estimator, reset, min_rows, name, graph)
    )
    if points:
        rows.check(name, reach)
    return rows
