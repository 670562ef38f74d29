"""Means over pairs of images, with their gradient: the only loop over pairs of the search.

Pairs are (i, i + o mod n) for consecutive offsets o of rows in random order: slices and never gathers, O(n) memory, every
point equally often. All pairs are those of all offsets up to n/2. Images have coordinates beta and a height eta in the upper
half-space of H^K, with

    sinh^2(d/2) = (|beta - beta'|^2 + (eta - eta')^2) / (4 eta eta').
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_numpy_array, is_torch_array

from ..geometry._arrays import Array, array_namespace, from_numpy
from ..statistics import pair_distances

BLOCK_PAIRS = 1 << 14
"""Pairs that are processed at a time on the host: the dozen temporaries of a block, 128 kilobytes each, stay in a core's cache
(larger ones are given back to the system and asked for again: three times as slow)."""
DEVICE_PAIRS = 1 << 22  # The same on an accelerator: enough work to outlast the start of a kernel.
KEPT_PAIRS = 1 << 22  # Distances of up to this many pairs are kept (32 megabytes); those of more are computed in each pass.
TINY = 1e-290  # Added to squares whose root is divided by.

Profile = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""A function of a projected distance d and the true one: from a = sinh(d/2), c = cosh(d/2), h = d/2 and one over the true
distance (None if it is not needed) to its value and its derivative in a^2."""


class Pairs(NamedTuple):
    """The pairs (i, i + o mod n) for offsets o = first .. last <= n/2. Pairs of the offset n/2 come twice, and count half."""

    n: int
    first: int
    last: int

    @property
    def shifts(self) -> int:
        """The number of offsets."""
        return self.last - self.first + 1

    @property
    def total(self) -> float:
        """The number of different pairs."""
        return self.n * (self.shifts - (0.5 if 2 * self.last == self.n else 0.0))

    def blocks(self, like: Array, starts: int) -> Iterator[tuple[slice, range]]:
        """Rows and offsets that cover all pairs, sized for the device and the number of starts."""
        pairs = (BLOCK_PAIRS if str(device(like)) == "cpu" else DEVICE_PAIRS) // starts
        width = min(self.n, max(pairs // 4, 64))
        height = max(1, pairs // width)
        for o in range(self.first, self.last + 1, height):
            for i in range(0, self.n, width):
                yield slice(i, min(i + width, self.n)), range(o, min(o + height, self.last + 1))


def all_pairs(n: int) -> Pairs:
    """Every pair of n points."""
    return Pairs(n, 1, max(n // 2, 1))


def some_pairs(n: int, shifts: int, rng: np.random.Generator) -> Pairs:
    """The pairs of `shifts` consecutive offsets, from a random one on; all pairs if there are no more."""
    if shifts >= (n - 1) // 2:
        return all_pairs(n)
    first = 1 + int(rng.integers((n - 1) // 2 - shifts + 1))
    return Pairs(n, first, first + shifts - 1)


def some_offsets(n: int, shifts: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Up to `shifts` different random offsets below n/2, for rows that are in no random order."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(shifts, most), replace=False)))


class PairWeights:
    """What pairs count for, and one over their true distances where an objective needs these.

    Coincident points have no distortion: their pairs do not count where distances are needed.
    """

    def __init__(self, x: Array, pairs: Pairs, weights: Any, distances: bool) -> None:
        """`x` (n, D+1) are the points; `weights` (n,) or None."""
        self.x, self.pairs, self.distances = x, pairs, distances
        self.wrapped = None if weights is None else array_namespace(x).concat([weights, weights[: pairs.last]])
        every = range(pairs.first, pairs.last + 1)
        self.kept = self._inverse_distances(every) if distances and pairs.n * pairs.shifts <= KEPT_PAIRS else None
        self.total = pairs.total if not distances and weights is None else sum(self._mass(range(o, o + 1)) for o in every)

    def of(self, rows: slice, offsets: range) -> tuple[Any, Any]:
        """(factors, inverse distances) of a block, (offsets, rows) each; None where all are 1, or not needed."""
        inverse = None
        if self.distances:
            first = self.pairs.first
            known = self.kept[offsets[0] - first : offsets[-1] - first + 1, :] if self.kept is not None else None
            inverse = (self._inverse_distances(offsets) if known is None else known)[:, rows]
        w, n = self.wrapped, self.pairs.n
        if w is None and 2 * offsets[-1] != n:
            return None, inverse
        xp = array_namespace(self.x)
        ones = xp.ones_like(self.x[rows, 0])
        factors = [ones if w is None else w[rows] * w[rows.start + o : rows.stop + o] for o in offsets]
        return xp.stack([f / 2 if 2 * o == n else f for o, f in zip(offsets, factors, strict=True)]), inverse

    def _inverse_distances(self, offsets: range) -> Any:
        xp = array_namespace(self.x)
        d = xp.stack([d for (d,) in pair_distances(self.x, offsets=offsets)])
        return xp.where(d > 0, 1 / xp.where(d > 0, d, xp.ones_like(d)), xp.zeros_like(d))

    def _mass(self, offsets: range) -> float:
        """The total weight of the pairs that count."""
        factors, inverse = self.of(slice(0, self.pairs.n), offsets)
        xp = array_namespace(self.x)
        mass = xp.ones_like(self.x[:, 0])[None, :] if factors is None else factors
        return float(xp.sum(mass if inverse is None else xp.where(inverse > 0, mass, xp.zeros_like(mass))))


def mean_over_pairs(
    y: Array, r: Array, weights: PairWeights, profile: Profile, gradient: bool = True
) -> tuple[Array, Array | None]:
    """Means (S,) of a profile over pairs of images y (S, K, n), r (S, n) one over their heights; and gradients in y."""
    xp, (S, K, n), most = array_namespace(y), y.shape, weights.pairs.last
    stack = xp.concat([y, r[:, None, :] / 2], axis=1)
    ahead = xp.concat([stack, stack[:, :, :most]], axis=2)
    value, half_distance = xp.zeros_like(r[:, 0]), _half_distance(y)
    # sums at both ends of the pairs: the gradient has opposite signs there, slope * a^2 in the last row is the same
    here = xp.zeros((S, K + 1, n), dtype=y.dtype, device=device(y))
    there = xp.zeros_like(ahead)
    windows = padded = xp.zeros((S, 1, 1, 1), dtype=y.dtype, device=device(y))  # made for the first block
    for rows, offsets in weights.pairs.blocks(y, S):
        factors, inverse = weights.of(rows, offsets)
        width, m = rows.stop - rows.start, len(offsets)
        if width != windows.shape[3]:
            windows = _windows(ahead, width)
        others = windows[:, :, rows.start + offsets[0] : rows.start + offsets[-1] + 1, :]
        near = stack[:, -1:, rows] * others[:, -1, ...]  # 1 / (4 eta eta')
        if padded.shape[2:] != (m, width + m):
            padded = xp.zeros((S, K + 1, m, width + m), dtype=y.dtype, device=device(y))
        terms = padded[..., :width]
        terms[:, :-1, ...] = stack[:, :-1, None, rows]
        terms[:, :-1, ...] -= others[:, :-1, ...]
        square = half_sinh_squared(terms[:, :-1, ...], near)
        a, c = xp.sqrt(square), xp.sqrt(1 + square)
        part, slope = profile(a, c, half_distance(a, c), inverse)
        if factors is not None:
            part, slope = part * factors, slope * factors
        value = value + xp.sum(part, axis=(1, 2))
        if gradient:
            near *= slope
            terms[:, :-1, ...] *= near[:, None, ...]
            terms[:, -1, ...] = square * slope
            here[..., rows] += xp.sum(terms, axis=2)
            # rows one shorter than they are: each is one further to the right than the one above, as its offset is
            flat = xp.reshape(padded, (S, K + 1, -1))[..., : m * (width + m - 1)]
            begin = rows.start + offsets[0]
            there[..., begin : begin + width + m - 1] += xp.sum(xp.reshape(flat, (S, K + 1, m, -1)), axis=2)
    scale = 1 / max(weights.total, TINY)
    if not gradient:
        return scale * value, None
    there[..., :most] += there[..., n:]
    slopes = (2 * scale) * (here[:, :-1, :] - there[:, :-1, :n])
    slopes[:, -1, :] -= scale * (here[:, -1, :] + there[:, -1, :n]) * r
    return scale * value, slopes


def _windows(ahead: Array, width: int) -> Any:
    """All windows (S, k, positions, width) of consecutive columns of `ahead` (S, k, .): a view where the library has one."""
    if is_numpy_array(ahead):
        return np.lib.stride_tricks.sliding_window_view(ahead, width, axis=2)
    if is_torch_array(ahead):
        return ahead.unfold(2, width, 1)
    return array_namespace(ahead).stack([ahead[:, :, i : i + width] for i in range(ahead.shape[2] - width + 1)], axis=2)


def half_sinh_squared(delta: Array, near: Array) -> Array:
    """sinh^2(d/2) from differences of images (S, K, ...), heights last, and 1 / (4 eta eta'). It is never 0."""
    square = delta[:, 0, ...] * delta[:, 0, ...]
    for k in range(1, delta.shape[1]):
        square += delta[:, k, ...] * delta[:, k, ...]
    square *= near
    square += TINY
    return square


def _half_distance(y: Array) -> Callable[[Array, Array], Array]:
    """asinh(a) from a and c = sqrt(1 + a^2).

    NumPy's asinh costs six logarithms. The logarithm loses the digits of a small a, which weigh nothing beside large ones: only
    where all points of an image are close to each other is asinh itself needed.
    """
    xp = array_namespace(y)
    close = xp.reshape(xp.abs(y - y[:, :, :1]) < 1e-2 * y[:, -1:, :1], (y.shape[0], -1))
    return (lambda a, c: xp.asinh(a)) if bool(xp.any(xp.all(close, axis=1))) else lambda a, c: xp.log(a + c)


def log_variance(r: Array, weights: Any = None) -> tuple[Array, Array]:
    """Mean squared distance over all pairs of images on a line (K = 1), from r (S, n) = 1 / height; and gradient in heights.

    There d = |log r - log r'|, so that the mean needs no pairs: it is twice the variance of log r.
    """
    xp = array_namespace(r)
    w = xp.ones_like(r[0, :]) if weights is None else weights
    mass, own = xp.sum(w), xp.sum(w * w)
    logs = xp.log(r)
    off = logs - (logs @ w / mass)[:, None]
    scale = 2 * mass / xp.maximum(mass * mass - own, from_numpy(np.asarray(TINY), r))
    return scale * xp.sum(w * off * off, axis=1), -2 * scale * w * off * r
