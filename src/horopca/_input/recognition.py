"""Which models an array of numbers could be points of, by evidence: its norms, t^2 - |s|^2, the signs of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..geometry import MODELS
from .coordinates import LARGEST_RADIUS, Coordinates, check_coordinates, check_points

BLOCK_ELEMENTS = 1 << 20  # numbers that are looked at in one step
SINGLE = 8 * float(np.finfo(np.float32).eps)  # Of t^2 + |s|^2: Lorentz coordinates are trained in float32, however stored.
CROWD = (0.8, 0.9, 1.0)  # Norms that crowd below 1: more in the second of these intervals than in the first,
FEWEST = 3  # and so many at least.
ONE_SIGNED_ROWS = 20  # One column of so many rows is not positive by chance where all others have both signs.
PARTICULAR = ("lorentz", "lorentz-time-last", "poincare", "halfspace", "lorentz-space", "tangent")
TIMED = {"lorentz": 0, "lorentz-time-last": -1}  # models with a time, and its column

Blocks = Callable[[], Iterator[np.ndarray]]


class Recognised(NamedTuple):
    """What the numbers say."""

    n: int  # rows
    largest_norm: float
    fitting: dict[str, Coordinates | None]  # for each model, the coordinates that all rows fit
    candidates: tuple[str, ...]  # the models that the evidence leaves, the most particular first
    evidence: str  # in words

    @property
    def coordinates(self) -> Coordinates | None:
        """That of the only candidate; None where there are several, or none."""
        return self.fitting[self.candidates[0]] if len(self.candidates) == 1 else None


class _Seen(NamedTuple):
    """What one look at all rows tells."""

    n: int
    norms: tuple[float, float]  # smallest and largest
    low: np.ndarray  # (m,), of each column
    high: np.ndarray
    crowd: tuple[int, int]  # rows with norms in the intervals of CROWD
    squares: dict[str, tuple[float, float]]  # by model: the smallest t^2 with its t^2 - |s|^2, which has lost fewest digits
    lean: dict[str, float]  # by model: the largest |t^2 - |s|^2| / (t^2 + |s|^2)
    rounding: float  # what t^2 - |s|^2 may have lost, of t^2 + |s|^2


def recognise(blocks: Blocks, columns: int, eps: float = 0.0) -> Recognised:
    """What rows could be that `blocks()` gives a few at a time, float64 and finite, of numbers that were rounded to `eps`.

    >>> z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 3))
    >>> found = recognise(lambda: iter([z]), 3)
    >>> found.candidates, found.evidence
    (('poincare', 'lorentz-space', 'tangent'), 'norms from 0.173 to 0.639: all below 1, but not crowding there')
    """
    seen = _look(blocks(), columns, max(SINGLE, 4 * eps))
    if not seen.n:
        return Recognised(0, 0.0, dict.fromkeys(MODELS), (), "no finite row")
    fitting = _fitting(seen, blocks(), columns)
    return Recognised(seen.n, seen.norms[1], fitting, *_weighed(seen, fitting))


def norms(x: np.ndarray) -> np.ndarray:
    """|x|, without squares that might overflow on the way."""
    with np.errstate(over="ignore"):  # a norm itself may
        return np.asarray(np.hypot.reduce(x, axis=1, initial=0.0))


def _look(blocks: Iterator[np.ndarray], columns: int, rounding: float) -> _Seen:
    nothing, squares = np.full(columns, np.inf), dict.fromkeys(TIMED, (np.inf, np.nan))
    seen = _Seen(0, (np.inf, 0.0), nothing, -nothing, (0, 0), squares, dict.fromkeys(TIMED, 0.0), rounding)
    for x in filter(len, blocks):
        size = norms(x)
        below, near, rim = (int(np.count_nonzero(size < bound)) for bound in CROWD)
        seen = _Seen(
            seen.n + len(x),
            (min(seen.norms[0], float(size.min())), max(seen.norms[1], float(size.max()))),
            np.minimum(seen.low, x.min(axis=0)),
            np.maximum(seen.high, x.max(axis=0)),
            (seen.crowd[0] + near - below, seen.crowd[1] + rim - near),
            {model: min(square, _square(x, TIMED[model])) for model, square in seen.squares.items()},
            {model: max(lean, _lean(x, TIMED[model])) for model, lean in seen.lean.items()},
            rounding,
        )
    return seen


def _square(x: np.ndarray, time: int) -> tuple[float, float]:
    """t^2 and t^2 - |s|^2 of the row with the smallest t."""
    row = x[np.argmin(np.abs(x[:, time]))]
    t, r = float(row[time]), float(norms(np.delete(row, time)[None])[0])
    return t * t, (t - r) * (t + r)


def _lean(x: np.ndarray, time: int) -> float:
    y = x / np.maximum(np.abs(x).max(axis=1, keepdims=True), np.finfo(float).tiny)  # whose squares are numbers
    t = y[:, time] ** 2
    both = (y**2).sum(axis=1)
    return float((np.abs(2 * t - both) / np.maximum(both, 1e-300)).max())


def _fitting(seen: _Seen, blocks: Iterator[np.ndarray], columns: int) -> dict[str, Coordinates | None]:
    """For each model, the coordinates that all rows fit, or None."""
    fitting = {
        model: _timed_coordinates(model, seen, columns) if model in TIMED else check_coordinates(model, -1.0)
        for model in MODELS
    }
    for x in filter(len, blocks):
        fitting = {
            model: coordinates if coordinates is not None and _goes(x, coordinates, seen) else None
            for model, coordinates in fitting.items()
        }
    return fitting


def _timed_coordinates(model: str, seen: _Seen, columns: int) -> Coordinates | None:
    """That of the hyperboloid on which the rows could be, whose t^2 - |s|^2 is 1 where it rounds to 1."""
    time, square = seen.squares[model]
    rounding = seen.rounding * (2 * time - square)  # of t^2 + |s|^2
    if columns < 2 or not seen.low[TIMED[model]] > 0 or not square > rounding:
        return None
    try:
        return check_coordinates(model, -1.0 if abs(square - 1) < 1e-4 + rounding else -1 / square)
    except ValueError:
        return None


def _goes(x: np.ndarray, coordinates: Coordinates, seen: _Seen) -> bool:
    """Whether rows are points of a model, and on the hyperboloid of all others."""
    if coordinates.model in TIMED:
        near = x[:, TIMED[coordinates.model]].max() <= np.cosh(LARGEST_RADIUS) / coordinates.scale
        return bool(near) and _share(
            np.roll(x, -TIMED[coordinates.model], axis=1), seen.squares[coordinates.model][1], seen.rounding
        )
    try:
        check_points(x, coordinates, 0, "X")
    except ValueError:
        return False
    return True


def _share(x: np.ndarray, square: float, rounding: float) -> bool:
    time, space = x[:, 0] ** 2, (x[:, 1:] ** 2).sum(axis=1)
    return not (np.abs(time - space - square) > 1e-4 * square + rounding * (time + space)).any()


def _weighed(seen: _Seen, fitting: dict[str, Coordinates | None]) -> tuple[tuple[str, ...], str]:
    """The models that the evidence leaves, and the evidence."""
    differ = bool((seen.low < seen.high).any())
    for model in TIMED:
        if fitting[model] is not None and differ:  # a single row with t > |s| is on one hyperboloid or another
            where = "first" if TIMED[model] == 0 else "last"
            return (model,), f"t^2 - |s|^2 is {seen.squares[model][1]:.6g} in every row, time {where}"
    # far out the hyperboloid is lost to rounding, and rows of it lie on the cone t = |s|
    lost = [model for model in TIMED if differ and seen.low[TIMED[model]] > 0 and seen.lean[model] <= seen.rounding]
    fits = [model for model in PARTICULAR if fitting[model] is not None or model in lost]
    both = (seen.low[:-1] < 0) & (seen.high[:-1] > 0)
    # one branch of a ball has one sign in its last column too
    alike = {"poincare", "lorentz-time-last"} & set(fits)
    if "halfspace" in fits and not alike and seen.n >= ONE_SIGNED_ROWS and both.size and both.all():
        return ("halfspace",), "the last column is positive in every row, all others have both signs"
    spread = f"norms from {seen.norms[0]:.3g} to {seen.norms[1]:.3g}"
    before, behind = seen.crowd
    if "poincare" in fits and behind >= max(FEWEST, before):
        return ("poincare",), f"{spread}, of which {behind} between 0.9 and 1 and none beyond; Klein's ball would look the same"
    if "poincare" in fits:
        return tuple(fits), f"{spread}: all below 1, but not crowding there"
    far = "" if "tangent" in fits else ", and too long for tangent vectors at this curvature"
    return tuple(fits), f"{spread}: beyond the unit ball{far}"
