"""The distortion of an embedding as a value and its gradient.

Parameters are moves of the points from where they stand, in their own frames (`horopca.embed.frames`), and the
logarithm of the scale: one flat vector of n*d + 1 numbers. Pairs come in blocks. With q = |z - z'|^2 / (δ δ')
the distance is d = 2 asinh(sqrt q), and its gradient in the frame of z is minus the unit vector towards z',

    (δ (z' - z) - |z - z'|^2 z) / (δ δ' sqrt(q (1 + q))),

so the gradients of a whole block are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from ..optim import Objective
from .frames import Ball, moved
from .pairs import Block

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
