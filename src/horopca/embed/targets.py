"""Target distances: of all pairs of nodes, or of a random sample of sources with all nodes.

Nodes are shuffled here, so that any run of them is a random sample. Pairs come in tiles: those of one run of nodes with
another. All tiles are all pairs. The tiles of one shift, run i with run i + shift, are a sample that contains every node.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..geometry import distance_blocks
from .graphs import Graph, shortest_paths

MOST_NODES = 2048  # Up to this size all pairs have targets (32 MB).
TARGET_PAIRS = 1 << 22  # Above it, about this many pairs have targets.
WIDTH = 128  # Rows and columns of a tile, whose arrays then stay in a core's cache.


class Tile(NamedTuple):
    """The pairs of a run of nodes (rows) with another run or with itself (columns)."""

    rows: slice
    columns: slice
    inverse: np.ndarray  # 1 / distance, 0 for pairs to ignore
    mirrored: bool  # whether every pair occurs twice, as (u, v) and as (v, u)
    idle: int  # number of pairs to ignore

    @property
    def weight(self) -> float:
        """The number of pairs that count, each once."""
        return (self.inverse.size - self.idle) / (1 + self.mirrored)


class Targets(NamedTuple):
    """Distances (m, n) from the first m of the shuffled nodes to all n."""

    distances: np.ndarray
    order: np.ndarray  # (n,) the node in each position

    @classmethod
    def sampled(cls, distances: np.ndarray, rng: np.random.Generator, least_sources: int = 64) -> Targets:
        """From a matrix of all distances."""
        order = rng.permutation(len(distances))
        return cls(distances[order[: n_sources(len(order), least_sources), None], order], order)

    @property
    def every_pair(self) -> bool:
        return bool(self.distances.shape[0] == self.distances.shape[1])

    def tiling(self, dtype: type = np.float32) -> Tiling:
        """The pairs in tiles. Single precision of the ratios of distances is enough for a descent."""
        return Tiling.of(self.distances, self.every_pair, dtype=dtype)

    def thinned(self, count: int) -> Targets:
        """About `count` of the pairs: those of fewer sources. All pairs if there are fewer than that."""
        m, n = self.distances.shape
        return self if m * n <= count else Targets(self.distances[: max(2, count // n)], self.order)

    def ratios(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """Hyperbolic distance / target distance of points x (n, d+1) in this order, in blocks."""
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

    @classmethod
    def of(cls, distances: np.ndarray, every_pair: bool = False, offset: int = 0, dtype: type = np.float32) -> Tiling:
        """Distances (m, n) from the points 0 .. m-1 to the points offset .. offset+n-1; zeros are ignored."""
        inverse = np.divide(1.0, distances, out=np.zeros(distances.shape, dtype), where=distances > 0, casting="same_kind")
        rows, columns = (_runs(size) for size in distances.shape)
        return cls([[_tile(r, c, inverse[r, c], every_pair and r == c, offset) for c in columns] for r in rows], every_pair)

    @property
    def all(self) -> list[Tile]:
        """Every pair once (with a sample of sources, the pairs among the sources twice)."""
        return [tile for i, row in enumerate(self.tiles) for tile in row[i if self.every_pair else 0 :]]

    def shifted(self, shift: int) -> list[Tile]:
        """One tile for every run of nodes."""
        count = len(self.tiles)
        return [self.tiles[(j + shift) % count][j] for j in range(len(self.tiles[0]))]


def _tile(rows: slice, columns: slice, inverse: np.ndarray, mirrored: bool, offset: int) -> Tile:
    moved = slice(columns.start + offset, columns.stop + offset)
    return Tile(rows, moved, inverse, mirrored, int(inverse.size - np.count_nonzero(inverse)))


class Fit(NamedTuple):
    """How well points keep distances: a scale, and the average distortion at it."""

    scale: float
    distortion: float


def _runs(size: int) -> list[slice]:
    ends = np.linspace(0, size, -(-size // WIDTH) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def n_sources(n: int, least: int = 64) -> int:
    return n if n <= MOST_NODES else min(n, max(least, TARGET_PAIRS // n))


def targets_of(graph: Graph, rng: np.random.Generator, least_sources: int = 64) -> Targets:
    """Targets from the distances in a graph: given ones, or lengths of shortest paths."""
    if graph.distances is not None:
        return Targets.sampled(graph.distances, rng, least_sources)
    order = rng.permutation(graph.size)
    return Targets(shortest_paths(graph.adjacency, order[: n_sources(graph.size, least_sources)])[:, order], order)


def measure(x: np.ndarray, targets: Targets, scale: float | None = None) -> Fit:
    """The average distortion, the mean of |d / (scale * target) - 1|, at a scale or at the best one."""
    ratios = np.concatenate(list(targets.ratios(x)))
    return best_scale(ratios) if scale is None else Fit(scale, _distortion(ratios, scale))


def best_scale(ratios: np.ndarray) -> Fit:
    """The scale that minimises the mean of |ratios / scale - 1|: a median of the ratios weighted by themselves."""
    order = np.sort(ratios)[::-1]
    below = np.cumsum(order)
    scale = float(order[np.searchsorted(below, below[-1] / 2)])
    if not scale > 0:
        return Fit(1.0, 1.0)
    return Fit(scale, _distortion(ratios, scale))


def _distortion(ratios: np.ndarray, scale: float) -> float:
    return float(np.mean(np.abs(ratios / scale - 1)))
