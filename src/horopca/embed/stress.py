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
    shrink = float(np.exp(-log_scale))
    idle = float(np.hypot(1.0, softness))  # what a pair that does not count adds
    value, g_scale, gradient, total = 0.0, 0.0, np.zeros_like(z), 0.0
    for tile in tiles:
        rows, columns, inverse, mirrored, _ = tile
        zi, zj, di, dj = z[rows], z[columns], delta[rows], delta[columns]
        square = squared_differences(zi, zj)
        unit = np.multiply.outer(di, dj)
        size, slope, ratio, steep = _errors((square / unit).astype(inverse.dtype), shrink * inverse, softness)
        once = 0.5 if mirrored else 1.0
        value += once * (float(size.sum(dtype=np.float64)) - tile.idle * idle)
        g_scale -= once * float(np.vdot(slope, ratio))
        pull = steep / unit
        turn = square * pull
        gradient[rows] -= di[:, None] * (pull @ zj - pull.sum(axis=1)[:, None] * zi) - turn.sum(axis=1)[:, None] * zi
        if not mirrored:
            gradient[columns] -= dj[:, None] * (pull.T @ zi - pull.sum(axis=0)[:, None] * zj) - turn.sum(axis=0)[:, None] * zj
        total += tile.weight
    return Stress(value / total, gradient / total, g_scale / total)


def _errors(q: np.ndarray, inverse: np.ndarray, softness: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each pair: the softened |e|, its slope in e, 1 + e, and the factor of the gradient, still to be divided by δ δ'."""
    q += np.asarray(COINCIDENT, q.dtype)
    root, cosh = np.sqrt(q), np.sqrt(1 + q)
    ratio = np.arcsinh(root)
    ratio *= inverse
    ratio *= 2
    e = ratio - 1
    size = np.sqrt(e * e + softness * softness)
    slope = np.divide(e, size, out=e)
    root *= cosh
    return size, slope, ratio, slope * inverse / root


def squared_differences(zi: np.ndarray, zj: np.ndarray) -> np.ndarray:
    """|z - z'|^2 of all pairs from a matrix product, and again from the differences where the product has cancelled."""
    square: np.ndarray = np.add.outer(np.einsum("nd,nd->n", zi, zi), np.einsum("nd,nd->n", zj, zj))
    square -= 2 * (zi @ zj.T)
    if square.min() < CANCELLED:
        i, j = np.nonzero(square < CANCELLED)
        gap = zi[i] - zj[j]
        square[i, j] = np.einsum("nd,nd->n", gap, gap)
    return square
