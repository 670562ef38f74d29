"""Which models an array of numbers fits, by evidence: its norms, t^2 - |s|^2, the signs of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..geometry import MODELS
from ..geometry.models import row_norms
from .coordinates import LARGEST_RADIUS, Coordinates, check_coordinates, check_points, off_hyperboloid, time_first

EXAMINED_ELEMENTS = 1 << 20  # The number of elements that are examined at a time.
# Rounding error of t^2 + |s|^2: Lorentz coordinates are often trained in float32.
FLOAT32_ROUNDING = 8 * float(np.finfo(np.float32).eps)
CROWD = (0.8, 0.9, 1.0)  # Norms crowd below 1 if at least as many are in the second of these intervals as in the first.
FEWEST_CROWDED = 3  # With fewer norms in the second interval they do not crowd.
ONE_SIGNED_ROWS = 20  # With this many rows, a column is not positive by chance if all others have both signs.
# The column of the time, for each model that has one.
TIME_COLUMNS = {name: model.time for name, model in MODELS.items() if model.time is not None}


class Recognised(NamedTuple):
    """The models that rows fit."""

    n: int  # rows
    largest_norm: float
    fitting: dict[str, Coordinates | None]  # for each model, the coordinates that all rows fit
    candidates: tuple[str, ...]  # the models compatible with the evidence, the most specific first
    evidence: str  # in words

    @property
    def coordinates(self) -> Coordinates | None:
        """The coordinates of the only candidate; None if there are several or none."""
        return self.fitting[self.candidates[0]] if len(self.candidates) == 1 else None


def recognise(blocks: Callable[[], Iterator[np.ndarray]], columns: int, eps: float = 0.0) -> Recognised:
    """The models that rows fit. `blocks()` yields them a few at a time, float64 and finite, with relative precision `eps`.

    >>> z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 3))
    >>> found = recognise(lambda: iter([z]), 3)
    >>> found.candidates, found.evidence
    (('poincare', 'lorentz-space', 'tangent'), 'norms from 0.173 to 0.639: all below 1, but not crowding there')
    """
    rounding = max(FLOAT32_ROUNDING, 4 * eps)  # of t^2 - |s|^2, as a fraction of t^2 + |s|^2
    parts = [_summary(x) for x in filter(len, blocks())]
    if not parts:
        return Recognised(0, 0.0, dict.fromkeys(MODELS), (), "no finite row")
    counts, norms, extremes, nearest = zip(*parts, strict=True)
    n, inner, outer = np.sum(counts, axis=0).tolist()
    least, largest = np.min(norms, axis=0)[0], np.max(norms, axis=0)[1]
    low, high = np.min(extremes, axis=0)[0], np.max(extremes, axis=0)[1]
    squares = {model: min(part[model] for part in nearest) for model in TIME_COLUMNS}

    fitting: dict[str, Coordinates | None] = {model: check_coordinates(model, -1.0) for model in MODELS}
    for model, time in TIME_COLUMNS.items():
        positive = columns > 1 and low[time] > 0
        fitting[model] = _timed_coordinates(model, squares[model], rounding) if positive else None
    # far out rounding hides the hyperboloid, and its rows lie on the cone t = |s|, the hyperboloid of infinite curvature
    differ = bool((low < high).any())
    cones = {model for model, time in TIME_COLUMNS.items() if differ and columns > 1 and low[time] > 0}
    for x in filter(len, blocks()):
        fitting = {model: found if found and _fits(x, found, rounding) else None for model, found in fitting.items()}
        cones = {model for model in cones if not _off(x, Coordinates(model, -np.inf), 2 * rounding)}

    for model, time in TIME_COLUMNS.items():
        if fitting[model] is not None and differ:  # a single row with t > |s| is on some hyperboloid
            words = f"t^2 - |s|^2 is {squares[model][1]:.6g} in every row, time {'first' if time == 0 else 'last'}"
            return Recognised(n, float(largest), fitting, (model,), words)
    others = [model for model, row in MODELS.items() if row.recognised and model not in TIME_COLUMNS]
    fits = tuple(model for model in (*TIME_COLUMNS, *others) if fitting[model] is not None or model in cones)
    domains = {MODELS[model].domain: model for model in reversed(fits)}
    both = (low[:-1] < 0) & (high[:-1] > 0)
    # one branch of a tree in a ball, and a time that is last, have one sign in the last column too
    alike = "ball" in domains or any(TIME_COLUMNS.get(model) == -1 for model in fits)
    words = f"norms from {least:.3g} to {largest:.3g}"
    if "halfspace" in domains and not alike and n >= ONE_SIGNED_ROWS and both.size and both.all():
        fits, words = (domains["halfspace"],), "the last column is positive in every row, all others have both signs"
    elif "ball" in domains and outer >= max(FEWEST_CROWDED, inner):
        fits = (domains["ball"],)
        words += f", {outer} between 0.9 and 1 and none beyond; a Klein ball would look the same"
    elif "ball" in domains:
        words += ": all below 1, but not crowding there"
    else:
        too_long = "" if "vectors" in domains else ", and too long for tangent vectors at this curvature"
        words += f": outside the unit ball{too_long}"
    return Recognised(n, float(largest), fitting, fits, words)


def _summary(x: np.ndarray) -> tuple[Any, ...]:
    """The evidence in some rows.

    The numbers of rows, and of norms in the intervals of CROWD; the range of norms; that of each column; and for each model
    with a time `_nearest_square`.
    """
    size = row_norms(x)
    below, near, rim = (int(np.count_nonzero(size < bound)) for bound in CROWD)
    nearest = {model: _nearest_square(x, time) for model, time in TIME_COLUMNS.items()}
    counts, norms = [len(x), near - below, rim - near], [float(size.min()), float(size.max())]
    return counts, norms, [x.min(axis=0), x.max(axis=0)], nearest


def _nearest_square(x: np.ndarray, time: int) -> tuple[float, float]:
    """t^2 and t^2 - |s|^2 of the row with the smallest t, which has lost the fewest digits."""
    row = x[np.argmin(np.abs(x[:, time]))]
    t, r = float(row[time]), float(row_norms(np.delete(row, time)[None])[0])
    return t * t, (t - r) * (t + r)


def _timed_coordinates(model: str, nearest: tuple[float, float], rounding: float) -> Coordinates | None:
    """The coordinates of the hyperboloid that rows could lie on, with curvature exactly -1 if it is so within rounding."""
    time, square = nearest
    rounding *= 2 * time - square  # t^2 + |s|^2
    if not square > rounding:
        return None
    try:
        return check_coordinates(model, -1.0 if abs(square - 1) < 1e-4 + rounding else -1 / square)
    except ValueError:
        return None


def _fits(x: np.ndarray, coordinates: Coordinates, rounding: float) -> bool:
    """Whether rows are points of a model."""
    time = coordinates.row.time
    if time is not None:  # in any precision
        return bool(x[:, time].max() <= np.cosh(LARGEST_RADIUS) / coordinates.scale) and not _off(x, coordinates, rounding)
    try:
        check_points(x, coordinates, 0, "X")
    except ValueError:
        return False
    return True


def _off(x: np.ndarray, coordinates: Coordinates, rounding: float) -> bool:
    """Whether any row is off the hyperboloid."""
    return bool(off_hyperboloid(time_first(x, coordinates.row.time), coordinates, rounding)[1].any())
