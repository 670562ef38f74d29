"""Points and geodesics of H^d on the hyperboloid, at curvature -1.

A point is x = (t, s), shape (..., d+1), time first, with t = sqrt(1 + |s|^2); a tangent vector at x is v in R^{1,d}
with <x, v> = 0 for the Minkowski form <x, y> = -t t' + s.s'. Leading axes broadcast.

Far from the origin the Minkowski form is a difference of large numbers. Distances and isometries avoid it: they are written in
the radius |s| and the direction s/|s|, where every term is positive. Tangent vectors are in ambient coordinates, which are
large: the relative error of `exp`, `log` and `transport` is about 1e-16 e^{2 radius}.

For libraries with automatic differentiation (torch, JAX) gradients are finite everywhere: the gradient of the distance between
coinciding points is 0, and `at_origin` supplies the gradient at the origin, where polar coordinates have none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from ._arrays import AnyArray, Array, array_namespace, dot, finite_root, is_numpy, is_torch, norm, unit
from .models import FLAT, cosh_and_ratio, lift

CLOSE = 1e-4  # Below this d, two terms of the series of sinh(f d) / sinh(d) are exact, and their gradients do not cancel.
BLOCK_ELEMENTS = 1 << 16  # The entries of a block of distances: its temporaries stay in a core's cache.
DEVICE_ELEMENTS = 1 << 22  # The entries on an accelerator, where launching a kernel costs more than a small block.


def origin(d: int) -> np.ndarray:
    """The point (1, 0, ..., 0) of H^d."""
    point = np.zeros(d + 1)
    point[0] = 1.0
    return point


def inner(x: Array, y: Array) -> Array:
    """Minkowski form <x, y>, shape (...)."""
    return dot(x[..., 1:], y[..., 1:]) - x[..., 0] * y[..., 0]


def radius(x: Array) -> Array:
    """Distance from the origin, shape (...)."""
    xp = array_namespace(x)
    return xp.asinh(norm(x[..., 1:]))


def gap(x: Array, y: Array) -> Array:
    """4 sinh^2(d(x, y) / 2) = <x - y, x - y>, shape (...)."""
    # in polar coordinates (r = |s|, u = s/r) this is a sum of squares:
    #   4 sinh^2((rho - rho')/2) + r r' |u - u'|^2,  the first term again without a transcendental function
    t, r, u = polar(x)
    t_y, r_y, u_y = polar(y)
    turn = u - u_y
    square = polar_gap(t, r, t_y, r_y, dot(turn, turn))
    if is_numpy(x):  # which has no gradients
        return square
    return square - 2 * at_origin(dot(x[..., 1:], y[..., 1:]), (r <= 0) | (r_y <= 0))


def polar_gap(t: Array, r: Array, t_y: Array, r_y: Array, turn: Array) -> Array:
    """The same from the parts of `polar` and the squared differences `turn` of the directions."""
    away = r - r_y
    return 2 * away * away / (1 + t * t_y + r * r_y) + r * r_y * turn


def at_origin(linear: Array, there: AnyArray) -> Array:
    """Zeros with the gradient of `linear` where s is 0, and zeros elsewhere: |s| and s/|s| have no gradient there."""
    xp = array_namespace(linear)
    return xp.where(there, linear, xp.zeros_like(linear))


def polar(x: Array) -> tuple[Array, Array, Array]:
    """The time t, the length r = |s| and the direction s / r (0 at the origin), shapes (...), (...) and (..., d)."""
    s = x[..., 1:]
    return x[..., 0], norm(s), unit(s)


def distance(x: Array, y: Array) -> Array:
    """Geodesic distance, shape (...).

    >>> x, y = lift(np.array([0.0, 0.0])), lift(np.array([3.0, 4.0]))
    >>> round(float(distance(x, y)), 6), round(float(np.arcsinh(5.0)), 6)
    (2.312438, 2.312438)
    """
    xp = array_namespace(x, y)
    return 2 * xp.asinh(finite_root(gap(x, y)) / 2)


def pairwise_distance(x: Array, y: Array | None = None) -> Array:
    """All distances between the points x (n, d+1) and y (m, d+1), shape (n, m); y = x by default."""
    xp = array_namespace(x)
    return xp.concat([block for _, block in distance_blocks(x, y)], axis=0)


def distance_blocks(x: Array, y: Array | None = None) -> Iterator[tuple[slice, Array]]:
    """The matrix of `pairwise_distance` in blocks of whole rows: pairs (rows, distances of those rows to all of y)."""
    xp = array_namespace(x)
    t, r, u = polar(x)
    t_y, r_y, u_y = (t, r, u) if y is None else polar(y)
    s, s_y = x[:, 1:], (x if y is None else y)[:, 1:]
    elements = BLOCK_ELEMENTS if str(x.device) == "cpu" else DEVICE_ELEMENTS
    step = max(1, elements // max(1, r_y.shape[0]))
    for start in range(0, r.shape[0], step):
        rows = slice(start, min(start + step, r.shape[0]))
        turn = squared_differences(u[rows, :], u_y)
        block = polar_gap(t[rows, None], r[rows, None], t_y[None, :], r_y[None, :], turn)
        if not is_numpy(x):  # which may have gradients
            block = block - 2 * at_origin(s[rows, :] @ s_y.T, (r[rows, None] <= 0) | (r_y[None, :] <= 0))
        yield rows, 2 * xp.asinh(finite_root(block) / 2)


def squared_differences(u: Array, v: Array) -> Array:
    """|u_i - v_j|^2 for vectors u (n, d) and v (m, d), shape (n, m)."""
    # explicit differences: through the Gram matrix two close directions would lose half their digits
    xp = array_namespace(u, v)
    if is_numpy(u):
        return xp.asarray(cdist(u, v, "sqeuclidean"))
    if is_torch(u):  # whose gradient is 0 for coinciding directions, as required
        return xp.cdist(u, v, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    total = xp.zeros_like(u[:, :1] + v[:, :1].T)
    for k in range(u.shape[1]):
        turn = u[:, None, k] - v[None, :, k]
        total = total + turn * turn
    return total


def exp(x: Array, v: Array) -> Array:
    """The point at distance |v| from x in the direction of the tangent vector v."""
    cosh, ratio = cosh_and_ratio(_positive(inner(v, v)))
    return lift(cosh[..., None] * x[..., 1:] + ratio[..., None] * v[..., 1:])


def log(x: Array, y: Array) -> Array:
    """The tangent vector at x that leads to y: exp(x, log(x, y)) = y."""
    xp = array_namespace(x, y)
    u = gap(x, y)
    flat = u < FLAT
    safe = xp.where(flat, xp.ones_like(u), u)
    sinh = xp.sqrt(safe) * xp.sqrt(1 + safe / 4)
    ratio = xp.where(flat, 1 - u / 6, 2 * xp.asinh(xp.sqrt(safe) / 2) / sinh)
    # y - cosh(d) x, written with the small numbers y - x and cosh(d) - 1
    return ratio[..., None] * ((y - x) - (u / 2)[..., None] * x)


def transport(x: Array, y: Array, v: Array) -> Array:
    """Parallel transport of the tangent vector v from x to y along their geodesic."""
    return v + (inner(y, v) / (2 + gap(x, y) / 2))[..., None] * (x + y)


def geodesic(x: Array, y: Array, fraction: Array | float) -> Array:
    """The point a `fraction` of the way from x to y (beyond them outside [0, 1])."""
    xp = array_namespace(x, y)
    d = distance(x, y)
    fraction = fraction + xp.zeros_like(d)
    d = d + xp.zeros_like(fraction)
    close = d < CLOSE
    safe = xp.where(close, xp.ones_like(d), d)
    near, far = (
        xp.where(close, part * (1 + (part * part - 1) * d * d / 6), xp.sinh(part * safe) / xp.sinh(safe))
        for part in (1 - fraction, fraction)
    )
    return lift(near[..., None] * x[..., 1:] + far[..., None] * y[..., 1:])


def light_cone(x: Array, n: Array) -> tuple[Array, Array]:
    """(t - s.n, t + s.n) for a unit vector n: exp of the Busemann functions of n and -n, without cancellation."""
    t, r, u = polar(x)
    toward, against = u - n, u + n
    base = 1 / (t + r)  # e^{-radius}
    low, high = base + r * dot(toward, toward) / 2, base + r * dot(against, against) / 2
    if is_numpy(x):
        return low, high
    linear = at_origin(dot(x[..., 1:], n), r <= 0)
    return low - linear, high + linear


def _positive(a: Array) -> Array:
    xp = array_namespace(a)
    return xp.where(a > 0, a, xp.zeros_like(a))
