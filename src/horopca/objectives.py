"""What HoroPCA maximises, as a value and its gradient in a basis of the spine.

An objective is a projection (`slide_with_pullback`) composed with a statistic of the projected pairs. The data are a
`Sample`: points of the hyperboloid near their mean, rows shuffled once. Pairs are all pairs, in tiles, or (i, i + sigma mod n)
for a handful of shifts sigma: slices, never gathers.

Every objective depends on the *span* of the basis A (K, d+1) alone. That invariance gives the whole gradient, the
parts that change the Minkowski products of the basis included, from the derivatives in the coordinates of the points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace, device

from .geometry import light_cone, pairwise_distance
from .geometry._arrays import Array, from_numpy, has_kernels, to_numpy
from .geometry.hulls import split_basis
from .statistics import pair_distances

KEPT_SQUARE = 512  # up to so many points the distances of all pairs are kept
BLOCK_PAIRS = 1 << 13  # pairs worked on at a time: the dozen temporaries of a block stay in a core's cache and, at 64
# kilobytes, in memory that the process has already (larger ones are given back and asked for anew: three times as slow),
DEVICE_PAIRS = 1 << 22  # and an accelerator has work for longer than it takes to ask for it


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
        return _matrixinverse(A @ V.T).T @ G

    return b / r, 1 / r, pullback


def _matrixinverse(matrix: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:  # a basis that came to be dependent in the middle of a climb
        return np.linalg.pinv(matrix)


class Block(NamedTuple):
    """Some pairs: the columns of a stack (k, n) at their two ends, broadcastable to (k, ., .), and where their terms go."""

    first: Array
    second: Array
    extra: Any  # index of these pairs in an array of one number per pair
    halve: slice | None  # the columns of the block whose pairs come twice
    collect: Callable[[Array, Array, int], None]  # (total, terms, sign): terms at the first ends, sign * terms at the second


class AllPairs(NamedTuple):
    """Every unordered pair of n points once, in tiles of whole rows."""

    n: int

    @property
    def total(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def width(self) -> int:
        """Columns of the buffer that `collect` adds to: n, and those past n stand for the first ones again."""
        return self.n

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        ones = xp.ones_like(stack[0, :])
        start = 0
        while start < self.n:
            height = max(1, min(2 * _block_pairs(stack) // (self.n - start), self.n // 8 + 1))
            rows, columns = slice(start, min(start + height, self.n)), slice(start, self.n)

            def collect(total: Array, terms: Array, sign: int, rows: slice = rows, columns: slice = columns) -> None:
                total[:, rows] += terms @ ones[columns]
                total[:, columns] += sign * (ones[rows] @ terms)

            square = slice(0, rows.stop - rows.start)  # both halves of the tile on the diagonal
            yield Block(stack[:, rows, None], stack[:, None, columns], (rows, columns), square, collect)
            start = rows.stop


class Shifts(NamedTuple):
    """The pairs (i, i + sigma mod n) of n points for each sigma of `offsets`, all below n/2: every point equally often."""

    n: int
    offsets: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.n * len(self.offsets)

    @property
    def width(self) -> int:
        return self.n + max(self.offsets)

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        n, most = self.n, 2 * _block_pairs(stack) // stack.shape[0]
        width = min(n, most)
        height = max(1, most // width)
        wrapped = xp.concat([stack, stack[:, : max(self.offsets)]], axis=1)
        for k in range(0, len(self.offsets), height):
            shifts = self.offsets[k : k + height]
            for start in range(0, n, width):
                stop = min(start + width, n)

                def collect(total: Array, terms: Array, sign: int, shifts=shifts, start=start, stop=stop) -> None:
                    total[:, start:stop] += xp.sum(terms, axis=1)
                    terms = terms if sign > 0 else -terms
                    for j, o in enumerate(shifts):
                        total[:, start + o : stop + o] += terms[:, j, :]

                second = xp.stack([wrapped[:, start + o : stop + o] for o in shifts], axis=1)
                where = (slice(k, k + len(shifts)), slice(start, stop))
                yield Block(stack[:, None, start:stop], second, where, None, collect)


class Across(NamedTuple):
    """Pairs between two clouds, n points and m others behind them: (i, n + (i + sigma mod m)) for each sigma of `offsets`."""

    first: int
    others: int
    offsets: tuple[int, ...]

    @property
    def n(self) -> int:
        return self.first + self.others

    @property
    def total(self) -> int:
        return self.first * len(self.offsets)

    @property
    def width(self) -> int:
        return self.n

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        m, most = self.others, 2 * _block_pairs(stack) // stack.shape[0]
        width = min(self.first, m, most)
        height = max(1, most // width)
        others = xp.concat([stack[:, self.first :], stack[:, self.first : self.first + width]], axis=1)
        for start in range(0, self.first, width):
            stop = min(start + width, self.first)
            for k in range(0, len(self.offsets), height):
                shifts = self.offsets[k : k + height]
                begins = [(start + o) % m for o in shifts]

                def collect(total: Array, terms: Array, sign: int, begins=begins, start=start, stop=stop) -> None:
                    total[:, start:stop] += xp.sum(terms, axis=1)
                    terms = terms if sign > 0 else -terms
                    for j, a in enumerate(begins):
                        cut = min(stop - start, m - a)  # what is past the last of the others goes to the first
                        total[:, self.first + a : self.first + a + cut] += terms[:, j, :cut]
                        total[:, self.first : self.first + stop - start - cut] += terms[:, j, cut:]

                second = xp.stack([others[:, a : a + stop - start] for a in begins], axis=1)
                where = (slice(start, stop), shifts)
                yield Block(stack[:, None, start:stop], second, where, None, collect)


def _block_pairs(a: Array) -> int:
    return BLOCK_PAIRS if str(device(a)) == "cpu" else DEVICE_PAIRS


def some_pairs(n: int, shifts: int, rng: np.random.Generator) -> AllPairs | Shifts:
    """`shifts` random shifts of n rows; all pairs when they are no more."""
    return AllPairs(n) if shifts >= (n - 1) // 2 else Shifts(n, some_offsets(n, shifts, rng))


def some_offsets(n: int, shifts: int, rng: np.random.Generator) -> tuple[int, ...]:
    """`shifts` different random shifts of n rows (or as many as there are), all below n/2."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(shifts, most), replace=False)))


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
    if profile is variance_profile and not isinstance(pairs, Across) and has_kernels(eta):
        from .gpu import mean_over_many_pairs

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
