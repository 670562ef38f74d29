"""Clades of a tree, or groups of terms of a hierarchy, as classes to colour by."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

MOST_CLADES = 20  # The number of classes that have a colour of their own.


def clades(edges: np.ndarray, names: list[str]) -> list[str | None] | None:
    """The clade that each node is coloured by, None for nodes above all clades; or None for a graph that is not a hierarchy.

    Edges (m, 2) lead from parents to children. Clades may lie inside others: a node belongs to the smallest one around it, and
    each has about as many leaves of its own as the others. A clade has the name of its node, or of its first and last leaf if
    the node has none.

    >>> edges = np.array([[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]])
    >>> clades(edges, ["", "cats", "dogs", "lion", "tiger", "wolf", "fox"])
    [None, 'cats', 'dogs', 'cats', 'cats', 'dogs', 'dogs']
    """
    order, below = _hierarchy(edges, len(names))
    if not order:
        return None
    leaves: list[list[int]] = [[] for _ in names]  # below a node, without those of clades inside
    total = sum(not children for children in below)
    least, heads = max(2, -(-total // MOST_CLADES)), {}
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
    found: list[str | None] = [None] * len(names)
    titles = {node: names[node] or f"{names[own[0]]} – {names[own[-1]]}" for node, own in heads.items()}
    above = {child: node for node in order for child in below[node]}
    for node in order:
        found[node] = titles[node] if node in titles else found[above[node]] if node in above else None
    return found


def _hierarchy(edges: np.ndarray, n: int) -> tuple[list[int], list[list[int]]]:
    """The nodes from the root down, and the children of each; none if there is not one root above all nodes.

    A node with several parents is a child of the one nearest to the root.
    """
    children: list[list[int]] = [[] for _ in range(n)]
    for parent, child in edges.tolist():
        children[parent].append(child)
    roots: Any = np.flatnonzero(np.bincount(edges[:, 1], minlength=n) == 0) if len(edges) else []
    if len(roots) != 1:
        return [], []
    below: list[list[int]] = [[] for _ in range(n)]
    order, waiting, seen = [], deque([int(roots[0])]), {int(roots[0])}
    while waiting:
        node = waiting.popleft()
        order.append(node)
        for child in children[node]:
            if child not in seen:
                seen.add(child)
                below[node].append(child)
                waiting.append(child)
    return (order, below) if len(order) == n else ([], [])
