"""Many climbs at once: the first steps of all runners of a race. Knows callables only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

MEMORY = 12  # Steps that each runner remembers.
ENOUGH = 1e-4  # Of the gain that the gradient promises, a step must bring this fraction.
FIRST_STEP = 0.1  # The length of the first step of a runner.
STILL = 1e-8  # Steps that bring less than this fraction are none:
IDLE = 3  # a runner that makes so many of them on end has arrived.

Many = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # of points (S, ...) to values (S,) and gradients, or the like


def climb_many(objective: Many, starts: np.ndarray, evaluations: int) -> tuple[np.ndarray, np.ndarray]:
    """Maximise by L-BFGS from many starts (S, ...) together; the points (S, ...) and values (S,) after so many evaluations.

    `objective` takes points (S, ...) to values (S,) and gradients. A step that does not bring enough is shortened, while the
    others go on; a rejected step leaves an empty place in the memory. Runners that have arrived are not looked at again.
    """
    x = starts.copy()
    shape = x.shape
    value, g = _finite(*objective(x))
    x = x.reshape(g.shape)
    steps, bends = np.zeros((MEMORY, *x.shape)), np.zeros((MEMORY, *x.shape))
    weights, scale = np.zeros((MEMORY, len(x))), np.full(len(x), np.nan)
    ahead, length, idle = _direction(g, steps, bends, weights, scale, 0), np.ones(len(x)), np.zeros(len(x))
    for k in range(evaluations - 1):
        going = idle < IDLE
        if not going.any():
            break
        trial = x + length[:, None] * ahead
        found, slope = value.copy(), g.copy()
        found[going], slope[going] = _finite(*objective(trial.reshape(shape)[going]))
        promised = length * np.sum(g * ahead, axis=1)
        good = going & (found >= value + ENOUGH * promised) & np.isfinite(found)
        place = k % MEMORY
        steps[place] = np.where(good[:, None], trial - x, 0.0)
        bends[place] = np.where(good[:, None], g - slope, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # a square that leaves float64 teaches nothing: not curved
            product, square = np.sum(steps[place] * bends[place], axis=1), np.sum(bends[place] ** 2, axis=1)
            curved = product > 1e-12 * np.sqrt(square * np.sum(steps[place] ** 2, axis=1))
        weights[place] = np.where(curved, 1 / np.where(curved, product, 1.0), 0.0)
        scale = np.where(curved, product / np.where(curved, square, 1.0), scale)
        # the vertex of the parabola through both values, where the step was too long
        gain = np.where(np.isfinite(found), found, value) - np.where(np.isfinite(value), value, 0.0)
        drop = promised - np.where(np.isfinite(gain), gain, 0.0)
        shorter = np.clip(promised / (2 * np.where(drop > 0, drop, np.inf)), 0.1, 0.5)
        idle = np.where(good, np.where(gain > STILL * np.abs(found), 0, idle + 1), idle)
        x, g = np.where(good[:, None], trial, x), np.where(good[:, None], slope, g)
        value = np.where(good, found, value)
        length = np.where(good, 1.0, length * np.where(np.isfinite(found), shorter, 0.1))
        ahead = np.where(good[:, None], _direction(g, steps, bends, weights, scale, place), ahead)
    return x.reshape(shape), value


def _finite(value: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (S,) and gradients (S, p); a runner whose gradient has left float64 is lost, which its value says."""
    g = g.reshape(len(g), -1)
    lost = ~np.isfinite(g).all(axis=1)
    return np.where(lost, -np.inf, value), np.where(lost[:, None], 0.0, g)


def hop_many(climb: Many, starts: np.ndarray, hops: int, lengths: Sequence[float], rng: np.random.Generator) -> np.ndarray:
    """The points (S, ...) that runners come to, best first, when each makes some hops of every length in turn.

    `climb` takes points (S, ...) to where they climb to, and the values there. Of its hops, each in a random half of its
    numbers, a runner keeps the one that leads highest, if that is higher than where it was.
    """
    x, value = climb(starts)
    every = np.arange(len(x))
    for length in lengths:
        ahead = np.repeat(x, hops, axis=0)
        ahead = ahead + length * (rng.random(ahead.shape) < 0.5) * rng.standard_normal(ahead.shape)
        points, found = (part.reshape(len(x), hops, *part.shape[1:]) for part in climb(ahead))
        best = found.argmax(axis=1)
        higher = found[every, best] > value
        x = np.where(higher[:, None, None], points[every, best], x)
        value = np.where(higher, found[every, best], value)
    return np.asarray(x[np.argsort(-value, kind="stable")])


def _direction(
    g: np.ndarray, steps: np.ndarray, bends: np.ndarray, weights: np.ndarray, scale: np.ndarray, newest: int
) -> np.ndarray:
    """The direction of L-BFGS of each runner (S, p); that of its gradient where it has no memory, or the former leads down."""
    order = [(newest - k) % len(steps) for k in range(len(steps))]
    order = [k for k in order if weights[k].any()]
    q, kept = g.copy(), {}
    with np.errstate(over="ignore", invalid="ignore"):  # far out, a direction may leave float64: then it is the gradient's
        for k in order:
            kept[k] = weights[k] * np.sum(steps[k] * q, axis=1)
            q -= kept[k][:, None] * bends[k]
        q *= np.where(np.isfinite(scale), scale, 1.0)[:, None]
        for k in reversed(order):
            q += (kept[k] - weights[k] * np.sum(bends[k] * q, axis=1))[:, None] * steps[k]
        up = np.isfinite(scale) & np.isfinite(q).all(axis=1) & (np.sum(q * g, axis=1) > 0)
    largest = np.abs(g).max(axis=1, keepdims=True)
    plain = g / np.where(largest > 0, largest, 1.0)  # so that the squares of its entries stay in float64
    plain *= (FIRST_STEP / np.maximum(np.linalg.norm(plain, axis=1), FIRST_STEP))[:, None]
    return np.where(up[:, None], q, plain)
