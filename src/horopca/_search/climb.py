"""Maximisation: knows callables that return a value and its gradient, nothing of hyperbolic space. Never prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
Report = Callable[[int, int, float], None]  # is told the number of a heat, how many ran, and the best value

MEMORY = 50  # L-BFGS remembers so many steps: all parameters of a small problem, where it is a full quasi-Newton method.
FEW_PARAMETERS = 256  # Up to so many parameters a climb hands on what it has learnt of the bend of the objective.


class Ascent(NamedTuple):
    """Where a climb ended, and how."""

    point: np.ndarray
    value: float
    n_iter: int
    converged: bool
    status: str
    bend: np.ndarray | None = None  # (p, p): about a root of one over the bend of the objective, if it has few parameters


class Heat(NamedTuple):
    """One heat of a race: the objective to climb, for how many iterations, and how many go on."""

    objective: Objective
    max_iter: int
    keep: int


def climb(objective: Objective, start: np.ndarray, *, max_iter: int, tol: float, bend: np.ndarray | None = None) -> Ascent:
    """Maximise by L-BFGS from `start`, until the relative gain of a step is below tol.

    `bend` is what an earlier climb of nearly the same objective has learnt: the first steps are then as sure as its last.
    """
    first, slope = objective(start)
    # SciPy's first step has length 1: that is to be Newton's
    root = None if bend is None else bend * max(float(np.linalg.norm(bend.T @ slope.ravel())), 1e-300)

    def at(z: np.ndarray) -> np.ndarray:
        return np.asarray(start + (z if root is None else root @ z).reshape(start.shape))

    def descent(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = (first, slope) if not z.any() else objective(at(z))
        return -value, -(gradient.ravel() if root is None else gradient.ravel() @ root)

    gtol = 1e-12 if root is None else 0.0  # in its own measure a gradient says how little is left to gain, which ftol knows
    result = minimize(
        descent,
        np.zeros(start.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 4 * max_iter + 10, "maxcor": MEMORY, "ftol": tol, "gtol": gtol},
    )
    if bend is not None and result.nit == 0:  # on an edge: what was learnt beside it misleads
        return climb(objective, start, max_iter=max_iter, tol=tol)
    converged, status = _ending(result)
    with np.errstate(all="ignore"):  # where values leave float64 nothing is learnt
        learnt = None if start.size > FEW_PARAMETERS or root is not None else _bend(result.hess_inv.sk, result.hess_inv.yk)
    return Ascent(
        at(result.x),
        -float(result.fun),
        int(result.nit),
        converged,
        status,
        learnt if learnt is None or np.isfinite(learnt).all() else None,
    )


def _bend(steps: np.ndarray, changes: np.ndarray) -> np.ndarray | None:
    """A root (p, p) of the matrix that takes changes (m, p) of a gradient to the steps that made them, by the rule of BFGS."""
    if not len(steps):
        return None
    H = np.eye(steps.shape[1]) * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y in zip(steps, changes, strict=True):
        weight = 1 / (s @ y)
        V = np.eye(len(s)) - weight * np.outer(s, y)
        H = V @ H @ V.T + weight * np.outer(s, s)
    try:
        return np.asarray(np.linalg.cholesky(H))
    except np.linalg.LinAlgError:  # of steps that rounding has made alike
        return None


def corrected(
    objective: Objective, point: np.ndarray, extra: np.ndarray, *, max_iter: int = 30, tol: float = 0.03
) -> np.ndarray:
    """From the maximum of an objective to that of the objective plus <extra, .>, a small linear term: one Newton step.

    Solved by conjugate gradients, with differences of gradients for the Hessian: along directions in which the objective
    does not change at all, such as changes of basis, the step does not go.
    """
    _, gradient = objective(point)
    step = np.zeros_like(point)
    left = np.array(extra)
    along, size = left, float(np.sum(left * left))
    enough = tol**2 * size
    for _ in range(max_iter):
        if size <= enough or size == 0:
            break
        reach = 1e-5 * (1 + np.linalg.norm(point)) / np.linalg.norm(along)
        bent = (gradient - objective(point + reach * along)[1]) / reach
        curvature = float(np.sum(along * bent))
        if curvature <= 0:
            break
        step = step + size / curvature * along
        left = left - size / curvature * bent
        before, size = size, float(np.sum(left * left))
        along = left + size / before * along
    return np.asarray(point + step)


def _ending(result: OptimizeResult) -> tuple[bool, str]:
    """Whether a climb converged, and how it ended in words."""
    if not np.isfinite(result.fun):
        return False, "met a value that is not a number"
    if result.status == 1:
        return False, f"stopped after {result.nit} iterations"
    if result.status == 2:  # at the top to within rounding, or on an edge: where a point meets the spine there is one
        return True, "converged: no step along the gradient improves it"
    return True, "converged"


Run = Callable[[Objective, Ascent, int, float], Ascent]


def run(objective: Objective, runner: Ascent, max_iter: int, tol: float) -> Ascent:
    """A climb from where a runner stands; with zero iterations, a look at the value there."""
    if max_iter == 0:
        return runner._replace(value=objective(runner.point)[0])
    return climb(objective, runner.point, max_iter=max_iter, tol=tol, bend=runner.bend)


def race(
    starts: Sequence[np.ndarray | Ascent],
    heats: Iterable[Heat],
    *,
    tol: float,
    report: Report = lambda *_: None,
    run: Run = run,
) -> list[Ascent]:
    """Climb from many starts, a little at a time, dropping the worse ones after each heat; those left, best first.

    Heats may be made as they are asked for; one of zero iterations only compares values. `run` says how a runner climbs;
    `report` is told the number of each heat, how many ran, and the best value.
    """
    field = [start if isinstance(start, Ascent) else Ascent(start, -np.inf, 0, False, "not started") for start in starts]
    for number, (objective, max_iter, keep) in enumerate(heats):
        finished = [run(objective, runner, max_iter, tol) for runner in field]
        field = sorted(finished, key=lambda a: -a.value if np.isfinite(a.value) else np.inf)[:keep]
        report(number + 1, len(finished), field[0].value)
    return field
