"""The horospherical projection in closed form, its inverse, and its gradient.

With h = t - s.n and H = t + s.n (exp of the Busemann functions of n and -n) and b = U s, B = |b|^2, the projection with a spine
(n, kappa, U) keeps b and c = h + kappa H. Its image has h' = r, H' = (1 + B) / r, where r + kappa (1 + B) / r = c:

    r = (c + R) / 2,      R^2 = c^2 - 4 kappa (1 + B),

so (b / r ; 1 / r) is the image in the upper half-space model of H^K. One product and one square root per point.

*The stretch.* Where kappa < 0 the numbers c / (2 sqrt(-kappa)) and b are the space part of the image on the hyperboloid of
H^K. To stretch it by sigma >= 1 is to multiply c and b by sigma: for distances d before and d' after,
1 <= sinh(d'/2) / sinh(d/2) <= sigma.

*The gradient.* `project` projects on many spines at once, for the search. With V = (v0, w), (0, U) a basis of a spine, and c =
v0 t - s.w, g = |w|^2 - v0^2, the same formula reads R^2 = c^2 + g (1 + B). The image depends on the *span* of a basis only. Let
y = (-c, b) be the Minkowski products of V with a point, N = diag(g, 1, ...) those of V with itself, and F the gradient in N:
invariance under a change of basis reads  sum g_y y^T + 2 F N = 0,  which gives the whole gradient from the derivatives in c, b
and g.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..geometry import translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, dot, finite_root, from_numpy, norm, split_bases, to_numpy, unit
from ..geometry._points import Chunk, as_point
from ..geometry.hulls import DEPENDENT, unit_rows
from ..geometry.hyperboloid import light_cone
from ..geometry.isometries import translate_ideal_to_origin
from ..geometry.models import lift
from .spines import Spine, spine_basis, spine_from_ideal_points

PRODUCT_ERROR = 1.5e-15
"""A product of a vector and a point has a rounding error below this times |vector| t (measured: 1.2e-15, d <= 2048)."""
ACCURACY = 1e-9  # If the rounding error of a product may exceed this, `slide` computes the image instead.
HALF_DIGITS = 1e-7  # A light-cone coordinate below this fraction of the time has lost half its digits, and is computed again.
LEAST_ROOT = 1e-24  # R^2 is kept above this fraction of c^2: it is 0 for a point on the spine, and the gradient divides by R.


def inverse_height(c: Array, root: Array, kappa: float | Array, size: Array) -> Array:
    """r = (c + R) / 2, one over the height of the image, from c, R = `root` and 1 + B = `size`.

    If c < 0, which occurs only where kappa < 0, the sum cancels, and r is computed from r (R - c) = -2 kappa (1 + B).
    """
    xp = array_namespace(c)
    return xp.where(c >= 0, (c + root) / 2, -2 * kappa * size / (root + xp.abs(c)))


def slide(x: Array, spine: Spine) -> Array:
    """The horospherical projection of a spine, as points of H^K.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    spine : Spine
        The subspace, and a stretch.

    Returns
    -------
    array of shape (n, K)
        The images in the upper half-space model of H^K, height last.

    See Also
    --------
    unslide : the inverse
    horospherical_projection : the projection on ideal points, as points of H^d

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import origin
    >>> from horopca.projections import slide, spine_from_ideal_points
    >>> spine = spine_from_ideal_points(np.array([[0.6, 0.8], [0.6, -0.8]]))
    >>> slide(origin(2)[None], spine)
    array([[0., 1.]])
    """
    xp = array_namespace(x)
    n, U = from_numpy(spine.n, like=x), from_numpy(spine.U, like=x)
    kappa, s = spine.kappa, x[..., 1:]
    low, high = light_cone(x, n)
    b = s @ U.T
    c = low + kappa * high
    lean, rest = low - kappa * high, s - dot(s, n)[..., None] * n - b @ U
    b, c = spine.stretch * b, spine.stretch * c
    size = 1 + dot(b, b)
    square = c * c - 4 * kappa * size
    if not spine.stretched:
        # A point on the spine has R = 0. Where kappa >= 0 the difference above would lose half of its digits, but R is also
        # a sum of squares. (`where` rather than `if`: the layer of horopca.torch learns kappa, a tensor.)
        square = xp.where(xp.zeros_like(c) <= kappa, lean * lean + 4 * kappa * dot(rest, rest), square)
    r = inverse_height(c, finite_root(square), kappa, size)
    return xp.concat([b, xp.ones_like(r)[..., None]], axis=-1) / r[..., None]


def unslide(y: Array, spine: Spine) -> Array:
    """The points of H^d whose images under `slide` are y, on the submanifold through the origin and the spine.

    Parameters
    ----------
    y : array of shape (n, K)
        Points of the upper half-space model of H^K, height last.
    spine : Spine
        The subspace, and a stretch.

    Returns
    -------
    array of shape (n, d + 1)
        Points of the hyperboloid.

    See Also
    --------
    slide : the projection

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.projections import spine_from_ideal_points, unslide
    >>> spine = spine_from_ideal_points(np.array([[0.6, 0.8], [0.6, -0.8]]))
    >>> unslide(np.array([[0.0, 1.0]]), spine) + 0.0
    array([[1., 0., 0.]])
    """
    n, U = from_numpy(spine.n, like=y), from_numpy(spine.U, like=y)
    b, r = y[..., :-1] / y[..., -1:], 1 / y[..., -1]
    if spine.stretched:
        c = (r + spine.kappa * (1 + dot(b, b)) / r) / spine.stretch
        b = b / spine.stretch
        size = 1 + dot(b, b)
        r = inverse_height(c, finite_root(c * c - 4 * spine.kappa * size), spine.kappa, size)
    along = ((1 + dot(b, b)) / r - r) / 2
    return lift(b @ U + along[..., None] * n)


class Slide(NamedTuple):
    """An isometry of H^d, then `slide`, then an isometry of H^K, computed from K products of each point with fixed vectors.

    This is faster than `slide`, but less accurate. Points whose products cancel or overflow are reported, and the caller
    computes their images with `slide`.
    """

    vectors: Any  # (K, d+1), NumPy arrays or learnable tensors: their Euclidean products with a point are c and b
    kappa: Any
    turn: np.ndarray  # (K+1, K+1), the matrix of the second isometry, applied to the image (t, b, s.n)

    @classmethod
    def along(cls, spine: Spine, before: np.ndarray | None = None, after: np.ndarray | None = None) -> Slide:
        """The projection with a spine, preceded by the isometry `before` (d+1, d+1) and followed by `after` (K+1, K+1)."""
        vectors = spine.stretch * spine_basis(spine)
        vectors[0, 1:] *= -1  # a Minkowski product as a Euclidean one
        return cls(
            vectors if before is None else vectors @ before, spine.kappa, np.eye(len(vectors) + 1) if after is None else after
        )

    def error(self, accuracy: float = 0.0) -> float:
        """A bound on the rounding error of the products with a point of time 1, as a multiple of the error that is accepted.

        The bound grows in proportion to the time. The accepted error is `accuracy`, or ACCURACY if that is larger.
        """
        return PRODUCT_ERROR / max(ACCURACY, accuracy) * float(np.linalg.norm(to_numpy(self.vectors), axis=1).max())

    def images(self, chunk: Chunk) -> tuple[Any, Any]:
        """Images (n, K+1) on the hyperboloid of H^K, and a mask (n,) of those that are not accurate enough."""
        xp = array_namespace(chunk.t)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such points are masked
            y = chunk.products(from_numpy(self.vectors, chunk.t))
            c, b = y[0, :], y[1:, :]
            size = 1 + xp.sum(b * b, axis=0)
            square = c * c - 4 * self.kappa * size
            error = self.error() * chunk.t
            # r is as accurate as the larger of c and R; where kappa < 0 that is R, and c may vanish. R^2 is a difference, which
            # loses six digits at 1e-6 c^2
            lost = ~((error * error < xp.maximum(c * c, square)) & (error < 1) & (square > 1e-6 * c * c))
        # masked values are replaced before the square root, not after it: their gradient would be NaN times 0
        c, size, square = (xp.where(lost, xp.ones_like(c), a) for a in (c, size, square))
        b, r = xp.where(lost[None, :], xp.zeros_like(b), b), inverse_height(c, xp.sqrt(square), self.kappa, size)
        high = (1 + xp.sum(b * b, axis=0)) / r
        image = xp.concat([((high + r) / 2)[None, :], b, ((high - r) / 2)[None, :]], axis=0)
        return lift((from_numpy(self.turn[1:], c) @ image).T), lost


def horospherical_projection(x: Array, q: np.ndarray, base: np.ndarray | None = None) -> Array:
    """Project points on the geodesic hull of a base point and ideal points, keeping their Busemann functions.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    q : array of shape (K, d)
        Ideal points, unit vectors.
    base : array of shape (d + 1,), optional
        A point of the hyperboloid outside the hull of the ideal points; the origin by default.

    Returns
    -------
    array of shape (n, d + 1)
        The projected points, on the side of the base point.

    See Also
    --------
    slide : the same as points of H^K
    horopca.geometry.geodesic_projection : the nearest points instead
    horopca.HoroPCA : finds the ideal points

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import busemann, to_hyperboloid
    >>> from horopca.projections import horospherical_projection
    >>> x, q = to_hyperboloid(np.array([[0.3, 0.5], [0.1, -0.2]])), np.array([[1.0, 0.0]])
    >>> y = horospherical_projection(x, q)
    >>> bool(np.allclose(busemann(y, q), busemann(x, q)))
    True
    """
    q = unit_rows(q)
    if q.shape[1] != x.shape[-1] - 1:
        raise ValueError(f"q must have one column fewer than x, whose first is the time: shapes {q.shape}, {tuple(x.shape)}.")
    if base is not None:
        base = as_point(base, x.shape[-1], "base")
        q = translate_ideal_to_origin(q, base)
        x = translate_to_origin(x, from_numpy(base, like=x))
    spine = spine_from_ideal_points(q)
    if 1 - spine.kappa < DEPENDENT:
        raise ValueError(
            "base must lie outside the geodesic hull of the ideal points, but it lies in it: the hull of both then has "
            "one dimension too few. Pass another base."
        )
    y = unslide(slide(x, spine), spine)
    return y if base is None else translate(y, from_numpy(base, like=y))


# ---------------------------------------------------------------- many spines at once, with the gradient

ImagePullback = Callable[[Any], np.ndarray]  # from gradients (S, K, n) in the images to gradients (S, K, d+1) in the bases


def project(
    columns: Array, floor: Array, bases: np.ndarray, log_stretch: np.ndarray | None = None, *, precise: bool = True
) -> tuple[Array, Array, ImagePullback]:
    """Project points on the spans of bases (S, K, d+1), stretched by exp(log_stretch) (S,).

    `columns` (d+1, n) holds points of the hyperboloid; if all bases are in a subspace, only the coordinates in it. `floor` (n,)
    is the least value of t - s.u over unit vectors u. Without `precise`, light-cone coordinates of far points that cancel are
    bounded by it but not computed again, which is enough to rank starts.

    Returns images (S, K, n) in the upper half-space of H^K, heights last; one over the heights, (S, n); and the pullback to
    gradients (S, K, d+1) in the bases. With a stretch these have one more column, the derivative in its logarithm.
    """
    xp = array_namespace(columns)
    V = split_bases(bases)
    length = np.linalg.norm(V[:, 0, 1:], axis=1)
    g_host = (length - V[:, 0, 0]) * (length + V[:, 0, 0])
    scale_host = np.ones(len(V)) if log_stretch is None else np.exp(log_stretch)
    g, scale = (from_numpy(a[:, None], like=columns) for a in (g_host, scale_host))
    c = scale * _pole_products(columns, floor, V[:, 0], length, precise)
    S, K, n = len(V), bases.shape[1], columns.shape[1]
    b = xp.reshape(from_numpy(V[:, 1:, 1:].reshape(-1, V.shape[2] - 1), columns) @ columns[1:, :], (S, K - 1, n))
    b = scale[:, :, None] * b
    size = 1 + xp.sum(b * b, axis=1)
    root = xp.sqrt(xp.maximum(c * c + g * size, LEAST_ROOT * c * c))
    r = inverse_height(c, root, -g / 4, size)

    def pullback(g_y: Array) -> np.ndarray:
        g_r = -(xp.sum(g_y[:, :-1, :] * b, axis=1) + g_y[:, -1, :]) / (r * r)
        g_b = g_y[:, :-1, :] / r[:, None, :] + (g_r * g / (2 * root))[:, None, :] * b
        slopes = xp.concat([-(g_r * r / root)[:, None, :], g_b], axis=1)  # in (-c, b)
        products = xp.concat([-c[:, None, :], b], axis=1)
        gamma = to_numpy(slopes @ xp.permute_dims(products, (0, 2, 1)))
        F = -gamma / 2
        F[:, 1:, 0] = F[:, 0, 1:]
        F[:, 0, 0] = to_numpy(xp.sum(g_r * size / root, axis=1)) / 4
        gathered = to_numpy(xp.reshape(xp.reshape(slopes, (S * K, n)) @ columns.T, V.shape))
        G = scale_host[:, None, None] * gathered + 2 * F @ V
        G[:, :, 0] *= -1
        change = bases @ V.mT
        finite = np.isfinite(change).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
        G = _inverses(np.where(finite[:, None, None], change, np.eye(K))).mT @ G
        if log_stretch is None:
            return np.asarray(G)
        slope = np.trace(gamma, axis1=1, axis2=2)
        return np.concatenate([G, np.broadcast_to(slope[:, None, None], (S, K, 1))], axis=2)

    return xp.concat([b, xp.ones_like(r)[:, None, :]], axis=1) / r[:, None, :], r, pullback


def _pole_products(columns: Array, floor: Array, poles: np.ndarray, length: np.ndarray, precise: bool) -> Array:
    """c = v0 t - s.w (S, n) for poles (v0, w) (S, d+1), from the light-cone coordinates t - s.n and t + s.n, n = w / |w|.

    A difference that cancels is bounded by `floor`.
    """
    xp = array_namespace(columns)
    t, s = columns[:1, :], columns[1:, :]
    directions = poles[:, 1:] / np.maximum(length, 1e-300)[:, None]
    along = from_numpy(directions, columns) @ s
    low, high = xp.maximum(t - along, floor[None, :]), xp.maximum(t + along, floor[None, :])
    if precise:
        low, high = (_recompute_cancelled(a, sign * directions, columns, floor) for a, sign in ((low, 1), (high, -1)))
    up, down = (from_numpy(a[:, None] / 2, columns) for a in (poles[:, 0] + length, poles[:, 0] - length))
    return up * low + down * high


def _recompute_cancelled(a: Array, directions: np.ndarray, columns: Array, floor: Array) -> Array:
    """t - s.n (S, n) for directions n (S, d), as floor + |s| |u - n|^2 / 2 with u = s / |s| where it has lost its digits."""
    xp = array_namespace(a)
    lost = a < HALF_DIGITS * columns[:1, :]
    some = np.flatnonzero(to_numpy(xp.any(lost, axis=1)))
    if not len(some):
        return a
    s, rows = columns[1:, :].T, [a[k, :] for k in range(a.shape[0])]
    u, size = unit(s), norm(s)
    for k in some:
        off = u - from_numpy(directions[k], columns)
        rows[k] = xp.where(lost[k, :], floor + size * dot(off, off) / 2, rows[k])
    return xp.stack(rows)


def _inverses(matrices: np.ndarray) -> np.ndarray:
    """Inverses of matrices (S, K, K); pseudoinverses if one of them is singular."""
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:  # a basis became dependent during an ascent
        return np.linalg.pinv(matrices)
