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

    def shuffled_order(self) -> np.ndarray:
        """A shuffled order of the points that depends neither on their original order nor on their original position."""
        s = to_numpy(self.columns[1:, :])
        return np.argsort(0.5 ** np.arange(len(s)) @ s, kind="stable")[np.random.default_rng(0).permutation(self.size)]

    def take(self, rows: np.ndarray | slice) -> Sample:
        """Some of the points. The first of them are a random subset, since the points are in random order."""
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

    def directions(self) -> np.ndarray:
        """Unit vectors (n, d) from the origin to the points; the first axis for a point at the origin."""
        s = to_numpy(self.columns[1:, :]).T
        size = np.linalg.norm(s, axis=1, keepdims=True)
        return np.where(size > 0, s / np.where(size > 0, size, 1.0), np.eye(1, s.shape[1]))


def as_sample(x: Array, weights: Any = None) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    return Sample(x.T, 1 / (x[:, 0] + norm(x[:, 1:])), None if weights is None else from_numpy(weights, like=x))


# ---------------------------------------------------------------- pairs


def all_pairs(n: int) -> range:
    """The offsets of all pairs of n points."""
    return range(1, max(n // 2, 1) + 1)


def some_pairs(n: int, count: int, rng: np.random.Generator) -> range:
    """Consecutive offsets, `count` of them, beginning with a random one; those of all pairs if there are no more."""
    if count >= (n - 1) // 2:
        return all_pairs(n)
    first = 1 + int(rng.integers((n - 1) // 2 - count + 1))
    return range(first, first + count)


def some_offsets(n: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Up to `count` different random offsets below n/2, for rows that are not in random order."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(count, most), replace=False)))


class Pairs:
    """The pairs (i, i + o mod n) of points x (n, D+1) for a range of offsets o <= n/2, their weights and true distances.

    Pairs of the offset n/2 occur twice, and count half. Coincident points have no distortion: if distances are needed, their
    pairs have weight 0.
    """

    def __init__(self, x: Array, offsets: range, weights: Any, distances: bool) -> None:
        xp, n = array_namespace(x), x.shape[0]
        self.x, self.offsets, self.distances = x, offsets, distances
        self.wrapped = None if weights is None else xp.concat([weights, weights[: offsets[-1]]])
        self.kept = self._inverse_distances(offsets) if distances and n * len(offsets) <= KEPT_PAIRS else None
        self.total = n * (len(offsets) - (0.5 if 2 * offsets[-1] == n else 0.0))  # the total weight of the pairs that count
        if weights is None and not distances:
            return
        self.total = 0.0
        for o in offsets:
            factors, inverse = self.terms(slice(0, n), range(o, o + 1))
            mass = xp.ones_like(x[:, 0]) if factors is None else factors[0, :]
            self.total += float(xp.sum(mass if inverse is None else xp.where(inverse[0, :] > 0, mass, xp.zeros_like(mass))))

    def blocks(self, starts: int) -> Iterator[tuple[slice, range]]:
        """Rows and offsets that cover all pairs, sized for the device and the number of starts."""
        n, offsets = self.x.shape[0], self.offsets
        pairs = (BLOCK if on_host(self.x) else DEVICE_BLOCK) // starts
        width = min(n, max(pairs // 4, 64))
        height = max(1, pairs // width)
        for k in range(0, len(offsets), height):
            for i in range(0, n, width):
                yield slice(i, min(i + width, n)), offsets[k : k + height]

    def terms(self, rows: slice, offsets: range) -> tuple[Any, Any]:
        """(factors, inverse distances) of a block, (offsets, rows) each; None where all are 1, or not needed."""
        inverse = None
        if self.distances:
            first = offsets[0] - self.offsets[0]
            known = self._inverse_distances(offsets) if self.kept is None else self.kept[first : first + len(offsets), :]
            inverse = known[:, rows]
        w, n = self.wrapped, self.x.shape[0]
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
