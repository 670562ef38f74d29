"""Clades of a tree, or groups of terms of a hierarchy, as classes to colour by."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

MAX_CLADES = 20  # The number of classes that have a colour of their own.


def clades(edges: np.ndarray, names: list[str]) -> list[str | None] | None:
    """The name of the clade of each node, None for nodes above all clades; or None if the graph is not a hierarchy.

    Edges (m, 2) lead from parents to children; of several parents, the one nearest to the root counts. Clades may be nested: a
    node belongs to the smallest clade that contains it, and all clades have about the same number of leaves of their own. A
    clade has the name of its top node or, if this has none, the names of its first and last leaf.

    >>> edges = np.array([[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]])
    >>> clades(edges, ["", "cats", "dogs", "lion", "tiger", "wolf", "fox"])
    [None, 'cats', 'dogs', 'cats', 'cats', 'dogs', 'dogs']
    """
    n = len(names)
    roots = np.flatnonzero(np.bincount(edges[:, 1], minlength=n) == 0)
    if not len(edges) or len(roots) != 1:
        return None
    found, above = breadth_first_order(csr_array((np.ones(len(edges)), tuple(edges.T)), shape=(n, n)), roots[0])
    order = found.tolist()
    if len(order) < n:
        return None
    below: list[list[int]] = [[] for _ in names]
    for node in order[1:]:
        below[above[node]].append(node)
    leaves: list[list[int]] = [[] for _ in names]  # below a node, without those of clades inside
    total = sum(not children for children in below)
    least, heads = max(2, -(-total // MAX_CLADES)), {}
    for node in reversed(order):
        leaves[node] = [leaf for child in below[node] for leaf in leaves[child]] if below[node] else [node]
        if len(leaves[node]) > 3 * least:  # several children that are each too small for a clade: the largest become one
            for child in below[node]:
                if 2 * len(leaves[child]) >= least and len(leaves[child]) > 1:
                    heads[child], leaves[child] = leaves[child], []
            leaves[node] = [leaf for child in below[node] for leaf in leaves[child]]
        if len(leaves[node]) >= least and node != order[0]:
            heads[node], leaves[node] = leaves[node], []
    if len(heads) < 2:
        return None
    titles = {node: names[node] or f"{names[own[0]]} – {names[own[-1]]}" for node, own in heads.items()}
    clade: list[str | None] = [None] * n
    for node in order[1:]:
        clade[node] = titles.get(node, clade[above[node]])
    return clade
