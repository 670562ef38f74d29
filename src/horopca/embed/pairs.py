"""Graph distances of pairs of nodes: all of them, or those from a random sample of sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..geometry import distance_blocks
from .graphs import Graph, shortest_paths

MOST_NODES = 2048  # up to here all pairs
PAIRS = 1 << 22  # above, about so many


class Block(NamedTuple):
    """The pairs of some nodes (rows) with others (columns)."""

    rows: np.ndarray | slice
    columns: slice
    inverse: np.ndarray  # 1 / graph distance, 0 where a pair does not count
    weight: np.ndarray  # what each pair counts: 1, or 1/2 where it comes twice, or 0


class GraphPairs(NamedTuple):
    """Graph distances (m, n) from m sources to all n nodes; `sources` None: from all."""

    distances: np.ndarray
    sources: np.ndarray | None

    @property
    def total(self) -> int:
        """How many pairs of different nodes there are, each as often as it counts."""
        m, n = self.distances.shape
        return n * (n - 1) // 2 if self.sources is None else m * (n - 1)

    def blocks(self, elements: int = 1 << 15) -> list[Block]:
        """The pairs in blocks that fit a core's cache, every unordered pair counted once where all nodes are sources."""
        m, n = self.distances.shape
        blocks, start = [], 0
        while start < m:
            first = start if self.sources is None else 0
            stop = min(m, start + max(1, min(elements // (n - first), n // 8 + 1)))
            d = self.distances[start:stop, first:]
            inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
            weight = (d > 0).astype(np.float64)
            if self.sources is None:  # both halves of the square on the diagonal
                weight[:, : stop - start] *= 0.5
            rows = slice(start, stop) if self.sources is None else self.sources[start:stop]
            blocks.append(Block(rows, slice(first, n), inverse, weight))
            start = stop
        return blocks

    def thinned(self, count: int) -> GraphPairs:
        """About `count` of the pairs, those of some sources at even steps, or all if they are no more."""
        m, n = self.distances.shape
        if self.total <= count:
            return self
        rows = np.linspace(0, m - 1, max(2, min(m, count // n))).astype(np.int64)
        return GraphPairs(self.distances[rows], rows if self.sources is None else self.sources[rows])

    def ratios(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """Hyperbolic over graph distances of the points x (n, d+1), a block at a time."""
        sources = x if self.sources is None else x[self.sources]
        for rows, block in distance_blocks(sources, x):
            d = self.distances[rows]
            counted = d > 0
            if self.sources is None:
                counted &= np.arange(d.shape[1]) > np.arange(rows.start, rows.stop)[:, None]
            yield block[counted] / d[counted]


class Fit(NamedTuple):
    """How well points keep graph distances: the best scale, and the average distortion at it."""

    scale: float
    distortion: float


def pairs_of(graph: Graph, rng: np.random.Generator, least_sources: int = 64) -> GraphPairs:
    """All pairs of a graph of up to 2048 nodes, those of a few sources of a larger one."""
    n = graph.size
    if n <= MOST_NODES:
        return GraphPairs(shortest_paths(graph.adjacency), None)
    sources = np.sort(rng.choice(n, size=min(n, max(least_sources, PAIRS // n)), replace=False))
    return GraphPairs(shortest_paths(graph.adjacency, sources), sources)


def measure(x: np.ndarray, pairs: GraphPairs) -> Fit:
    """The scale that minimises the mean of |d / (scale * graph distance) - 1| over the pairs, and that mean."""
    return best_scale(np.concatenate(list(pairs.ratios(x))))


def best_scale(ratios: np.ndarray) -> Fit:
    # mean |a r - 1| over a = 1/scale is a weighted median of 1/r with weights r
    order = np.sort(ratios)[::-1]
    below = np.cumsum(order)
    scale = float(order[np.searchsorted(below, below[-1] / 2)])
    if not scale > 0:
        return Fit(1.0, 1.0)
    return Fit(scale, float(np.mean(np.abs(ratios / scale - 1))))
