"""Example data: generated, and WordNet's mammals."""

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
    "load_mammals",
    "make_hierarchical_normals",
    "make_hierarchy",
    "random_tree",
]
