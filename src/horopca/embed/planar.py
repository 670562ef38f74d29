"""Layouts of a tree in the hyperbolic plane without crossing edges.

Points are complex numbers in the Poincaré disk. Every node has an arc of the ideal circle, which the arcs of its children
divide in order. Seen from its parent, the arc of a node is a cone of less than half a turn, hence convex. If every node
lies inside its cone, then the cones of its children, whose apex it is, lie inside that cone and share nothing but the
apex. So no two edges cross, at any edge lengths.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from .graphs import Graph

WIDEST = 0.98 * np.pi  # A cone of half a turn is not convex.
MARGIN = 0.05  # The direction of a node keeps this share of its cone from either side.
LEAST_SHARE = 0.2  # A child keeps at least this fraction of its share of the angle, however its siblings push.
LEAF_POWER = 0.7  # Shares of the angle go by leaves to this power: the least distortion of 0.3, 0.5, 0.7 and 1.
SHORTEST = 1e-6  # The shortest edge that the disk resolves in float64 at the largest radius that is allowed.
SPACING = 0.05  # A node's largest radius is smaller than its children's by this, so that an edge to them has a length.


class Level(NamedTuple):
    """The nodes that are equally many edges from the root, siblings side by side and in order."""

    node: np.ndarray
    parent: np.ndarray
    until: np.ndarray  # share of the parent's angle up to and including this child, 1 for a last child
    first: np.ndarray  # whether it is a first child
    last: np.ndarray  # whether it is a last child

    @classmethod
    def of(cls, node: np.ndarray, parent: np.ndarray, leaves: np.ndarray) -> Self:
        """From nodes in order, their parents, and their numbers of leaves."""
        last = np.append(np.diff(parent) != 0, True)
        first = np.append(True, last[:-1])
        weight = leaves**LEAF_POWER
        total, siblings = np.cumsum(weight), np.cumsum(first) - 1
        before = (total - weight)[first][siblings]
        return cls(node, parent, np.where(last, 1.0, (total - before) / (total[last][siblings] - before)), first, last)


class OrderedTree(NamedTuple):
    """A rooted tree on the nodes 0 .. n-1, with an order of the children of each node."""

    root: int
    parent: np.ndarray  # (n,), -1 for the root
    length: np.ndarray  # (n,) of the edge to the parent, 0 for the root
    height: np.ndarray  # (n,) edges to the farthest leaf below
    first_leaf: np.ndarray  # (n,) below each node; a leaf itself
    last_leaf: np.ndarray  # (n,)
    levels: list[Level]

    @classmethod
    def of(cls, graph: Graph, root: int) -> Self:
        """The neighbours of a node follow in the order of the nodes, beginning after its parent."""
        n, ends, neighbours = graph.size, graph.adjacency.indptr, graph.adjacency.indices
        parent, generations, level = np.full(n, -1), [], [root]
        while level:
            generations.append(np.array(level))
            level = []
            for node in generations[-1].tolist():
                around = neighbours[ends[node] : ends[node + 1]]
                around = np.roll(around, -int(np.searchsorted(around, parent[node])))
                children = around[around != parent[node]].tolist()
                parent[children] = node
                level += children
        leaves, height, first_leaf, last_leaf = np.zeros(n), np.zeros(n, dtype=np.int64), np.arange(n), np.arange(n)
        for node in reversed(generations[1:]):
            above = parent[node]
            leaves[node] += leaves[node] == 0
            np.add.at(leaves, above, leaves[node])
            np.maximum.at(height, above, height[node] + 1)
            first_leaf[above[::-1]], last_leaf[above] = first_leaf[node[::-1]], last_leaf[node]
        child, length = np.flatnonzero(parent >= 0), np.zeros(n)
        length[child] = graph.adjacency[child, parent[child]]
        levels = [Level.of(node, parent[node], leaves[node]) for node in generations[1:]]
        return cls(root, parent, length, height, first_leaf, last_leaf, levels)


class PlanarLayout:
    """Crossing-free layouts of one tree within radius `far`, and the way back to one after the points have moved."""

    def __init__(self, tree: OrderedTree, far: float) -> None:
        n, deepest = len(tree.parent), int(tree.height.max())
        self.tree = tree
        self.largest = np.tanh((far - min(SPACING, far / 2 / deepest) * tree.height) / 2)  # |z| of each node
        self.side = np.ones(n, dtype=complex)  # the ideal point between a node and its next sibling

    def construct(self, scale: float) -> np.ndarray:
        """Every edge `scale` times as long as in the tree and in the middle of its cone; shorter where the radius ends."""
        z, arcs = np.zeros(len(self.side), dtype=complex), np.ones((2, len(self.side)), dtype=complex)
        for level in self.tree.levels:
            cone = Cone.at(level.parent, z, arcs, self.tree.root)
            stop = level.until * cone.width
            start = np.where(level.first, 0.0, np.roll(stop, 1))
            size = np.tanh(np.maximum(scale * self.tree.length[level.node], SHORTEST) / 2)
            self._put(level, z, arcs, cone, start, stop, (start + stop) / 2, (start + stop) / 2, size)
        return z

    def restore(self, z: np.ndarray) -> np.ndarray:
        """The nearest layout, node by node from the root: the node turned around its parent into its cone.

        The side between two siblings stays where it is unless both of the leaves next to it lie beyond.
        """
        z, tree = z.copy(), self.tree
        z[tree.root] *= min(1.0, self.largest[tree.root] / max(abs(z[tree.root]), SHORTEST))
        arcs = np.ones((2, len(z)), dtype=complex)
        arcs[:, tree.root] = self._cut(z)
        for level in tree.levels:
            cone = Cone.at(level.parent, z, arcs, tree.root)
            first, last = (cone.direction(z[leaf[level.node]]) for leaf in (tree.first_leaf, tree.last_leaf))
            side = np.median([last, np.roll(first, -1), cone.direction(self.side[level.node])], axis=0)
            least = LEAST_SHARE * level.until
            family = 2.0 * np.cumsum(level.first)  # keeps the running maximum within siblings
            beyond = np.maximum.accumulate((side / cone.width - least).clip(0, 1 - LEAST_SHARE) + family) - family
            stop = np.where(level.last, 1.0, beyond + least) * cone.width
            start = np.where(level.first, 0.0, np.roll(stop, 1))
            here, size = cone.direction(z[level.node]), np.abs(seen(z[level.node], cone.apex))
            self._put(level, z, arcs, cone, start, stop, (first + last) / 2, here, np.maximum(size, np.tanh(SHORTEST / 2)))
        return z

    def _cut(self, z: np.ndarray) -> np.ndarray:
        """The ideal point between the last child of the root and the first, where the angles around the root begin."""
        tree = self.tree
        p, old = z[tree.root], seen(self.side[tree.levels[0].node[-1]], z[tree.root])
        last, first = (np.angle(seen(z[leaf[tree.root]], p) / old) for leaf in (tree.last_leaf, tree.first_leaf))
        cut = carried(old * np.exp(1j * np.median([last, first, 0.0])), p)
        return np.asarray(cut / np.abs(cut))

    def _put(
        self,
        level: Level,
        z: np.ndarray,
        arcs: np.ndarray,
        cone: Cone,
        start: np.ndarray,
        stop: np.ndarray,
        middle: np.ndarray,
        angle: np.ndarray,
        size: np.ndarray,
    ) -> None:
        """Write the points and arcs of a level: cones from `start` to `stop`, around `middle` where they are too wide, the
        nodes at `angle` and tanh(distance/2) = `size` from their parents, or as near to that as cone and radius allow."""
        self.side[level.node] = cone.ideal(stop)
        middle = np.clip(middle, start + WIDEST / 2, np.maximum(stop, start + WIDEST) - WIDEST / 2)
        start, stop = np.maximum(start, middle - WIDEST / 2), np.minimum(stop, middle + WIDEST / 2)
        margin = MARGIN * (stop - start)
        u, p = cone.unit(np.clip(angle, start + margin, stop - margin)), cone.apex
        # |z| at t u from p is the largest where t solves a quadratic equation
        R, inner = self.largest[level.node] ** 2, np.abs(p) ** 2
        b = (p.conj() * u).real * (1 - R)
        most = (np.sqrt(b * b + (1 - R * inner) * (R - inner)) - b) / (1 - R * inner)
        z[level.node] = carried(np.minimum(size, most) * u, p)
        arcs[:, level.node] = cone.ideal(start), cone.ideal(stop)


class Cone(NamedTuple):
    """The arcs of some nodes as seen from them; angles are counted from the beginning of the arc."""

    apex: np.ndarray
    zero: np.ndarray  # the direction in which the arc begins, a unit number
    width: np.ndarray

    @classmethod
    def at(cls, node: np.ndarray, z: np.ndarray, arcs: np.ndarray, root: int) -> Self:
        begin, end = (seen(ideal[node], z[node]) for ideal in arcs)
        turn = 2 * np.pi
        return cls(z[node], begin / np.abs(begin), np.where(node == root, turn, np.angle(end / begin) % turn))

    def direction(self, z: np.ndarray) -> np.ndarray:
        """The angle of points, from -π + width/2 to π + width/2."""
        angle = np.angle(seen(z, self.apex) / self.zero) % (2 * np.pi)
        return np.asarray(np.where(angle > np.pi + self.width / 2, angle - 2 * np.pi, angle))

    def unit(self, angle: np.ndarray) -> np.ndarray:
        return np.asarray(self.zero * np.exp(1j * angle))

    def ideal(self, angle: np.ndarray) -> np.ndarray:
        """The ideal point in a direction."""
        point = carried(self.unit(angle), self.apex)
        return np.asarray(point / np.abs(point))


def seen(z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """z after the translation of the disk that takes p to 0."""
    return np.asarray((z - p) / (1 - p.conj() * z))


def carried(z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """z after the translation of the disk that takes 0 to p."""
    return np.asarray((z + p) / (1 + p.conj() * z))
