"""How well images stand for points, by what a fit was for: one table for all reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._objectives.pairs import some_offsets
from .._objectives.variances import EXACT_ROWS, REPORTED_PAIRS
from .._points.memory import Rows
from ..geometry import distance
from ..geometry._arrays import array_namespace
from ..statistics import average_distortion, frechet_variance, pair_variance, sampled_pair_variance
from .fitting import MEASURED_ROWS


class Images(NamedTuple):
    """Points x (n, d+1), their images y (n, K+1), where these lead back to, and the pairs to count: all, or some offsets."""

    x: Any
    y: Any
    back: Callable[[Any], Any]
    offsets: Sequence[int] | None

    def variance(self) -> float:
        return pair_variance(self.y) if self.offsets is None else sampled_pair_variance(self.y, self.offsets)[0]

    def residual(self) -> float:
        far = distance(self.x, self.back(self.y))
        return float(array_namespace(far).mean(far * far))


# an objective -> what is measured, the larger the better, and its power of a length
SCORES: dict[str, tuple[Callable[[Images], float], int]] = {
    "variance": (Images.variance, 2),
    "frechet": (lambda images: frechet_variance(images.y), 2),
    "distortion": (lambda images: -average_distortion(images.x, images.y, images.offsets)[0], 0),
    "residual": (lambda images: -images.residual(), 2),
}


def score_of(rows: Rows, objective: str, project: Callable[[Any], Any], back: Callable[[Any], Any]) -> float:
    """What a map is worth on rows, in their unit of length; of many rows, on a fixed sample of them."""
    n, rng = rows.shape[0], np.random.default_rng(0)
    x = rows.all() if n <= EXACT_ROWS else rows.take(rng.choice(n, size=min(n, MEASURED_ROWS), replace=False))
    offsets = None if n <= EXACT_ROWS else some_offsets(len(x), max(8, REPORTED_PAIRS // len(x)), rng)
    measure, power = SCORES[objective]
    return measure(Images(x, project(x), back, offsets)) / rows.door.scale**power
