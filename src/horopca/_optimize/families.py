"""Families of subspaces to search in: each a smooth map from free parameters to bases, with its pullback.

| family            | spines                                                                  | parameters       |
|-------------------|-------------------------------------------------------------------------|------------------|
| `free_spines`     | all K-dimensional subspaces of R^{1,d}                                  | a basis (K, d+1) |
| `ideal_spines`    | those spanned by K >= 2 ideal points, and their limits (the paper's)    | (K, d)           |
| `one_more_vector` | those that contain a given subspace and one more vector of a given cone | one vector       |

All accept leading batch axes, (S, ...). The objectives depend only on the span of a basis, so parametrisations may be
redundant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from ..geometry._arrays import to_numpy
from ..geometry.hulls import split_bases
from .lbfgs import Batched
from .sample import Sample

Pullback = Callable[[np.ndarray], np.ndarray]  # from gradients in the bases to gradients in the parameters
Family = Callable[[np.ndarray], tuple[np.ndarray, Pullback]]  # from parameters to bases (..., K, d+1)

PERTURBATION = 0.05  # Standard deviation of the perturbation of a direction, in every coordinate.


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


def compose(objective: Batched, family: Family) -> Batched:
    """An objective of bases as an objective of the parameters of a family."""

    def composed(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, pullback = family(theta)
        values, G = objective(A)
        return values, pullback(G)

    return composed


# ---------------------------------------------------------------- where a search begins


def data_directions(sample: Sample, shape: tuple[int, int], rng: np.random.Generator, perturbed: bool) -> np.ndarray:
    """Directions (*shape, d) of random data points, without repetition along the last axis of `shape`; optionally perturbed."""
    n, directions, (count, K) = sample.size, sample.directions(), shape
    if K < n:
        picks = rng.random((count, n)).argpartition(K - 1, axis=-1)[:, :K]
    else:
        picks = rng.integers(n, size=shape)
    u = directions[picks] + (PERTURBATION if perturbed else 1e-9) * rng.standard_normal((*shape, sample.dimension))
    return np.asarray(u / np.linalg.norm(u, axis=-1, keepdims=True))


def random_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Bases (S, K, d+1) of random spines of three kinds, and of spines along the principal axes.

    The three kinds are spanned by the ideal points of K data directions; have their pole towards or away from a data direction;
    or are space-like, tilted towards the time axis.
    """
    found = []
    for perturbed in (False, True):
        corners, poles, q = (data_directions(sample, (count // 6, K), rng, perturbed) for _ in range(3))
        poles[:, 0] *= rng.uniform(-1, 1, size=(len(poles), 1))
        tilt = rng.uniform(-1, 1, size=(*q.shape[:2], 1)) * (rng.uniform(size=(len(q), 1, 1)) < 0.5)
        found += [np.insert(corners, 0, 1.0, axis=2), ideal_spines(poles)[0], np.concatenate([tilt, q], axis=2)]
    axes = np.eye(min(sample.dimension, K + 1), sample.dimension)  # each is the pole once, on either side
    turned = [np.roll(axes, -k, axis=0)[:K] for k in range(len(axes))]
    poles = np.stack([theta * np.where(np.arange(K) == 0, side, 1.0)[:, None] for theta in turned for side in (0.5, -0.5)])
    return np.concatenate([*found, ideal_spines(poles)[0]])


def spectral_basis(sample: Sample, K: int) -> np.ndarray:
    """The spine of hyperbolic MDS: the first K eigenvectors of M J, where M holds the second moments of the points."""
    x = to_numpy(sample.columns)
    weighted = x if sample.weights is None else x * to_numpy(sample.weights)
    sizes, axes = eigh(weighted @ x.T / x.shape[1])
    root = (axes * np.sqrt(sizes.clip(0))) @ axes.T
    mixed = root[:, 1:] @ root[:, 1:].T - np.outer(root[:, 0], root[:, 0])
    top = eigh(mixed, subset_by_index=[len(x) - K, len(x) - 1])[1]
    basis = (root @ top).T
    sizes = np.linalg.norm(basis, axis=1, keepdims=True)
    return basis / sizes if sizes.min() > 1e-12 else np.eye(K, len(x), k=1)  # too few points to span K dimensions
