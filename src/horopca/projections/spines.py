"""Spines: the subspaces that determine horospherical projections.

A *spine* is a K-dimensional subspace V of R^{1,d}: the span of the light-like vectors (1, q) of K ideal points q. It is
stored as

    V = span( (1, n) + kappa (1, -n),  (0, u_1), ..., (0, u_{K-1}) ),     n, u_j orthonormal,  -1 <= kappa <= 1.

The first of these vectors is the *pole*.

* 0 < kappa <= 1: V holds time-like vectors. It is spanned by K ideal points, the paper's case; its point
  nearest to the origin is n (1 - kappa) / (1 + kappa) in the Klein ball.
* kappa = 0: the ideal points have merged in n. For K = 1 this is the paper's projection on one direction.
* kappa < 0: the pole is space-like, "beyond infinity" in the Klein ball; signed distances to K orthogonal hyperplanes are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..geometry._arrays import split_bases, to_numpy
from ..geometry.hulls import DEPENDENT, unit_rows

KAPPA_ROUNDING = 1e-9  # A kappa closer to 0 than this counts as 0, that of merged ideal points.
NO_DIRECTION = 1e-15  # The rounding of float64: a pole with a shorter space part is at the origin and has no direction.


class Spine(NamedTuple):
    """A K-dimensional subspace of R^{1,d}, spanned by (1, n) + kappa (1, -n) and (0, U), and a stretch of its coordinates.

    Returned by `spine_from_ideal_points` and `spine_from_basis`.
    """

    n: np.ndarray  #: (d,), unit
    kappa: float  #: > 0: K distinct ideal points span it, as in the paper; 0: these have merged; < 0: no ideal points span it
    U: np.ndarray  #: (K-1, d), orthonormal, perpendicular to n
    stretch: float = 1.0  #: 1: the projection itself

    @property
    def stretched(self) -> bool:
        """Whether the coordinates are stretched. A stretch that a network learns (a tensor) counts as one, even if it is 1."""
        return not (isinstance(self.stretch, float) and self.stretch == 1)


def spine_from_basis(A: np.ndarray, stretch: float = 1.0) -> Spine:
    """The spine spanned by given vectors.

    Parameters
    ----------
    A : array of shape (K, d + 1)
        From 1 to d linearly independent vectors of R^{1,d}, time first.
    stretch : float, default=1.0
        The stretch of the spine.

    Returns
    -------
    Spine

    See Also
    --------
    spine_basis : the inverse
    spine_from_ideal_points : from unit vectors

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.projections import spine_from_basis
    >>> spine_from_basis(np.array([[1.0, 1.0, 0.0]])).kappa  # a light-like vector: one ideal point
    0.0
    """
    A = to_numpy(A)
    if A.ndim != 2 or not 1 <= len(A) < A.shape[1]:
        raise ValueError(f"A must hold from 1 to d linearly independent vectors (K, d+1), but has shape {A.shape}.")
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or np.linalg.matrix_rank(A / np.where(lengths > 0, lengths, 1)) < len(A):
        raise ValueError("A must hold linearly independent vectors, but they are dependent, NaN or infinite.")
    return spine_of(A, stretch)


def spine_of(A: np.ndarray, stretch: float = 1.0) -> Spine:
    """`spine_from_basis` for a valid basis; if its rows are dependent, a spine that contains their span."""
    V = split_bases(A)
    v0, w, U = float(V[0, 0]), V[0, 1:], V[1:, 1:]
    size = float(np.linalg.norm(w))
    n = w / size if size > NO_DIRECTION else _perpendicular(U, A.shape[1] - 1)
    return Spine(n, (v0 - size) / (v0 + size), U, stretch)


def spine_from_ideal_points(q: np.ndarray) -> Spine:
    """The spine of K ideal points.

    Parameters
    ----------
    q : array of shape (K, d)
        Unit vectors. Raises ValueError if one of the ideal points lies in the hull of the others.

    Returns
    -------
    Spine

    See Also
    --------
    ideal_points : the inverse, up to the choice of K ideal points with the same span

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.projections import spine_from_ideal_points
    >>> spine = spine_from_ideal_points(np.array([[0.6, 0.8], [0.6, -0.8]]))
    >>> spine.n, round(spine.kappa, 6)
    (array([1., 0.]), 0.25)
    """
    q = unit_rows(q)
    K, d = q.shape
    if K > d:
        raise ValueError(
            f"At most {d} ideal points of H^{d} have a spine, since the hull of more is all of it, but there are {K}. "
            "Leave some out."
        )
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
    # p, the point of their affine hull nearest to 0, is their circumcentre. It is computed from the differences alone, so
    # that ideal points very close together lose no digits
    b = np.linalg.solve(directions @ U.T, -lengths / 2)
    p = q[0] - b @ U
    size = float(np.linalg.norm(p))
    n = p / size if size > NO_DIRECTION else _perpendicular(U, d)
    return Spine(n, float(b @ b) / (1 + size) ** 2, U)


def _perpendicular(U: np.ndarray, d: int) -> np.ndarray:
    """A unit vector perpendicular to the orthonormal rows of U: the axis farthest from their span, orthogonalised."""
    missed = np.eye(d) - U.T @ U
    n = missed[np.diag(missed).argmax()]
    n = n - (n @ U.T) @ U
    return np.asarray(n / np.linalg.norm(n))


def spine_basis(spine: Spine) -> np.ndarray:
    """A basis of a spine.

    Parameters
    ----------
    spine : Spine
        The subspace.

    Returns
    -------
    array of shape (K, d + 1)
        Rows: (1, n) + kappa (1, -n), and (0, u) for each row u of U.

    See Also
    --------
    spine_from_basis : the inverse

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.projections import spine_basis, spine_from_ideal_points
    >>> spine_basis(spine_from_ideal_points(np.array([[1.0, 0.0]])))
    array([[1., 1., 0.]])
    """
    n, kappa, U, _ = spine
    V = np.zeros((len(U) + 1, len(n) + 1))
    V[0, 0], V[0, 1:], V[1:, 1:] = 1 + kappa, (1 - kappa) * n, U
    return V


def ideal_points(spine: Spine) -> np.ndarray | None:
    """K ideal points that span a spine, as a regular simplex.

    Parameters
    ----------
    spine : Spine
        The subspace.

    Returns
    -------
    array of shape (K, d), or None
        Unit vectors; None if kappa < 0, where no ideal points span the spine.

    See Also
    --------
    spine_from_ideal_points : the inverse

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.projections import ideal_points, spine_from_ideal_points
    >>> q = ideal_points(spine_from_ideal_points(np.array([[0.6, 0.8], [0.6, -0.8]])))
    >>> np.abs(q).round(6)
    array([[0.6, 0.8],
           [0.6, 0.8]])
    """
    n, kappa, U, _ = spine
    if kappa < 0:
        return None
    p = n * (1 - kappa) / (1 + kappa)
    return np.asarray(p + 2 * np.sqrt(kappa) / (1 + kappa) * _simplex(len(U) + 1) @ U)


def nested_ideal_points(bases: list[np.ndarray]) -> np.ndarray | None:
    """Ideal points q_1 .. q_K (K, d) with V_k = span((1, q_1), .., (1, q_k)) for nested spines V_k, bases of shape (k, d+1).

    Each q_k is the ideal point of V_k that lies farthest from V_{k-1}. None if one of the spines has no ideal points.
    """
    points = []
    for k, basis in enumerate(bases):
        n, kappa, U, _ = spine_of(basis)
        if kappa < -KAPPA_ROUNDING or (k == 0 and kappa > KAPPA_ROUNDING):
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
    return np.asarray(corners / np.linalg.norm(corners, axis=1, keepdims=True))


def spine_angle(A: np.ndarray, B: np.ndarray) -> float:
    """The largest angle between the spans of two bases (K, d+1)."""
    P, Q = np.linalg.qr(A.T)[0], np.linalg.qr(B.T)[0]
    # from the sine, the part of Q outside P: the cosine of a small angle has lost its digits
    sine = np.linalg.svd(Q - P @ (P.T @ Q), compute_uv=False)[0]
    return float(np.arcsin(min(sine, 1.0)))


# ---------------------------------------------------------------- families: smooth maps from parameters to bases

# For the search, with leading batch axes. An objective depends only on the span of a basis, so parameters may be redundant.

Pullback = Callable[[np.ndarray], np.ndarray]  # from gradients in the bases to gradients in the parameters
Family = Callable[[np.ndarray], tuple[np.ndarray, Pullback]]  # from parameters to bases (..., K, d+1)


def free_spines(theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
    """All K-dimensional subspaces: theta is a basis."""
    return theta, lambda G: G


def ideal_spines(theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
    """Subspaces spanned by K >= 2 ideal points, or by limits of them.

    theta holds P (its first row) and directions M (the rest): U = the row space of M, P' the part of P outside it, and the
    point of the spine nearest to the origin is p = 2 P' / (1 + |P'|^2) in the Klein ball. This maps all of space onto the
    *closed* ball: 1 - |p|^2 = ((1 - |P'|^2) / (1 + |P'|^2))^2, so the parametrisation is smooth at the boundary too, where
    the ideal points merge and the optimum often lies.
    """
    P, M = theta[..., :1, :], theta[..., 1:, :]
    Q, R = np.linalg.qr(M.mT)
    U = Q.mT
    outside = P - (P @ Q) @ U
    fold = 1 + outside @ outside.mT
    A = np.zeros((*theta.shape[:-1], theta.shape[-1] + 1))
    A[..., 0, 0], A[..., :1, 1:], A[..., 1:, 1:] = 1, 2 * outside / fold, U

    def pullback(G: np.ndarray) -> np.ndarray:
        g_p, g_U = G[..., :1, 1:], G[..., 1:, 1:]
        g_out = 2 * g_p / fold - 4 * (g_p @ outside.mT) * outside / fold**2
        g_P = g_out - (g_out @ Q) @ U
        g_U = g_U - (U @ P.mT) @ g_out - (U @ g_out.mT) @ P
        g_U = g_U - (g_U @ Q) @ U  # rotating U within its span changes nothing
        return np.concatenate([g_P, np.linalg.solve(R, g_U)], axis=-2)

    return A, pullback


def one_more_vector(given: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> Family:
    """Subspaces spanned by the rows of `given` (k, d+1) and the vector centre + spread @ unit(theta).

    With centre = (1, 0) and spread = (0, 1)^T the new vector is light-like, an ideal point; with centre = 0 and spread
    (d+1, m) spanning a subspace it is any vector of that subspace.
    """

    def family(theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        size = np.linalg.norm(theta, axis=-1, keepdims=True)
        u = theta / size
        kept = np.broadcast_to(given, (*theta.shape[:-1], *given.shape))

        def pullback(G: np.ndarray) -> np.ndarray:
            g = G[..., -1, :] @ spread
            return np.asarray((g - np.sum(g * u, axis=-1, keepdims=True) * u) / size)

        return np.concatenate([kept, (centre + u @ spread.T)[..., None, :]], axis=-2), pullback

    return family


def extended_spines(given: np.ndarray, free: bool) -> Family:
    """Subspaces spanned by the rows of `given` (k, d+1) and one more vector: any vector if free, else an ideal point."""
    eye = np.eye(given.shape[1])
    return one_more_vector(given, 0 * eye[0], eye) if free else one_more_vector(given, eye[0], eye[:, 1:])


def ideal_parameters(bases: np.ndarray) -> np.ndarray:
    """The parameters (..., K, d) in `ideal_spines` of the spines of bases (..., K, d+1), K >= 2.

    For a spine whose pole lies beyond infinity, those of the nearest one with merged ideal points.
    """
    V = split_bases(bases)
    theta, v0 = V[..., 1:].copy(), V[..., 0, :1]
    length = np.linalg.norm(theta[..., 0, :], axis=-1, keepdims=True)
    g = (length - v0) * (length + v0)
    height = np.where(g < 0, v0, length)  # |p| = |w| / height <= 1
    theta[..., 0, :] /= height + np.sqrt(np.maximum(-g, 0.0))  # p / (1 + sqrt(1 - |p|^2))
    return theta
