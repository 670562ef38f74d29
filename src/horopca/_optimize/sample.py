"""The points that a search runs on, and their pairs.

Points are columns, in the frame of their mean, in random order, with weights. Pairs are (i, i + o mod n) for consecutive
offsets o. So every point occurs equally often, and a set of pairs is a few slices, without index arrays. The offsets up to
n/2 give all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..geometry._arrays import Array, array_namespace, from_numpy, norm, on_host, to_numpy
from ..statistics.pairs import pair_distances

BLOCK = 1 << 14
"""Pairs, or coordinates of images, that are processed at a time on the host: the dozen temporaries of a block, 128 kB each,
stay in a core's cache. (Larger ones are returned to the operating system and allocated again, which is three times as slow.)"""
DEVICE_BLOCK = 1 << 22  # The same on an accelerator: the computation then takes longer than launching the kernel.
KEPT_PAIRS = 1 << 22  # Distances of up to this many pairs are kept (32 MB); those of more are computed again in each pass.


class Sample(NamedTuple):
    """Points (n, d+1) of the hyperboloid as columns."""

    columns: Any  # (d+1, n)
    floor: Any  # (n,), the least value of t - s.u over unit vectors u: e^{-radius}
    weights: Any = None  # (n,), or None where all are equal
    full: Any = None  # (D+1, n): the points with all coordinates, where `columns` has only some of them
    reach: float = 1.0  # a typical distance between the points, from which on the robust objective levels off

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def dimension(self) -> int:
        return int(self.columns.shape[0]) - 1

    def head(self, n: int) -> Sample:
        """The first n points: a random subset, since the rows are in random order."""
        return self.take(slice(n))

    def shuffled_order(self) -> np.ndarray:
        """A shuffled order of the points that depends neither on their original order nor on their original position."""
        s = to_numpy(self.columns[1:, :])
        return np.argsort(0.5 ** np.arange(len(s)) @ s, kind="stable")[np.random.default_rng(0).permutation(self.size)]

    def take(self, rows: np.ndarray | slice) -> Sample:
        """Some of the points."""
        if not isinstance(rows, slice):
            rows = array_namespace(self.columns).asarray(rows, device=device(self.columns))
        weights = None if self.weights is None else self.weights[rows]
        full = None if self.full is None else self.full[:, rows]
        return self._replace(columns=self.columns[:, rows], floor=self.floor[rows], weights=weights, full=full)

    def points(self) -> Any:
        """The points (n, D+1) with all their coordinates."""
        return (self.columns if self.full is None else self.full).T

    def along(self, axes: np.ndarray) -> Sample:
        """The points restricted to the time axis and orthonormal directions, the columns of `axes` (d, m).

        Projections on spines in the span of these need no other coordinates.
        """
        xp = array_namespace(self.columns)
        s = from_numpy(axes.T, like=self.columns) @ self.columns[1:, :]
        inside, whole = xp.sum(s * s, axis=0), xp.sum(self.columns[1:, :] ** 2, axis=0)
        rest = xp.maximum(whole - inside, xp.zeros_like(inside))
        t = self.columns[0, :]
        columns, floor = xp.concat([t[None, :], s], axis=0), (1 + rest) / (t + xp.sqrt(inside))
        return self._replace(columns=columns, floor=floor, full=self.points().T)

    def on_host(self) -> Sample:
        """The same points as NumPy arrays."""
        x, full, weights = (None if a is None else to_numpy(a) for a in (self.columns, self.full, self.weights))
        return self._replace(columns=x, floor=to_numpy(self.floor), weights=weights, full=full)

    def directions(self) -> np.ndarray:
        """Unit vectors (n, d) from the origin to the points; the first axis for a point at the origin."""
        s = to_numpy(self.columns[1:, :]).T
        size = np.linalg.norm(s, axis=1, keepdims=True)
        return np.where(size > 0, s / np.where(size > 0, size, 1.0), np.eye(1, s.shape[1]))


def as_sample(x: Array, weights: Any = None) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    return Sample(x.T, 1 / (x[:, 0] + norm(x[:, 1:])), None if weights is None else from_numpy(weights, like=x))


# ---------------------------------------------------------------- pairs


class Pairs(NamedTuple):
    """The pairs (i, i + o mod n) for offsets o = first .. last <= n/2. Pairs of the offset n/2 occur twice, and count half."""

    n: int
    first: int
    last: int

    @property
    def n_offsets(self) -> int:
        """The number of offsets."""
        return self.last - self.first + 1

    @property
    def total(self) -> float:
        """The number of different pairs."""
        return self.n * (self.n_offsets - (0.5 if 2 * self.last == self.n else 0.0))

    def blocks(self, like: Array, starts: int) -> Iterator[tuple[slice, range]]:
        """Rows and offsets that cover all pairs, sized for the device and the number of starts."""
        pairs = (BLOCK if on_host(like) else DEVICE_BLOCK) // starts
        width = min(self.n, max(pairs // 4, 64))
        height = max(1, pairs // width)
        for o in range(self.first, self.last + 1, height):
            for i in range(0, self.n, width):
                yield slice(i, min(i + width, self.n)), range(o, min(o + height, self.last + 1))


def all_pairs(n: int) -> Pairs:
    """Every pair of n points."""
    return Pairs(n, 1, max(n // 2, 1))


def some_pairs(n: int, n_offsets: int, rng: np.random.Generator) -> Pairs:
    """The pairs of `n_offsets` consecutive offsets, beginning with a random one; all pairs if there are no more."""
    if n_offsets >= (n - 1) // 2:
        return all_pairs(n)
    first = 1 + int(rng.integers((n - 1) // 2 - n_offsets + 1))
    return Pairs(n, first, first + n_offsets - 1)


def some_offsets(n: int, n_offsets: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Up to `n_offsets` different random offsets below n/2, for rows that are not in random order."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(n_offsets, most), replace=False)))


class PairWeights:
    """Weights of pairs, and the inverse of their true distances if an objective needs these.

    Coincident points have no distortion: their pairs have weight 0 if distances are needed.
    """

    def __init__(self, x: Array, pairs: Pairs, weights: Any, distances: bool) -> None:
        """`x` (n, D+1) are the points; `weights` (n,) or None."""
        self.x, self.pairs, self.distances = x, pairs, distances
        self.wrapped = None if weights is None else array_namespace(x).concat([weights, weights[: pairs.last]])
        every = range(pairs.first, pairs.last + 1)
        self.kept = self._inverse_distances(every) if distances and pairs.n * pairs.n_offsets <= KEPT_PAIRS else None
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
