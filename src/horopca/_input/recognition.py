"""Which models an array of numbers fits, by evidence: its norms, t^2 - |s|^2, the signs of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..geometry import MODELS
from ..geometry.models import row_norms
from .coordinates import FLATTEST, LARGEST_RADIUS, TIMED, Coordinates, check_coordinates, check_points, off_hyperboloid

EXAMINED_ELEMENTS = 1 << 20  # The number of elements that are examined at a time.
# Rounding error of t^2 + |s|^2: Lorentz coordinates are often trained in float32.
FLOAT32_ROUNDING = 8 * float(np.finfo(np.float32).eps)
CROWD = (0.8, 0.9, 1.0)  # Norms crowd below 1 if at least as many are in the second of these intervals as in the first.
FEWEST_CROWDED = 3  # With fewer norms in the second interval they do not crowd.
ONE_SIGNED_ROWS = 20  # With this many rows, a column is not positive by chance if all others have both signs.


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
    sizes: list[np.ndarray] = []
    extremes: list[np.ndarray] = []  # of the columns
    for x in filter(len, blocks()):
        sizes.append(row_norms(x))
        # of each column the least and the largest entry; for each time, the row where it has lost the fewest digits
        nearest = [x[np.abs(x[:, row.time]).argmin()] for row in TIMED.values()]
        extremes.append(np.array([x.min(axis=0), x.max(axis=0), *nearest]))
    if not sizes:
        return Recognised(0, 0.0, dict.fromkeys(MODELS), (), "no finite row")
    size, ends = np.concatenate(sizes), np.array(extremes)
    n, least, largest = len(size), float(size.min()), float(size.max())
    low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    differ = bool((low < high).any())

    fitting: dict[str, Coordinates | None] = {model: check_coordinates(model, -1.0) for model in MODELS}
    cones = []  # far out rounding hides the hyperboloid, and its rows lie on the cone t = |s|
    for k, (model, row) in enumerate(TIMED.items()):
        fitting[model] = None
        if columns > 1 and low[row.time] > 0:
            x = ends[np.abs(ends[:, 2 + k, row.time]).argmin(), 2 + k]
            t, r = float(x[row.time]), float(row_norms(x[None, row.space])[0])
            square, error = (t - r) * (t + r), rounding * (t * t + r * r)
            if square > error and FLATTEST <= 1 / square <= 1 / FLATTEST:
                # exactly -1 if it is so within rounding
                fitting[model] = check_coordinates(model, -1.0 if abs(square - 1) < 1e-4 + error else -1 / square)
            elif differ and abs(square) <= error:
                cones.append(model)
    for x in filter(len, blocks()):
        fitting = {model: found if found and _fits(x, found, rounding) else None for model, found in fitting.items()}

    for model, row in TIMED.items():
        found = fitting[model]
        if found is not None and differ:  # a single row with t > |s| is on some hyperboloid
            words = f"t^2 - |s|^2 is {-1 / found.curvature:.6g} in every row, time {'first' if row.time == 0 else 'last'}"
            return Recognised(n, largest, fitting, (model,), words)
    models = (*TIMED, *(model for model, row in MODELS.items() if row.recognised and model not in TIMED))
    fits = tuple(model for model in models if fitting[model] is not None or model in cones)
    domains = {MODELS[model].domain: model for model in reversed(fits)}
    both = (low[:-1] < 0) & (high[:-1] > 0)
    # one branch of a tree in a ball, and a time that is last, have one sign in the last column too
    alike = "ball" in domains or any(model in TIMED and TIMED[model].time == -1 for model in fits)
    inner, outer = (int(np.count_nonzero((size >= a) & (size < b))) for a, b in pairwise(CROWD))
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
    return Recognised(n, largest, fitting, fits, words)


def _fits(x: np.ndarray, coordinates: Coordinates, rounding: float) -> bool:
    """Whether rows are points of a model."""
    row = coordinates.row
    if row.time is not None:  # in any precision
        near = x[:, row.time].max() <= np.cosh(LARGEST_RADIUS) / coordinates.scale
        return bool(near) and not off_hyperboloid(x, row, coordinates.scale, rounding)[1].any()
    try:
        check_points(x, coordinates, 0, "X")
    except ValueError:
        return False
    return True
