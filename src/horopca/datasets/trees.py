"""Trees without points: input for `horopca.embed`."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice, check_count, seeded_generator

LARGEST = 10_000_000  # nodes: an array of 80 MB


class RootedTree(NamedTuple):
    """A tree with its root in row 0 and every parent before its children."""

    parent: np.ndarray  #: (n,) row of each node's parent, -1 for the root

    @property
    def edges(self) -> np.ndarray:
        """Pairs (parent, child) of rows, shape (n-1, 2)."""
        return np.stack([self.parent[1:], np.arange(1, len(self.parent))], axis=1)

    @property
    def depth(self) -> np.ndarray:
        """Edges between each node and the root, shape (n,)."""
        depth = np.zeros(len(self.parent), dtype=np.int64)
        for child in range(1, len(depth)):
            depth[child] = depth[self.parent[child]] + 1
        return depth


def balanced_tree(branching: int = 3, depth: int = 3) -> RootedTree:
    """The tree in which every node has `branching` children, down to `depth`.

    Parameters
    ----------
    branching, depth : int
        The tree has 1 + branching + ... + branching**depth nodes.

    Examples
    --------
    >>> balanced_tree(branching=2, depth=2).parent
    array([-1,  0,  0,  1,  1,  2,  2])
    """
    branching, depth = check_count("branching", branching, 1), check_count("depth", depth, 0)
    n = 0
    for level in range(depth + 1):
        n += branching**level
        if n > LARGEST:
            raise ValueError(f"branching={branching} and depth={depth} make more than {LARGEST:,} nodes. Take smaller ones.")
    parent = (np.arange(n) - 1) // branching
    return RootedTree(parent)


def random_tree(n_nodes: int, *, kind: str = "uniform", random_state: Any = None) -> RootedTree:
    """A random tree.

    Parameters
    ----------
    n_nodes : int
    kind : {"uniform", "recursive", "preferential"}
        "uniform": every tree on n labelled nodes with equal probability (depth of the order of sqrt n). "recursive":
        each node joins a node drawn from those before it (depth of the order of log n). "preferential": drawn in
        proportion to one more than their numbers of children, which makes a few large hubs.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> random_tree(6, random_state=0).parent.tolist()
    [-1, 0, 1, 2, 3, 3]
    """
    check_choice("kind", kind, KINDS)
    n = check_count("n_nodes", n_nodes, 1, LARGEST)
    return RootedTree(KINDS[kind](n, seeded_generator(random_state)))


def _recursive(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.append(-1, (rng.random(n - 1) * np.arange(1, n)).astype(np.int64))


def _preferential(n: int, rng: np.random.Generator) -> np.ndarray:
    parent, tickets = np.full(n, -1), np.zeros(2 * n, dtype=np.int64)  # a ticket for each node and for each child of it
    for child in range(1, n):
        parent[child] = tickets[rng.integers(2 * child - 1)]
        tickets[2 * child - 1 : 2 * child + 1] = parent[child], child
    return parent


def _uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    """From a random Prüfer code: its entries are the neighbours of the smallest leaves, taken away one after another."""
    code = rng.integers(n, size=max(n - 2, 0)).tolist()
    degree = np.bincount(code, minlength=n) + 1
    leaves = [int(i) for i in np.flatnonzero(degree == 1)]
    heapq.heapify(leaves)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for node in [*code, n - 1] if n > 1 else []:
        leaf = heapq.heappop(leaves)
        neighbours[leaf].append(node)
        neighbours[node].append(leaf)
        degree[node] -= 1
        if degree[node] == 1:
            heapq.heappush(leaves, node)
    return _renumbered(neighbours)


def _renumbered(neighbours: list[list[int]]) -> np.ndarray:
    """Parents, with nodes renumbered in the order of a breadth-first search from node 0."""
    place, parent, queue = {0: 0}, [-1], [0]
    for node in queue:
        for other in sorted(neighbours[node]):
            if other not in place:
                place[other] = len(queue)
                parent.append(place[node])
                queue.append(other)
    return np.array(parent)


KINDS = {"uniform": _uniform, "recursive": _recursive, "preferential": _preferential}
