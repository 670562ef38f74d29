"""Points of the ball carried as (z, δ) with δ = 1 - |z|^2 beside z, and small moves from each in its own frame.

The frame of a point z is that of the origin carried there by the translation along the ray. In the ball it is that of
the coordinates, scaled: the differential of the translation at 0 is δ times the identity. A move by the tangent vector ξ
takes z to z ⊕ tanh(|ξ|/2) ξ/|ξ|. Distances in the frames are hyperbolic ones, at any radius, which is what makes an
optimiser's steps comparable between the root of a tree and its leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..geometry import lift


class Ball(NamedTuple):
    """Points z (n, d) of the ball and δ (n,) = 1 - |z|^2, good where the difference would be 0."""

    z: np.ndarray
    delta: np.ndarray


def to_ball(x: np.ndarray) -> Ball:
    """From the hyperboloid, (n, d+1)."""
    return Ball(x[:, 1:] / (1 + x[:, :1]), 2 / (1 + x[:, 0]))


def from_ball(points: Ball) -> np.ndarray:
    """To the hyperboloid, (n, d+1)."""
    return lift(2 * points.z / points.delta[:, None])


def gyrate(a: np.ndarray, b: np.ndarray, v: np.ndarray) -> np.ndarray:
    """gyr[a, b] v, row by row: how the frame of b turns when the translation to a takes it to the frame of a ⊕ b."""
    ab, av, bv = np.sum(a * b, axis=1), np.sum(a * v, axis=1), np.sum(b * v, axis=1)
    aa, bb = np.sum(a * a, axis=1), np.sum(b * b, axis=1)
    A = bv * (1 + 2 * ab) - av * bb
    B = -bv * aa - av
    return np.asarray(v + 2 * (A[:, None] * a + B[:, None] * b) / (1 + 2 * ab + aa * bb)[:, None])


def moved(points: Ball, xi: np.ndarray) -> Ball:
    """The points after moves xi (n, d)."""
    z, delta = points
    size = np.linalg.norm(xi, axis=1)
    tanh = np.tanh(size / 2)
    y = xi * np.where(size > 0, tanh / np.where(size > 0, size, 1.0), 0.5)[:, None]
    zy, yy = np.sum(z * y, axis=1), tanh * tanh
    D = np.maximum(1 + 2 * zy + (1 - delta) * yy, (1 - tanh) ** 2)  # which it never is below, but by rounding
    new = ((1 + 2 * zy + yy)[:, None] * z + delta[:, None] * y) / D[:, None]
    return Ball(new, delta / np.cosh(size / 2) ** 2 / D)


def within(points: Ball, far: float) -> Ball:
    """The points, those beyond radius `far` brought back to it along their rays."""
    z, delta = points
    least = 1 / np.cosh(far / 2) ** 2  # 1 - |z|^2 there
    beyond = delta < least
    if not beyond.any():
        return points
    size = np.linalg.norm(z, axis=1)
    u = z / np.where(size > 0, size, 1.0)[:, None]
    return Ball(np.where(beyond[:, None], np.tanh(far / 2) * u, z), np.where(beyond, least, delta))


def flattened(points: Ball, keep: int, share: float) -> Ball:
    """The points with a share of their height over the first `keep` dimensions taken away."""
    z, delta = points
    z = z.copy()
    lost = (1 - (1 - share) ** 2) * np.sum(z[:, keep:] ** 2, axis=1)
    z[:, keep:] *= 1 - share
    return Ball(z, delta + lost)
