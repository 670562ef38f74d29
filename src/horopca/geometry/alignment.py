"""The isometry that takes one cloud of points nearest to another: Procrustes' problem in hyperbolic space.

*In closed form.* For points x_i and y_i of the hyperboloid and weights w_i we look for the isometry g that minimises
sum w_i cosh d(g x_i, y_i). This is linear in g, and depends on the points through the matrix M = sum w_i y_i x_i^T alone. With
J = diag(-1, 1, .., 1) the operator T = -M J takes the future cone into itself, hence (Perron) it has a singular value
decomposition for the *Minkowski* form: Lorentz-orthonormal frames e and f with T e_0 = s_0 f_0, T e_k = -s_k f_k, and
s_0 >= s_k >= 0. The sum at g is then s_0 h_00 - s_1 h_11 - .. with h the matrix of g in these frames; a boost of rapidity r
in h adds at least (cosh r - 1)(s_0 - s_1) >= 0, and no rotation lowers it, so g: e -> f is the *global* minimum. (Matching
the centroids and then rotating about them is not optimal, unless the clouds are isometric.)

*In float64.* In M, contributions of near points are lost among those of far points. Both clouds are therefore translated so
that e_0 and f_0 become the origin, and Newton's method refines the answer. Its gradient sum w_i (y_i x_i^T - x_i y_i^T) is
computed in polar coordinates, where nothing cancels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import Array, array_namespace, dot, from_numpy, norm, to_numpy, unit
from .hyperboloid import distance, gap, origin
from .isometries import boost, boost_to_origin, translate, translate_to_origin
from .models import lift

ROUNDS = 3  # How often the closed form is applied, each time to clouds translated by the last result, which restores digits.
POLISHES = 12  # The largest number of Newton steps; four are usual.
DONE = 1e-14  # Newton's method ends if a step changes only the last digits of float64.
UNSURE = 1e-12  # A singular value below this fraction of the largest may be rounding; its orientation is then checked again.
UNDETERMINED = 1e-24  # Moments below this fraction of the largest are rounding; rotations that depend on them are unchanged.
SQUARES = 200  # The largest number of weighted problems for least squares; the decrease is linear, and tens are usual.
NO_POINT = 1e-3  # A larger relative error of the time is not rounding, even in float16.
SETTLED = 1e-8  # Least squares have converged if a step lowers the sum by a smaller fraction.


class Alignment(NamedTuple):
    """An isometry of H^d that takes the point `here` (d+1,) to `there` (d+1,), with a rotation `turn` (d, d).

    The rotation acts on tangent vectors transported to the origin along geodesics, so it is as accurate for clouds far from the
    origin as for those around it.
    """

    here: np.ndarray
    turn: np.ndarray
    there: np.ndarray

    def move(self, x: Array) -> Array:
        """Points (n, d+1) under the isometry."""
        return translate(self._turned(x), from_numpy(self.there, x))

    def back(self, y: Array) -> Array:
        """Points (n, d+1) under its inverse."""
        return Alignment(self.there, self.turn.T, self.here).move(y)

    def matrix(self) -> np.ndarray:
        """`move` as a matrix (d+1, d+1) that multiplies columns."""
        L = boost_to_origin(self.here)
        L[1:] = self.turn @ L[1:]
        return np.asarray(boost(self.there) @ L)

    def _turned(self, x: Array) -> Array:
        seen = translate_to_origin(x, from_numpy(self.here, x))
        return lift(seen[..., 1:] @ from_numpy(self.turn.T.copy(), x))


def align(x: Array, y: Array, weights: Array | None = None, *, reflections: bool = True, squares: bool = False) -> Alignment:
    """The isometry that takes points x nearest to points y, row by row.

    Parameters
    ----------
    x, y : (n, d+1), the same number of points of the hyperboloid
    weights : (n,), non-negative weights of the pairs; equal by default
    reflections : bool, whether the isometry may reverse orientation
    squares : bool, default=False
        Whether to minimise the sum of squared distances rather than of cosh(distance), whose global minimum has a closed form.
        Squared distances give less weight to pairs that are far apart. They are minimised by a sequence of such problems, each
        with the weights distance / sinh(distance) of the one before. No step increases the sum (a squared distance is a concave
        function of its cosh), and the result is a local minimum.

    Returns
    -------
    Alignment
        ``align(x, y).move(x)`` is closest to y. If the points do not determine it (a single point, points on a geodesic) it is
        one of the optima and preserves orientation.

    Examples
    --------
    >>> x = lift(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> y = translate(x, lift(np.array([3.0, 4.0])))
    >>> bool(abs(align(x, y).move(x) - y).max() < 1e-12)
    True
    """
    x, y, w = _checked(x, y, weights)
    found = _closed_form(x, y, w, reflections)
    if not squares:
        return found
    xp, before = array_namespace(x), np.inf
    for _ in range(SQUARES):
        d = distance(found.move(x), y)
        total = float(xp.sum(w * d * d))
        if not total < before * (1 - SETTLED):
            break
        before, best = total, found
        d = d + _tiny(d)  # so that d / sinh(d) is 1 where it is 0
        eased = w * d / xp.sinh(d)
        found = _closed_form(x, y, eased / xp.sum(eased), reflections, found)
    return best


def _checked(x: Any, y: Any, weights: Any) -> tuple[Array, Array, Array]:
    """Validate points and weights, and normalise the weights to sum 1."""
    x, y = (side if hasattr(side, "ndim") else np.asarray(side, dtype=float) for side in (x, y))
    if x.ndim != 2 or x.shape != y.shape or not x.shape[0]:
        raise ValueError(
            f"x and y must be points (n, d+1) that correspond row by row, but have shapes {tuple(x.shape)} and "
            f"{tuple(y.shape)}."
        )
    xp = array_namespace(x, y)
    w = xp.ones_like(x[:, 0]) if weights is None else from_numpy(weights, x)
    if w.shape != (x.shape[0],):
        raise ValueError(f"weights must be one number for each of the {x.shape[0]} points, but have shape {tuple(w.shape)}.")
    total = float(xp.sum(w))
    if not (bool(xp.all(w >= 0)) and 0 < total < np.inf):
        raise ValueError("weights must be finite and non-negative, and not all zero.")
    counted = w > 0
    for name, side in (("x", x), ("y", y)):
        _check_points(name, side, counted)
    return x[counted], y[counted], w[counted] / total


def _check_points(name: str, x: Array, counted: Array) -> None:
    """Raise ValueError if rows (n, d+1) with positive weight are not points of the hyperboloid."""
    xp = array_namespace(x)
    finite = xp.all(xp.isfinite(x), axis=1)
    known = xp.where(finite[:, None], x, xp.ones_like(x))
    off = xp.abs(known[:, 0] - lift(known[:, 1:])[:, 0]) > NO_POINT * xp.abs(known[:, 0])
    bad = np.flatnonzero(to_numpy(counted & (off | ~finite)))
    if len(bad):
        raise ValueError(
            f"{name} must hold points of the hyperboloid, with time² = 1 + |space|² and time first, but row {bad[0]} is "
            f"{to_numpy(x[int(bad[0]), :])!s:.60}. Convert points of other models with to_hyperboloid."
        )


def _closed_form(x: Array, y: Array, w: Array, reflections: bool, start: Alignment | None = None) -> Alignment:
    """The minimum of the sum of cosh(distance). A `start` close to it saves steps and does not change the result."""
    still, rounds, polishes = np.eye(x.shape[1] - 1), ROUNDS, POLISHES
    if start is None:
        found = Alignment(_centroid(x, w), still, _centroid(y, w))
    else:
        found, rounds, polishes = start, 1, 2
    for _ in range(rounds):
        found = found._replace(turn=still)
        e, f = _singular_pair(_moments(found, x, y, w))
        found = Alignment(to_numpy(translate(e, found.here)), still, to_numpy(translate(f, found.there)))
    found = found._replace(turn=_nearest_turn(_moments(found, x, y, w)[1:, 1:], reflections))
    for k in range(polishes):
        before, found = found, _polished(found, x, y, w)
        found = _mirrored(found, x, y, w) if reflections and k == 1 else found
        if k > 1 and np.allclose(found.turn, before.turn, 0, DONE) and np.allclose(found.there, before.there, DONE, DONE):
            break
    return found


def _centroid(x: Array, w: Array) -> np.ndarray:
    """The point that minimises the sum of cosh(distance): the weighted mean of x, brought back on the hyperboloid."""
    m = to_numpy(w @ x)
    size = float(np.linalg.norm(m[1:]))
    # -<m, m> is the mean of cosh d over pairs, at least 1: for points far from the origin rounding would make it less
    return np.asarray(lift(m[1:] / np.sqrt(max((m[0] - size) * (m[0] + size), 1.0))))


def _sides(found: Alignment, x: Array, y: Array) -> tuple[Array, Array]:
    """Both clouds as seen from their centres, the first turned to the second."""
    return found._turned(x), translate_to_origin(y, from_numpy(found.there, y))


def _moments(found: Alignment, x: Array, y: Array, w: Array) -> np.ndarray:
    """M = sum w b a^T (d+1, d+1) of the clouds a, b as seen from their centres."""
    a, b = _sides(found, x, y)
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
    if squares.min() <= 1e-9:  # of vectors of lengths near 1
        return origin(len(M) - 1), origin(len(M) - 1)
    e, f = lift(pair[:, 1:] / np.sqrt(squares)[:, None])
    return e, f


def _nearest_turn(M: np.ndarray, reflections: bool) -> np.ndarray:
    """The orthogonal R (d, d) with the largest tr(R^T M); a rotation if required, or if that loses nothing."""
    left, sizes, right = np.linalg.svd(M)
    sign = np.ones(len(sizes))
    improper = np.linalg.det(left @ right) < 0
    if improper and (not reflections or sizes[-1] <= UNSURE * sizes[0]):
        sign[-1] = -1
    return np.asarray((left * sign) @ right)


def _polished(found: Alignment, x: Array, y: Array, w: Array) -> Alignment:
    """One Newton step, which is diagonal in the principal axes of the moments."""
    a, b = _sides(found, x, y)
    M = to_numpy((w[:, None] * b[:, 1:]).T @ a[:, 1:])
    axes = np.linalg.eigh(M + M.T)[1]
    # in these axes small and large moments are separate, so their sums do not cancel
    a, b = (lift(side[:, 1:] @ from_numpy(axes, side)) for side in (a, b))
    inside, (boosts, turns) = to_numpy(w @ (a[:, 1:] * b[:, 1:])), _skew(a, b, w)
    # M_00 - M_kk without their cancellation: the mean of cosh d and the moments along the other axes
    level = 1 + float(to_numpy(w @ gap(a, b))) / 2 + inside.sum()
    shift = axes @ (boosts / (level - inside))
    stiff = inside[:, None] + inside
    firm = np.abs(stiff) > UNDETERMINED * np.abs(inside).max()
    omega = axes @ np.divide(turns, stiff, out=np.zeros_like(stiff), where=firm) @ axes.T
    left, _, right = np.linalg.svd(np.eye(len(omega)) + omega)
    return Alignment(found.here, np.asarray(left @ right @ found.turn), to_numpy(translate(lift(-shift), found.there)))


def _mirrored(found: Alignment, x: Array, y: Array, w: Array) -> Alignment:
    """The same with a reflection along the axis of the smallest moment, if that is better."""
    a, b = _sides(found, x, y)
    M = to_numpy((w[:, None] * b[:, 1:]).T @ a[:, 1:])
    sizes, axes = np.linalg.eigh(M + M.T)
    thin = axes[:, 0]
    along = [side[:, 1:] @ from_numpy(thin, side) for side in (a, b)]
    if float(to_numpy(w @ (along[0] * along[1]))) >= -UNDETERMINED * sizes[-1]:
        return found
    return found._replace(turn=found.turn - 2 * np.outer(thin, thin @ found.turn))


def _skew(a: Array, b: Array, w: Array) -> tuple[np.ndarray, np.ndarray]:
    """Of sum w (b a^T - a b^T), skew, the row of time (d,) and the part in space (d, d).

    From radii and directions: a difference of large products is a small sinh there.
    """
    t, r, u = a[:, 0], norm(a[:, 1:]), unit(a[:, 1:])
    t_b, r_b, u_b = b[:, 0], norm(b[:, 1:]), unit(b[:, 1:])
    away = (r - r_b) * (r + r_b) / (t_b * r + t * r_b + _tiny(r))  # 0 where both are
    turn = u_b - u
    # for unit vectors the component of the difference along the first is exactly -|difference|^2 / 2
    turn = turn - (dot(turn, u) + dot(turn, turn) / 2)[:, None] * u
    turns = (w * r * r_b)[:, None] * turn
    return to_numpy((w * away) @ u - (w * t * r_b) @ turn), to_numpy(turns.T @ u - u.T @ turns)


def _tiny(a: Array) -> float:
    """The smallest normal number of the dtype of a, added to avoid 0 / 0."""
    return float(array_namespace(a).finfo(a.dtype).smallest_normal)
