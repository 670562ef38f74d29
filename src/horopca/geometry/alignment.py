"""The isometry that takes one cloud of points nearest to another: Procrustes' problem in hyperbolic space.

*In closed form.* For points x_i and y_i of the hyperboloid and weights w_i we look for the isometry g that minimises
sum w_i cosh d(g x_i, y_i). This is linear in g, and depends on the points through the matrix M = sum w_i y_i x_i^T alone. With
J = diag(-1, 1, .., 1) the operator T = -M J takes the future cone into itself, hence (Perron) it has a singular value
decomposition for the *Minkowski* form: Lorentz-orthonormal frames e and f with T e_0 = s_0 f_0, T e_k = -s_k f_k, and
s_0 >= s_k >= 0. The sum at g is then s_0 h_00 - s_1 h_11 - .. with h the matrix of g in these frames; a boost of rapidity r
in h adds at least (cosh r - 1)(s_0 - s_1) >= 0, and no rotation lowers it, so g: e -> f is the *global* minimum. (Matching
the centroids and then rotating about them is not optimal, unless the clouds are isometric.)

*In float64.* In M, contributions of near points are lost among those of far points. Both clouds are therefore translated so
that e_0 and f_0 become the origin, and the closed form is applied again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import Array, array_namespace, as_floats, dot, from_numpy, to_numpy
from ._points import as_weights
from .hyperboloid import distance, origin
from .isometries import Frame, boosted, translate, translate_to_origin
from .models import lift, on_hyperboloid

ROUNDS = 3  # How often the closed form is applied: each round translates the clouds by the last result, which restores digits.
LEAST_SQUARES_STEPS = 200  # The largest number of weighted problems for least squares; tens are usual.
LEAST_GAIN = 1e-8  # The search for least squares has converged if a step lowers the sum by a smaller fraction.
FARTHEST = 175.0  # The largest radius of a point: the product of the coordinates of two does not overflow.


class Alignment(NamedTuple):
    """An isometry of H^d, returned by `align`: it takes the point ``here`` to ``there``, and turns space about it.

    The rotation ``turn`` acts on tangent vectors transported to the origin along geodesics, so it is as accurate for points far
    from the origin as for points around it.
    """

    here: np.ndarray  #: (d+1,), a point
    turn: np.ndarray  #: (d, d), a rotation, or a reflection
    there: np.ndarray  #: (d+1,), the image of `here`

    def move(self, x: Array) -> Array:
        """Points (n, d+1) under the isometry."""
        return translate(Frame(self.here, self.turn).enter(x), from_numpy(self.there, x))

    def matrix(self) -> np.ndarray:
        """`move` as a matrix (d+1, d+1) that multiplies columns."""
        return boosted(Frame(self.here, self.turn).matrix().T, self.there).T


def align(x: Array, y: Array, weights: Array | None = None, *, squares: bool = False) -> Alignment:
    """The isometry that takes points x nearest to points y, row by row.

    Parameters
    ----------
    x, y : arrays of shape (n, d + 1)
        The same number of points of the hyperboloid, within radius 175 of the origin.
    weights : array of shape (n,), optional
        Non-negative weights of the pairs; equal by default.
    squares : bool, default=False
        Whether to minimise the sum of squared distances rather than of cosh(distance), whose global minimum has a closed form.
        Squared distances give less weight to pairs that are far apart. They are minimised by a sequence of such problems, each
        with the weights distance / sinh(distance) of the one before. No step increases the sum (a squared distance is a concave
        function of its cosh), and the result is a local minimum.

    Returns
    -------
    Alignment
        ``align(x, y).move(x)`` is closest to y. It may be a reflection. If the points do not determine it (a single point,
        points on a geodesic) it is one of the optima.

    See Also
    --------
    translate : a translation along one geodesic
    horopca.plots.plot_comparison : draws aligned pictures side by side

    Examples
    --------
    >>> x = lift(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> y = translate(x, lift(np.array([3.0, 4.0])))
    >>> bool(abs(align(x, y).move(x) - y).max() < 1e-12)
    True
    """
    x, y, w = _validate(x, y, weights)
    found = _closed_form(x, y, w)
    if not squares:
        return found
    xp, before, best = array_namespace(x), np.inf, found
    tiny = float(xp.finfo(x.dtype).smallest_normal)  # so that d / sinh(d) is 1 where d is 0
    for _ in range(LEAST_SQUARES_STEPS):
        d = distance(found.move(x), y)
        total = float(xp.sum(w * d * d))
        if not total < before * (1 - LEAST_GAIN):
            break
        before, best = total, found
        reweighted = w * (d + tiny) / xp.sinh(d + tiny)
        found = _closed_form(x, y, reweighted / xp.sum(reweighted))
    return best


def _validate(x: Any, y: Any, weights: Any) -> tuple[Array, Array, Array]:
    """Points with positive weights, and these weights normalised to sum 1. Raises ValueError if they are not valid."""
    x, y = as_floats(x, "x"), as_floats(y, "y")
    if x.ndim != 2 or x.shape != y.shape or not x.shape[0] or x.shape[1] < 2:
        raise ValueError(
            f"x and y must be points (n, d+1) that correspond row by row, but have shapes {tuple(x.shape)} and "
            f"{tuple(y.shape)}."
        )
    xp = array_namespace(x, y)
    w = xp.ones_like(x[:, 0]) if weights is None else from_numpy(as_weights(weights, x.shape[0]), x)
    counted = w > 0
    for name, side in (("x", to_numpy(x)), ("y", to_numpy(y))):
        bad = (to_numpy(counted) > 0) & ~(on_hyperboloid(side) & (side[:, 0] <= np.cosh(FARTHEST)))
        if bad.any():
            raise ValueError(
                f"{name} must hold points of the hyperboloid (time first) within radius {FARTHEST:g} of the origin, but row "
                f"{bad.argmax()} is {side[bad.argmax()]!s:.60}. Convert points of other models with to_hyperboloid; move those "
                "that are too far out with translate_to_origin, or leave them out."
            )
    return x[counted], y[counted], w[counted] / xp.sum(w)


def _closed_form(x: Array, y: Array, w: Array) -> Alignment:
    """The minimum of the sum of cosh(distance)."""
    identity = np.eye(x.shape[1] - 1)
    found = Alignment(_centroid(x, w), identity, _centroid(y, w))
    for _ in range(ROUNDS):
        e, f = _singular_pair(_moments(found, x, y, w))
        found = Alignment(to_numpy(translate(e, found.here)), identity, to_numpy(translate(f, found.there)))
    left, _, right = np.linalg.svd(_moments(found, x, y, w)[1:, 1:])
    return found._replace(turn=left @ right)


def _centroid(x: Array, w: Array) -> np.ndarray:
    """The point that minimises the sum of cosh(distance): the weighted mean of x, rescaled to the hyperboloid."""
    m = to_numpy(w @ x)
    size = float(np.linalg.norm(m[1:]))
    # -<m, m> is the mean of cosh d over pairs, at least 1: for points far from the origin rounding would make it less
    return lift(m[1:] / np.sqrt(max((m[0] - size) * (m[0] + size), 1.0)))


def _moments(found: Alignment, x: Array, y: Array, w: Array) -> np.ndarray:
    """M = sum w b a^T (d+1, d+1) of the clouds a, b as seen from their centres."""
    a, b = (translate_to_origin(p, from_numpy(m, p)) for p, m in ((x, found.here), (y, found.there)))
    return to_numpy((w[:, None] * b).T @ a)


def _singular_pair(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points e_0, f_0 (d+1,) of the largest Minkowski singular value of -M J; origins where rounding hides them."""
    J = np.ones(len(M))
    J[0] = -1
    T = -M / M[0, 0] * J
    sizes, vectors = np.linalg.eig((J[:, None] * T.T * J) @ T)
    e = np.real(vectors[:, np.argmax(np.abs(sizes))])
    e = e * np.sign(e[0])
    pair = np.stack([e, T @ e])
    squares = pair[:, 0] ** 2 - dot(pair[:, 1:], pair[:, 1:])
    if squares.min() <= 1e-9:  # the vectors have lengths near 1, so they are light-like to rounding and determine no points
        return origin(len(M) - 1), origin(len(M) - 1)
    e, f = lift(pair[:, 1:] / np.sqrt(squares)[:, None])
    return e, f
