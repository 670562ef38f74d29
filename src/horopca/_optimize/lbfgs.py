"""Batched L-BFGS: maximises one function from many starts at once."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

Batched = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # points (S, ...) to values (S,) and gradients (S, ...)

MEMORY = 40  # Steps that L-BFGS remembers. With 20, the last ascent on CS Ph.D. in 5 dimensions stops at 500 iterations.
ARMIJO = 1e-4  # A step must gain this fraction of what the gradient predicts (the usual constant of Nocedal and Wright).
FIRST_STEP = 0.1  # Length of a step along the gradient: the bases that are searched have rows of length 1.
SMALL_GAINS = 2  # An ascent has converged after this many small gains in a row: one short step proves nothing.
SHORTEST_STEP = 1e-10  # The gain of a step shortened to this fraction is below rounding error.


class Status(Enum):
    """How an ascent ended."""

    CONVERGED = "converged"
    NO_ASCENT = "converged: no step along the gradient improves the objective"
    MAX_ITER = "stopped at max_iter"
    NOT_FINITE = "stopped at a value that is not finite"

    @property
    def converged(self) -> bool:
        return self in (Status.CONVERGED, Status.NO_ASCENT)


class Ascents(NamedTuple):
    """Where S ascents ended, and how."""

    points: np.ndarray  # (S, ...)
    values: np.ndarray  # (S,), -inf where a value is not finite
    n_iter: np.ndarray  # (S,)
    status: np.ndarray  # (S,), of Status

    def best(self, keep: int | None = None) -> Ascents:
        """The best `keep` ascents, best first; all of them by default."""
        order = np.argsort(-self.values, kind="stable")[:keep]
        return Ascents(*(part[order] for part in self))


def maximise(objective: Batched, starts: np.ndarray, *, max_iter: int, tol: float) -> Ascents:
    """Maximise from every start (S, ...), until `SMALL_GAINS` steps in a row gain less than `tol` times the value.

    Each iteration evaluates the objective once, at one trial point of every ascent that is still running: a step that
    gains too little is shortened in the next iteration while the other ascents go on.
    """
    shape, S = starts.shape, len(starts)
    x = starts.reshape(S, -1).astype(float)
    value, g = _finite(*objective(starts))
    history = _History(MEMORY, x.shape)
    direction, length = history.direction(g), np.ones(S)
    small, n_iter = np.zeros(S, dtype=int), np.zeros(S, dtype=int)
    status = np.full(S, Status.MAX_ITER, dtype=object)
    status[~g.any(axis=1)] = Status.NO_ASCENT
    status[~np.isfinite(value)] = Status.NOT_FINITE
    running = status == Status.MAX_ITER
    for _ in range(max_iter):
        (active,) = np.nonzero(running)
        if not len(active):
            break
        n_iter[active] += 1
        trial = x[active] + length[active, None] * direction[active]
        found, slope = _finite(*objective(trial.reshape(-1, *shape[1:])))
        with np.errstate(over="ignore"):
            predicted = length[active] * np.sum(g[active] * direction[active], axis=1)
        gain = found - value[active]
        good = gain >= ARMIJO * predicted
        taken = active[good]
        history.store(taken, trial[good] - x[taken], g[taken] - slope[good])
        small[taken] = np.where(gain[good] > tol * np.abs(found[good]), 0, small[taken] + 1)
        x[taken], g[taken], value[taken], length[taken] = trial[good], slope[good], found[good], 1.0
        direction[taken] = history.direction(g[taken], taken)
        # other steps are shortened to the vertex of the parabola through both values, by a factor between 0.1 and 0.5
        finite = np.isfinite(gain) & np.isfinite(predicted)
        rise, gain = (np.where(finite, a, 0.0)[~good] for a in (predicted, gain))
        factor = np.where(rise > gain, np.clip(rise / (2 * np.where(rise > gain, rise - gain, 1.0)), 0.1, 0.5), 0.1)
        length[active[~good]] *= factor
        stuck = length < SHORTEST_STEP
        status[stuck] = Status.NO_ASCENT
        status[small >= SMALL_GAINS] = Status.CONVERGED
        running = status == Status.MAX_ITER
    return Ascents(x.reshape(shape), value, n_iter, status)


def _finite(value: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (S,) and gradients (S, p); where either is not finite the value is -inf and the gradient 0."""
    g = g.reshape(len(g), -1)
    lost = ~(np.isfinite(value) & np.isfinite(g).all(axis=1))
    return np.where(lost, -np.inf, value), np.where(lost[:, None], 0.0, g)


def compose(objective: Batched, family: Callable[[np.ndarray], Any]) -> Batched:
    """An objective of bases as an objective of the parameters of a family, which maps them to bases and has a pullback."""

    def composed(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, pullback = family(theta)
        values, G = objective(A)
        return values, pullback(G)

    return composed


class _History:
    """The last steps s and changes of gradient y of S ascents. Each ascent writes to its own slots, the oldest first."""

    def __init__(self, memory: int, shape: tuple[int, ...]) -> None:
        S, p = shape
        memory = min(memory, p + 1)  # more than p steps add no information
        self.s, self.y = np.zeros((S, memory, p)), np.zeros((S, memory, p))
        self.count, self.scale = np.zeros(S, dtype=int), np.zeros(S)
        self.stamp = np.zeros((S, memory), dtype=int)  # the number of the step in a slot, from 1; 0: none

    def store(self, rows: np.ndarray, s: np.ndarray, y: np.ndarray) -> None:
        """Remember a step of some ascents. Steps along which the objective is not concave are left out."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            product, square = np.sum(s * y, axis=1), np.sum(y * y, axis=1)
            scale = product / square
            concave = (
                (product > 1e-12 * np.sqrt(square * np.sum(s * s, axis=1))) & np.isfinite(1 / product) & np.isfinite(scale)
            )
        rows, s, y = rows[concave], s[concave], y[concave]
        slot = self.count[rows] % self.s.shape[1]
        self.count[rows] += 1
        self.s[rows, slot], self.y[rows, slot], self.stamp[rows, slot] = s, y, self.count[rows]
        self.scale[rows] = scale[concave]

    def direction(self, g: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Approximate inverse Hessians times gradients; a short step along the gradient where that does not point upwards.

        The compact form (Nocedal and Wright, Numerical Optimization, section 7.2): with s and y as rows, R the part of s y^T
        in which s is not newer than y, and D its diagonal, it takes two small systems instead of a loop over the steps.
        """
        used = min(self.s.shape[1], int(self.count[rows].max(initial=0)))
        s, y, stamp = self.s[rows, :used], self.y[rows, :used], self.stamp[rows, :used]
        scale = self.scale[rows][:, None, None]
        with np.errstate(over="ignore", invalid="ignore"):
            products = s @ y.mT
            D = np.where(stamp > 0, np.einsum("...ii->...i", products), 1.0)[:, :, None]
            R = np.where(stamp[:, :, None] < stamp[:, None, :], products, 0.0) + D * np.eye(used)
            finite = np.isfinite(R).all(axis=(1, 2), keepdims=True)
            R = np.where(finite, R, np.eye(used))
            a = np.linalg.solve(R, s @ g[:, :, None])
            rest = g[:, :, None] - y.mT @ a
            b = np.linalg.solve(R.mT, D * a - scale * (y @ rest))
            q = np.where(finite, scale * rest + s.mT @ b, np.nan)[:, :, 0]
            upwards = np.isfinite(q).all(axis=1) & (np.sum(q * g, axis=1) > 0)
        largest = np.abs(g).max(axis=1, initial=0.0, keepdims=True)
        plain = g / np.where(largest > 0, largest, 1.0)  # so that the squares of its entries stay in float64
        plain *= (FIRST_STEP / np.maximum(np.linalg.norm(plain, axis=1), FIRST_STEP))[:, None]
        return np.where(upwards[:, None], q, plain)
