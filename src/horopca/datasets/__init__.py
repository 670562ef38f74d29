"""Data to try things on: generated, bundled, and fetched on demand."""

from .fetching import fetch, fetch_embedding, fetch_graph, fetch_network
from .hierarchy import Hierarchy, make_hierarchy
from .mammals import Mammals, load_mammals
from .mixtures import Clusters, make_hierarchical_normals, make_wrapped_normals
from .trees import RootedTree, balanced_tree, random_tree

__all__ = [
    "Clusters",
    "Hierarchy",
    "Mammals",
    "RootedTree",
    "balanced_tree",
    "fetch",
    "fetch_embedding",
    "fetch_graph",
    "fetch_network",
    "load_mammals",
    "make_hierarchical_normals",
    "make_hierarchy",
    "make_wrapped_normals",
    "random_tree",
]
