"""Geodesic submanifolds near points: the objectives of PGA and BSA.

A K-dimensional geodesic submanifold is a (K+1)-dimensional subspace V of R^{1,d} that holds time-like vectors: a spine of
one dimension more, with kappa > 0 (`projections`). For n, U, kappa, h and H as there, the part of a point x outside V is

    rest = L e + s',      e = (1 - kappa, (1 + kappa) n) / (2 sqrt(kappa)),      L = (kappa H - h) / (2 sqrt(kappa)),

where s' is the part of s perpendicular to n and U. So sinh^2 of the distance from x to the submanifold is q = L^2 + |s'|^2,
a sum of squares; and where V moves, dq = -2 a^T dV J rest, with a the coordinates of x in the basis of V. That line is
the gradient of everything below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..geometry.hulls import NEAREST_LIGHT
from ..projections import Spine, spine_basis, spine_from_basis
from .sample import Sample

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # of one basis (K+1, d+1), to a value and its gradient
Profile = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def distance_to(q: np.ndarray, B: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance to the submanifold, and its derivative in q."""
    a = np.sqrt(q + 1e-300)
    D = np.arcsinh(a)
    return D * D, D / (a * np.sqrt(1 + q))


def distance_within(q: np.ndarray, B: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distance of the projection from the origin, if the submanifold contains it, and its derivative in q.

    B is the squared length of the part of s inside the submanifold, t^2 = 1 + B + q.
    """
    b = np.sqrt(B + 1e-300)
    r = np.arcsinh(b / np.sqrt(1 + q))
    return r * r, -r * t / (b * (1 + q))


class Parts(NamedTuple):
    """The parts of points x inside and outside a submanifold."""

    basis: np.ndarray  # (K+1, d+1), of the submanifold
    inside: np.ndarray  # (K+1, n), coordinates of the points in the basis
    outside: np.ndarray  # (d+1, n), J rest
    q: np.ndarray  # (n,), <rest, rest>


def parts(sample: Sample, A: np.ndarray) -> Parts:
    """The points in parts, for the submanifold spanned by A of shape (K+1, d+1), K < d."""
    n, kappa, U, _ = spine_from_basis(A)
    kappa = max(kappa, NEAREST_LIGHT)
    t, s, root = sample.columns[0], sample.columns[1:], 2 * np.sqrt(kappa)
    along, b = n @ s, U @ s
    h, H = np.maximum(t - along, sample.floor), np.maximum(t + along, sample.floor)
    L = (kappa * H - h) / root
    across = s - np.outer(n, along) - U.T @ b
    q = L * L + np.sum(across * across, axis=0)
    inside = np.concatenate([((h + kappa * H) / root**2)[None], b])
    outside = np.concatenate([((kappa - 1) * L / root)[None], across + np.outer(n, (1 + kappa) * L / root)])
    return Parts(spine_basis(Spine(n, kappa, U)), inside, outside, q)


def mean_over_points(sample: Sample, A: np.ndarray, profile: Profile) -> tuple[float, np.ndarray]:
    """Mean of a profile over the points, for the submanifold spanned by A, shape (K+1, d+1), and its gradient in A."""
    t, s = sample.columns[0], sample.columns[1:]
    if len(A) == len(sample.columns):  # all of H^d
        return float(np.mean(profile(np.zeros_like(t), np.sum(s * s, axis=0), t)[0])), np.zeros_like(A)
    V, inside, outside, q = parts(sample, A)
    values, slopes = profile(q, np.sum(inside[1:] ** 2, axis=0), t)
    G = (inside * (-2 * slopes / sample.size)) @ outside.T
    # A = M V, and only the span counts, so dV = M^{-1} dA; pinv: A may become dependent during an ascent
    return float(np.mean(values)), np.linalg.pinv(A @ V.T / np.sum(V * V, axis=1)).T @ G


def explained_objective(sample: Sample) -> Objective:
    """Mean squared distance from the origin, less that to the submanifold: A -> (value, gradient).

    The first is a constant. With it the maximum is not 0 where all points lie in the submanifold, so that the relative
    gain of a step tells when an ascent has converged.
    """
    total = _total(sample)

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = mean_over_points(sample, A, distance_to)
        return total - value, -gradient

    return objective


def spread_objective(sample: Sample) -> Objective:
    """Mean squared distance from the origin of the projections on a submanifold through it: A -> (value, gradient)."""
    return lambda A: mean_over_points(sample, A, distance_within)


def flag_objective(sample: Sample) -> Objective:
    """The sum over k = 1 .. K of `explained_objective` for the submanifold of the first k+1 rows of A."""
    total = _total(sample)

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        explained, gradient = 0.0, np.zeros_like(A)
        for k in range(2, len(A) + 1):
            value, part = mean_over_points(sample, A[:k], distance_to)
            explained += total - value
            gradient[:k] -= part
        return explained, gradient

    return objective


def _total(sample: Sample) -> float:
    """Mean squared distance from the origin."""
    return mean_over_points(sample, np.eye(len(sample.columns)), distance_within)[0]
