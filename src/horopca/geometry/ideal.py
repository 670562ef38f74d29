"""Ideal points (directions), their Busemann functions (coordinates) and horospheres.

An ideal point is a unit vector q, shape (..., d): a point of the boundary of the ball, the light-like direction (1, q).
"""

from __future__ import annotations

from ._arrays import Array, array_namespace, unit
from .hyperboloid import inner, light_cone


def ideal_endpoint(x: Array, v: Array) -> Array:
    """The ideal point at the end of the geodesic ray from x in the direction of the tangent vector v."""
    xp = array_namespace(x, v)
    forward = x + v / xp.sqrt(inner(v, v))[..., None]
    return unit(forward[..., 1:])


def busemann(x: Array, q: Array) -> Array:
    """Busemann function of the ideal point q at the points x: 0 at the origin, falling towards q. Shape (...).

    >>> import numpy as np
    >>> from horopca.geometry import to_hyperboloid
    >>> x = to_hyperboloid(np.array([[0.0, 0.0], [0.5, 0.0]]))
    >>> busemann(x, np.array([1.0, 0.0])).round(6)      # log(|q - z|^2 / (1 - |z|^2)) in the ball
    array([ 0.      , -1.098612])
    """
    xp = array_namespace(x, q)
    return xp.log(light_cone(x, q)[0])


def horosphere(q: Array, x: Array) -> tuple[Array, Array]:
    """Centre (..., d) and radius (...) in the Poincaré ball of the horosphere centred at q through x."""
    level = light_cone(x, q)[0]
    size = level / (1 + level)
    return q / (1 + level)[..., None], size
