"""Graphs: relations as they were given, connected graphs with lengths, rooted trees, shortest paths."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree

ROUNDING = 1e-9  # Relative difference of two sums of the same lengths in another order, with a wide margin.
LARGEST_WEIGHT = 1e100  # The square of a weight is a number, too; the smallest is the inverse of this.


class Relations(NamedTuple):
    """Edges as they were given."""

    names: list[Any]  # n
    edges: np.ndarray  # (m, 2), positions in `names`
    weights: np.ndarray | None  # (m,), or None: all 1
    directed: bool  # whether an edge (u, v) reads "u is a v", the child first
    distances: np.ndarray | None = None  # (n, n), where a matrix of them was given


class Graph(NamedTuple):
    """A connected graph with positive lengths of its edges."""

    names: list[Any]  # n
    adjacency: csr_array  # (n, n), symmetric
    distances: np.ndarray | None = None  # (n, n), where they were given and need not be those of shortest paths

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def is_tree(self) -> bool:
        return bool(self.adjacency.nnz == 2 * (self.size - 1))


class Tree(NamedTuple):
    """A rooted tree on the nodes 0 .. n-1."""

    parent: np.ndarray  # (n,), -1 for the root
    length: np.ndarray  # (n,) of the edge to the parent, 0 for the root
    depth: np.ndarray  # (n,) length of the path to the root

    @property
    def root(self) -> int:
        return int(np.argmin(self.parent))

    @property
    def adjacency(self) -> csr_array:
        child = np.flatnonzero(self.parent >= 0)
        n = len(self.parent)
        half = csr_array((self.length[child], (child, self.parent[child])), shape=(n, n))
        return half + half.T


def node_of(graph: Graph, name: Any) -> int:
    """The position of the node that the parameter `root` names."""
    if name not in graph.names:
        raise ValueError(f"root must be a node of graph, but {name!r} is not; the first nodes are {graph.names[:3]!r}.")
    return graph.names.index(name)


# ---------------------------------------------------------------- checking


def without_loops(found: Relations) -> Relations:
    """The relations but those of nodes with themselves, which lists of hypernyms often have, and which is told."""
    loops = found.edges[:, 0] == found.edges[:, 1]
    if not loops.any():
        return found
    name = found.names[found.edges[int(loops.argmax()), 0]]
    warnings.warn(f"graph joins {int(loops.sum())} node(s) to themselves, e.g. {name!r}: this is left out.", stacklevel=2)
    return found._replace(edges=found.edges[~loops], weights=None if found.weights is None else found.weights[~loops])


def check_relations(found: Relations) -> None:
    names, edges, weights = found[:3]
    if not names or not len(edges):
        raise ValueError(f"graph must have at least one edge, but has {len(names)} node(s) and none.")
    if weights is not None and not (weights > 0).all():
        first = int(np.argmin(weights > 0))
        u, v = (names[i] for i in edges[first])
        raise ValueError(f"The weights of graph are lengths and must be positive, but {u!r} - {v!r} has {weights[first]:g}.")
    if weights is not None and (unheard := (weights < 1 / LARGEST_WEIGHT) | (weights > LARGEST_WEIGHT)).any():
        first = int(np.argmax(unheard))
        u, v = (names[i] for i in edges[first])
        raise ValueError(
            f"The weights of graph must be between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, but {u!r} - {v!r} has "
            f"{weights[first]:g}. Take another unit of length."
        )
    times = Counter(map(str, names))
    if len(times) < len(names):
        twice = next(name for name, count in times.items() if count > 1)
        raise ValueError(f"The nodes of graph must have different names, but two are written {twice!r}.")


def connected(found: Relations, *, largest_component: bool = False) -> Graph:
    """The undirected graph of some relations. Raises ValueError if it is not connected."""
    names, adjacency = found.names, _symmetric(found)
    if found.distances is not None:
        return Graph(names, adjacency, found.distances)
    count, part = connected_components(adjacency, directed=False)
    if count > 1:
        sizes = np.bincount(part)
        keep = np.flatnonzero(part == sizes.argmax())
        if not largest_component:
            other = int(np.argmin(part == part[0]))
            raise ValueError(
                f"graph must be connected, but has {count} components, the largest with {sizes.max()} of {len(names)} nodes "
                f"(no path leads from {names[0]!r} to {names[other]!r}). To embed the largest alone pass "
                "largest_component=True."
            )
        names, adjacency = [names[i] for i in keep], adjacency[keep][:, keep]
    if len(names) < 2:
        raise ValueError("graph must have at least two nodes joined by an edge.")
    return Graph(names, adjacency)


def _symmetric(found: Relations) -> csr_array:
    """The symmetric matrix of lengths; an edge given twice must have one length."""
    n = len(found.names)
    low, high = found.edges.min(axis=1), found.edges.max(axis=1)
    weights = np.ones(len(low)) if found.weights is None else found.weights
    order = np.lexsort((weights, high, low))
    low, high, weights = low[order], high[order], weights[order]
    again = np.flatnonzero((np.diff(low) == 0) & (np.diff(high) == 0))
    clash = again[~np.isclose(weights[again], weights[again + 1], rtol=ROUNDING, atol=0)]
    if clash.size:
        u, v = found.names[low[clash[0]]], found.names[high[clash[0]]]
        a, b = weights[clash[0]], weights[clash[0] + 1]
        raise ValueError(f"An edge of graph must have one weight, but {u!r} - {v!r} comes with {a:g} and with {b:g}. Keep one.")
    keep = np.setdiff1d(np.arange(len(low)), again)
    rows, columns = np.concatenate([low[keep], high[keep]]), np.concatenate([high[keep], low[keep]])
    return csr_array((np.tile(weights[keep], 2), (rows, columns)), shape=(n, n))


# ---------------------------------------------------------------- distances and trees


def shortest_paths(adjacency: csr_array, sources: np.ndarray | int | None = None) -> np.ndarray:
    """Lengths of the shortest paths from the sources (all nodes by default) to all nodes, (m, n), or (n,) from one."""
    return np.asarray(dijkstra(adjacency, directed=False, indices=sources))


def rooted(adjacency: csr_array, root: int) -> Tree:
    """The tree of shortest paths from `root` (of a tree: the tree)."""
    depth, parent = dijkstra(adjacency, directed=False, indices=root, return_predecessors=True)
    parent = np.where(parent < 0, -1, parent).astype(np.int64)
    length = np.where(parent >= 0, depth - depth[parent], 0.0)
    return Tree(parent, length, depth)


def centre(adjacency: csr_array) -> int:
    """The middle of a longest path (in a graph with circles: of a long one)."""
    far = int(np.argmax(shortest_paths(adjacency, 0)))
    tree = rooted(adjacency, far)
    at = int(np.argmax(tree.depth))
    half = tree.depth[at] / 2
    while tree.parent[at] >= 0 and tree.depth[at] - tree.length[at] >= half:
        at = int(tree.parent[at])
    above = int(tree.parent[at])
    return at if above < 0 or tree.depth[at] - half <= half - tree.depth[above] else above


def spanning_trees(graph: Graph, distances: np.ndarray, nodes: np.ndarray) -> list[Tree]:
    """Candidates for a tree whose distances are near those of the graph: shortest paths from several middles, and the
    minimum spanning tree. `distances` (m, n) are known ones from the first m of some nodes."""
    middle = centre(graph.adjacency)
    near = nodes[np.argsort(distances.mean(axis=1))[:8]]
    degree = np.diff(graph.adjacency.indptr)
    roots = dict.fromkeys(int(i) for i in (middle, *near, *np.argsort(-degree, kind="stable")[:4]))
    light = minimum_spanning_tree(graph.adjacency)
    light = csr_array(light + light.T)
    return [*(rooted(graph.adjacency, root) for root in roots), rooted(light, centre(light))]
