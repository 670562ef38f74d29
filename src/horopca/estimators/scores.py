"""The score of a reduction: one measure for each objective, the same for all reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._input.rows import Rows
from ..geometry import distance
from ..geometry._arrays import Array, array_namespace
from ..statistics import frechet_mean, mean_square_distance
from ..statistics.pairs import (
    lower_quartile_distance,
    mean_of_blocks,
    mean_relative_change,
    pair_distances,
    random_offsets,
    sampled_mean_square_distance,
)
from .fitting import EXACT_ROWS, MEASURED_ROWS, REPORTED_PAIRS


def _pair_variance(x: Array, y: Array, offsets: Sequence[int] | None) -> float:
    return mean_square_distance(y) if offsets is None else sampled_mean_square_distance(y, offsets)[0]


def _bounded_variance(x: Array, y: Array, offsets: Sequence[int] | None) -> float:
    reach = lower_quartile_distance(x)
    blocks = (d * d / (d * d + reach * reach) for (d,) in pair_distances(y, offsets=offsets))
    return mean_of_blocks(blocks, sampled=False)[0]


MEASURES: dict[str, tuple[Callable[[Any, Any, Sequence[int] | None], float], int]] = {
    "variance": (_pair_variance, 2),
    "frechet": (lambda x, y, offsets: frechet_mean(y).variance, 2),
    "distortion": (lambda x, y, offsets: -mean_relative_change(x, y, offsets)[0], 0),
    "robust": (_bounded_variance, 0),
}
"""For each objective: a function of points x (n, d+1), their images y (n, K+1) and the offsets of the pairs (None: all pairs)
that returns the score, and the exponent of the unit of length in the score."""


def score_of(rows: Rows, objective: str, project: Callable[[Any], Any], back: Callable[[Any], Any]) -> float:
    """The value of the objective of a map on rows, in their unit of length; for many rows, on a fixed sample."""
    n, rng = rows.shape[0], np.random.default_rng(0)
    x = rows.all() if n <= EXACT_ROWS else rows.take(rng.choice(n, size=min(n, MEASURED_ROWS), replace=False))
    offsets = None if n <= EXACT_ROWS else random_offsets(len(x), max(8, REPORTED_PAIRS // len(x)), rng)
    if objective == "residual":
        far = distance(x, back(project(x)))
        return -float(array_namespace(far).mean(far * far)) / rows.coordinates.scale**2
    measure, power = MEASURES[objective]
    return measure(x, project(x), offsets) / rows.coordinates.scale**power
