"""Edges between rows, from files with row numbers or names; the root and the subtrees of a tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from ..io import load, load_edges
from ..io.files import listed

INTEGER = re.compile(r"-?\d+")


def load_row_edges(path: str | Path, names: Sequence[str] | None = None) -> np.ndarray:
    """Pairs of rows (m, 2) from an edge list or a matrix. Nodes are rows if all are whole numbers, and `names` otherwise."""
    path = Path(path)
    if path.suffix.lower() in (".npy", ".npz"):
        X = load(path).X
        if X.shape[1] != 2 or (X != np.round(X)).any():
            raise ValueError(f"{path} must contain pairs of row numbers, but has shape {X.shape} or numbers with fractions.")
        return np.asarray(X.astype(np.int64))
    graph = load_edges(path)
    if all(INTEGER.fullmatch(node) for node in graph.names):
        rows = {node: int(node) for node in graph.names}
    elif names is None:
        raise ValueError(f"{path} contains names of nodes, so the points need names (on the command line, --metadata FILE).")
    else:
        texts = [name.strip() for name in names]
        rows = {text: row for row, text in enumerate(texts)}
        if repeated := [text for row, text in enumerate(texts) if rows[text] != row]:
            raise ValueError(f"{path} contains names, but several points are called {listed(repeated)}. Use row numbers.")
    if unknown := [node for node in graph.names if node not in rows]:
        raise ValueError(f"{path} must join names of points, but no point is called {listed(unknown)}.")
    return np.asarray(np.array([rows[node] for node in graph.names])[graph.edges])


def root_of_tree(edges: np.ndarray, n: int) -> int | None:
    """The root, if the edges (m, 2), parent first, form one tree on all n rows; None otherwise. Cycles are not detected."""
    parents = np.bincount(edges[:, 1], minlength=n)
    roots = np.flatnonzero(parents == 0)
    return int(roots[0]) if len(roots) == 1 and len(edges) == n - 1 and parents.max(initial=0) == 1 else None


def subtree_sizes(edges: np.ndarray, n: int, root: int) -> np.ndarray:
    """The number of nodes in the subtree of each of n rows, itself included; the edges (m, 2) form a tree, parent first."""
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    order, parents = breadth_first_order(graph, root)
    sizes = np.ones(n, dtype=np.uint32)
    for node in order[:0:-1]:
        sizes[parents[node]] += sizes[node]
    return sizes
