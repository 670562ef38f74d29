"""Neighbours by shells: points sorted by radius, and in each shell a k-d tree of directions.

In polar coordinates (rho, u), 4 sinh^2(d/2) = 4 sinh^2((rho - rho')/2) + r r' |u - u'|^2 with r = sinh rho. The radii
of a shell bound both terms below, so that all neighbours within a limit are within a known distance of u on the sphere.
Near the origin, where directions say little, the innermost shell has a tree of the points s = r u themselves:
4 sinh^2(d/2) >= |s - s'|^2 (1 - v^2) with v = (r + r') / (t + t').
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..geometry.hyperboloid import polar_gap
from .selection import Polar, Selection

CORE = 1.0  # The radius of the innermost shell: in it, v is at most tanh 1, and the bound 0.65 of the distance.
WIDTH = 0.5  # The width of the other shells: in each, the bound is at least 0.78 of the distance on the sphere.
QUERIES = 512  # Queries at a time: their candidates in one shell fit into memory even if all points of it are candidates.
MANY_PAIRS = 1 << 20  # Candidates that are collected before the best are selected.
WIDER = 1 + 1e-9  # The trees compute distances with rounding errors of their own.

Pairs = tuple[np.ndarray, np.ndarray]  # queries and rows


class Shell(NamedTuple):
    """Data points of similar radius: their rows, the smallest and largest length r, and a tree of directions or points."""

    rows: np.ndarray
    low: float
    high: float
    tree: Any
    core: bool

    def keys(self, queries: Polar) -> np.ndarray:
        """What the tree is searched for."""
        return np.asarray(queries.r[:, None] * queries.u if self.core else queries.u)

    def least_gap(self, queries: Polar) -> np.ndarray:
        """A lower bound (m,) of 4 sinh^2(d/2) to the points of the shell."""
        nearest = np.clip(queries.r, self.low, self.high)
        return np.asarray(polar_gap(queries.t, queries.r, np.sqrt(1 + nearest**2), nearest, np.zeros_like(nearest)))

    def reach(self, queries: Polar, limits: np.ndarray) -> np.ndarray:
        """The distances (m,) in the tree within which all points lie whose gap is within the limits."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if self.core:
                v = (queries.r + self.high) / (queries.t + np.sqrt(1 + self.high**2))
                rounding = 1e-15 * (queries.r + self.high)  # of s = r u
                return np.asarray(np.sqrt(limits / ((1 - v) * (1 + v))) * WIDER + rounding)
            left = np.maximum(limits - self.least_gap(queries) / WIDER, 0)
            return np.asarray(np.minimum(np.sqrt(left / (queries.r * self.low)), 2.0) * WIDER)  # the sphere has diameter 2


class Shells:
    """All data points x (n, d+1) in shells."""

    def __init__(self, x: np.ndarray) -> None:
        self.data = Polar.of(x)
        number = np.ceil((np.arcsinh(self.data.r) - CORE).clip(0) / WIDTH)
        order = np.argsort(number, kind="stable")
        _, starts = np.unique(number[order], return_index=True)
        self.shells = [self._shell(rows) for rows in np.split(order, starts[1:])]

    def _shell(self, rows: np.ndarray) -> Shell:
        low, high = float(self.data.r[rows].min()), float(self.data.r[rows].max())
        core = high <= np.sinh(CORE)
        keys = self.data.u[rows] * self.data.r[rows, None] if core else self.data.u[rows]
        return Shell(rows, low, high, cKDTree(keys), core)

    def search(self, queries: Polar, selection: Selection) -> None:
        """Find the neighbours of some queries."""
        if selection.k is not None:
            self._lower_limits(queries, selection)
        pairs: list[Pairs] = []
        for shell in self.shells:
            near = np.flatnonzero(shell.least_gap(queries) / WIDER <= selection.limits)
            if near.size:
                reach = shell.reach(queries.take(near), selection.limits[near])
                found = shell.tree.query_ball_point(shell.keys(queries.take(near)), reach, return_sorted=False)
                counts = np.fromiter(map(len, found), np.int64, len(found))
                rows = np.fromiter(chain.from_iterable(found), np.int64, int(counts.sum()))
                pairs.append((np.repeat(near, counts), shell.rows[rows]))
            if sum(len(rows) for _, rows in pairs) > MANY_PAIRS:
                pairs = self._add(selection, queries, pairs)
        self._add(selection, queries, pairs)

    def _lower_limits(self, queries: Polar, selection: Selection) -> None:
        """Lower the limits by the points nearest in direction, in the nearest three shells or more if they have too few."""
        first, k = Selection(len(queries), selection.k), selection.k or 0
        order = np.argsort([shell.least_gap(queries) for shell in self.shells], axis=0, kind="stable")
        pairs: list[Pairs] = []
        for depth, numbers in enumerate(order):
            wanting = np.isinf(first.limits)
            for number in np.unique(numbers[wanting]):
                shell, some = self.shells[number], np.flatnonzero((numbers == number) & wanting)
                count = min(k, len(shell.rows))
                found = shell.tree.query(shell.keys(queries.take(some)), np.arange(1, count + 1))[1]
                pairs.append((np.repeat(some, count), shell.rows[found.ravel()]))
            if depth >= 2:
                pairs = self._add(first, queries, pairs)
        self._add(first, queries, pairs)
        selection.limits = first.limits

    def _add(self, selection: Selection, queries: Polar, pairs: list[Pairs]) -> list[Pairs]:
        """Add all pairs of queries and rows to a selection; an empty list is left."""
        if pairs:
            query, row = (np.concatenate(part) for part in zip(*pairs, strict=True))
            selection.add(queries, self.data, query, row)
        return []
