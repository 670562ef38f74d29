"""Families of spines and submanifolds to search in: each a smooth map from free parameters to a basis, with its pullback.

| family         | spines                                                                    | parameters       |
|----------------|---------------------------------------------------------------------------|------------------|
| `FreeSpines`   | all K-dimensional subspaces of R^{1,d}                                    | a basis (K, d+1) |
| `IdealSpines`  | those spanned by K >= 2 ideal points, and their limits (the paper's)      | (K, d)           |
| `OneMore`      | those that contain a given subspace and one more vector of a given cone   | one vector       |

| family          | submanifolds, by a basis (K+1, d+1) of the subspace that holds them | parameters |
|-----------------|---------------------------------------------------------------------|------------|
| `Anywhere`      | all of H^d                                                          | (K+1, d)   |
| `ThroughOrigin` | those through the origin                                            | (K, d)     |
| `Inside`        | those of another family, inside a given submanifold                 | its own    |

The objectives depend on the span of the basis alone, so parametrisations may be redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from .._objectives.many import split_many
from .._objectives.sample import Objective
from ..geometry import lift

Pullback = Callable[[np.ndarray], np.ndarray]


class Family(Protocol):
    """A parametrised set of spines."""

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        """The basis (K, d+1) at theta, and the map from gradients in it to gradients in theta.

        Families of spines take many theta at once, behind leading axes.
        """


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


def _transposed(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2)


def parameters_in_ideal(bases: np.ndarray) -> np.ndarray:
    """The parameters (..., K, d) in `IdealSpines` of the spines of bases (..., K, d+1), K >= 2.

    For a spine that lies beyond infinity, those of the nearest with merged ideal points.
    """
    V, g = split_many(bases.reshape(-1, *bases.shape[-2:]))
    theta, v0 = V[:, :, 1:].copy(), V[:, 0, :1]
    height = np.where(g < 0, v0, np.linalg.norm(theta[:, 0], axis=1, keepdims=True))  # |p| = |w| / height <= 1
    theta[:, 0] /= height + np.sqrt(np.maximum(-g, 0.0))  # p / (1 + sqrt(1 - |p|^2))
    return theta.reshape(*bases.shape[:-1], -1)


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


class Anywhere(NamedTuple):
    """Submanifolds of H^d: theta (K+1, d) is one of their points, by its space part, and K directions."""

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        A = np.concatenate([lift(theta[:1]), np.pad(theta[1:], ((0, 0), (1, 0)))])

        def pullback(G: np.ndarray) -> np.ndarray:
            g = G[:, 1:].copy()
            g[0] += G[0, 0] * theta[0] / A[0, 0]
            return g

        return A, pullback


class ThroughOrigin(NamedTuple):
    """Submanifolds of H^d through the origin: theta (K, d) holds K directions."""

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        A = np.eye(len(theta) + 1, theta.shape[1] + 1)
        A[1:, 1:] = theta
        return A, lambda G: G[1:, 1:]


class Inside(NamedTuple):
    """The submanifolds of a family of H^K, inside the one spanned by the rows of `frame` (K+1, d+1)."""

    family: Family
    frame: np.ndarray

    def basis(self, theta: np.ndarray) -> tuple[np.ndarray, Pullback]:
        A, pullback = self.family.basis(theta)
        return A @ self.frame, lambda G: pullback(G @ self.frame.T)


def ideal_cone(d: int) -> tuple[np.ndarray, np.ndarray]:
    """(centre, spread) of the light-like vectors (1, q), |q| = 1, of R^{1,d}."""
    return np.eye(d + 1)[0], np.eye(d + 1)[:, 1:]


def whole_space(d: int) -> tuple[np.ndarray, np.ndarray]:
    """(centre, spread) of all vectors of R^{1,d}."""
    return np.zeros(d + 1), np.eye(d + 1)


def compose(objective: Objective, family: Family) -> Objective:
    """The objective of a basis as an objective of the parameters of a family."""

    def composed(theta: np.ndarray) -> tuple[float, np.ndarray]:
        A, pullback = family.basis(theta)
        value, G = objective(A)
        return value, pullback(G)

    return composed
