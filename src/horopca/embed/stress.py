"""The distortion of an embedding as a value and its gradient.

Pairs come in tiles, gradients are in the frames of the points (`horopca.embed.ball`). With q = |z - z'|^2 / (δ δ')
the distance is d = 2 asinh(sqrt q), and its gradient in the frame of z is minus the unit vector towards z',

    (δ (z' - z) - |z - z'|^2 z) / (δ δ' sqrt(q (1 + q))),

so the gradients of a whole tile are a few matrix products. Coordinates are in double precision, what is done to each
pair in that of the tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .ball import Ball
from .targets import Tile

COINCIDENT = 1e-12  # This is added to sinh^2(d/2): two points that coincide count as 2e-6 apart.
CANCELLED = 1e-11  # A Gram matrix gives a smaller square of a difference, of numbers below 1, to fewer than four digits.


class Stress(NamedTuple):
    """The mean over pairs of the softened |e|, and its gradients in the frames of the points and in the log of the scale."""

    value: float
    gradient: np.ndarray
    g_scale: float


def stress(points: Ball, log_scale: float, tiles: Sequence[Tile], softness: float) -> Stress:
    """The mean over the pairs of some tiles of sqrt(e^2 + softness^2), e = d / (scale * wanted distance) - 1."""
    z, delta = points
    d, high, (left, right) = z.shape[1], 1 / delta, factors(z)
    shrink = float(np.exp(-log_scale))
    idle = float(np.hypot(1.0, softness))  # what a pair that does not count adds
    value, g_scale, gradient, total = 0.0, 0.0, np.zeros_like(z), 0.0
    for tile in tiles:
        rows, columns, inverse, mirrored, _ = tile
        square = squared_differences(left[rows], right[columns])
        far = np.multiply.outer(high[rows], high[columns])
        size, slope, ratio, steep = _errors((square * far).astype(inverse.dtype), inverse, shrink, softness)
        once = 0.5 if mirrored else 1.0
        value += once * (float(size.sum(dtype=np.float64)) - tile.idle * idle)
        g_scale -= once * float(np.vdot(slope, ratio))
        far *= steep
        square *= far
        for here, there, pull, turn in ((rows, columns, far, square.sum(axis=1)), (columns, rows, far.T, square.sum(axis=0))):
            towards = pull @ right[there]  # the sums of pull z', of pull, and one more
            off = towards[:, :d] - towards[:, d, None] * z[here]
            gradient[here] -= delta[here, None] * off - turn[:, None] * z[here]
            if mirrored:
                break
        total += tile.weight
    return Stress(value / total, gradient * (shrink / total), g_scale / total)


def _errors(
    q: np.ndarray, inverse: np.ndarray, shrink: float, softness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each pair: the softened |e|, its slope in e, 1 + e, and the factor of the gradient but for δ δ' scale."""
    q += np.asarray(COINCIDENT, q.dtype)
    root = np.sqrt(q)
    ratio = np.arcsinh(root)
    ratio *= inverse
    ratio *= 2 * shrink
    e = ratio - 1
    size = e * e
    size += softness * softness
    np.sqrt(size, out=size)
    slope = np.divide(e, size, out=e)
    q += 1
    root *= np.sqrt(q, out=q)
    steep = np.divide(inverse, root, out=root)
    steep *= slope
    return size, slope, ratio, steep


def factors(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arrays (n, d+2) whose products left . right' are |z - z'|^2; right begins with z and 1."""
    sizes, ones = np.einsum("nd,nd->n", z, z)[:, None], np.ones((len(z), 1))
    return np.hstack([-2 * z, sizes, ones]), np.hstack([z, ones, sizes])


def squared_differences(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """|z - z'|^2 of all pairs from a product of `factors`, and again from differences where the product has cancelled."""
    square: np.ndarray = left @ right.T
    if square.min() < CANCELLED:
        i, j = np.nonzero(square < CANCELLED)
        gap = left[i, :-2] / -2 - right[j, :-2]
        square[i, j] = np.einsum("nd,nd->n", gap, gap)
    return square
