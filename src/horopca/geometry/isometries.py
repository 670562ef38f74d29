"""Isometries of H^d: translations and reflections of points and of ideal points, their matrices, and frames.

A translation along an axis is diagonal in light-cone coordinates, where nothing cancels at any radius. As a matrix (a boost) it
is faster for many points, but loses digits in proportion to its entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Array, array_namespace, concat_time, dot, from_numpy, is_numpy, norm, unit
from .hyperboloid import at_origin, light_cone
from .models import lift

BOOSTABLE_TIME = 100.0  # Beyond this t = cosh(distance from the origin) a product with a boost cancels too many digits.


def translate(x: Array, m: Array) -> Array:
    """Translation along the geodesic through the origin and m, which takes the origin to m.

    Parameters
    ----------
    x, m : arrays of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    translate_to_origin : the inverse
    align : the isometry that takes one set of points nearest to another

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import origin, to_hyperboloid, translate
    >>> m = to_hyperboloid(np.array([0.5, 0.0]))
    >>> translate(origin(2), m).round(3)
    array([1.667, 1.333, 0.   ])
    """
    xp, s = array_namespace(x, m), x[..., 1:]
    n, factor = unit(m[..., 1:]), m[..., 0] + norm(m[..., 1:])  # the direction of m, or 0 at the origin; e^{radius of m}
    r, u = norm(s), unit(s)
    low, high = light_cone(x, n)
    # the part across the axis from the difference with its nearer end: exactly zero for a point on the axis
    off = xp.where((dot(u, n) > 0)[..., None], u - n, u + n)
    moved = r[..., None] * (off - dot(off, n)[..., None] * n) + ((high * factor - low / factor) / 2)[..., None] * n
    if is_numpy(x):
        return lift(moved)
    # gradients where x or m is the origin, which has no direction
    moved = moved + at_origin(s - dot(s, n)[..., None] * n, (r <= 0)[..., None])
    return lift(moved + at_origin(x[..., :1] * m[..., 1:], (norm(m[..., 1:]) <= 0)[..., None]))


def translate_to_origin(x: Array, m: Array) -> Array:
    """Translation that takes m to the origin; the inverse of `translate`.

    Parameters
    ----------
    x, m : arrays of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    translate : the inverse

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import to_hyperboloid, translate_to_origin
    >>> m = to_hyperboloid(np.array([0.5, 0.0]))
    >>> translate_to_origin(m, m).round(6) + 0.0
    array([1., 0., 0.])
    """
    return translate(x, _opposite(m))


def reflect_to_origin(x: Array, m: Array) -> Array:
    """The reflection that exchanges m and the origin. The paper centres data with it; in the ball it is an inversion.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid.
    m : array of shape (d + 1,)
        A point of the hyperboloid.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    translate_to_origin : a translation that takes m to the origin

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import origin, reflect_to_origin, to_hyperboloid
    >>> m = to_hyperboloid(np.array([0.5, 0.0]))
    >>> reflect_to_origin(np.array([m, origin(2)]), m).round(3) + 0.0
    array([[1.   , 0.   , 0.   ],
           [1.667, 1.333, 0.   ]])
    """
    s, n = translate_to_origin(x, m)[..., 1:], unit(m[..., 1:])
    return lift(s - 2 * dot(s, n)[..., None] * n)


def translate_ideal(q: Array, m: Array) -> Array:
    """Ideal points q (..., d), unit vectors, moved by the translation that takes the origin to m (..., d+1)."""
    size = norm(m[..., 1:])
    n, factor = unit(m[..., 1:]), m[..., 0] + size
    low, high = dot(q - n, q - n) / 2 / factor, dot(q + n, q + n) / 2 * factor
    moved = q - dot(q, n)[..., None] * n + ((high - low) / 2)[..., None] * n
    if is_numpy(q):
        return unit(moved)
    return unit(moved + at_origin(m[..., 1:], (size <= 0)[..., None]))  # the gradient where m is the origin


def translate_ideal_to_origin(q: Array, m: Array) -> Array:
    """Ideal points q (..., d) moved by the translation that takes m (d+1,) to the origin."""
    return translate_ideal(q, _opposite(m))


def _opposite(m: Array) -> Array:
    """The point opposite to m, to which the inverse of the translation takes the origin."""
    return concat_time(m[..., 0], -m[..., 1:])


def boosted(V: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Rows V (..., d+1) of R^{1,d} under the translation that takes the origin to m (..., d+1): V times a symmetric matrix."""
    time, space = V[..., 0], V[..., 1:]
    along = np.einsum("...i,...i", space, m[..., 1:])
    return concat_time(time * m[..., 0] + along, space + (time + along / (1 + m[..., 0]))[..., None] * m[..., 1:])


def boosted_to_origin(V: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Rows V (..., d+1) of R^{1,d} under the translation that takes m (d+1,) to the origin."""
    return boosted(V, _opposite(m))


class Frame(NamedTuple):
    """A coordinate frame of H^d: a point that becomes the origin, and axes that become the coordinate axes."""

    mean: np.ndarray  #: (d+1,), becomes the origin
    axes: np.ndarray  #: (d, d), orthonormal rows, become the axes

    @classmethod
    def at(cls, mean: np.ndarray) -> Frame:
        """The frame at a point (d+1,) with the coordinate axes: the translation that takes the point to the origin."""
        return cls(mean, np.eye(len(mean) - 1))

    def enter(self, x: Array) -> Array:
        """Points (n, d+1) in the coordinates of the frame."""
        moved = translate_to_origin(x, from_numpy(self.mean, x))
        return lift(moved[:, 1:] @ from_numpy(self.axes.T, x))

    def leave(self, x: Array) -> Array:
        """The points whose coordinates in the frame are x; the inverse of `enter`."""
        return translate(lift(x[:, 1:] @ from_numpy(self.axes, x)), from_numpy(self.mean, x))

    def matrix(self) -> np.ndarray:
        """`enter` as a matrix (d+1, d+1)."""
        rows = np.eye(len(self.mean))
        rows[1:, 1:] = self.axes
        return boosted_to_origin(rows, self.mean)


def change_of_frame(old: Frame, new: Frame) -> np.ndarray:
    """The matrix (d+1, d+1) from coordinates in one frame to coordinates in another."""
    # determined by the images of d+1 points: a product of two boosts would lose digits in proportion to their entries
    d = len(old.mean) - 1
    images = new.enter(old.leave(lift(np.vstack([np.zeros(d), np.eye(d)]))))
    images[1:] -= np.sqrt(2) * images[0]  # the points are (1, 0) and (sqrt(2), e_i)
    return images.T
