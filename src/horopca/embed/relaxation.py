"""Points relaxed by many small steps on samples of the pairs: Adam, in each point's own frame.

One descent goes from large steps and a soft objective to small ones and a sharp one. Large steps on few pairs
take points past each other, as an optimiser that sees all pairs at once cannot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .ball import Ball, flattened, moved, within
from .stress import stress
from .targets import Tiling

MOMENTUM, MEMORY = 0.9, 0.99  # The mean gradient and its mean square keep these shares of what they were.
SCALE_STEP = 0.2  # The logarithm of the scale takes so large a step, against those of the points.
PRESSED = 0.9  # After this part of the way dimensions that were lent are taken back.


class Schedule(NamedTuple):
    """A descent: how many steps, how long the first and the last, how soft the objective at first and at last."""

    steps: int
    rates: tuple[float, float]
    softness: tuple[float, float]
    whole: bool = False  # whether a step sees all pairs


class Adam:
    """Steps of equal size along a running mean of gradients, one size for each row."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.mean, self.square, self.count = np.zeros(shape), np.zeros((shape[0], 1)), 0

    def step(self, gradient: np.ndarray) -> np.ndarray:
        self.count += 1
        self.mean = MOMENTUM * self.mean + (1 - MOMENTUM) * gradient
        self.square = MEMORY * self.square + (1 - MEMORY) * np.mean(gradient * gradient, axis=1, keepdims=True)
        root = np.sqrt(self.square / (1 - MEMORY**self.count))
        step = -self.mean / (1 - MOMENTUM**self.count)
        return np.divide(step, root, out=np.zeros_like(step), where=root > 0)

    def narrowed(self, d: int) -> None:
        """Forget all but the first d columns."""
        self.mean = self.mean[:, :d]


def relaxed(
    points: Ball, scale: float, tiling: Tiling, plan: Schedule, far: float, rng: np.random.Generator, *, d: int, fixed: bool
) -> Ball:
    """The points, in d dimensions, after a descent within radius `far`, on which the scale moves with them unless it is fixed.

    Points in more than d dimensions are pressed flat on the way.
    """
    log_scale, (n, lent) = np.log(scale), points.z.shape
    mover, scaler = Adam((n, lent)), Adam((1, 1))
    for k in range(1, plan.steps + 1):
        way = k / plan.steps
        rate = plan.rates[0] + way * (plan.rates[1] - plan.rates[0])
        softness = plan.softness[0] * (plan.softness[1] / plan.softness[0]) ** way
        tiles = tiling.all if plan.whole else tiling.shifted(int(rng.integers(len(tiling.tiles))))
        found = stress(points, log_scale, tiles, softness)
        points = moved(points, rate * mover.step(found.gradient))
        if not fixed:
            log_scale += SCALE_STEP * rate * float(scaler.step(np.array([[found.g_scale]]))[0, 0])
        if points.z.shape[1] > d:
            points = _pressed(points, d, way / PRESSED, PRESSED * plan.steps)
            if points.z.shape[1] == d:
                mover.narrowed(d)
        points = within(points, far)
    return points


def _pressed(points: Ball, d: int, way: float, steps: float) -> Ball:
    """A share of the height over the first d dimensions taken away, more and more, and at the end of the way all."""
    share = min(1.0, 3 * way / (1 - way) / steps) if way < 1 else 1.0
    z, delta = flattened(points, d, share)
    return Ball(z if share < 1 else np.ascontiguousarray(z[:, :d]), delta)
