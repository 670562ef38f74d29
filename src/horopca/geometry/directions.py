"""Directions: tangent vectors, ideal points, their Busemann functions (coordinates) and horospheres.

A tangent vector at x is a vector v of R^{1,d}, shape (..., d+1), with <x, v> = 0. Where x is far out its components are large
compared with its length: at radius r, rounding them is an error of 1e-16 e^r. An ideal point is a unit vector q, shape
(..., d): a point of the boundary of the ball, the light-like direction (1, q).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, array_namespace, dot, is_numpy, norm, unit
from .hyperboloid import gap, inner, light_cone, radius
from .isometries import translate, translate_ideal
from .models import FLAT, to_hyperboloid

FARTHEST_TANGENT = 1e8  # The largest t = cosh(radius) of a point with tangent vectors: they have eight digits there.
UNIT_ERROR = 1e-2  # A unit vector in half precision has a norm this close to 1.
MOST_LOSS = 1e9  # The largest factor by which the rounding of a tangent vector may grow: seven digits are left.


def exp(x: Array, v: Array) -> Array:
    """The exponential map: the point at distance norm(v) from x in the direction of v.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid.
    v : array of shape (..., d + 1)
        Tangent vectors at x: ``inner(x, v)`` is 0.

    Returns
    -------
    array of shape (..., d + 1)
        Raises ValueError if fewer than seven digits of a NumPy array would be right: at radius r a tangent vector is known to
        1e-16 e^r, and the error grows with e^d on the way to a point at distance d.

    See Also
    --------
    log : the inverse

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import exp, origin, radius
    >>> round(float(radius(exp(origin(2), np.array([0.0, 3.0, 4.0])))), 6)
    5.0
    """
    _check_reach(x)
    moved = to_hyperboloid(_carried_to_origin(x, v), "tangent")
    y = translate(moved, x)
    _check_loss(x, y, moved[..., 0])
    return y


def log(x: Array, y: Array) -> Array:
    """The logarithm: the tangent vector at x that leads to y, so that ``exp(x, log(x, y))`` is y.

    Parameters
    ----------
    x, y : arrays of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    array of shape (..., d + 1)
        Its length is the distance of x and y. Raises ValueError for a NumPy array with which `exp` could not reach y.

    See Also
    --------
    exp : the inverse
    distance : the length of the vector

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import exp, log, origin
    >>> y = exp(origin(2), np.array([0.0, 3.0, 4.0]))
    >>> log(origin(2), y).round(6) + 0.0
    array([0., 3., 4.])
    """
    _check_reach(x)
    xp = array_namespace(x, y)
    u = gap(x, y)
    _check_loss(x, y, 1 + u / 2)
    flat = u < FLAT
    safe = xp.where(flat, xp.ones_like(u), u)
    sinh = xp.sqrt(safe) * xp.sqrt(1 + safe / 4)
    ratio = xp.where(flat, 1 - u / 6, 2 * xp.asinh(xp.sqrt(safe) / 2) / sinh)
    # y - cosh(d) x, written with the small numbers y - x and cosh(d) - 1
    return ratio[..., None] * ((y - x) - (u / 2)[..., None] * x)


def transport(x: Array, y: Array, v: Array) -> Array:
    """Parallel transport of tangent vectors along geodesics.

    Parameters
    ----------
    x, y : arrays of shape (..., d + 1)
        Points of the hyperboloid: from x to y.
    v : array of shape (..., d + 1)
        Tangent vectors at x.

    Returns
    -------
    array of shape (..., d + 1)
        Tangent vectors at y.

    See Also
    --------
    exp, log : between points and tangent vectors

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import inner, origin, to_hyperboloid, transport
    >>> v = transport(origin(2), to_hyperboloid(np.array([0.5, 0.0])), np.array([0.0, 3.0, 4.0]))
    >>> round(float(np.sqrt(inner(v, v))), 6)  # lengths are preserved
    5.0
    """
    _check_reach(x, y)
    return v + (inner(y, v) / (2 + gap(x, y) / 2))[..., None] * (x + y)


def _carried_to_origin(x: Array, v: Array) -> Array:
    """Tangent vectors v at x transported to the origin, (..., d), from their space part alone.

    The Minkowski product <v, v> would lose twice as many digits.
    """
    t, s, w = x[..., :1], x[..., 1:], v[..., 1:]
    return w - dot(w, s)[..., None] / (t * (1 + t)) * s


def _check_reach(*points: Array) -> None:
    """Raise ValueError if points are too far out for tangent vectors. NumPy only: a check on a device would block."""
    for x in filter(is_numpy, points):
        if (x[..., 0] > FARTHEST_TANGENT).any():
            raise ValueError(
                f"Tangent vectors need points within radius {np.arccosh(FARTHEST_TANGENT):.3g} of the origin, but one is at "
                f"radius {float(radius(x).max()):.3g}. Move the points towards it with translate_to_origin."
            )


def _check_loss(x: Array, y: Array, cosh: Array) -> None:
    """Raise ValueError if fewer than seven digits of y, at distance d from x, are determined by a tangent vector at x.

    The direction of the vector is known to 1e-16 t(x), so y may be displaced by e = 1e-16 t(x) sinh(d), perpendicular to the
    geodesic. Relative to t(y), the coordinates of y change by e / t(y) through the part across the ray from the origin to y,
    and by e times the sine of the angle at y through the part along the ray.
    """
    if not is_numpy(x):
        return
    s, u = x[..., 1:], unit(y[..., 1:])
    beside = norm(s - dot(s, u)[..., None] * u)  # sinh(d) times the sine of the angle at y, by the law of sines
    if (loss := x[..., 0] * (cosh / y[..., 0] + beside)).max(initial=0) > MOST_LOSS:
        k = np.unravel_index(loss.argmax(), loss.shape)
        r, d = (float(np.arccosh(np.broadcast_to(a, loss.shape)[k])) for a in (x[..., 0], cosh))
        raise ValueError(
            f"A tangent vector at radius {r:.3g} determines this point at distance {d:.3g} to fewer than seven digits. "
            "Move both points towards the origin with translate_to_origin."
        )


def _check_unit(q: Array) -> None:
    """Raise ValueError if ideal points are not unit vectors. NumPy only: a check on a device would block."""
    if not is_numpy(q):
        return
    size = norm(q)
    if (far := np.abs(size - 1)).max(initial=0) > UNIT_ERROR:
        raise ValueError(
            f"q must contain ideal points, which are unit vectors, but has a norm of {size.flat[far.argmax()]:.6g}. Divide its "
            "rows by their norms."
        )


def ideal_endpoint(x: Array, v: Array) -> Array:
    """The ideal point at the end of a geodesic ray.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid, where the rays begin.
    v : array of shape (..., d + 1)
        Tangent vectors at x, not 0.

    Returns
    -------
    array of shape (..., d)
        Unit vectors. Raises ValueError for NumPy arrays with a tangent vector 0, or with points beyond radius 19, where tangent
        vectors have fewer than eight digits.

    See Also
    --------
    exp : the points of the ray
    busemann : the coordinate in the direction of an ideal point

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import ideal_endpoint, origin
    >>> ideal_endpoint(origin(2), np.array([0.0, 3.0, 4.0]))
    array([0.6, 0.8])
    """
    _check_reach(x)
    at_origin = unit(_carried_to_origin(x, v))
    if is_numpy(v) and not (norm(at_origin) > 0).all():  # also raised for NaN
        raise ValueError("v must contain tangent vectors that are not 0: a zero vector has no direction.")
    return translate_ideal(at_origin, x)


def busemann(x: Array, q: Array) -> Array:
    """The Busemann function of an ideal point: 0 at the origin, falling towards the ideal point.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid.
    q : array of shape (..., d)
        Ideal points, unit vectors. NumPy arrays are checked.

    Returns
    -------
    array of shape (...)

    See Also
    --------
    horosphere : the level sets
    horopca.projections.horospherical_projection : keeps the Busemann functions of K ideal points

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import busemann, to_hyperboloid
    >>> x = to_hyperboloid(np.array([[0.0, 0.0], [0.5, 0.0]]))
    >>> busemann(x, np.array([1.0, 0.0])).round(6)  # in the ball, log(|q - z|^2 / (1 - |z|^2))
    array([ 0.      , -1.098612])
    """
    _check_unit(q)
    xp = array_namespace(x, q)
    return xp.log(light_cone(x, q)[0])


def horosphere(q: Array, x: Array) -> tuple[Array, Array]:
    """The horosphere centred at an ideal point and through a point, a sphere in the Poincaré ball.

    Parameters
    ----------
    q : array of shape (..., d)
        Ideal points, unit vectors.
    x : array of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    centre : array of shape (..., d)
        The Euclidean centre in the Poincaré ball.
    radius : array of shape (...)
        The Euclidean radius.

    See Also
    --------
    busemann : constant on a horosphere
    horopca.plots.plot_horocycles : draws them in the disk

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import horosphere, origin
    >>> horosphere(np.array([1.0, 0.0]), origin(2))
    (array([0.5, 0. ]), np.float64(0.5))
    """
    _check_unit(q)
    level: Any = light_cone(x, q)[0]
    return q / (1 + level)[..., None], level / (1 + level)
