"""The neighbours of each query among candidates: both searches propose candidates, and this decides.

A search may propose too many candidates, never too few. Their distances are computed here, by one formula, and ties are broken
by row number. Therefore all algorithms return the same neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..geometry._arrays import Array, array_namespace, to_numpy
from ..geometry._points import row_slices
from ..geometry.hyperboloid import polar, polar_gap

SLACK = 1 + 1e-12  # Candidates whose squared distance is within rounding of the limit are considered as well.
PAIR_ELEMENTS = 1 << 22  # Coordinates of candidates that are compared at a time: 32 MB.


@dataclass(frozen=True)
class Polar:
    """Points (t, r u) of the hyperboloid with their directions u, arrays of one library."""

    t: Any  #: (n,)
    r: Any  #: (n,)
    u: Any  #: (n, d)

    @classmethod
    def of(cls, x: Array) -> Polar:
        """The points x (n, d+1)."""
        return cls(*polar(x))

    def __getitem__(self, rows: slice) -> Polar:
        return Polar(self.t[rows], self.r[rows], self.u[rows, :])

    def take(self, indices: Any) -> Polar:
        """The points at some indices."""
        xp: Any = array_namespace(self.t)
        return Polar(xp.take(self.t, indices), xp.take(self.r, indices), xp.take(self.u, indices, axis=0))

    def __len__(self) -> int:
        return int(self.t.shape[0])


def gap_of(distance: float) -> float:
    """4 sinh^2(d / 2), which is what the searches compare; infinite where it would overflow."""
    return 4 * math.sinh(distance / 2) ** 2 if distance < 1400 else math.inf


class Selection:
    """The k nearest data points (all if k is None) within a distance of each of m queries, among the candidates so far.

    Flat arrays, sorted by query, distance and row. `limits` (m,) are what a candidate's gap, 4 sinh^2(d/2), must not exceed;
    `considered` counts the candidates.
    """

    def __init__(self, m: int, k: int | None, reach: float = math.inf) -> None:
        self.k, self.reach, self.considered = k, reach, 0
        self.limits = np.full(m, gap_of(reach) * SLACK)
        self.query, self.row, self.distance = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)

    def add(self, queries: Polar, data: Polar, query: Any, row: Any, start: int = 0) -> None:
        """Consider the pairs (query, row) of rows of `queries` and `data`; `start` is the number of the first row of data."""
        self.considered += query.shape[0]
        distance = _distances(queries, data, query, row)
        near = distance <= self.reach
        query, row = (np.asarray(to_numpy(part), dtype=np.int64)[near] for part in (query, row))
        query, row = np.concatenate([self.query, query]), np.concatenate([self.row, row + start])
        distance = np.concatenate([self.distance, distance[near]])
        order = np.lexsort((row, distance, query))
        self.query, self.row, self.distance = query[order], row[order], distance[order]
        if self.k is not None:
            self._keep_nearest(self.k)

    def _keep_nearest(self, k: int) -> None:
        first = np.searchsorted(self.query, np.arange(len(self.limits) + 1))
        kept = np.arange(len(self.query)) - first[self.query] < k
        full = np.flatnonzero(np.diff(first) >= k)
        worst = self.distance[first[full] + k - 1]
        with np.errstate(over="ignore"):
            self.limits[full] = np.minimum(self.limits[full], 4 * np.sinh(worst / 2) ** 2 * SLACK)
        self.query, self.row, self.distance = self.query[kept], self.row[kept], self.distance[kept]


def _distances(queries: Polar, data: Polar, query: Any, row: Any) -> np.ndarray:
    """The distances of pairs, on the host."""
    xp: Any = array_namespace(data.t)
    found = [np.empty(0)]
    for part in row_slices(query.shape[0], max(1, PAIR_ELEMENTS // data.u.shape[1])):
        a, b = queries.take(query[part]), data.take(row[part])
        turn = a.u - b.u
        gap = polar_gap(a.t, a.r, b.t, b.r, xp.vecdot(turn, turn))
        found.append(to_numpy(2 * xp.asinh(xp.sqrt(gap) / 2)))
    return np.concatenate(found)
