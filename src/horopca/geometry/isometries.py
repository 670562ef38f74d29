"""Isometries of H^d: translations and reflections of points and of ideal points, their matrices, and frames.

A translation along an axis is diagonal in light-cone coordinates, where nothing cancels at any radius. As a matrix (a boost) it
is faster for many points, but loses digits in proportion to its entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Array, array_namespace, dot, from_numpy, is_numpy, norm, unit
from .hyperboloid import at_origin, light_cone
from .models import lift

BOOSTABLE_TIME = 100.0  # Beyond this t = cosh(distance from the origin) a product with a boost cancels too many digits.


def translate(x: Array, m: Array) -> Array:
    """x moved by the translation along the geodesic through the origin and m that takes the origin to m (..., d+1)."""
    n, factor = _axis_and_factor(m)
    return _shifted(_boost(x, n, 1 / factor, 1), x, m)


def translate_to_origin(x: Array, m: Array) -> Array:
    """x moved by the translation that takes m (..., d+1) to the origin; the inverse of `translate`."""
    n, factor = _axis_and_factor(m)
    return _shifted(_boost(x, n, factor, 1), x, -m)


def reflect_to_origin(x: Array, m: Array) -> Array:
    """x under the reflection that exchanges m (d+1,) and the origin (the paper's centring; an inversion of the ball)."""
    n, factor = _axis_and_factor(m)
    return _boost(x, n, factor, -1)


def translate_ideal(q: Array, m: Array) -> Array:
    """Ideal points q (..., d), unit vectors, moved by the translation that takes the origin to m (d+1,)."""
    n, factor = _axis_and_factor(m)
    return _boost_ideal(q, n, 1 / factor)


def translate_ideal_to_origin(q: Array, m: Array) -> Array:
    """Ideal points q (..., d) moved by the translation that takes m (d+1,) to the origin."""
    n, factor = _axis_and_factor(m)
    return _boost_ideal(q, n, factor)


def _axis_and_factor(m: Array) -> tuple[Array, Array]:
    """The unit direction of m (zero at the origin, where the translation is the identity) and e^{radius of m}."""
    return unit(m[..., 1:]), m[..., 0] + norm(m[..., 1:])


def _boost(x: Array, n: Array, factor: Array, side: int) -> Array:
    # a translation along the axis n is diagonal in light-cone coordinates: nothing cancels, at any radius
    xp = array_namespace(x, n)
    r, u = norm(x[..., 1:]), unit(x[..., 1:])
    low, high = light_cone(x, n)
    # the part across the axis from the difference with its nearer end: exactly zero for a point on the axis
    off = xp.where((dot(u, n) > 0)[..., None], u - n, u + n)
    across = r[..., None] * (off - dot(off, n)[..., None] * n)
    if not is_numpy(x):
        s = x[..., 1:]
        across = across + at_origin(s - dot(s, n)[..., None] * n, (r <= 0)[..., None])
    along = side * (high / factor - low * factor) / 2
    return lift(across + along[..., None] * n)


def _shifted(y: Array, x: Array, m: Array) -> Array:
    """y, the points x translated by m. If m is the origin, which has no direction, this adds the gradient in m."""
    if is_numpy(y):
        return y
    shift = m[..., 1:]
    return lift(y[..., 1:] + at_origin(x[..., :1] * shift, (norm(shift) <= 0)[..., None]))


def _boost_ideal(q: Array, n: Array, factor: Array) -> Array:
    low, high = dot(q - n, q - n) / 2 * factor, dot(q + n, q + n) / 2 / factor
    across = q - dot(q, n)[..., None] * n
    return unit(across + ((high - low) / 2)[..., None] * n)


def boost(m: np.ndarray) -> np.ndarray:
    """The matrix (d+1, d+1), symmetric, of the translation that takes the origin to m (d+1,)."""
    s = m[1:]
    L = np.outer(m, m)
    L[1:, 1:] = np.eye(len(s)) + L[1:, 1:] / (1 + m[0])
    L[0], L[:, 0] = m, m
    return L


def boost_to_origin(m: np.ndarray) -> np.ndarray:
    """The matrix (d+1, d+1), symmetric, of the translation that takes m (d+1,) to the origin."""
    return boost(np.concatenate([m[:1], -m[1:]]))


class Frame(NamedTuple):
    """A coordinate frame of H^d: a point that becomes the origin, and axes that become the coordinate axes."""

    mean: np.ndarray  #: (d+1,), becomes the origin
    axes: np.ndarray  #: (d, d), orthonormal rows, become the axes

    def enter(self, x: Array) -> Array:
        """Points (n, d+1) in the coordinates of the frame."""
        moved = translate_to_origin(x, from_numpy(self.mean, x))
        return lift(moved[:, 1:] @ from_numpy(self.axes.T.copy(), x))

    def leave(self, x: Array) -> Array:
        """The points whose coordinates in the frame are x; the inverse of `enter`."""
        return translate(lift(x[:, 1:] @ from_numpy(self.axes, x)), from_numpy(self.mean, x))

    def matrix(self) -> np.ndarray:
        """`enter` as a matrix (d+1, d+1)."""
        L = boost_to_origin(self.mean)
        L[1:] = self.axes @ L[1:]
        return L


def between(old: Frame, new: Frame) -> np.ndarray:
    """The matrix (d+1, d+1) from coordinates in one frame to coordinates in another."""
    # determined by the images of d+1 points: a product of two boosts would lose digits in proportion to their entries
    d = len(old.mean) - 1
    points = lift(np.vstack([np.zeros(d), np.eye(d)]))
    return np.linalg.solve(points, new.enter(old.leave(points))).T
