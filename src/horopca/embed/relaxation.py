"""Points settled on target distances: stochastic gradient descent on the average distortion, in each point's own frame.

One descent goes from large steps and a smooth objective to small steps and a sharp one. Large steps on a sample of the pairs
carry points past each other, which an optimiser that sees all pairs at once cannot do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .ball import Ball, flattened, moved
from .stress import stress
from .targets import Tiling

MOMENTUM, MEMORY = 0.9, 0.99  # Adam's usual averages, with a shorter memory of squares: the objective changes on the way.
SCALE_STEP = 0.2  # Step of the log of the scale, relative to those of the points: it must not run ahead of them.
FLAT_AFTER = 0.9  # Extra dimensions are gone after this part of the steps; the rest settles in the dimensions that stay.


class Schedule(NamedTuple):
    """A descent: its number of steps, the first and the last step size, the first and the last softness."""

    steps: int
    rates: tuple[float, float]
    softness: tuple[float, float]
    all_pairs: bool = False  # in every step, in place of a sample


SETTLING = Schedule(500, (0.05, 1e-3), (0.03, 3e-3))  # For points that are near their final positions already.


class Adam:
    """Adam with one step size for each row."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.mean, self.square, self.count = np.zeros(shape), np.zeros((shape[0], 1)), 0

    def step(self, gradient: np.ndarray) -> np.ndarray:
        d = gradient.shape[1]  # which may have become smaller
        self.count += 1
        self.mean = MOMENTUM * self.mean[:, :d] + (1 - MOMENTUM) * gradient
        self.square = MEMORY * self.square + (1 - MEMORY) * np.mean(gradient * gradient, axis=1, keepdims=True)
        root = np.sqrt(self.square / (1 - MEMORY**self.count))
        step = -self.mean / (1 - MOMENTUM**self.count)
        return np.divide(step, root, out=np.zeros_like(step), where=root > 0)


class Descent(NamedTuple):
    """Descents on target distances, with what they have in common.

    `run` settles points on the distances from any start. `DistortionEmbedding` and `refine` run it within a largest radius,
    `TreeEmbedding` within the cones of a layout, and `transform` with the known points held fixed.
    """

    tiling: Tiling
    rng: np.random.Generator
    constrain: Callable[[Ball], Ball]  # applied after every step
    fixed_scale: bool = False
    moving: np.ndarray | slice = slice(None)  # the points that may move

    def run(self, points: Ball, scale: float, plan: Schedule, d: int | None = None) -> Ball:
        """The points after a descent in which the scale is learnt, unless fixed; flattened to d dimensions on the way."""
        log_scale, d = np.log(scale), d or points.z.shape[1]
        mover, scaler = Adam(points.z.shape), Adam((1, 1))
        for k in range(1, plan.steps + 1):
            progress = k / plan.steps
            rate = plan.rates[0] + progress * (plan.rates[1] - plan.rates[0])
            softness = plan.softness[0] * (plan.softness[1] / plan.softness[0]) ** progress
            tiles = self.tiling.all if plan.all_pairs else self.tiling.shifted(int(self.rng.integers(len(self.tiling.tiles))))
            found = stress(points, log_scale, tiles, softness)
            step = np.zeros_like(points.z)
            step[self.moving] = rate * mover.step(found.gradient)[self.moving]
            points = moved(points, step)
            if not self.fixed_scale:
                log_scale += SCALE_STEP * rate * float(scaler.step(np.array([[found.g_scale]]))[0, 0])
            if points.z.shape[1] > d:
                points = _flatter(points, d, progress / FLAT_AFTER, FLAT_AFTER * plan.steps)
            points = self.constrain(points)
        return points


def _flatter(points: Ball, d: int, progress: float, steps: float) -> Ball:
    """The points with a growing share of their extra dimensions removed, and without these at the end."""
    share = min(1.0, 3 * progress / (1 - progress) / steps) if progress < 1 else 1.0
    z, delta = flattened(points, d, share)
    return Ball(z if share < 1 else np.ascontiguousarray(z[:, :d]), delta)
