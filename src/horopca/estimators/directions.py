"""The search for directions whose Busemann coordinates tell the most: the largest generalised variance.

The Busemann coordinates of K ideal points q are K numbers per point; det of their covariance is their generalised
variance, the product of the variance of each coordinate that those before it do not explain. Along Euclidean
directions it vanishes once K exceeds the dimension. Busemann functions of different ideal points are never
linearly dependent, so here K may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from .._objectives.sample import Objective, Sample
from .._search.climb import Ascent, Heat, climb, race
from .._search.ending import Ending
from ..geometry._arrays import unit

EXPLAINED = 1e-7  # A coordinate of which the others explain all but this fraction of its deviation says nothing new.
LOWEST = -1e4  # This stands for the logarithm of a generalised variance of zero.


class Directions(NamedTuple):
    """Ideal points (K, d), those that add most first, and how the search for them ended."""

    q: np.ndarray
    ending: Ending


def busemann_columns(sample: Sample, q: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Busemann coordinates (n, m) of a sample along ideal points q (m, d), and the pullback to gradients in q."""
    s = sample.columns[1:, :].T
    level = sample.columns[0, :, None] - s @ q.T
    lowest = level <= sample.floor[:, None]  # q is in the direction of the point, to within rounding: nothing is lower
    level = np.where(lowest, sample.floor[:, None], level)
    return np.log(level), lambda G: -np.where(lowest, 0, G / level).T @ s


def generalised_variance(sample: Sample, given: np.ndarray) -> Objective:
    """log det of the covariance of coordinates, of what those along `given` (k, d) leave unexplained of them.

    Returns theta (m, d) -> (value, gradient), for the coordinates along the directions of the rows of theta.
    """
    n = sample.size
    explained = np.linalg.qr(np.column_stack([np.ones(n), busemann_columns(sample, given)[0]]))[0]

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        size = np.linalg.norm(theta, axis=1, keepdims=True)
        q = theta / size
        columns, pullback = busemann_columns(sample, q)
        Q, R = np.linalg.qr(columns - explained @ (explained.T @ columns))
        new = np.abs(np.diag(R))
        if not new.all():
            return LOWEST, np.zeros_like(theta)
        G = pullback(2 * np.linalg.solve(R, Q.T).T)  # d log det(F^T F) / dF = 2 F (F^T F)^-1
        return 2 * float(np.sum(np.log(new))) - len(theta) * np.log(n), (G - np.sum(G * q, axis=1, keepdims=True) * q) / size

    return objective


def search_directions(
    sample: Sample, K: int, *, joint: bool, n_init: int, max_iter: int, tol: float, rng: np.random.Generator
) -> Directions:
    """Directions one after another, each adding the most; then, if `joint`, all of them together from there.

    Fewer than K where the sample has no more independent coordinates.
    """
    q = np.zeros((0, sample.dimension))
    ascents: list[Ascent] = []
    while len(q) < K:
        best = _next(sample, q, n_init, max_iter, tol, rng)
        more = np.concatenate([q, unit(best.point)])
        if _news(sample, more)[-1] < EXPLAINED:
            break
        q, ascents = more, [*ascents, best]
    if joint and len(q) > 1:
        best = climb(generalised_variance(sample, q[:0]), q, max_iter=max_iter, tol=tol)
        together = unit(best.point)
        q = together[qr(_centred(sample, together), mode="r", pivoting=True)[1]]
        ascents.append(best)
    # towards a far point the peak is as narrow as rounding: a climb that finds no way up from there is at its end
    arrived = lambda a: a if a.status.startswith("stopped") else a._replace(converged=True, status="converged")
    return Directions(q, Ending.of_all(map(arrived, ascents)))


def _next(sample: Sample, q: np.ndarray, n_init: int, max_iter: int, tol: float, rng: np.random.Generator) -> Ascent:
    """The direction that adds most to those along q."""

    def heat(rows: int, max_iter: int, keep: int) -> Heat:
        part = sample.head(min(max(rows, 8 * (len(q) + 1)), sample.size))
        return Heat(generalised_variance(part, q), max_iter, keep)

    heats = [heat(512, 0, n_init), heat(1024, 12, max(1, n_init // 3)), heat(sample.size, max_iter, 1)]
    return race(_starts(sample, 8 * n_init, rng), heats, tol=tol)[0]


def _starts(sample: Sample, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Both ends of the principal axes, and directions of points of the sample, each of shape (1, d)."""
    d = sample.dimension
    axes = np.eye(d)[: max(1, count // 4)]
    points = sample.columns[1:, rng.integers(sample.size, size=count)].T + 1e-3 * rng.standard_normal((count, d))
    return list(np.concatenate([axes, -axes, unit(points)])[:, None, :])


def _centred(sample: Sample, q: np.ndarray) -> np.ndarray:
    columns = busemann_columns(sample, q)[0]
    return np.asarray(columns - columns.mean(axis=0))


def _news(sample: Sample, q: np.ndarray) -> np.ndarray:
    """The fraction of the deviation of each coordinate that those before it do not explain, shape (K,)."""
    columns = _centred(sample, q)
    new = np.abs(np.diag(np.linalg.qr(columns, mode="r")))
    size = np.linalg.norm(columns, axis=0)
    spread = size > 1e-13 * np.sqrt(sample.size)  # less is rounding
    return np.where(spread, new / np.where(spread, size, 1), 0.0)
