"""Example data: generated, bundled, and downloaded on demand."""

from .fetching import fetch_embedding, fetch_graph, fetch_network
from .generated import (
    Clusters,
    Hierarchy,
    RootedTree,
    balanced_tree,
    make_hierarchical_normals,
    make_hierarchy,
    random_tree,
)
from .mammals import Mammals, load_mammals

__all__ = [
    "Clusters",
    "Hierarchy",
    "Mammals",
    "RootedTree",
    "balanced_tree",
    "fetch_embedding",
    "fetch_graph",
    "fetch_network",
    "load_mammals",
    "make_hierarchical_normals",
    "make_hierarchy",
    "random_tree",
]
