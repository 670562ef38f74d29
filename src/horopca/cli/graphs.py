"""Graphs in files, for the commands that embed them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..embed.forms import POINTS, as_relations
from ..embed.graphs import Relations
from ..io import load_edges
from ..io.files import named
from ..io.lines import ending

INVENTED = re.compile(r"(inner|leaf) \d+")  # Readers call nodes without a name so.


def read_graph(path: Path, root: str | None = None, relations: Sequence[str] = ("is_a",)) -> Relations:
    """The graph in a file, or the part of it that is below `root`. The terms of an ontology are called by name and code."""
    matrix = ending(path) in {*POINTS, ".npz"}
    if matrix and root is not None:
        raise click.UsageError(f"--root needs a file with names of nodes, but {path} is not one.")
    with named(path):
        if matrix:
            return as_relations(path)
        found = load_edges(path, root=root, relations=relations)
    if found.codes is not None:
        codes = zip(found.names, found.codes, strict=True)
        found = found._replace(names=[f"{name} ({code})" if code and code not in name else name for name, code in codes])
    return as_relations(found)


def is_tree(graph: Relations) -> bool:
    n, unique = len(graph.names), np.unique(np.sort(graph.edges, axis=1), axis=0)
    adjacency = csr_array((np.ones(len(unique)), tuple(unique.T)), shape=(n, n))
    return len(unique) == n - 1 and bool(connected_components(adjacency, directed=False)[0] == 1)


def shown_names(nodes: list[Any]) -> list[str]:
    """The names of nodes, empty for those that have none in the file."""
    return ["" if INVENTED.fullmatch(name) else name for name in map(str, nodes)]


def edges_of(graph: Relations, nodes: list[Any]) -> tuple[np.ndarray, csr_array]:
    """Edges (m, 2) between rows, from parents to children, and the matrix (n, n) of their lengths, for the embedded nodes."""
    row, n = {name: i for i, name in enumerate(nodes)}, len(nodes)
    rows = np.array([row.get(name, -1) for name in graph.names])[graph.edges[:, ::-1]].reshape(-1, 2)
    embedded = (rows >= 0).all(axis=1)
    weights = np.ones(len(rows)) if graph.weights is None else graph.weights
    edges = rows[embedded].astype(np.int64)
    unique, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)  # an edge may be listed in both directions
    return edges, csr_array((weights[embedded][first], tuple(unique.T)), shape=(n, n))
