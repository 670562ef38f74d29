"""Points and geodesics of H^d on the hyperboloid, at curvature -1.

A point is x = (t, s), shape (..., d+1), time first, with t = sqrt(1 + |s|^2); a tangent vector at x is v in R^{1,d}
with <x, v> = 0 for the Minkowski form <x, y> = -t t' + s.s'. Leading axes broadcast.

Far from the origin the Minkowski form is a difference of large numbers. Distances and isometries avoid it: they are written in
the radius |s| and the direction s/|s|, where every term is positive. Coordinates keep their relative precision up to radius
350; but at radius r a rounding error of 1e-16 in the direction is a distance of 1e-16 e^r.

For libraries with automatic differentiation (torch, JAX) gradients are finite everywhere: the gradient of the distance between
coinciding points is 0, and `at_origin` supplies the gradient at the origin, where polar coordinates have none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from ._arrays import Array, array_namespace, dot, finite_root, is_numpy, is_torch, norm, on_host, row_slices, unit
from .models import lift

CLOSE = 1e-4  # Below this d, two terms of the series of sinh(f d) / sinh(d) are exact, and their gradients do not cancel.
BLOCK_ELEMENTS = 1 << 16  # The entries of a block of distances: its temporaries stay in a core's cache.
DEVICE_BLOCK_ELEMENTS = 1 << 22  # The entries on an accelerator, where launching a kernel costs more than a small block.


def origin(d: int) -> np.ndarray:
    """The point (1, 0, ..., 0) of H^d.

    Parameters
    ----------
    d : int
        The dimension.

    Returns
    -------
    array of shape (d + 1,)

    See Also
    --------
    radius : the distance from it

    Examples
    --------
    >>> from horopca.geometry import origin
    >>> origin(2)
    array([1., 0., 0.])
    """
    point = np.zeros(d + 1)
    point[0] = 1.0
    return point


def inner(x: Array, y: Array) -> Array:
    """The Minkowski form <x, y> = -x_0 y_0 + x_1 y_1 + ... + x_d y_d.

    Parameters
    ----------
    x, y : arrays of shape (..., d + 1)
        Vectors of R^{1,d}, time first.

    Returns
    -------
    array of shape (...)
        For points of the hyperboloid, -cosh of their distance.

    See Also
    --------
    distance : accurate for points that are close together or far out

    Examples
    --------
    >>> from horopca.geometry import inner, origin
    >>> float(inner(origin(2), origin(2)))
    -1.0
    """
    return dot(x[..., 1:], y[..., 1:]) - x[..., 0] * y[..., 0]


def radius(x: Array) -> Array:
    """The distance from the origin.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    array of shape (...)

    See Also
    --------
    distance : between any two points

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import radius, to_hyperboloid
    >>> radius(to_hyperboloid(np.array([[0.0, 0.0], [0.5, 0.0]]))).round(6)
    array([0.      , 1.098612])
    """
    xp = array_namespace(x)
    return xp.asinh(norm(x[..., 1:]))


def gap(x: Array, y: Array) -> Array:
    """4 sinh^2(d(x, y) / 2) = <x - y, x - y>, shape (...)."""
    # in polar coordinates (r = |s|, u = s/r) this is a sum of squares:
    #   4 sinh^2((rho - rho')/2) + r r' |u - u'|^2,   rho = asinh(r);
    # `polar_gap` writes the first term as a fraction, without transcendental functions
    t, r, u = polar(x)
    t_y, r_y, u_y = polar(y)
    turn = u - u_y
    square = polar_gap(t, r, t_y, r_y, dot(turn, turn))
    if is_numpy(x):  # which has no gradients
        return square
    return square - 2 * at_origin(dot(x[..., 1:], y[..., 1:]), (r <= 0) | (r_y <= 0))


def polar_gap(t: Array, r: Array, t_y: Array, r_y: Array, turn: Array) -> Array:
    """`gap` from times t and lengths r, as `polar` returns them, and the squared differences `turn` of the directions."""
    away = r - r_y
    return 2 * away * away / (1 + t * t_y + r * r_y) + r * r_y * turn


def at_origin(linear: Array, there: Array) -> Array:
    """`linear` at the points `there`, whose s is 0, and zero elsewhere. It adds 0, and the gradient that |s| and s/|s| lack."""
    xp = array_namespace(linear)
    return xp.where(there, linear, xp.zeros_like(linear))


def polar(x: Array) -> tuple[Array, Array, Array]:
    """The time t, the length r = |s| and the direction s / r (0 at the origin), shapes (...), (...) and (..., d)."""
    s = x[..., 1:]
    return x[..., 0], norm(s), unit(s)


def distance(x: Array, y: Array) -> Array:
    """The geodesic distance.

    Parameters
    ----------
    x, y : arrays of shape (..., d + 1)
        Points of the hyperboloid.

    Returns
    -------
    array of shape (...)

    See Also
    --------
    pairwise_distance : all distances between two sets of points
    radius : the distance from the origin

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import distance, lift
    >>> x, y = lift(np.array([0.0, 0.0])), lift(np.array([3.0, 4.0]))
    >>> round(float(distance(x, y)), 6), round(float(np.arcsinh(5.0)), 6)
    (2.312438, 2.312438)
    """
    xp = array_namespace(x, y)
    return 2 * xp.asinh(finite_root(gap(x, y)) / 2)


def pairwise_distance(x: Array, y: Array | None = None) -> Array:
    """All distances between the points of one or two sets.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    y : array of shape (m, d + 1), optional
        Other points; x by default.

    Returns
    -------
    array of shape (n, m)

    See Also
    --------
    distance : row by row
    horopca.neighbors.HyperbolicNeighbors : the nearest points only

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import pairwise_distance, to_hyperboloid
    >>> pairwise_distance(to_hyperboloid(np.array([[0.0], [0.5], [-0.5]]))).round(3)
    array([[0.   , 1.099, 1.099],
           [1.099, 0.   , 2.197],
           [1.099, 2.197, 0.   ]])
    """
    y = x if y is None else y
    xp = array_namespace(x, y)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(
            f"x and y must be matrices (n, d+1) and (m, d+1) of points, but have shapes {tuple(x.shape)} and {tuple(y.shape)}."
        )
    blocks = [block for _, block in distance_blocks(x, y)]
    return xp.concat(blocks, axis=0) if blocks else x[:, :1] @ y[:, :1].T  # of shape (0, m)


def distance_blocks(x: Array, y: Array | None = None) -> Iterator[tuple[slice, Array]]:
    """The matrix of `pairwise_distance` in blocks of whole rows: pairs (rows, distances of those rows to all of y)."""
    xp = array_namespace(x)
    t, r, u = polar(x)
    t_y, r_y, u_y = (t, r, u) if y is None else polar(y)
    s, s_y = x[:, 1:], (x if y is None else y)[:, 1:]
    elements = BLOCK_ELEMENTS if on_host(x) else DEVICE_BLOCK_ELEMENTS
    step = max(1, elements // max(1, r_y.shape[0]))
    for rows in row_slices(r.shape[0], step):
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
    if is_torch(u) and u.element_size() > 2:  # its gradient is 0 for coinciding directions, as required
        return xp.cdist(u, v, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    total = xp.zeros_like(u[:, :1] + v[:, :1].T)
    for k in range(u.shape[1]):
        turn = u[:, None, k] - v[None, :, k]
        total = total + turn * turn
    return total


def geodesic(x: Array, y: Array, fraction: Array | float) -> Array:
    """Points on the geodesic through two points.

    Parameters
    ----------
    x, y : arrays of shape (..., d + 1)
        Points of the hyperboloid.
    fraction : float or array of shape (...)
        How far from x to y: 0 is x, 1 is y, and numbers outside [0, 1] lie beyond them.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    horopca.plots.plot_geodesics : draws geodesics

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import geodesic, to_hyperboloid
    >>> ends = to_hyperboloid(np.array([[0.0, 0.5], [0.0, -0.5]]))
    >>> geodesic(*ends, 0.5).round(6) + 0.0  # the midpoint
    array([1., 0., 0.])
    """
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
