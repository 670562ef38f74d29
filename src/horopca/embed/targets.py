"""The distances that points should have: all pairs of nodes, or those of a random sample of sources with all nodes.

Nodes stand in a random order here, so that any run of them is a random sample. Pairs come in tiles, the pairs of one run
of nodes with another: all tiles are all pairs, and the tiles of one shift, run i with run i + shift, are a sample in which
every node has its share.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..geometry import distance_blocks
from .graphs import Graph, shortest_paths

MOST_NODES = 2048  # Of up to so many nodes all pairs have targets.
TARGET_PAIRS = 1 << 22  # Of more nodes about so many pairs have targets.
WIDTH = 128  # A tile is so wide: its numbers stay in a core's cache.


class Tile(NamedTuple):
    """The pairs of a run of nodes (rows) with another (columns), or with itself."""

    rows: slice
    columns: slice
    inverse: np.ndarray  # 1 / distance, 0 where a pair does not count
    mirrored: bool  # whether every pair comes twice, as (u, v) and as (v, u)
    idle: int  # how many pairs do not count

    @property
    def weight(self) -> float:
        """How many pairs count, each once."""
        return (self.inverse.size - self.idle) / (1 + self.mirrored)


class Targets(NamedTuple):
    """Distances (m, n) from the first m nodes, in a random order, to all n."""

    distances: np.ndarray
    order: np.ndarray  # (n,) which node is where

    @property
    def every_pair(self) -> bool:
        return bool(self.distances.shape[0] == self.distances.shape[1])

    def tiling(self, dtype: type = np.float32) -> Tiling:
        """The pairs in tiles; single precision of ratios of distances is enough for a search."""
        d = self.distances
        inverse = np.divide(1.0, d, out=np.zeros(d.shape, dtype), where=d > 0, casting="same_kind")
        rows, columns = (_runs(size) for size in d.shape)
        return Tiling([[_tile(r, c, inverse, self.every_pair) for c in columns] for r in rows], self.every_pair)

    def thinned(self, count: int) -> Targets:
        """About `count` of the pairs, those of fewer sources, or all if they are no more."""
        m, n = self.distances.shape
        return self if m * n <= count else Targets(self.distances[: max(2, count // n)], self.order)

    def ratios(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """Hyperbolic over wanted distances of points x (n, d+1) that stand in this order, a block at a time."""
        for rows, block in distance_blocks(x[: len(self.distances)], x):
            d = self.distances[rows]
            counted = d > 0
            if self.every_pair:
                counted &= np.arange(d.shape[1]) > np.arange(rows.start, rows.stop)[:, None]
            yield block[counted] / d[counted]


class Tiling(NamedTuple):
    """The tiles of all runs of sources with all runs of nodes."""

    tiles: list[list[Tile]]
    every_pair: bool

    @property
    def all(self) -> list[Tile]:
        """Every pair once (with a sample of sources, the pairs among these twice)."""
        return [tile for i, row in enumerate(self.tiles) for tile in row[i if self.every_pair else 0 :]]

    def shifted(self, shift: int) -> list[Tile]:
        """A tile for every run of nodes."""
        count = len(self.tiles)
        return [self.tiles[(j + shift) % count][j] for j in range(len(self.tiles[0]))]


def _tile(rows: slice, columns: slice, inverse: np.ndarray, every_pair: bool) -> Tile:
    part = inverse[rows, columns]
    return Tile(rows, columns, part, every_pair and rows == columns, int(part.size - np.count_nonzero(part)))


class Fit(NamedTuple):
    """How well points keep distances: the best scale, and the average distortion at it."""

    scale: float
    distortion: float


def _runs(size: int) -> list[slice]:
    ends = np.linspace(0, size, -(-size // WIDTH) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def targets_of(graph: Graph, rng: np.random.Generator, least_sources: int = 64) -> Targets:
    """All pairs of a graph of up to 2048 nodes, those of a few sources of a larger one."""
    n = graph.size
    order = rng.permutation(n)
    m = n if n <= MOST_NODES else min(n, max(least_sources, TARGET_PAIRS // n))
    known = shortest_paths(graph.adjacency, order[:m]) if graph.distances is None else graph.distances[order[:m]]
    return Targets(known[:, order], order)


def measure(x: np.ndarray, targets: Targets, scale: float | None = None) -> Fit:
    """The mean of |d / (scale * wanted distance) - 1| over the pairs at a scale, or at the one that minimises it."""
    ratios = np.concatenate(list(targets.ratios(x)))
    return best_scale(ratios) if scale is None else Fit(scale, _distortion(ratios, scale))


def best_scale(ratios: np.ndarray) -> Fit:
    # mean |a r - 1| over a = 1/scale is a weighted median of 1/r with weights r
    order = np.sort(ratios)[::-1]
    below = np.cumsum(order)
    scale = float(order[np.searchsorted(below, below[-1] / 2)])
    if not scale > 0:
        return Fit(1.0, 1.0)
    return Fit(scale, _distortion(ratios, scale))


def _distortion(ratios: np.ndarray, scale: float) -> float:
    return float(np.mean(np.abs(ratios / scale - 1)))
