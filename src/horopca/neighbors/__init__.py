"""Exact nearest neighbours in hyperbolic space."""

from .estimator import HyperbolicNeighbors
from .umap import to_umap

__all__ = ["HyperbolicNeighbors", "to_umap"]
