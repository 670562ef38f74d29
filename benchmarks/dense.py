"""HoroPCA as plain automatic differentiation writes it, the yardstick of the speed comparison.

Ideal points, the projection by the paper's Algorithm 1, the matrix of all distances, their mean square, Adam: each step
as the paper states it, in torch, with the arrays of size n x n x d that a direct transcription of the distance needs.
Nothing here is used by the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from horopca.geometry import to_hyperboloid, translate_to_origin
from horopca.statistics import frechet_mean

STEPS = 500  # of Adam, and
RATE = 0.05  # their size: what the paper's experiments use


class DenseFit(NamedTuple):
    """How an optimisation ended."""

    ideal_points: np.ndarray  # (K, d), unit rows
    variance: float  # mean squared distance over all ordered pairs of projections
    image: np.ndarray  # (n, d+1), the projections in H^d, with the data's mean at the origin


def centred(X: np.ndarray) -> torch.Tensor:
    """Points of the ball on the hyperboloid (n, d+1), their Fréchet mean at the origin."""
    x = to_hyperboloid(X)
    return torch.from_numpy(translate_to_origin(x, frechet_mean(x).point))


def minkowski(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Bilinear form of signature (-, +, ..., +) along the last axis, kept with length 1."""
    return torch.sum(x[..., 1:] * y[..., 1:], dim=-1, keepdim=True) - x[..., :1] * y[..., :1]


def onto_span(x: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Orthogonal projection, for the Minkowski form, on the span of the rows of V: A (A'BA)^-1 A'B x."""
    B = torch.ones(V.shape[1], dtype=V.dtype)
    B[0] = -1
    return torch.linalg.solve((V * B) @ V.T, (V * B) @ x.T).T @ V


def horospherical_projection(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """The paper's Algorithm 1: x (n, d+1) along the horospheres of the ideal points q (K, d), from the base point o."""
    V = torch.cat([torch.ones_like(q[:, :1]), q], dim=1)
    z = onto_span(x, V)
    w = z / torch.sqrt(-minkowski(z, z))
    base = torch.zeros_like(x)
    base[:, 0] = 1
    u = base - w
    u = u - onto_span(u, V)
    u = u / torch.sqrt(minkowski(u, u))
    far = torch.acosh(torch.clamp(-minkowski(x, w), min=1 + 1e-15))
    return torch.cosh(far) * w + torch.sinh(far) * u


def ball_distances(y: torch.Tensor) -> torch.Tensor:
    """All distances (n, n) by Möbius subtraction in the Poincaré ball, in arrays of n x n x d: the usual transcription."""
    z = y[:, 1:] / (1 + y[:, :1])
    a, b = -z[:, None, :], z[None, :, :]
    aa, bb = torch.sum(a * a, dim=-1, keepdim=True), torch.sum(b * b, dim=-1, keepdim=True)
    ab = torch.sum(a * b, dim=-1, keepdim=True)
    difference = ((1 + 2 * ab + bb) * a + (1 - aa) * b) / (1 + 2 * ab + aa * bb)
    return 2 * torch.atanh(torch.clamp(torch.linalg.vector_norm(difference, dim=-1), max=1 - 1e-15))


def gram_distances(y: torch.Tensor) -> torch.Tensor:
    """All distances (n, n) from one matrix product: the leanest dense form, good where no two points are close."""
    gram = y[:, :1] @ y[:, :1].T - y[:, 1:] @ y[:, 1:].T
    return torch.acosh(torch.clamp(gram, min=1 + 1e-15))


def dense_variance(x: torch.Tensor, q: torch.Tensor, distances: Callable = ball_distances) -> torch.Tensor:
    """Mean squared distance over all ordered pairs of the projections of x along q."""
    return torch.mean(distances(horospherical_projection(x, q)) ** 2)


def fit_dense(
    X: np.ndarray, K: int = 2, *, steps: int = STEPS, seed: int = 0, distances: Callable = ball_distances
) -> DenseFit:
    """Maximise the variance over K ideal points by Adam from random ones, all pairs at every step."""
    x = centred(X)
    generator = torch.Generator().manual_seed(seed)
    free = torch.randn(K, X.shape[1], generator=generator, dtype=torch.float64).requires_grad_()
    adam = torch.optim.Adam([free], lr=RATE)
    for _ in range(steps):
        adam.zero_grad()
        (-dense_variance(x, unit(free), distances)).backward()
        adam.step()
    with torch.no_grad():
        q = unit(free)
        return DenseFit(q.numpy(), float(dense_variance(x, q)), horospherical_projection(x, q).numpy())


def unit(q: torch.Tensor) -> torch.Tensor:
    return q / torch.linalg.vector_norm(q, dim=1, keepdim=True)
