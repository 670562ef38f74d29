"""Graphs: the forms that `fit` accepts, connected graphs with lengths, rooted trees, shortest paths.

Names and their order are kept. An edge (u, v) reads "u is a v": the child comes first. Edges that form a tree only in the
other direction are reversed.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components, dijkstra

from ..io import EdgeList, load, load_edges
from ..io.files import Budget, FormatError, existing, listed
from ..io.graphs import COMMENTS, graph_format, load_adjacency
from ..io.reading import COMPRESSIBLE, READABLE
from ..io.text import ending, open_lines

ROUNDING = 1e-9  # Relative tolerance for equal distances: sums of the same lengths in another order differ by far less.
LARGEST_WEIGHT = 1e100  # Squares of weights must not overflow. The smallest weight is the inverse.


class Relations(NamedTuple):
    """Named nodes and the edges between them, in the direction in which they were given."""

    names: list[Any]  # n
    edges: np.ndarray  # (m, 2), positions in `names`
    weights: np.ndarray  # (m,) lengths
    directed: bool = True  # whether an edge (u, v) reads "u is a v", the child first
    distances: np.ndarray | None = None  # (n, n), if a matrix of them was given
    ontology: bool = False  # whether edges are known to lead to parents, also if a node has several


class Graph(NamedTuple):
    """A connected graph with positive lengths of its edges."""

    names: list[Any]  # n
    adjacency: csr_array  # (n, n), symmetric
    distances: np.ndarray | None = None  # (n, n), if they were given; they need not be those of shortest paths

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def is_tree(self) -> bool:
        return self.distances is None and bool(self.adjacency.nnz == 2 * (self.size - 1))

    def row(self, name: Any) -> int:
        """The position of a node, the value of the parameter `root`."""
        if name not in self.names:
            raise ValueError(f"root must be a node of graph, but {name!r} is not; the first nodes are {self.names[:3]!r}.")
        return self.names.index(name)


class Tree(NamedTuple):
    """A rooted tree on the nodes 0 .. n-1."""

    parent: np.ndarray  # (n,), -1 for the root
    length: np.ndarray  # (n,) of the edge to the parent, 0 for the root
    depth: np.ndarray  # (n,) length of the path to the root
    levels: list[np.ndarray]  # the nodes by their number of edges from the root, siblings side by side and in order

    @property
    def adjacency(self) -> csr_array:
        child = np.flatnonzero(self.parent >= 0)
        n = len(self.parent)
        half = csr_array((self.length[child], (child, self.parent[child])), shape=(n, n))
        return half + half.T


def as_relations(source: Any, *, reverse_trees: bool = True) -> Relations:
    """Nodes and edges of a graph in any of the forms that `fit` accepts. Raises ValueError for anything else."""
    if isinstance(source, Relations):
        return source
    found = _validated(_read(source))
    n, edges = len(found.names), found.edges
    above, below = (np.bincount(ends, minlength=n).max() for ends in edges.T)
    parent_first = reverse_trees and found.directed and above > 1 and below <= 1 and len(edges) == n - 1
    return found._replace(edges=edges[:, ::-1]) if parent_first else found


def as_graph(source: Any, *, largest_component: bool = False) -> Graph:
    """The undirected graph in any of the forms that `fit` accepts. Raises ValueError if it is not connected."""
    if isinstance(source, Graph):
        return source
    found = as_relations(source)
    names, adjacency = found.names, _symmetric(found)
    if found.distances is not None:
        return Graph(names, adjacency, found.distances)
    count, part = connected_components(adjacency, directed=False)
    if count > 1:
        sizes = np.bincount(part)
        if not largest_component:
            other = int(np.argmin(part == part[0]))
            raise ValueError(
                f"graph must be connected, but has {count} components, the largest with {sizes.max()} of {len(names)} nodes "
                f"(no path leads from {names[0]!r} to {names[other]!r}). To embed only the largest component, pass "
                "largest_component=True."
            )
        keep = np.flatnonzero(part == sizes.argmax())
        names, adjacency = [names[i] for i in keep], adjacency[keep][:, keep]
    return Graph(names, adjacency)


def _read(source: Any) -> Relations:
    """Nodes and edges of a graph in any of the forms, not validated."""
    if isinstance(source, str | Path):
        return _from_file(source)
    if isinstance(source, EdgeList):
        return Relations(source.names, source.edges, np.ones(len(source.edges)) if source.weights is None else source.weights)
    if hasattr(source, "nodes") and hasattr(source, "is_directed"):
        found = _from_pairs(source.edges(data="weight", default=1.0), source.nodes)
        return found._replace(directed=bool(source.is_directed()))
    if isinstance(source, Mapping):
        if several := [child for child, parent in source.items() if isinstance(parent, Mapping | list | set)]:
            raise ValueError(
                f"graph, as a mapping, must map each child to its parent, but maps {several[0]!r} to several nodes. "
                "Pass pairs (child, parent)."
            )
        return _from_parents(source.items(), [name for pair in source.items() for name in pair if name is not None])
    array = isinstance(source, np.ndarray)
    if issparse(source) or (array and source.ndim == 2 and not _are_pairs(source)):
        return _from_matrix(source)
    items = source.tolist() if array and source.ndim < 3 else source
    if isinstance(items, Sequence) and not isinstance(items, str):
        if items and all(isinstance(item, tuple | list) and len(item) in (2, 3) for item in items):
            return _from_pairs(items)
        if not any(np.iterable(item) and not isinstance(item, str) for item in items):  # parents, -1 or None for a root
            known = range(-1, len(items))
            if bad := [k for k, parent in enumerate(items) if parent is not None and parent not in known]:
                text = f"must contain -1 to {known[-1]}, but has {items[bad[0]]!r} at {bad[0]}."
                raise ValueError(f"graph, as a list of parents, {text}")
            return _from_parents(((k, None if p == -1 else p) for k, p in enumerate(items)), range(len(items)))
    raise ValueError(
        "graph must be a file, a networkx graph, a sparse or square matrix, pairs (child, parent), triples with a length, "
        f"a list of parents or a mapping from child to parent, but is of type {type(source).__name__}. Trees of other "
        "libraries can be written to a Newick file."
    )


def is_matrix(path: str | Path) -> bool:
    """Whether a file holds a matrix: an array, or text with more than two names and a length on its first line."""
    path = existing(path)
    if ending(path) not in COMPRESSIBLE:
        return ending(path) in READABLE
    if graph_format(path) is not None:
        return False
    with open_lines(path, Budget(path)) as lines:
        first = next((line for line in lines if line.strip() and line[0] not in COMMENTS), "").strip()
    separator = next((mark for mark in "\t," if mark in first), None)
    return len(first.split(separator)) > 3


def _from_file(path: str | Path) -> Relations:
    if not is_matrix(path):
        return _read(load_edges(path))
    if Path(path).suffix == ".npz":
        return _from_matrix(load_adjacency(Path(path)))
    try:
        table = load(path, key="*" if Path(path).suffix.lower() in (".csv", ".tsv") else None)
    except FormatError as error:
        if not error.keys:
            raise
        raise ValueError(f"{path} must hold a graph, but holds points: {listed(error.keys)}.") from error
    square = table.X.shape[0] == table.X.shape[1] and not table.X.diagonal().any()
    if not square or not np.allclose(table.X, table.X.T, rtol=ROUNDING, atol=0):
        raise ValueError(
            f"{path} must hold a graph (a list of edges, a tree, or a symmetric matrix of distances, 0 on its diagonal), but "
            f"holds {table.X.shape[0]} rows of {table.X.shape[1]} numbers, like points."
        )
    found = _from_matrix(table.X.astype(np.float64))
    return found._replace(names=table.row_names or table.names or found.names)


def _from_pairs(pairs: Iterable[Any], names: Iterable[Any] = ()) -> Relations:
    """Relations from pairs of names, or triples with a length. Nodes are `names`, then others in the order of the pairs."""
    rows, position = [tuple(pair) for pair in pairs], {name: i for i, name in enumerate(dict.fromkeys(names))}
    edges = [[position.setdefault(name, len(position)) for name in row[:2]] for row in rows]
    try:
        weights = np.array([row[2] if len(row) == 3 else 1.0 for row in rows], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("The weights of the edges of graph must be numbers, but some are not.") from None
    return Relations(list(position), np.array(edges, dtype=np.int64).reshape(-1, 2), weights)


def _from_parents(pairs: Iterable[tuple[Any, Any]], names: Iterable[Any]) -> Relations:
    """Relations from pairs (child, parent), with None for the parent of a root. Raises ValueError if there is a cycle."""
    found = _from_pairs((pair for pair in pairs if pair[1] is not None), names)
    sorted_nodes(found.edges, found.names)
    return found


def _from_matrix(matrix: Any) -> Relations:
    """Relations from a square matrix of lengths, 0 where there is no edge. A dense one without other zeros holds distances."""
    n, dense = matrix.shape[0], isinstance(matrix, np.ndarray)
    if matrix.shape != (n, n) or matrix.dtype.kind not in "fiub":
        raise ValueError(f"graph must be a square matrix of real numbers, but has shape {matrix.shape}, dtype {matrix.dtype}.")
    if dense and np.allclose(matrix, matrix.T, rtol=ROUNDING, atol=0):
        matrix = (matrix + matrix.T) / 2  # SciPy's shortest paths differ by rounding
    entries = coo_array(matrix, dtype=np.float64)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    edges, weights = np.stack([entries.row, entries.col], axis=1).astype(np.int64), entries.data
    directed = bool((entries != entries.T).nnz)
    if not dense and matrix.dtype.kind == "f" and weights.size and 0 < weights.min() < 0.9 and weights.max() == 1:
        warnings.warn(
            "graph has weights between 0 and 1, like similarities, but they are used as lengths. Instead of scanpy's "
            "connectivities pass adata.obsp['distances'], or 1 minus the logarithm of the weights.",
            stacklevel=2,
        )
    full = dense and not directed and len(edges) == n * (n - 1) > 2  # two nodes are a tree, with the same distance
    return Relations(list(range(n)), edges, weights, directed, entries.toarray() if full else None)


def _are_pairs(array: np.ndarray) -> bool:
    """Whether a matrix has a pair of nodes in each row. Numbers of shape (2, 2) may be an adjacency matrix."""
    integers = array.dtype.kind in "iu" and (len(array) != 2 or bool(array.diagonal().any()))
    return array.shape[1] == 2 and (integers or array.dtype.kind in "USO")


def _validated(found: Relations) -> Relations:
    """The relations without self-loops, about which it warns. Raises ValueError for other invalid relations."""
    names, edges, weights = found[:3]
    if (loops := edges[:, 0] == edges[:, 1]).any():  # lists of hypernyms often have some
        name = names[edges[int(loops.argmax()), 0]]
        text = f"graph has {int(loops.sum())} self-loop(s), e.g. at {name!r}: these edges are ignored."
        warnings.warn(text, stacklevel=3)
        edges, weights = edges[~loops], weights[~loops]
    if not len(edges):
        raise ValueError(f"graph must have at least one edge, but has none (number of nodes: {len(names)}).")
    if (bad := ~((weights >= 1 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT))).any():
        u, v = (names[i] for i in edges[bad.argmax()])
        raise ValueError(
            f"The weights of graph are lengths and must be between {1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, but "
            f"{u!r} - {v!r} has {weights[bad.argmax()]:g}."
        )
    name, times = Counter(map(str, names)).most_common(1)[0]
    if times > 1:
        raise ValueError(f"The nodes of graph must have different names as text, but two are called {name!r}.")
    return found._replace(edges=edges, weights=weights)


def _symmetric(found: Relations) -> csr_array:
    """The symmetric matrix of lengths. Raises ValueError if an edge occurs with two different lengths."""
    (names, edges, weights), n = found[:3], len(found.names)
    low, high = np.sort(edges.astype(np.int64), axis=1).T
    keys, first, again = np.unique(low * n + high, return_index=True, return_inverse=True)
    clash = ~np.isclose(weights, weights[first][again], rtol=ROUNDING, atol=0)
    if clash.any():
        k = int(clash.argmax())
        one, (u, v) = first[again[k]], (names[i] for i in edges[first[again[k]]])
        raise ValueError(f"An edge of graph must have one weight, but {u!r} - {v!r} has {weights[one]:g} and {weights[k]:g}.")
    ends = [end.astype(np.int32) for end in divmod(keys, n)]  # minimum_spanning_tree of SciPy 1.15 accepts no wider indices
    half = csr_array((weights[first], ends), shape=(n, n))
    return half + half.T


def sorted_nodes(edges: np.ndarray, names: list[Any]) -> list[int]:
    """All nodes, every parent before its children. Raises ValueError if there is a cycle."""
    above: dict[int, list[int]] = {node: [] for node in range(len(names))}
    for child, parent in edges.tolist():
        above[child].append(parent)
    try:
        return list(TopologicalSorter(above).static_order())
    except CycleError as error:
        raise ValueError(f"graph must have no cycles, but {names[error.args[1][0]]!r} is among its own ancestors.") from error


def shortest_paths(adjacency: csr_array, sources: np.ndarray | int | None = None) -> np.ndarray:
    """Lengths of the shortest paths from the sources (all nodes by default) to all nodes, (m, n), or (n,) from one."""
    return np.asarray(dijkstra(adjacency, directed=False, indices=sources))


def rooted(adjacency: csr_array, root: int) -> Tree:
    """The tree of shortest paths from `root`; for a tree, the tree itself.

    Children are in cyclic order of their numbers, starting after that of their grandparent, so that the cyclic order around a
    node is the same for every root.
    """
    depth, parent = dijkstra(adjacency, directed=False, indices=root, return_predecessors=True)
    n, parent = len(depth), np.where(parent < 0, -1, parent).astype(np.int64)
    child, length = np.flatnonzero(parent >= 0), np.zeros(n)
    length[child] = adjacency[child, parent[child]]
    order = np.lexsort(((np.arange(n) - parent[parent]) % n, parent))[1:]
    start = np.searchsorted(parent[order], np.arange(n + 1))
    level, levels = np.array([root]), []
    while len(level):
        levels.append(level)
        level = np.concatenate([order[start[node] : start[node + 1]] for node in level])
    return Tree(parent, length, depth, levels)


def centre(adjacency: csr_array) -> int:
    """The node in the middle of a longest path (in a graph with cycles: of a long path)."""
    far = int(np.argmax(shortest_paths(adjacency, 0)))
    depth, parent = dijkstra(adjacency, directed=False, indices=far, return_predecessors=True)
    path = [int(np.argmax(depth))]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[int(np.argmin(np.abs(depth[path] - depth[path[0]] / 2)))]
