"""Exact nearest neighbours: a search, brute-force or by shells, finds candidates, and `Selection` keeps the nearest.

A search may find too many candidates, never too few. Their distances are computed by the same formula, and ties are broken by
row number. Therefore both searches return the same neighbours.

Shells are points of similar radius, each with a k-d tree of directions. In polar coordinates (rho, u), 4 sinh^2(d/2) =
4 sinh^2((rho - rho')/2) + r r' |u - u'|^2 with r = sinh rho. The radii of a shell bound both terms below, so that all
neighbours within a limit are within a known distance of u on the sphere. Near the origin, where directions say little, the
innermost shell has a tree of the points s = r u themselves: 4 sinh^2(d/2) >= |s - s'|^2 (1 - v^2) with v = (r + r') / (t + t').
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_numpy_array, is_torch_array
from scipy.spatial import cKDTree

from ..geometry._arrays import array_namespace, from_numpy, on_host, row_slices, to_numpy
from ..geometry._points import Chunk
from ..geometry.hyperboloid import polar, polar_gap, squared_differences

SLACK = 1 + 1e-12  # Factor of the limits, so that candidates at the limit to within rounding are considered too.
PAIR_ELEMENTS = 1 << 22  # Coordinates of candidates that are compared at a time: 32 MB.
PART_ROWS = 1 << 13  # Points that queries on the host are compared with at a time.
HOST_ELEMENTS, DEVICE_ELEMENTS = 1 << 18, 1 << 26  # Pairs at a time: in a core's cache, and enough to keep a device busy.
PRODUCT_ERROR = 1e-3  # If products have a larger error, they leave too many candidates, and directions are compared instead.
MAX_CANDIDATES = 8  # If more candidates than this remain for each neighbour, the limit is lowered first.
CORE_RADIUS = 1.0  # The radius of the innermost shell: in it, v is at most tanh 1, and the bound 0.65 of the distance.
SHELL_WIDTH = 0.5  # The width of the other shells: in each, the bound is at least 0.78 of the distance on the sphere.
QUERIES = 512  # Queries of shells at a time: their candidates fit in memory even if all points of a shell are candidates.
MANY_PAIRS = 1 << 20  # Candidates that are collected before the best are selected.
TREE_SLACK = 1 + 1e-9  # Factor for the rounding errors of the distances in the trees.

Pairs = tuple[np.ndarray, np.ndarray]  # queries and rows


class Polar(NamedTuple):
    """Points (t, r u) of the hyperboloid with their directions u, arrays of one library."""

    t: Any  # (n,)
    r: Any  # (n,)
    u: Any  # (n, d)

    def take(self, indices: Any) -> Polar:
        """The points at some indices."""
        xp: Any = array_namespace(self.t)
        return Polar(xp.take(self.t, indices), xp.take(self.r, indices), xp.take(self.u, indices, axis=0))


class Selection:
    """The k nearest data points (all if k is None) within distance `reach` of each query x (m, d+1), of the candidates so far.

    `query`, `row` and `distance` are flat arrays, sorted by query, distance and row. The gap 4 sinh^2(d/2) of a candidate must
    not exceed the limit of its query in `limits` (m,). `considered` counts the candidates.
    """

    def __init__(self, x: Any, k: int | None, reach: float = math.inf) -> None:
        self.x, self.queries, self.k, self.reach, self.considered = x, Polar(*polar(x)), k, reach, 0
        self.limits = np.full(x.shape[0], (4 * math.sinh(reach / 2) ** 2 if reach < 1400 else math.inf) * SLACK)
        self.query, self.row, self.distance = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)

    def add(self, data: Polar, query: Any, row: Any, start: int = 0) -> None:
        """Consider candidates: pairs of queries and rows of `data`. `start` is the row number of the first of `data`."""
        self.considered += query.shape[0]
        distance = _distances(self.queries, data, query, row)
        near = distance <= self.reach
        query, row = (np.asarray(to_numpy(part), dtype=np.int64)[near] for part in (query, row))
        query, row = np.concatenate([self.query, query]), np.concatenate([self.row, row + start])
        distance = np.concatenate([self.distance, distance[near]])
        order = np.lexsort((row, distance, query))
        self.query, self.row, self.distance = query[order], row[order], distance[order]
        if self.k is None:
            return
        first = np.searchsorted(self.query, np.arange(len(self.limits) + 1))
        kept = np.arange(len(self.query)) - first[self.query] < self.k
        full = np.flatnonzero(np.diff(first) >= self.k)
        worst = self.distance[first[full] + self.k - 1]
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


def queries_at_a_time(x: Any, n: int) -> int:
    """How many queries, like the rows of x, are compared with n points at a time."""
    return max(1, HOST_ELEMENTS // min(n, PART_ROWS) if on_host(x) else DEVICE_ELEMENTS // n)


def search_all(chunks: Iterable[Chunk], selections: list[Selection], map: Callable[..., Iterable[None]]) -> None:
    """Compare queries with all points. ``map`` is the built-in function or that of a pool of threads."""
    for chunk in chunks:
        points = chunk.points()
        n = points.shape[0]
        for part in row_slices(n, PART_ROWS if on_host(points) else n):
            y = points[part, :]
            list(map(partial(_compare, y=y, data=Polar(*polar(y)), start=chunk.start + part.start), selections))


def _compare(selection: Selection, *, y: Any, data: Polar, start: int) -> None:
    """Add the points y (n, d+1) whose gap may be within the limits; the first has the row number `start`."""
    gaps, slack = _gaps(selection.x, selection.queries, y, data)
    xp, k, n = array_namespace(gaps), selection.k, gaps.shape[1]
    limits = from_numpy(selection.limits[:, None], gaps) + slack
    near = gaps <= limits
    if k is not None and k < n and int(xp.count_nonzero(near)) > MAX_CANDIDATES * k * gaps.shape[0]:
        near = gaps <= xp.minimum(limits, _kth_smallest(gaps, k) * (1 + 1e-12) + 2 * slack)
    (found,) = xp.nonzero(xp.reshape(near, (-1,)))  # four times as fast as nonzero of the matrix
    if found.shape[0]:
        selection.add(data, found // n, found % n, start)


def _gaps(x: Any, queries: Polar, y: Any, data: Polar) -> tuple[Any, Any]:
    """4 sinh^2(d/2) of all pairs (m, n), and a bound (m, 1) of its rounding error."""
    # The product 2 (cosh d - 1) = 2 (t t' - s.s' - 1) is fastest; its error is that of a sum of d+2 terms of size t t'.
    xp: Any = array_namespace(x)
    error = 4 * (x.shape[1] + 2) * float(np.finfo(float).eps) * float(xp.max(data.t)) * queries.t[:, None]
    if bool(xp.max(error) <= PRODUCT_ERROR):
        signs = xp.ones_like(x[0, :])
        signs[0] = -1.0
        return (-2 * signs * x) @ y.T - 2, error
    turn = squared_differences(queries.u, data.u)  # for far points, where the rounding of t t' hides small distances
    return polar_gap(queries.t[:, None], queries.r[:, None], data.t[None, :], data.r[None, :], turn), 0 * error


def _kth_smallest(a: Any, k: int) -> Any:
    """The k-th smallest number of each row, (m, 1)."""
    if is_numpy_array(a):
        return np.partition(a, k - 1, axis=1)[:, k - 1 : k]
    if is_torch_array(a):
        return a.kthvalue(k, dim=1, keepdim=True).values
    return array_namespace(a).sort(a, axis=1)[:, k - 1 : k]


class Shell:
    """Data points of similar radius: their rows, the smallest and largest r = sinh(radius), and a k-d tree."""

    def __init__(self, rows: np.ndarray, points: Polar) -> None:
        self.rows, self.low, self.high = rows, float(points.r.min()), float(points.r.max())
        self.core = self.high <= np.sinh(CORE_RADIUS)
        self.tree: Any = cKDTree(self.keys(points))

    def keys(self, points: Polar) -> np.ndarray:
        """Points as the tree stores them: directions, or space parts in the innermost shell."""
        return np.asarray(points.r[:, None] * points.u if self.core else points.u)

    def least_gap(self, queries: Polar) -> np.ndarray:
        """A lower bound (m,) of 4 sinh^2(d/2) to the points of the shell."""
        nearest = np.clip(queries.r, self.low, self.high)
        return np.asarray(polar_gap(queries.t, queries.r, np.sqrt(1 + nearest**2), nearest, np.zeros_like(nearest)))

    def reach(self, queries: Polar, limits: np.ndarray) -> np.ndarray:
        """Distances (m,) in the tree such that all points whose gap is within the limits are at most as far."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if self.core:
                v = (queries.r + self.high) / (queries.t + np.sqrt(1 + self.high**2))
                rounding = 1e-15 * (queries.r + self.high)  # of s = r u
                return np.asarray(np.sqrt(limits / ((1 - v) * (1 + v))) * TREE_SLACK + rounding)
            left = np.maximum(limits - self.least_gap(queries) / TREE_SLACK, 0)
            return np.asarray(np.minimum(np.sqrt(left / (queries.r * self.low)), 2.0) * TREE_SLACK)  # the sphere has diameter 2


class Shells:
    """All data points x (n, d+1) in shells."""

    def __init__(self, x: np.ndarray) -> None:
        self.data = Polar(*polar(x))
        number = np.ceil((np.arcsinh(self.data.r) - CORE_RADIUS).clip(0) / SHELL_WIDTH)
        order = np.argsort(number, kind="stable")
        _, starts = np.unique(number[order], return_index=True)
        self.shells = [Shell(rows, self.data.take(rows)) for rows in np.split(order, starts[1:])]

    def search(self, selection: Selection) -> None:
        """Find the neighbours of some queries."""
        queries = selection.queries
        if selection.k is not None:
            selection.limits = self._lower_limits(selection.x, selection.k)
        pairs: list[Pairs] = []
        for shell in self.shells:
            near = np.flatnonzero(shell.least_gap(queries) / TREE_SLACK <= selection.limits)
            if near.size:
                reach = shell.reach(queries.take(near), selection.limits[near])
                found = shell.tree.query_ball_point(shell.keys(queries.take(near)), reach, return_sorted=False)
                counts = np.fromiter(map(len, found), np.int64, len(found))
                rows = np.fromiter(chain.from_iterable(found), np.int64, int(counts.sum()))
                pairs.append((np.repeat(near, counts), shell.rows[rows]))
            if sum(len(rows) for _, rows in pairs) > MANY_PAIRS:
                self._add(selection, pairs)
        self._add(selection, pairs)

    def _lower_limits(self, x: np.ndarray, k: int) -> np.ndarray:
        """Upper limits (m,) of the gaps, from the nearest directions in the nearest three shells, or more if points are few."""
        first, pairs = Selection(x, k), list[Pairs]()
        order = np.argsort([shell.least_gap(first.queries) for shell in self.shells], axis=0, kind="stable")
        for depth, numbers in enumerate(order):
            wanting = np.isinf(first.limits)
            for number in np.unique(numbers[wanting]):
                shell, some = self.shells[number], np.flatnonzero((numbers == number) & wanting)
                count = min(k, len(shell.rows))
                found = shell.tree.query(shell.keys(first.queries.take(some)), np.arange(1, count + 1))[1]
                pairs.append((np.repeat(some, count), shell.rows[found.ravel()]))
            if depth >= 2 or depth == len(order) - 1:
                self._add(first, pairs)
        return first.limits

    def _add(self, selection: Selection, pairs: list[Pairs]) -> None:
        """Add all pairs of queries and rows to a selection, and empty the list."""
        if pairs:
            query, row = map(np.concatenate, zip(*pairs, strict=True))
            selection.add(self.data, query, row)
            pairs.clear()
