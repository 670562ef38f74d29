"""The distortion of an embedding as a value and its gradient.

Parameters are moves of the points from where they stand, in their own frames (`horopca.embed.frames`), and the
logarithm of the scale: one flat vector of n*d + 1 numbers. Pairs come in blocks. With q = |z - z'|^2 / (δ δ')
the distance is d = 2 asinh(sqrt q), and its gradient in the frame of z is minus the unit vector towards z',

    (δ (z' - z) - |z - z'|^2 z) / (δ δ' sqrt(q (1 + q))),

so the gradients of a whole block are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.distance import cdist

from .._search.climb import Objective
from .frames import Ball, moved
from .pairs import Block

LONGEST_MOVE = 20.0  # of a point, and of the logarithm of the scale, in one climb; a longer one is a line search gone astray
TINY = 1e-12  # of sinh^2(d/2): two points that coincide count as 2e-6 apart


def soft_distortion(points: Ball, blocks: Sequence[Block], total: int, softness: float) -> Objective:
    """Minus the mean over pairs of sqrt(e^2 + softness^2), e = d / (scale * graph distance) - 1, to be climbed."""
    n, d = points.z.shape

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        after, pullback = moved(points, theta[:-1].reshape(n, d))
        value, gradient, g_scale = _sums(after, float(np.exp(-theta[-1])), blocks, softness)
        return -value / total, np.append(pullback(gradient).ravel(), g_scale) / -total

    return objective


def _sums(points: Ball, shrink: float, blocks: Sequence[Block], softness: float) -> tuple[float, np.ndarray, float]:
    """Sum over pairs of the softened |e|, and its gradients in the frames of the points and in the log of the scale."""
    z, delta = points
    value, g_scale, gradient = 0.0, 0.0, np.zeros_like(z)
    for rows, columns, inverse, weight in blocks:
        zi, zj, di, dj = z[rows], z[columns], delta[rows], delta[columns]
        square = cdist(zi, zj, "sqeuclidean")  # explicit differences: a Gram matrix would lose close pairs
        unit = np.multiply.outer(di, dj)
        q = square / unit
        q += TINY
        root, cosh = np.sqrt(q), np.sqrt(1 + q)
        ratio = np.log(root + cosh)
        ratio *= inverse
        ratio *= 2 * shrink
        e = ratio - 1
        size = np.sqrt(e * e + softness * softness)
        slope = np.divide(e, size, out=e)
        slope *= weight
        size *= weight
        value += float(size.sum())
        g_scale -= float(np.vdot(slope, ratio))
        slope *= inverse
        slope *= shrink
        unit *= root
        unit *= cosh
        pull = np.divide(slope, unit, out=slope)
        square *= pull
        gradient[rows] -= di[:, None] * (pull @ zj - pull.sum(axis=1)[:, None] * zi) - square.sum(axis=1)[:, None] * zi
        gradient[columns] -= dj[:, None] * (pull.T @ zi - pull.sum(axis=0)[:, None] * zj) - square.sum(axis=0)[:, None] * zj
    return value, gradient, g_scale


def reined_in(objective: Objective, start: np.ndarray, d: int) -> Objective:
    """The objective with every move from the start cut at its longest, where all numbers are still finite."""

    def within(theta: np.ndarray) -> tuple[float, np.ndarray]:
        point, pullback = cut_short(theta, start, d)
        value, gradient = objective(point)
        return value, pullback(gradient)

    return within


def cut_short(theta: np.ndarray, start: np.ndarray, d: int) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The parameters with moves of at most `LONGEST_MOVE` from the start, and the pullback of a gradient."""
    step = theta - start
    size = _per_move(step * step, d) ** 0.5
    if size.max() <= LONGEST_MOVE:
        return theta, lambda gradient: gradient
    factor = LONGEST_MOVE / np.maximum(size, LONGEST_MOVE)

    def pullback(gradient: np.ndarray) -> np.ndarray:
        u = step / np.where(size > 0, size, 1.0)
        along = np.where(size > LONGEST_MOVE, _per_move(gradient * u, d), 0.0)
        return factor * (gradient - along * u)

    return start + factor * step, pullback


def _per_move(values: np.ndarray, d: int) -> np.ndarray:
    """Sums over each move's d numbers, given to all of them; the scale's number is alone."""
    return np.append(np.repeat(values[:-1].reshape(-1, d).sum(axis=1), d), values[-1])


def flattened(points: Ball, blocks: Sequence[Block], total: int, softness: float, keep: int, penalty: float) -> Objective:
    """`soft_distortion`, less `penalty` times the mean squared distance to the first `keep` dimensions, in scales."""
    n, d = points.z.shape
    free = soft_distortion(points, blocks, total, softness)

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = free(theta)
        (z, delta), pullback = moved(points, theta[:-1].reshape(n, d))
        height = np.linalg.norm(z[:, keep:], axis=1)
        sinh = 2 * height / delta
        away = np.arcsinh(sinh)  # the distance to the subspace
        weight = penalty * np.exp(-2 * theta[-1]) / n
        rise = sinh[:, None] * z  # cosh(away) times the gradient of the distance, in the frames
        rise[:, keep:] += z[:, keep:] / np.where(height > 0, height, 1.0)[:, None]
        g = (2 * weight * away / np.sqrt(1 + sinh * sinh))[:, None] * rise
        cost = weight * float(away @ away)
        return value - cost, gradient - np.append(pullback(g).ravel(), -2 * cost)

    return objective
