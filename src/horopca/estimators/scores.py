"""The score of a reduction: one measure for each objective, the same for all reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._input.rows import Rows
from .._optimize.measures import RESIDUAL, Images
from .._optimize.objectives import OBJECTIVES
from .._optimize.pairs import some_offsets
from .._optimize.variances import EXACT_ROWS, REPORTED_PAIRS
from .fitting import MEASURED_ROWS

MEASURES = {name: goal.measure for name, goal in OBJECTIVES.items()} | {"residual": RESIDUAL}


def score_of(rows: Rows, objective: str, project: Callable[[Any], Any], back: Callable[[Any], Any]) -> float:
    """The value of the objective of a map on rows, in their unit of length; for many rows, on a fixed sample."""
    n, rng = rows.shape[0], np.random.default_rng(0)
    x = rows.all() if n <= EXACT_ROWS else rows.take(rng.choice(n, size=min(n, MEASURED_ROWS), replace=False))
    offsets = None if n <= EXACT_ROWS else some_offsets(len(x), max(8, REPORTED_PAIRS // len(x)), rng)
    measure = MEASURES[objective]
    return measure.of(Images(x, project(x), back, offsets)) / rows.coordinates.scale**measure.power
