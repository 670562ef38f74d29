"""What a graph may be given as: one table, `FORMS`, of what is recognised and how it is read.

Names and their order are kept. One convention of direction: an edge (u, v) reads "u is a v", the child first. Where
edges make a tree in the other direction alone, they are turned round. Missing and zero lengths of the branches of trees are
those of `horopca.io.load_edges`: the mean of the others, and a thousandth of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, issparse

from ..io import EdgeList, load_edges
from ..io.edges import load_adjacency
from ..io.files import existing
from ..io.lines import ending
from ..io.reading import PACKABLE, READABLE
from ..io.trees import Nodes, as_edges, walk
from .graphs import ROUNDING, Graph, Relations, check_relations, connected, without_loops

SOURCES = ("source", "child", "from", "id1", "u", "node1", "start")  # Columns of children are called so.
ENDS = ("target", "parent", "to", "id2", "v", "node2", "end")  # Columns of their parents are called so.
POINTS = set(READABLE) - {*PACKABLE, ".npz"}  # In files with these endings there are no edges.
LENGTHS = ("weight", "length", "distance")


class Form(NamedTuple):
    """One of the forms: what it is called, whether something is it, and how it is read."""

    called: str
    is_it: Callable[[Any], bool]
    read: Callable[[Any], Relations]
    is_told: bool = True  # whether it says which node is the parent; else edges are turned where that alone makes a tree


def as_relations(source: Any) -> Relations:
    """Edges and names from any of the forms. Raises ValueError for anything else."""
    if isinstance(source, Relations):
        return source
    for form in FORMS:
        if form.is_it(source):
            found = without_loops(form.read(source))
            check_relations(found)
            return found if form.is_told else _child_first(found)
    known = ", ".join(form.called for form in FORMS)
    raise ValueError(f"graph must be one of these: {known}; but is of type {type(source).__name__}.")


def as_graph(source: Any, *, largest_component: bool = False) -> Graph:
    """The connected undirected graph from any of the forms. Raises ValueError if it is not connected.

    >>> as_graph([-1, 0, 0, 1]).adjacency.toarray().astype(int)
    array([[0, 1, 1, 0],
           [1, 0, 0, 1],
           [1, 0, 0, 0],
           [0, 1, 0, 0]])
    """
    return source if isinstance(source, Graph) else connected(as_relations(source), largest_component=largest_component)


# ---------------------------------------------------------------- lists of edges


def _from_file(path: str | Path) -> Relations:
    if Path(path).suffix == ".npz":
        return _from_adjacency(load_adjacency(Path(path)))
    if ending(existing(path)) in POINTS:
        raise ValueError(
            f"{path} is a file of points, but a graph was expected: a list of edges, a tree, or an .npz with a sparse matrix."
        )
    return _from_edge_list(load_edges(path))


def _from_edge_list(edges: EdgeList) -> Relations:
    return Relations(edges.names, edges.edges, edges.weights, True)


def _from_pairs(pairs: Iterable[Any], lengths: Iterable[Any] | None = None) -> Relations:
    """Pairs of names; with a third value, or with `lengths`, they have lengths."""
    rows = [tuple(pair) for pair in pairs]
    position: dict[Any, int] = {}
    edges = [(position.setdefault(u, len(position)), position.setdefault(v, len(position))) for u, v, *_ in rows]
    if lengths is None and any(len(row) == 3 for row in rows):
        lengths = [row[2] if len(row) == 3 else 1.0 for row in rows]
    found = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Relations(list(position), found, None if lengths is None else _numbers(lengths), True)


def _from_frame(frame: Any) -> Relations:
    columns = {str(name).strip().lower(): name for name in frame.columns}
    u, v, length = (next((columns[name] for name in known if name in columns), None) for known in (SOURCES, ENDS, LENGTHS))
    if u is None or v is None:
        u, v = frame.columns[:2]
        length = frame.columns[2] if len(frame.columns) == 3 else None
    return _from_pairs(zip(frame[u], frame[v], strict=True), None if length is None else frame[length])


def _from_mapping(mapping: Mapping[Any, Any]) -> Relations:
    """From child to parent, or, where values are collections, from parent to children."""
    if any(isinstance(value, Mapping) for value in mapping.values()):
        raise ValueError("graph, as a mapping, must lead from child to parent or from parent to a list of children.")
    if any(isinstance(value, list | tuple | set | frozenset | np.ndarray) for value in mapping.values()):
        below = {parent: [] if children is None else list(children) for parent, children in mapping.items()}
        position = {name: i for i, name in enumerate(dict.fromkeys([*below, *(c for cs in below.values() for c in cs)]))}
        edges = [(position[child], position[parent]) for parent, children in below.items() for child in children]
        return Relations(list(position), np.array(edges, dtype=np.int64).reshape(-1, 2), None, True)
    position, edges = {}, []
    for child, parent in mapping.items():
        position.setdefault(child, len(position))
        if parent is not None:
            edges.append((position[child], position.setdefault(parent, len(position))))
    _refuse_circles(edges, list(position))
    return Relations(list(position), np.array(edges, dtype=np.int64).reshape(-1, 2), None, True)


def _from_parents(source: Iterable[Any]) -> Relations:
    parents = list(source)
    n, edges = len(parents), []
    for child, parent in enumerate(parents):
        if parent is None or parent == -1:
            continue
        number = isinstance(parent, int | float | np.integer | np.floating) and not isinstance(parent, bool)
        if not number or not 0 <= parent < n or int(parent) != parent:
            raise ValueError(f"graph, as a list of parents, must hold -1 to {n - 1}, but holds {parent!r} at {child}.")
        edges.append((child, int(parent)))
    _refuse_circles(edges, list(range(n)))
    return Relations(list(range(n)), np.array(edges, dtype=np.int64).reshape(-1, 2), None, True)


def _child_first(found: Relations) -> Relations:
    """Directed edges, turned round if they make a tree with the parent first and none with the child first."""
    n, edges = len(found.names), found.edges
    above, below = (np.bincount(ends, minlength=n) for ends in edges.T)
    turned = found.directed and above.max(initial=0) > 1 and below.max(initial=0) <= 1 and len(edges) == n - 1
    return found._replace(edges=edges[:, ::-1]) if turned else found


def _refuse_circles(edges: list[tuple[int, int]], names: list[Any]) -> None:
    """Raise ValueError if parents form a cycle: if a node has an n-th ancestor."""
    up = np.full(len(names) + 1, len(names))
    for child, parent in edges:
        up[child] = parent
    for _ in range(max(1, len(names)).bit_length()):
        up = up[up]
    if (up < len(names)).any():
        raise ValueError(f"graph must be a tree, but {names[int(up.min())]!r} is among its own ancestors.")


# ---------------------------------------------------------------- matrices and graphs


def _from_networkx(graph: Any) -> Relations:
    names = list(graph.nodes)
    position = {name: i for i, name in enumerate(names)}
    data = list(graph.edges(data="weight", default=1.0))
    edges = np.array([(position[u], position[v]) for u, v, _ in data], dtype=np.int64).reshape(-1, 2)
    directed = bool(graph.is_directed())
    weights = _numbers(weight for _, _, weight in data)
    return Relations(names, edges, weights, directed)


def _from_adjacency(matrix: Any) -> Relations:
    """A square matrix of lengths, 0 where there is no edge; a dense one without other zeros is one of distances."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"graph must be a square adjacency matrix, but has shape {matrix.shape}.")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"graph must be an adjacency matrix of real numbers, but has dtype {matrix.dtype}.")
    n = matrix.shape[0]
    if isinstance(matrix, np.ndarray) and np.allclose(matrix, matrix.T, rtol=ROUNDING, atol=0):
        matrix = (matrix + matrix.T) / 2  # SciPy's shortest paths differ by rounding
    entries = coo_array(matrix)
    entries.sum_duplicates()
    edge = entries.data != 0
    edges = np.stack([entries.row[edge], entries.col[edge]], axis=1).astype(np.int64)
    weights = entries.data[edge].astype(np.float64)
    directed = bool(np.any(matrix != matrix.T)) if isinstance(matrix, np.ndarray) else bool((abs(matrix - matrix.T) > 0).nnz)
    _warn_about_similarities(matrix, weights)
    full = isinstance(matrix, np.ndarray) and not directed and len(edges) == n * (n - 1)
    return Relations(list(range(n)), edges, weights, directed, matrix.astype(np.float64) if full else None)


def _warn_about_similarities(matrix: Any, weights: np.ndarray) -> None:
    """Warn if a sparse matrix looks like scanpy's connectivities, which are 1 for the nearest neighbours and 0 far away."""
    if issparse(matrix) and matrix.dtype.kind == "f" and weights.size and 0 < weights.min() < 0.9 and weights.max() == 1:
        warnings.warn(
            "graph has weights between 0 and 1, like similarities, but they are taken as lengths. For scanpy's connectivities "
            "pass adata.obsp['distances'], or minus the logarithm of the weights.",
            stacklevel=2,
        )


def _from_distances(matrix: Any) -> Relations:
    """scikit-bio's DistanceMatrix: distances with names; samples at distance 0 are joined by their other neighbours."""
    values = np.asarray(matrix.data, dtype=np.float64)
    return _from_adjacency(values)._replace(names=list(matrix.ids), distances=values)


def _from_linkage(Z: np.ndarray) -> Relations:
    """SciPy's linkage: clusters lie at half their height above the leaves, so that leaves are apart by that height."""
    n = len(Z) + 1
    height = np.append(np.zeros(n), Z[:, 2] / 2)
    parents, lengths = np.full(2 * n - 1, -1), np.full(2 * n - 1, np.nan)
    for k, pair in enumerate(Z[:, :2].astype(int), n):
        parents[pair], lengths[pair] = k, height[k] - height[pair]
    names, edges, weights, *_ = as_edges(Nodes([*map(str, range(n)), *[""] * (n - 1)], parents, lengths), "The linkage matrix")
    return Relations([*range(n), *names[n:]], edges, weights, True)


def _numbers(values: Iterable[Any]) -> np.ndarray:
    try:
        return np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("graph must have numbers as the weights of its edges, but holds something else.") from None


# ---------------------------------------------------------------- tree objects of other libraries


def _tree(children: str, length: str, name: Callable[[Any], Any], root: str = "") -> Callable[[Any], Relations]:
    """A reader of trees whose nodes have their children, their length and their name under these names."""

    def below(node: Any) -> Any:
        found = getattr(node, children)
        return found() if callable(found) else found

    def read(tree: Any) -> Relations:
        nodes = walk(getattr(tree, root) if root else tree, below, lambda node: getattr(node, length, None), name)
        names, edges, weights, *_ = as_edges(nodes, "The tree")
        return Relations(names, edges, weights, True)

    return read


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda source: all(hasattr(source, name) for name in names)


def _is_linkage(source: Any) -> bool:
    """Whether this has the columns of a linkage: two earlier clusters, a height, a size. (4, 4) could be an adjacency."""
    if not isinstance(source, np.ndarray) or source.ndim != 2 or source.shape[1] != 4 or source.dtype.kind != "f":
        return False
    earlier = source[:, :2] < np.arange(len(source) + 1, 2 * len(source) + 1)[:, None]
    return len(source) != 4 and bool(earlier.all() and (source[:, 3] >= 2).all())


def _is_pairs(source: Any) -> bool:
    if isinstance(source, np.ndarray):
        pairs = source.ndim == 2 and source.shape[1] == 2 and source.dtype.kind in "iuUSO"
        return pairs and (len(source) != 2 or source.dtype.kind in "USO" or bool(source.diagonal().any()))  # (2, 2): adjacency?
    listed = isinstance(source, Sequence | set | frozenset) and not isinstance(source, str) and len(source) > 0
    return listed and all(isinstance(item, tuple | list) and len(item) in (2, 3) for item in source)


def _is_flat(source: Any) -> bool:
    """Whether this is a sequence without sequences inside (names are none)."""
    if isinstance(source, np.ndarray):
        return source.ndim == 1
    return isinstance(source, Sequence) and not any(np.iterable(item) and not isinstance(item, str) for item in source)


FORMS = (
    Form(
        "the path of a file (see load_edges; or an .npz of scipy.sparse.save_npz)",
        lambda s: isinstance(s, str | Path),
        _from_file,
        is_told=False,
    ),
    Form("an EdgeList of load_edges", lambda s: isinstance(s, EdgeList), _from_edge_list, is_told=False),
    Form("a networkx graph", _has("nodes", "is_directed"), _from_networkx, is_told=False),
    Form("a SciPy sparse adjacency matrix", issparse, _from_adjacency),
    Form("a tree of Bio.Phylo", _has("clade", "find_clades"), _tree("clades", "branch_length", lambda n: n.name, "clade")),
    Form("a clade of Bio.Phylo", _has("clades", "find_clades"), _tree("clades", "branch_length", lambda n: n.name)),
    Form(
        "a tree of dendropy",
        _has("seed_node", "taxon_namespace"),
        _tree("child_nodes", "edge_length", lambda n: n.label or (n.taxon and n.taxon.label), "seed_node"),
    ),
    Form("a tree of scikit-bio", _has("children", "length", "is_tip"), _tree("children", "length", lambda n: n.name)),
    Form("a tree of ete", _has("children", "dist", "traverse"), _tree("children", "dist", lambda n: n.name)),
    Form("a DistanceMatrix of scikit-bio", _has("ids", "data", "condensed_form"), _from_distances),
    Form("a data frame with columns source and target", _has("columns", "iloc"), _from_frame, is_told=False),
    Form("a mapping from child to parent or from parent to children", lambda s: isinstance(s, Mapping), _from_mapping),
    Form("a linkage matrix of SciPy", _is_linkage, _from_linkage),
    Form("pairs (child, parent), or triples with a length", _is_pairs, _from_pairs, is_told=False),
    Form(
        "a square array of lengths or of distances",
        lambda s: isinstance(s, np.ndarray) and s.ndim == 2 and s.shape[0] == s.shape[1],
        _from_adjacency,
    ),
    Form("a sequence of parents, -1 or None for the root", _is_flat, _from_parents),
)
