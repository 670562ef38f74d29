"""Families of subspaces to search in: each a smooth map from free parameters to bases, with its pullback.

| family         | spines                                                                    | parameters       |
|----------------|---------------------------------------------------------------------------|------------------|
| `FreeSpines`   | all K-dimensional subspaces of R^{1,d}                                    | a basis (K, d+1) |
| `IdealSpines`  | those spanned by K >= 2 ideal points, and their limits (the paper's)      | (K, d)           |
| `OneMore`      | those that contain a given subspace and one more vector of a given cone   | one vector       |

All take parameters behind leading axes, (S, ...). The objectives depend on the span of a basis only, so parametrisations may be
redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ..geometry.hulls import split_bases
from .lbfgs import Batched

Pullback = Callable[[np.ndarray], np.ndarray]


class Family(Protocol):
    """A parametrised set of subspaces."""

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        """The bases (..., K, d+1) at theta, and the map from gradients in them to gradients in theta."""


class FreeSpines(NamedTuple):
    """All K-dimensional subspaces."""

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        return theta, lambda G: G


class IdealSpines(NamedTuple):
    """Subspaces spanned by K >= 2 ideal points, or by limits of them.

    theta holds P (its first row) and directions M (the rest): U = the row space of M, P' the part of P outside it, and the
    point of the spine nearest to the origin is p = 2 P' / (1 + |P'|^2) in the Klein ball. That folds all of space on the
    *closed* ball: 1 - |p|^2 = ((1 - |P'|^2) / (1 + |P'|^2))^2, so the boundary, where the ideal points merge and the
    optimum often lies, is a smooth place like any other.
    """

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        P, M = theta[..., :1, :], theta[..., 1:, :]
        Q, R = np.linalg.qr(_transposed(M))
        U = _transposed(Q)
        outside = P - (P @ Q) @ U
        fold = 1 + outside @ _transposed(outside)
        A = np.zeros((*theta.shape[:-1], theta.shape[-1] + 1))
        A[..., 0, 0], A[..., :1, 1:], A[..., 1:, 1:] = 1, 2 * outside / fold, U

        def pullback(G: np.ndarray) -> np.ndarray:
            g_p, g_U = G[..., :1, 1:], G[..., 1:, 1:]
            g_out = 2 * g_p / fold - 4 * (g_p @ _transposed(outside)) * outside / fold**2
            g_P = g_out - (g_out @ Q) @ U
            g_U = g_U - (U @ _transposed(P)) @ g_out - (U @ _transposed(g_out)) @ P
            g_U = g_U - (g_U @ Q) @ U  # turning U in itself changes nothing
            return np.concatenate([g_P, np.linalg.solve(R, g_U)], axis=-2)

        return A, pullback


class OneMore(NamedTuple):
    """Subspaces spanned by the rows of `given` (k, d+1) and the vector centre + spread @ unit(theta).

    With centre = (1, 0) and spread = (0, 1)^T the new vector is light-like, an ideal point; with centre = 0 and spread
    spanning a subspace it is any vector of that subspace.
    """

    given: np.ndarray  # (k, d+1)
    centre: np.ndarray  # (d+1,)
    spread: np.ndarray  # (d+1, m)

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        size = np.linalg.norm(theta, axis=-1, keepdims=True)
        u = theta / size
        given = np.broadcast_to(self.given, (*theta.shape[:-1], *self.given.shape))
        A = np.concatenate([given, (self.centre + u @ self.spread.T)[..., None, :]], axis=-2)

        def pullback(G: np.ndarray) -> np.ndarray:
            g = G[..., -1, :] @ self.spread
            return np.asarray((g - np.sum(g * u, axis=-1, keepdims=True) * u) / size)

        return A, pullback


def one_more(given: np.ndarray, free: bool) -> OneMore:
    """The family of a given subspace (k, d+1) and one more vector: any vector if free, else an ideal point."""
    eye = np.eye(given.shape[1])
    return OneMore(given, 0 * eye[0], eye) if free else OneMore(given, eye[0], eye[:, 1:])


def ideal_parameters(bases: np.ndarray) -> np.ndarray:
    """The parameters (..., K, d) in `IdealSpines` of the spines of bases (..., K, d+1), K >= 2.

    For a spine whose pole lies beyond infinity, those of the nearest one with merged ideal points.
    """
    V = split_bases(bases.reshape(-1, *bases.shape[-2:]))
    theta, v0 = V[:, :, 1:].copy(), V[:, 0, :1]
    length = np.linalg.norm(theta[:, 0], axis=1, keepdims=True)
    g = (length - v0) * (length + v0)
    height = np.where(g < 0, v0, length)  # |p| = |w| / height <= 1
    theta[:, 0] /= height + np.sqrt(np.maximum(-g, 0.0))  # p / (1 + sqrt(1 - |p|^2))
    return theta.reshape(*bases.shape[:-1], -1)


def compose(objective: Batched, family: Family) -> Batched:
    """The objective of bases as an objective of the parameters of a family."""

    def composed(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, pullback = family.basis(theta)
        values, G = objective(A)
        return values, pullback(G)

    return composed


def _transposed(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2)
