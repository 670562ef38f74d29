"""The variance of the images about their Fréchet mean, the one that the paper reports, as an objective: O(nK).

At the mean the derivative in the mean vanishes, so the gradient is that of the squared distances to a point that stands still.
"""

from __future__ import annotations

import numpy as np

from ..geometry import from_hyperboloid, to_hyperboloid
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..projections.horospherical import slide_with_pullback
from ..statistics import frechet_mean
from .pairs import AllPairs, Shifts
from .profiles import half_sinh_squared
from .sample import Objective, Sample


def frechet_objective(sample: Sample, pairs: AllPairs | Shifts, softness: float = 0.0) -> Objective:
    """Mean squared distance of the images from their mean: A -> (value, gradient). It needs no pairs."""
    last: dict[int, np.ndarray] = {}  # the mean of the images before, near which the next one is

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        beta, eta, pullback = slide_with_pullback(sample, A)
        mean = mean_of_images(beta, eta, last.get(len(A)))
        last[len(A)] = mean
        value, g_beta, g_eta = squares_from(beta, eta, mean)
        n = eta.shape[0]
        return value / n, pullback(g_beta, g_eta) / n

    return objective


def mean_of_images(beta: Array, eta: Array, start: np.ndarray | None = None) -> np.ndarray:
    """The Fréchet mean of images beta (K-1, n), eta (n,), a point (K+1,) of the hyperboloid of H^K."""
    return to_numpy(frechet_mean(on_hyperboloid(beta, eta), start=start, tol=1e-9).point)


def on_hyperboloid(beta: Array, eta: Array) -> Array:
    """Images (n, K+1) on the hyperboloid of H^K."""
    xp = array_namespace(eta)
    return to_hyperboloid(xp.concat([beta, eta[None, :]], axis=0).T, "halfspace")


def squares_from(beta: Array, eta: Array, mean: np.ndarray) -> tuple[float, Array, Array]:
    """The sum of the squared distances of images from a point (K+1,) of H^K, and its gradients in beta and eta."""
    xp = array_namespace(eta)
    centre = from_numpy(from_hyperboloid(mean[None], "halfspace")[0], eta)[:, None]
    delta = xp.concat([beta, eta[None, :]], axis=0) - centre
    near = 1 / (4 * eta * centre[-1, :])
    square = half_sinh_squared(delta, near)
    a, c = xp.sqrt(square), xp.sqrt(1 + square)
    h = xp.asinh(a)
    slope = 4 * h / (a * c)  # of d^2 in a^2
    return float(xp.sum(4 * h * h)), 2 * slope * near * delta[:-1, :], slope * (2 * delta[-1, :] * near - square / eta)
