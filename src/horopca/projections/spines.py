"""Spines and the horospherical projection in closed form.

A *spine* is a K-dimensional subspace V of R^{1,d}: all that the projection onto K ideal points depends on. We keep

    V = span( (1, n) + kappa (1, -n),  (0, u_1), ..., (0, u_{K-1}) ),     n, u_j orthonormal,  -1 <= kappa <= 1.

* 0 < kappa <= 1: V holds time-like vectors. It is spanned by K ideal points, the paper's case; its point
  nearest to the origin is n (1 - kappa) / (1 + kappa) in the Klein ball.
* kappa = 0: the ideal points have merged in n. For K = 1 this is the paper's projection on one direction.
* kappa < 0: the pole lies beyond infinity; signed distances to K orthogonal hyperplanes are kept.

With h = t - s.n and H = t + s.n (exp of the Busemann functions of n and -n) and b = U s, B = |b|^2, the projection keeps
b and c = h + kappa H. Its image has h' = r, H' = (1 + B) / r, where r + kappa (1 + B) / r = c:

    r = (c + R) / 2,      R^2 = c^2 - 4 kappa (1 + B),

so (b / r ; 1 / r) is the image in the upper half-space model of H^K. One product and one square root per point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry import (
    light_cone,
    translate,
    translate_ideal_to_origin,
    translate_to_origin,
)
from ..geometry._arrays import Array, array_namespace, dot, from_numpy, to_numpy
from ..geometry.hulls import DEPENDENT, split_basis
from ..geometry.models import lift

CANCELLED = 2e-7  # of a coordinate may be lost to rounding, times 1e-9, before a point is taken the careful way

__all__ = [
    "Slide",
    "Spine",
    "horospherical_projection",
    "ideal_points",
    "nested_ideal_points",
    "slide",
    "spine_basis",
    "spine_from_basis",
    "spine_from_ideal_points",
    "unslide",
]


class Spine(NamedTuple):
    """A K-dimensional subspace of R^{1,d}: spanned by (1, n) + kappa (1, -n) and (0, U)."""

    n: np.ndarray  # (d,), unit
    kappa: float
    U: np.ndarray  # (K-1, d), orthonormal, perpendicular to n


def spine_from_basis(A: np.ndarray) -> Spine:
    """The spine spanned by the rows of A, shape (K, d+1)."""
    v0, w, U = split_basis(A)
    size = float(np.linalg.norm(w))
    n = w / size if size > 1e-15 else _perpendicular(U, A.shape[1] - 1)
    return Spine(n, (v0 - size) / (v0 + size), U)


def spine_from_ideal_points(q: np.ndarray) -> Spine:
    """The spine of K ideal points, rows of q (K, d), none in the hull of the others.

    >>> spine = spine_from_ideal_points(np.array([[0.6, 0.8], [0.6, -0.8]]))
    >>> spine.n, round(spine.kappa, 6)
    (array([1., 0.]), 0.25)
    """
    q = unit_rows(q)
    K, d = q.shape
    if K > d + 1:
        raise ValueError(f"At most {d + 1} ideal points of H^{d} are independent, but ideal points has {K} rows.")
    if K == 1:
        return Spine(q[0], 0.0, np.zeros((0, d)))
    arms = q[1:] - q[0]
    lengths = np.linalg.norm(arms, axis=1)
    directions = arms / np.where(lengths > 0, lengths, 1)[:, None]
    _, sizes, U = np.linalg.svd(directions, full_matrices=False)
    if not lengths.all() or sizes[-1] < DEPENDENT:
        raise ValueError(
            "The ideal points must be independent, but one of them coincides with another or lies in the hull of the "
            f"others (smallest singular value {sizes[-1]:.1e}). Leave it out."
        )
    # p, the point of their affine hull nearest to 0, is their circumcentre: taken from the differences alone, so that
    # ideal points a hair apart lose nothing
    b = np.linalg.solve(directions @ U.T, -lengths / 2)
    p = q[0] - b @ U
    size = float(np.linalg.norm(p))
    n = p / size if size > 1e-15 else _perpendicular(U, d)
    return Spine(n, float(b @ b) / (1 + size) ** 2, U)


def unit_rows(q: np.ndarray) -> np.ndarray:
    """Ideal points as unit vectors, rows (K, d); refuses what has no direction."""
    q = np.atleast_2d(to_numpy(q))
    sizes = np.linalg.norm(q, axis=1)
    bad = ~(np.isfinite(sizes) & (sizes > 0))
    if bad.any():
        raise ValueError(
            f"Ideal points must be unit vectors, but row {bad.argmax()} has norm {sizes[bad.argmax()]:g} and no direction."
        )
    return q / sizes[:, None]


def _perpendicular(U: np.ndarray, d: int) -> np.ndarray:
    """A unit vector perpendicular to the orthonormal rows of U: the axis they miss most, made so."""
    missed = np.eye(d) - U.T @ U
    n = missed[np.diag(missed).argmax()]
    n = n - (n @ U.T) @ U
    return n / np.linalg.norm(n)


def spine_basis(spine: Spine) -> np.ndarray:
    """A basis of the spine as rows (K, d+1): the pole, then (0, u_j)."""
    n, kappa, U = spine
    V = np.zeros((len(U) + 1, len(n) + 1))
    V[0, 0], V[0, 1:], V[1:, 1:] = 1 + kappa, (1 - kappa) * n, U
    return V


def ideal_points(spine: Spine) -> np.ndarray | None:
    """K ideal points (K, d) that span the spine, a regular simplex; None beyond infinity (kappa < 0)."""
    n, kappa, U = spine
    if kappa < 0:
        return None
    p = n * (1 - kappa) / (1 + kappa)
    return p + 2 * np.sqrt(kappa) / (1 + kappa) * _simplex(len(U) + 1) @ U


def nested_ideal_points(bases: list[np.ndarray]) -> np.ndarray | None:
    """Ideal points q_1 .. q_K (K, d) with V_k = span((1, q_1), .., (1, q_k)) for nested spines V_k, bases of shape (k, d+1).

    Each q_k is the ideal point of V_k that lies farthest from V_{k-1}. None if one of the spines has none to give.
    """
    points = []
    for k, basis in enumerate(bases):
        n, kappa, U = spine_from_basis(basis)
        if kappa < -1e-9 or (k == 0 and kappa > 1e-9):
            return None
        p, arm = n * (1 - kappa) / (1 + kappa), 2 * np.sqrt(max(kappa, 0.0)) / (1 + kappa)
        if k > 0:  # the functional on V_k that vanishes on V_{k-1}, at (1, p) and along U
            V = spine_basis(Spine(n, kappa, U))
            inside = np.linalg.lstsq(V.T, bases[k - 1].T, rcond=None)[0].T
            normal = np.linalg.svd(inside)[2][-1]
            u = normal[1:] / max(np.linalg.norm(normal[1:]), 1e-300)
            p = p + (arm if normal[0] >= 0 else -arm) * (u @ U)
        points.append(p / np.linalg.norm(p))
    return np.array(points)


def _simplex(K: int) -> np.ndarray:
    """The K unit vertices of a regular simplex in R^{K-1}, shape (K, K-1)."""
    centred = np.eye(K) - 1 / K
    axes = np.linalg.svd(centred)[2][: K - 1]
    corners = centred @ axes.T
    return corners / np.linalg.norm(corners, axis=1, keepdims=True) if K > 1 else corners


def slide(x: Array, spine: Spine) -> Array:
    """Slide points x (n, d+1) along the surfaces that keep their coordinates in the spine.

    Returns the images in the upper half-space of H^K, shape (n, K), height last.
    """
    xp = array_namespace(x)
    n, U = from_numpy(spine.n, like=x), from_numpy(spine.U, like=x)
    kappa, s = spine.kappa, x[..., 1:]
    low, high = light_cone(x, n)
    b = s @ U.T
    c = low + kappa * high
    if kappa >= 0:  # R as a sum of squares: a point on the spine has R = 0, and c^2 - 4 kappa (1+B) would lose half its digits
        rest = s - dot(s, n)[..., None] * n - b @ U
        lean = low - kappa * high
        r = (c + xp.sqrt(lean * lean + 4 * kappa * dot(rest, rest))) / 2
    else:
        size = -4 * kappa * (1 + dot(b, b))
        root = xp.sqrt(c * c + size)
        r = xp.where(c >= 0, (c + root) / 2, size / (2 * (root + xp.abs(c))))
    return xp.concat([b, xp.ones_like(r)[..., None]], axis=-1) / r[..., None]


class Slide(NamedTuple):
    """`slide` between two isometries, as products with vectors: for many points at once.

    Points enter as they are in the user's array, in whatever frame; the images leave in the frame they are wanted in. Points
    whose products cancel, or are too large, are told apart, to be taken the careful way.
    """

    vectors: np.ndarray  # (K, d+1): their products with a point are c and b
    kappa: float
    turn: np.ndarray  # (K+1, K+1): applied to the image (t, b, s.n)

    @classmethod
    def along(cls, spine: Spine, before: np.ndarray | None = None, after: np.ndarray | None = None) -> Slide:
        """The projection with a spine, after and before matrices (d+1, d+1) and (K+1, K+1) of isometries."""
        n, kappa, U = spine
        K, vectors = len(U) + 1, np.zeros((len(U) + 1, len(n) + 1))
        vectors[0, 0], vectors[0, 1:], vectors[1:, 1:] = 1 + kappa, (kappa - 1) * n, U
        return cls(vectors if before is None else vectors @ before, kappa, np.eye(K + 1) if after is None else after)

    def error(self) -> float:
        """What rounding may have taken of the products with a point, per unit of its time."""
        return CANCELLED * float(np.abs(self.vectors).sum(axis=1).max())

    def images(self, chunk: Any) -> tuple[Array, Array]:
        """Images (n, K+1) on the hyperboloid of H^K, and which of them are not to be trusted."""
        with np.errstate(over="ignore", invalid="ignore"):  # of points that are then not to be trusted
            c, b, r, lost = self._kept(chunk)
        xp = array_namespace(c)
        b, r = xp.where(lost[None, :], xp.zeros_like(b), b), xp.where(lost, xp.ones_like(r), r)
        high = (1 + xp.sum(b * b, axis=0)) / r
        image = xp.concat([((high + r) / 2)[None, :], b, ((high - r) / 2)[None, :]], axis=0)
        return lift((from_numpy(self.turn[1:], c) @ image).T), lost

    def _kept(self, chunk: Any) -> tuple[Array, Array, Array, Array]:
        """c (n,), b (K-1, n) and r (n,) of points, and which of them have lost their digits."""
        y = chunk.products(from_numpy(self.vectors, chunk.t))
        xp = array_namespace(y)
        c, b = y[0, :], y[1:, :]
        size = 1 + xp.sum(b * b, axis=0)
        square = c * c - 4 * self.kappa * size
        root = xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))
        r = (c + root) / 2
        if self.kappa < 0:
            r = xp.where(c >= 0, r, -2 * self.kappa * size / (root + xp.abs(c)))
        error = self.error() * chunk.t
        return c, b, r, ~((error < xp.abs(c)) & (error < 1) & (square > 1e-6 * c * c))


def unslide(y: Array, spine: Spine) -> Array:
    """The points (n, d+1) of the submanifold through the origin and the spine whose images under `slide` are y (n, K)."""
    n, U = from_numpy(spine.n, like=y), from_numpy(spine.U, like=y)
    b, low = y[..., :-1] / y[..., -1:], 1 / y[..., -1]
    along = ((1 + dot(b, b)) / low - low) / 2
    return lift(b @ U + along[..., None] * n)


def horospherical_projection(x: Array, q: np.ndarray, base: np.ndarray | None = None) -> Array:
    """Project points on the geodesic hull of a base point and ideal points, keeping every Busemann coordinate.

    Parameters
    ----------
    x : (n, d+1), points of the hyperboloid
    q : (K, d), ideal points, unit vectors
    base : (d+1,), base point on the hyperboloid, outside the hull of the ideal points; the origin by default

    Returns
    -------
    (n, d+1), the projected points, on the side of the base point.
    """
    q = unit_rows(q)
    if base is not None:
        base = to_numpy(base)
        q = translate_ideal_to_origin(q, base)
        x = translate_to_origin(x, from_numpy(base, like=x))
    spine = spine_from_ideal_points(q)
    if len(q) > len(spine.n) or (1 - spine.kappa) < DEPENDENT:
        raise ValueError(
            "base must lie outside the geodesic hull of the ideal points, but it lies in it: the hull of both then has "
            "one dimension too few. Pass another base."
        )
    y = unslide(slide(x, spine), spine)
    return y if base is None else translate(y, from_numpy(base, like=y))
