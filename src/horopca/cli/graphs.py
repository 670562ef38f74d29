"""Graphs in files, for the commands that embed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from scipy.sparse import csr_array

from ..embed.forms import POINTS, as_relations
from ..embed.graphs import Relations
from ..io import load_edges
from ..io.files import named
from ..io.lines import ending


def read_graph(path: Path, root: str | None = None) -> Relations:
    """The graph in a file, or the part of it that is below `root`."""
    matrix = ending(path) in {*POINTS, ".npz"}
    if matrix and root is not None:
        raise click.UsageError(f"--root needs a file with names of nodes, but {path} is not one.")
    with named(path):
        return as_relations(path if matrix else load_edges(path, root=root))


def edges_of(graph: Relations, nodes: list[Any]) -> tuple[np.ndarray, csr_array]:
    """Edges (m, 2) between rows, from parents to children, and the matrix (n, n) of their lengths, for the embedded nodes."""
    row, n = {name: i for i, name in enumerate(nodes)}, len(nodes)
    rows = np.array([row.get(name, -1) for name in graph.names])[graph.edges[:, ::-1]].reshape(-1, 2)
    embedded = (rows >= 0).all(axis=1)
    weights = np.ones(len(rows)) if graph.weights is None else graph.weights
    edges = rows[embedded].astype(np.int64)
    unique, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)  # an edge may be listed in both directions
    return edges, csr_array((weights[embedded][first], tuple(unique.T)), shape=(n, n))
