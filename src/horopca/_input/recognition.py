"""Which models an array of numbers fits, by evidence: its norms, t^2 - |s|^2, the signs of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from ..geometry import MODELS
from ..geometry._arrays import array_namespace
from ..geometry.models import row_norms
from .coordinates import LARGEST_RADIUS, Coordinates, check_coordinates, check_points

BLOCK_ELEMENTS = 1 << 20  # The number of elements that are examined at a time.
# Rounding error of t^2 + |s|^2: Lorentz coordinates are often trained in float32.
FLOAT32_ROUNDING = 8 * float(np.finfo(np.float32).eps)
CROWD = (0.8, 0.9, 1.0)  # Norms crowd below 1 if at least as many are in the second of these intervals as in the first,
FEWEST_CROWDED = 3  # and at least this many.
ONE_SIGNED_ROWS = 20  # With this many rows, a column is not positive by chance if all others have both signs.
# The column of the time, for each model that has one.
TIME_COLUMNS = {name: model.time for name, model in MODELS.items() if model.time is not None}

Blocks = Callable[[], Iterator[np.ndarray]]


class Recognised(NamedTuple):
    """The models that rows fit."""

    n: int  # rows
    largest_norm: float
    fitting: dict[str, Coordinates | None]  # for each model, the coordinates that all rows fit
    candidates: tuple[str, ...]  # the models compatible with the evidence, the most specific first
    evidence: str  # in words

    @property
    def coordinates(self) -> Coordinates | None:
        """Those of the only candidate; None if there are several or none."""
        return self.fitting[self.candidates[0]] if len(self.candidates) == 1 else None


def rounding_of(X: Any) -> float:
    """The relative precision of the dtype of X; 0 if it is not a floating-point array."""
    if not is_array_api_obj(X):
        return 0.0
    xp = array_namespace(X)
    return float(xp.finfo(X.dtype).eps) if xp.isdtype(X.dtype, "real floating") else 0.0


class _Evidence(NamedTuple):
    """The result of one pass over all rows."""

    n: int
    norms: tuple[float, float]  # smallest and largest
    low: np.ndarray  # (m,), of each column
    high: np.ndarray
    crowd: tuple[int, int]  # rows with norms in the intervals of CROWD
    squares: dict[str, tuple[float, float]]  # by model: the smallest t^2 with its t^2 - |s|^2, which has lost fewest digits
    lean: dict[str, float]  # by model: the largest |t^2 - |s|^2| / (t^2 + |s|^2)
    rounding: float  # the rounding error of t^2 - |s|^2, as a fraction of t^2 + |s|^2


def recognise(blocks: Blocks, columns: int, eps: float = 0.0) -> Recognised:
    """The models that rows fit. `blocks()` yields them a few at a time, float64 and finite, with relative precision `eps`.

    >>> z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 3))
    >>> found = recognise(lambda: iter([z]), 3)
    >>> found.candidates, found.evidence
    (('poincare', 'lorentz-space', 'tangent'), 'norms from 0.173 to 0.639: all below 1, but not crowding there')
    """
    evidence = _collect(blocks(), columns, max(FLOAT32_ROUNDING, 4 * eps))
    if not evidence.n:
        return Recognised(0, 0.0, dict.fromkeys(MODELS), (), "no finite row")
    fitting = _fitting_coordinates(evidence, blocks(), columns)
    return Recognised(evidence.n, evidence.norms[1], fitting, *_candidates(evidence, fitting))


def _collect(blocks: Iterator[np.ndarray], columns: int, rounding: float) -> _Evidence:
    nothing, squares = np.full(columns, np.inf), dict.fromkeys(TIME_COLUMNS, (np.inf, np.nan))
    evidence = _Evidence(0, (np.inf, 0.0), nothing, -nothing, (0, 0), squares, dict.fromkeys(TIME_COLUMNS, 0.0), rounding)
    for x in filter(len, blocks):
        size = row_norms(x)
        below, near, rim = (int(np.count_nonzero(size < bound)) for bound in CROWD)
        evidence = _Evidence(
            evidence.n + len(x),
            (min(evidence.norms[0], float(size.min())), max(evidence.norms[1], float(size.max()))),
            np.minimum(evidence.low, x.min(axis=0)),
            np.maximum(evidence.high, x.max(axis=0)),
            (evidence.crowd[0] + near - below, evidence.crowd[1] + rim - near),
            {model: min(square, _square(x, TIME_COLUMNS[model])) for model, square in evidence.squares.items()},
            {model: max(lean, _cone_distance(x, TIME_COLUMNS[model])) for model, lean in evidence.lean.items()},
            rounding,
        )
    return evidence


def _square(x: np.ndarray, time: int) -> tuple[float, float]:
    """t^2 and t^2 - |s|^2 of the row with the smallest t."""
    row = x[np.argmin(np.abs(x[:, time]))]
    t, r = float(row[time]), float(row_norms(np.delete(row, time)[None])[0])
    return t * t, (t - r) * (t + r)


def _cone_distance(x: np.ndarray, time: int) -> float:
    """The largest |t^2 - |s|^2| / (t^2 + |s|^2): 0 on the light cone."""
    y = x / np.maximum(np.abs(x).max(axis=1, keepdims=True), np.finfo(float).tiny)  # no overflow of squares
    t = y[:, time] ** 2
    both = (y**2).sum(axis=1)
    return float((np.abs(2 * t - both) / np.maximum(both, 1e-300)).max())


def _fitting_coordinates(evidence: _Evidence, blocks: Iterator[np.ndarray], columns: int) -> dict[str, Coordinates | None]:
    """For each model, the coordinates that all rows fit, or None."""
    fitting: dict[str, Coordinates | None] = {model: check_coordinates(model, -1.0) for model in MODELS}
    fitting |= {model: _timed_coordinates(model, evidence, columns) for model in TIME_COLUMNS}
    for x in filter(len, blocks):
        for model, coordinates in fitting.items():
            if coordinates is not None and not _fits(x, coordinates, evidence):
                fitting[model] = None
    return fitting


def _timed_coordinates(model: str, evidence: _Evidence, columns: int) -> Coordinates | None:
    """Those of the hyperboloid that the rows could lie on; its curvature is -1 if that is so within rounding."""
    time, square = evidence.squares[model]
    rounding = evidence.rounding * (2 * time - square)  # of t^2 + |s|^2
    if columns < 2 or not evidence.low[TIME_COLUMNS[model]] > 0 or not square > rounding:
        return None
    try:
        return check_coordinates(model, -1.0 if abs(square - 1) < 1e-4 + rounding else -1 / square)
    except ValueError:
        return None


def _fits(x: np.ndarray, coordinates: Coordinates, evidence: _Evidence) -> bool:
    """Whether rows are points of a model, on one hyperboloid with all others."""
    time = TIME_COLUMNS.get(coordinates.model)
    if time is not None:
        near = x[:, time].max() <= np.cosh(LARGEST_RADIUS) / coordinates.scale
        return bool(near) and _share(np.roll(x, -time, axis=1), evidence.squares[coordinates.model][1], evidence.rounding)
    try:
        check_points(x, coordinates, 0, "X")
    except ValueError:
        return False
    return True


def _share(x: np.ndarray, square: float, rounding: float) -> bool:
    """Whether t^2 - |s|^2 equals `square` in all rows (t, s)."""
    size = np.maximum(np.abs(x).max(axis=1), 1.0)  # by which rows are divided: squares would overflow
    time, space = (x[:, 0] / size) ** 2, ((x[:, 1:] / size[:, None]) ** 2).sum(axis=1)
    share = square / size / size
    return not (np.abs(time - space - share) > 1e-4 * share + rounding * (time + space)).any()


def _candidates(evidence: _Evidence, fitting: dict[str, Coordinates | None]) -> tuple[tuple[str, ...], str]:
    """The models compatible with the evidence, the most specific first, and the evidence in words."""
    differ = bool((evidence.low < evidence.high).any())
    for model, time in TIME_COLUMNS.items():
        if fitting[model] is not None and differ:  # a single row with t > |s| is on some hyperboloid
            where = "first" if time == 0 else "last"
            return (model,), f"t^2 - |s|^2 is {evidence.squares[model][1]:.6g} in every row, time {where}"
    # far out rounding hides the hyperboloid, and its rows lie on the cone t = |s|
    far = {
        model
        for model, time in TIME_COLUMNS.items()
        if differ and evidence.low[time] > 0 and evidence.lean[model] <= evidence.rounding
    }
    others = [model for model, row in MODELS.items() if row.recognised and model not in TIME_COLUMNS]
    fits = tuple(model for model in (*TIME_COLUMNS, *others) if fitting[model] is not None or model in far)
    domains = {MODELS[model].domain: model for model in reversed(fits)}
    both = (evidence.low[:-1] < 0) & (evidence.high[:-1] > 0)
    # one branch of a tree in a ball, and a time that is last, have one sign in the last column too
    alike = "ball" in domains or any(TIME_COLUMNS.get(model) == -1 for model in fits)
    if "halfspace" in domains and not alike and evidence.n >= ONE_SIGNED_ROWS and both.size and both.all():
        return (domains["halfspace"],), "the last column is positive in every row, all others have both signs"
    spread = f"norms from {evidence.norms[0]:.3g} to {evidence.norms[1]:.3g}"
    inner, outer = evidence.crowd
    if "ball" in domains and outer >= max(FEWEST_CROWDED, inner):
        return (domains["ball"],), f"{spread}, {outer} between 0.9 and 1 and none beyond; a Klein ball would look the same"
    if "ball" in domains:
        return fits, f"{spread}: all below 1, but not crowding there"
    too_long = "" if "vectors" in domains else ", and too long for tangent vectors at this curvature"
    return fits, f"{spread}: outside the unit ball{too_long}"
