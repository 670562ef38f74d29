"""What HoroPCA maximises, as a value and its gradient in a basis of the spine.

An objective is a projection (`slide_with_pullback`) composed with a statistic of the projected pairs. The data are a
`Sample`: points of the hyperboloid near their mean, rows shuffled once; which pairs are counted is said by `horopca.pairs`.

Every objective depends on the *span* of the basis A (K, d+1) alone. That invariance gives the whole gradient, the
parts that change the Minkowski products of the basis included, from the derivatives in the coordinates of the points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace, device

from .._points.cuda import mean_over_many_pairs, usable_for
from ..geometry import light_cone, pairwise_distance
from ..geometry._arrays import Array, from_numpy, to_numpy
from ..geometry.hulls import split_basis
from ..statistics import pair_distances
from .pairs import Across, AllPairs, Shifts

KEPT_SQUARE = 512  # up to so many points the distances of all pairs are kept


class Sample(NamedTuple):
    """Points (n, d+1) as columns, and the least that t - s.n can be for each: e^{-radius}."""

    columns: Array  # (d+1, n)
    floor: Array  # (n,)

    @property
    def size(self) -> int:
        return self.columns.shape[1]

    @property
    def dimension(self) -> int:
        return self.columns.shape[0] - 1

    def head(self, n: int) -> Sample:
        """The first n points: a random subset, since the rows were shuffled."""
        return Sample(self.columns[:, :n], self.floor[:n])

    def beside(self, X: Array) -> Sample:
        """The same points where an array X lives."""
        xp = array_namespace(X)
        return Sample(*(xp.asarray(a, dtype=xp.float64, device=device(X)) for a in self))

    def products(self, M: np.ndarray) -> Array:
        """Euclidean products (k, n) of the rows of M (k, d+1) with the points."""
        return from_numpy(M, like=self.columns) @ self.columns

    def gather(self, weights: Array) -> np.ndarray:
        """Sums (k, d+1) of the points with weights (k, n)."""
        return to_numpy(weights @ self.columns.T)

    def sharpened(self, c: Array, v0: float, w: np.ndarray) -> Array:
        """c = v0 t - s.w, taken from light-cone coordinates where it has lost its digits."""
        xp = array_namespace(c)
        lost = xp.abs(c) < 1e-7 * self.columns[0, :]
        return xp.where(lost, pole_product(self.columns.T, v0, w), c) if bool(xp.any(lost)) else c


def pole_product(x: Array, v0: float, w: np.ndarray) -> Array:
    """v0 t - s.w for points x (n, d+1), without cancellation."""
    length = float(np.linalg.norm(w))
    if length == 0:
        return v0 * x[:, 0]
    low, high = light_cone(x, from_numpy(w / length, like=x))
    return (v0 + length) / 2 * low + (v0 - length) / 2 * high


def as_sample(x: Array) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    xp = array_namespace(x)
    columns = xp.asarray(x.T, copy=True)
    size = xp.sqrt(xp.sum(columns[1:, :] ** 2, axis=0))
    return Sample(columns, 1 / (columns[0, :] + size))


class Points(Protocol):
    """What a projection asks of points: products with vectors, and sums with weights."""

    def products(self, M: np.ndarray) -> Array: ...

    def gather(self, weights: Array) -> np.ndarray: ...

    def sharpened(self, c: Array, v0: float, w: np.ndarray) -> Array: ...


def slide_with_pullback(sample: Points, A: np.ndarray) -> tuple[Array, Array, Callable]:
    """Images of the sample under the projection with spine span(A), A of shape (K, d+1).

    Returns beta (K-1, n) and eta (n,), coordinates in the upper half-space of H^K, and the pullback that takes gradients
    in them to the gradient in A.
    """
    v0, w, U = split_basis(A)
    length = float(np.linalg.norm(w))
    g = (length - v0) * (length + v0)
    V = np.zeros_like(A)
    V[0, 0], V[0, 1:], V[1:, 1:] = v0, w, U
    M = V.copy()
    M[0, 1:] *= -1
    coordinates = sample.products(M)
    xp = array_namespace(coordinates)
    c, b = sample.sharpened(coordinates[0, :], v0, w), coordinates[1:, :]
    size = 1 + xp.sum(b * b, axis=0)
    root = xp.sqrt(xp.maximum(c * c + g * size, 1e-24 * c * c))
    r = (c + root) / 2 if g <= 0 else xp.where(c >= 0, (c + root) / 2, g * size / (2 * (root + xp.abs(c))))

    def pullback(g_beta: Array, g_eta: Array) -> np.ndarray:
        g_r = -(xp.sum(g_beta * b, axis=0) + g_eta) / (r * r)
        g_c = g_r * r / root
        g_b = g_beta / r + (g_r * g / (2 * root)) * b
        g_g = float(xp.sum(g_r * size / root)) / 4
        # y = (-c, b) are the Minkowski products of V with x, N = diag(g, 1, ..) those of V with itself. Invariance under
        # a change of basis reads  Gamma + 2 F N = 0  with Gamma = sum g_y y^T and F the gradient in N.
        g_y = xp.concat([-g_c[None, :], g_b], axis=0)
        y = xp.concat([-c[None, :], b], axis=0)
        F = -to_numpy(g_y @ y.T) / 2
        F[1:, 0] = F[0, 1:]
        F[0, 0] = g_g
        G = sample.gather(g_y) + 2 * F @ V
        G[:, 0] *= -1
        return _matrix_inverse(A @ V.T).T @ G

    return b / r, 1 / r, pullback


def _matrix_inverse(matrix: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:  # a basis that came to be dependent in the middle of a climb
        return np.linalg.pinv(matrix)


def variance_profile(a: Array, c: Array, h: Array, _: None) -> tuple[Array, Array]:
    """d^2 / 4 = h^2 and its derivative in a^2, for a = sinh h, c = cosh h, h = d/2."""
    return h * h, h / (a * c)


def fidelity_profile(a: Array, c: Array, h: Array, inverse: Array) -> tuple[Array, Array]:
    """h / d_0 and its derivative in a^2, for inverse = 1 / d_0."""
    return h * inverse, inverse / (2 * (a * c))


def mean_over_pairs(
    beta: Array, eta: Array, pairs: AllPairs | Shifts | Across, profile: Callable, extra: Callable | None = None
) -> tuple[float, Array, Array]:
    """Mean of a profile of the projected pairs, and its gradients in beta (K-1, n) and eta (n,).

    `extra` takes the `extra` of a block to an array of one number per pair for the profile.
    """
    if profile is variance_profile and not isinstance(pairs, Across) and usable_for(eta):
        found = mean_over_many_pairs(beta, eta, None if isinstance(pairs, AllPairs) else pairs.offsets)
        if np.isfinite(found[0]):
            return found
    xp = array_namespace(eta)
    n, stack = pairs.n, xp.concat([beta, eta[None, :], 0.5 / eta[None, :]], axis=0)
    # the gradient in (beta, eta) is of opposite sign at the two ends; the last row collects slope * a^2, alike at both
    pull = xp.zeros((stack.shape[0], pairs.width), dtype=stack.dtype, device=device(stack))
    arc = _half_distance(beta, eta)
    value = 0.0
    for block in pairs.blocks(stack):
        delta = block.first[:-1, ...] - block.second[:-1, ...]
        near = block.first[-1, ...] * block.second[-1, ...]  # 1 / (4 eta eta')
        square = delta[0, ...] * delta[0, ...]
        for k in range(1, delta.shape[0]):
            square += delta[k, ...] * delta[k, ...]
        square *= near
        square += 1e-290
        a, c = xp.sqrt(square), xp.sqrt(1 + square)
        part, slope = profile(a, c, arc(a, c), None if extra is None else extra(block.extra))
        if block.halve is not None:
            part[:, block.halve] *= 0.5
            slope[:, block.halve] *= 0.5
        value += float(xp.sum(part))
        near *= slope
        delta *= near
        square *= slope
        block.collect(pull[:-1, :], delta, -1)
        block.collect(pull[-1:, :], square[None, ...], 1)
    pull[:, : pairs.width - n] += pull[:, n:]
    pull = pull[:, :n] / pairs.total
    return value / pairs.total, 2 * pull[:-2, :], 2 * pull[-2, :] - pull[-1, :] / eta


def _half_distance(beta: Array, eta: Array) -> Callable:
    """asinh(a) from a and c = sqrt(1 + a^2).

    NumPy's asinh costs six logarithms. The logarithm loses the digits of a small a, which weigh nothing beside large
    ones: only where all points are close is asinh itself needed.
    """
    xp = array_namespace(eta)
    close = 1e-2 * float(xp.min(eta))
    if float(xp.max(eta)) < 1.01 * float(xp.min(eta)) and not bool(xp.any(xp.abs(beta - beta[:, :1]) > close)):
        return lambda a, c: xp.asinh(a)
    return lambda a, c: xp.log(a + c)


def log_variance(eta: Array) -> tuple[float, Array]:
    """Mean of d^2 / 4 over all pairs of heights eta (n,) on a line (K = 1, where d = |log eta - log eta'|), and gradient."""
    xp = array_namespace(eta)
    n = eta.shape[0]
    logs = xp.log(eta)
    off = logs - xp.mean(logs)
    return float(xp.sum(off * off)) / (2 * max(n - 1, 1)), off / eta / max(n - 1, 1)


def variance_objective(sample: Sample, pairs: AllPairs | Shifts) -> Callable:
    """Mean squared projected distance of the pairs (of all pairs, if K = 1): A -> (value, gradient)."""

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        beta, eta, pullback = slide_with_pullback(sample, A)
        if len(A) == 1:
            value, g_eta = log_variance(eta)
            return 4 * value, 4 * pullback(beta, g_eta)
        value, g_beta, g_eta = mean_over_pairs(beta, eta, pairs, variance_profile)
        return 4 * value, 4 * pullback(g_beta, g_eta)

    return objective


def fidelity_objective(sample: Sample, pairs: AllPairs | Shifts) -> Callable:
    """Mean of (projected distance) / (distance) of the pairs: one minus the average distortion. A -> (value, gradient).

    The projection lengthens no distance, so this is the average distortion itself, and smooth.
    """
    kept, apart = _inverse_distances(sample, pairs)
    scale = 2 * pairs.total / max(apart, 1)  # coincident pairs have no distortion: they count neither above nor below

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        beta, eta, pullback = slide_with_pullback(sample, A)
        value, g_beta, g_eta = mean_over_pairs(beta, eta, pairs, fidelity_profile, kept)
        return scale * value, scale * pullback(g_beta, g_eta)

    return objective


def _inverse_distances(sample: Sample, pairs: AllPairs | Shifts) -> tuple[Callable, int]:
    """1 / d for the pairs of a block (0 where the points coincide), and how many pairs of all do not coincide.

    Distances of shifts are kept, one for each pair; those of all pairs are kept up to KEPT_SQUARE points, and above
    computed anew for each block: n^2 of them are never in memory at once.
    """
    x = sample.columns.T
    xp = array_namespace(x)
    if isinstance(pairs, AllPairs) and pairs.n > KEPT_SQUARE:
        apart = sum(int(xp.count_nonzero(d > 0)) for (d,) in pair_distances(x))
        return lambda tile: inverse(pairwise_distance(x[tile[0], :], x[tile[1], :])), apart
    if isinstance(pairs, AllPairs):
        kept = inverse(pairwise_distance(x))
        apart = int(xp.count_nonzero(kept)) // 2
    else:
        kept = inverse(xp.stack([d for (d,) in pair_distances(x, offsets=pairs.offsets)]))
        apart = int(xp.count_nonzero(kept))
    return lambda where: kept[where], apart


def inverse(d: Array) -> Array:
    """1 / d, and 0 where d is."""
    xp = array_namespace(d)
    return xp.where(d > 0, 1 / xp.where(d > 0, d, xp.ones_like(d)), xp.zeros_like(d))
