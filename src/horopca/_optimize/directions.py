"""The search for the directions whose Busemann coordinates have the largest generalised variance.

The Busemann coordinates of K ideal points q are K numbers per point; det of their covariance is their generalised
variance, the product of the variances that each coordinate has beyond those before it. Along Euclidean directions it
vanishes once K exceeds the dimension. Busemann functions of different ideal points are never linearly dependent, so
here K has no upper bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from ..geometry._arrays import unit
from .lbfgs import Ascents, Batched, Status, maximise
from .objectives import Sample
from .result import Ending

LEAST_UNEXPLAINED = 1e-7  # A coordinate is redundant if the others explain all but this fraction of its standard deviation.


def busemann_columns(sample: Sample, q: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Busemann coordinates (..., n, m) of a sample along ideal points q (..., m, d), and the pullback to gradients in q."""
    s, floor = sample.columns[1:, :].T, sample.floor[:, None]
    level = sample.columns[0, :, None] - s @ q.mT
    lowest = level <= floor  # q is in the direction of the point, to within rounding: nothing is lower
    level = np.where(lowest, floor, level)
    return np.log(level), lambda G: -np.where(lowest, 0, G / level).mT @ s


def generalised_variance(sample: Sample, given: np.ndarray) -> Batched:
    """log det of the covariance of the residuals of coordinates, after regression on the coordinates along `given` (k, d).

    Returns theta (S, m, d) -> (values, gradients), for the coordinates along the directions of the rows of theta.
    """
    n = sample.size
    explained = np.linalg.qr(np.column_stack([np.ones(n), busemann_columns(sample, given)[0]]))[0]

    def objective(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = np.linalg.norm(theta, axis=2, keepdims=True)
        q = theta / size
        columns, pullback = busemann_columns(sample, q)
        Q, R = np.linalg.qr(columns - explained @ (explained.T @ columns))
        new = np.abs(np.diagonal(R, axis1=1, axis2=2))
        zero = ~new.all(axis=1)
        R = np.where(zero[:, None, None], np.eye(theta.shape[1]), R)
        G = pullback(2 * np.linalg.solve(R, Q.mT).mT)  # d log det(F^T F) / dF = 2 F (F^T F)^-1
        values = 2 * np.sum(np.log(np.where(zero[:, None], 1.0, new)), axis=1) - theta.shape[1] * np.log(n)
        G = np.where(zero[:, None, None], 0.0, (G - np.sum(G * q, axis=2, keepdims=True) * q) / size)
        return np.where(zero, -np.inf, values), G

    return objective


def search_directions(
    sample: Sample,
    K: int,
    *,
    joint: bool,
    n_init: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    log: Callable[[str], None] = lambda _: None,
) -> tuple[np.ndarray, Ending]:
    """Directions one after another, each adding the most; then, if `joint`, all of them together from there.

    Returns ideal points (K, d), those that add most first, and how the search ended. They are fewer than K where the sample has
    no more independent coordinates.
    """
    q = np.zeros((0, sample.dimension))
    ascents: list[Ascents] = []
    while len(q) < K:
        best = _best_next(sample, q, n_init, max_iter, tol, rng)
        more = np.concatenate([q, unit(best.points[0])])
        columns = _centred_coordinates(sample, more)
        size, new = np.linalg.norm(columns[:, -1]), np.abs(np.diag(np.linalg.qr(columns, mode="r")))[-1]
        if new < LEAST_UNEXPLAINED * size or size <= 1e-13 * np.sqrt(sample.size):  # a smaller spread is rounding
            break
        q, ascents = more, [*ascents, best]
        log(f"{len(q)} of {K} directions")
    if joint and len(q) > 1:
        best = maximise(generalised_variance(sample, q[:0]), q[None], max_iter=max_iter, tol=tol)
        together = unit(best.points[0])
        q = together[qr(_centred_coordinates(sample, together), mode="r", pivoting=True)[1]]
        ascents.append(best)
    # towards a far point the maximum is as narrow as rounding error: an ascent that finds no step upwards has converged
    stopped = [ascent for ascent in ascents if ascent.status[0] is Status.MAX_ITER]
    status = (stopped or ascents[-1:])[0].status[0].value if ascents else "nothing to search"
    return q, Ending(sum(int(ascent.n_iter[0]) for ascent in ascents), not stopped, status)


def _best_next(sample: Sample, q: np.ndarray, n_init: int, max_iter: int, tol: float, rng: np.random.Generator) -> Ascents:
    """The ascent to the direction that adds most generalised variance to the directions q."""

    def over(rows: int) -> Batched:
        # at least eight points for each coordinate of the regression
        return generalised_variance(sample.take(slice(max(rows, 8 * (len(q) + 1)))), q)

    starts = _starts(sample, 8 * n_init, rng)
    starts = starts[np.argsort(-over(512)(starts)[0], kind="stable")[:n_init]]
    found = maximise(over(1024), starts, max_iter=12, tol=tol).best(max(1, n_init // 3))
    return maximise(over(sample.size), found.points, max_iter=max_iter, tol=tol).best(1)


def _starts(sample: Sample, count: int, rng: np.random.Generator) -> np.ndarray:
    """Starts (S, 1, d): both ends of the principal axes, and directions of points of the sample."""
    d = sample.dimension
    axes = np.eye(d)[: max(1, count // 4)]
    # perturbed, so that points at the origin, and points that are drawn twice, have directions of their own
    points = sample.columns[1:, rng.integers(sample.size, size=count)].T + 1e-3 * rng.standard_normal((count, d))
    return np.concatenate([axes, -axes, unit(points)])[:, None, :]


def _centred_coordinates(sample: Sample, q: np.ndarray) -> np.ndarray:
    columns = busemann_columns(sample, q)[0]
    return np.asarray(columns - columns.mean(axis=0))
