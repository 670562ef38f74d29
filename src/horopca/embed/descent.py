"""Stochastic gradient descent on the average distortion of target distances, in the frame of each point.

Points of the ball are stored as (z, δ) with δ = 1 - |z|^2. The frame of z is the frame of the origin, transported along the
ray: in the ball, the coordinates times δ. A step by the tangent vector ξ takes z to z ⊕ tanh(|ξ|/2) ξ/|ξ|. Step sizes are
therefore hyperbolic lengths, of the same scale at the root of a tree and at its leaves.

With q = |z - z'|^2 / (δ δ') the distance is d = 2 asinh(sqrt q), and its gradient in the frame of z is minus the unit vector
towards z',

    (δ (z' - z) - |z - z'|^2 z) / (δ δ' sqrt(q (1 + q))),

so the gradients of many pairs are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..geometry import lift
from ..geometry.hyperboloid import distance_blocks
from ..metrics.distances import best_scale
from .graphs import Graph, shortest_paths

MAX_ALL_PAIRS = 2048  # Up to this many nodes, all pairs have targets (32 MB).
TARGET_PAIRS = 1 << 22  # Above it, about this many pairs have targets, those of a sample of the nodes.
BLOCK_WIDTH = 128  # Rows and columns of a block of pairs, whose arrays then stay in a core's cache.
COINCIDENT = 1e-12  # Added to sinh^2(d/2), so that points that coincide count as points at distance 2e-6.
CANCELLATION = 1e-11  # A squared difference below this has fewer than four correct digits if a Gram matrix gives it.
BETA_1, BETA_2 = 0.9, 0.99  # Decay rates of Adam; the second is below the usual 0.999 because the objective changes.
SCALE_STEP = 0.2  # Step of the log of the scale relative to those of the points: with a larger one it overshoots.
FLATTENED_AFTER = 0.9  # Extra dimensions are removed in this fraction of the steps; the others reduce the distortion again.
UNKNOWN = -1e30  # The log-probability of a node at an unknown distance.
# The weight of a neighbour falls by a factor of e over this fraction of the distance of the tenth neighbour.
NEIGHBOURS, NEIGHBOUR_WIDTH = 10, 0.2


class Ball(NamedTuple):
    """Points z (n, d) of the ball and δ (n,) = 1 - |z|^2, precise where the difference would round to 0."""

    z: np.ndarray
    delta: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray) -> Ball:
        """The points of the ball for points x (n, d+1) of the hyperboloid."""
        return cls(x[:, 1:] / (1 + x[:, :1]), 2 / (1 + x[:, 0]))

    def hyperboloid(self) -> np.ndarray:
        """The points on the hyperboloid, (n, d+1)."""
        return lift(2 * self.z / self.delta[:, None])

    def moved(self, xi: np.ndarray) -> Ball:
        """The points after steps xi (n, d) in their frames."""
        z, delta = self
        size = np.linalg.norm(xi, axis=1)
        tanh = np.tanh(size / 2)
        y = xi * np.where(size > 0, tanh / np.where(size > 0, size, 1.0), 0.5)[:, None]
        zy, yy = np.sum(z * y, axis=1), tanh * tanh
        D = np.maximum(1 + 2 * zy + (1 - delta) * yy, (1 - tanh) ** 2)  # a lower bound that rounding may violate
        new = ((1 + 2 * zy + yy)[:, None] * z + delta[:, None] * y) / D[:, None]
        return Ball(new, delta / np.cosh(size / 2) ** 2 / D)

    def within(self, far: float) -> Ball:
        """The points; those beyond radius `far` are moved back to it along their rays."""
        least = 1 / np.cosh(far / 2) ** 2  # 1 - |z|^2 there
        beyond = self.delta < least
        if not beyond.any():
            return self
        size = np.linalg.norm(self.z, axis=1, keepdims=True)
        back = np.where(beyond[:, None], np.tanh(far / 2) / np.where(size > 0, size, 1.0), 1.0)
        return Ball(self.z * back, np.where(beyond, least, self.delta))

    def flattened(self, d: int, fraction: float) -> Ball:
        """The points with a fraction of their height over the first d dimensions removed; all of it leaves d dimensions."""
        z = self.z.copy()
        lost = (1 - (1 - fraction) ** 2) * np.sum(z[:, d:] ** 2, axis=1)
        z[:, d:] *= 1 - fraction
        return Ball(z if fraction < 1 else np.ascontiguousarray(z[:, :d]), self.delta + lost)


class Targets(NamedTuple):
    """Target distances (m, n) from the first m of the shuffled nodes to all n; m = n, or a random sample."""

    distances: np.ndarray
    order: np.ndarray  # (n,) the node in each position

    @classmethod
    def of(cls, graph: Graph, rng: np.random.Generator, least_sources: int = 64) -> Targets:
        """The targets for a graph: the distances that were given, or the lengths of shortest paths."""
        n, order = graph.size, rng.permutation(graph.size)
        sources = order[: n if n <= MAX_ALL_PAIRS else max(least_sources, TARGET_PAIRS // n)]
        if graph.distances is not None:
            return cls(graph.distances[sources[:, None], order], order)
        return cls(shortest_paths(graph.adjacency, sources)[:, order], order)

    def thinned(self, count: int) -> Targets:
        """About `count` of the pairs, those of fewer sources; all pairs if there are fewer."""
        m, n = self.distances.shape
        return self if m * n <= count else Targets(self.distances[: max(2, count // n)], self.order)

    def scale_and_distortion(self, x: np.ndarray, scale: float | None = None) -> tuple[float, float]:
        """The scale (the best one if not given) and the mean of |d / (scale * target) - 1| for points x (n, d+1) in `order`."""
        (m, n), ratios = self.distances.shape, []
        for rows, block in distance_blocks(x[:m], x):
            d = self.distances[rows]
            counted = np.triu(d > 0, rows.start + 1) if m == n else d > 0  # each pair once
            ratios.append(block[counted] / d[counted])
        ratio = np.concatenate(ratios)
        scale = best_scale(ratio) if scale is None else scale
        return scale, float(np.mean(np.abs(ratio / scale - 1)))


class Schedule(NamedTuple):
    """A descent: its number of steps, the first and the last step size, the first and the last softness."""

    steps: int
    rates: tuple[float, float]
    softness: tuple[float, float]


FINE_TUNING = Schedule(500, (0.05, 1e-4), (0.03, 1e-3))  # For points near their final positions.


class Adam:
    """Adam with one step size for each row."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.square, self.count = np.zeros(shape), np.zeros((shape[0], 1)), 0

    def step(self, gradient: np.ndarray) -> np.ndarray:
        d = gradient.shape[1]  # the dimension decreases when points are flattened
        self.count += 1
        self.mean = BETA_1 * self.mean[:, :d] + (1 - BETA_1) * gradient
        self.square = BETA_2 * self.square + (1 - BETA_2) * np.mean(gradient * gradient, axis=1, keepdims=True)
        root = np.sqrt(self.square / (1 - BETA_2**self.count))
        step = -self.mean / (1 - BETA_1**self.count)
        return np.divide(step, root, out=np.zeros_like(step), where=root > 0)


class Descent:
    """Stochastic descent on target distances (m, n) between the points 0 .. m-1 and the points first .. first+n-1.

    A step uses, for every block of columns, the pairs with one block of rows, chosen at random: a sample that contains every
    point. Large steps on samples move points past each other, which an optimiser on all pairs cannot do. `constrain` is called
    after every step: `DistortionEmbedding` and `refine` limit the radius, and `TreeEmbedding` keeps points in the cones of a
    layout. `transform` keeps the points before `first` fixed. A distance of 0 is unknown.
    """

    def __init__(
        self,
        distances: np.ndarray,
        rng: np.random.Generator,
        constrain: Callable[[Ball], Ball],
        *,
        fixed_scale: bool = False,
        first: int = 0,
        neighbor_weight: float = 0.0,
    ) -> None:
        self.rng, self.constrain, self.fixed_scale, self.first = rng, constrain, fixed_scale, first
        self.neighbor_weight = neighbor_weight
        # single precision of the ratios of distances is enough for a descent
        self.inverse = np.divide(
            1.0, distances, out=np.zeros(distances.shape, np.float32), where=distances > 0, casting="same_kind"
        )
        self.rows, self.columns = (_blocks(size) for size in distances.shape)
        k = min(NEIGHBOURS * distances.shape[0] // distances.shape[1], len(distances) - 1)
        self.widths = NEIGHBOUR_WIDTH * np.partition(distances, k, axis=0)[k]

    def run(self, points: Ball, scale: float, schedule: Schedule, d: int | None = None) -> Ball:
        """The points after a descent, which also learns the scale unless it is fixed, and flattens them to d dimensions."""
        log_scale, d = np.log(scale), d or points.z.shape[1]
        mover, scaler = Adam(points.z.shape), Adam((1, 1))
        for k in range(1, schedule.steps + 1):
            progress = k / schedule.steps
            rate = schedule.rates[0] + progress * (schedule.rates[1] - schedule.rates[0])
            softness = schedule.softness[0] * (schedule.softness[1] / schedule.softness[0]) ** progress
            gradient, slope = self.gradient(points, log_scale, softness)
            step = rate * mover.step(gradient)
            step[: self.first] = 0
            points = points.moved(step)
            if not self.fixed_scale:
                log_scale += SCALE_STEP * rate * float(scaler.step(np.array([[slope]]))[0, 0])
            if points.z.shape[1] > d:
                left = 1 - progress / FLATTENED_AFTER  # the fraction that is removed rises to 1
                flat = min(1.0, 3 * (1 - left) / left / (FLATTENED_AFTER * schedule.steps)) if left > 0 else 1.0
                points = points.flattened(d, flat)
            points = self.constrain(points)
        return points

    def gradient(self, points: Ball, log_scale: float, softness: float) -> tuple[np.ndarray, float]:
        """The gradient of the loss over a sample of pairs, in the frames of the points and in the log of the scale.

        The loss is the sum of sqrt(e^2 + softness^2) with e = d / (scale * target) - 1, plus `neighbor_weight` times the loss
        of neighbours.
        """
        z, delta = points
        high, (left, right) = 1 / delta, factors(z)
        shrink, shift = float(np.exp(-log_scale)), int(self.rng.integers(len(self.rows)))
        slope_scale, gradient = 0.0, np.zeros_like(z)
        for j, block in enumerate(self.columns):
            rows, columns = self.rows[(j + shift) % len(self.rows)], slice(block.start + self.first, block.stop + self.first)
            inverse = self.inverse[rows, block]
            square = squared_differences_of_factors(left[rows], right[columns])
            far = np.multiply.outer(high[rows], high[columns])
            q = (square * far).astype(inverse.dtype) + np.float32(COINCIDENT)
            root = np.sqrt(q)
            ratio = np.arcsinh(root) * inverse * np.float32(2 * shrink)  # 1 + e
            slope = ratio - 1
            slope /= np.sqrt(slope * slope + np.float32(softness * softness))
            if self.neighbor_weight:
                slope += self.neighbor_weight * _neighbour_slope(ratio, inverse, self.widths[block])
            slope_scale -= float(np.vdot(slope, ratio))
            slope *= inverse / (root * np.sqrt(1 + q))
            far *= slope
            add_pair_gradients(gradient, points, right, rows, columns, far, square)
        return gradient * shrink, slope_scale


def _neighbour_slope(ratio: np.ndarray, inverse: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The derivative, in the ratios, of the cross entropy of neighbour probabilities, for each column.

    The probability of a row is proportional to exp(-distance / width).
    """
    known = inverse > 0
    target = 1 / (np.where(known, inverse, 1) * widths.astype(inverse.dtype))
    wanted, actual = (softmax(np.where(known, -u, UNKNOWN), axis=0) for u in (target, ratio * target))
    return np.asarray(len(ratio) * (wanted - actual) * target)


def _blocks(size: int) -> list[slice]:
    ends = np.linspace(0, size, -(-size // BLOCK_WIDTH) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def factors(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arrays left and right (n, d+2) with left @ right.T = |z - z'|^2; the columns of right begin with z and 1."""
    sizes, ones = np.einsum("nd,nd->n", z, z)[:, None], np.ones((len(z), 1))
    return np.hstack([-2 * z, sizes, ones]), np.hstack([z, ones, sizes])


def squared_differences_of_factors(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """|z - z'|^2 of all pairs from a product of `factors`, or from the differences where the product loses its digits."""
    square: np.ndarray = left @ right.T
    if square.min() < CANCELLATION:
        i, j = np.nonzero(square < CANCELLATION)
        gap = left[i, :-2] / -2 - right[j, :-2]
        square[i, j] = np.einsum("nd,nd->n", gap, gap)
    return square


def add_pair_gradients(
    gradient: np.ndarray, points: Ball, right: np.ndarray, rows: slice, columns: slice, pull: np.ndarray, square: np.ndarray
) -> None:
    """Add the gradient of a sum over the pairs of some rows and columns, in the frames of the points.

    `pull` has the derivatives by the distances, divided by δ δ' sqrt(q (1 + q)). `square`, |z - z'|^2, is overwritten.
    """
    square *= pull
    for here, there, pulls, turn in ((rows, columns, pull, square.sum(axis=1)), (columns, rows, pull.T, square.sum(axis=0))):
        towards = pulls @ right[there]  # the sums of pull z', of pull, and one more
        off = towards[:, :-2] - towards[:, -2, None] * points.z[here]
        gradient[here] -= points.delta[here, None] * off - turn[:, None] * points.z[here]
