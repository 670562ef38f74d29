"""Exact nearest neighbours in hyperbolic space."""

from .estimator import HyperbolicNeighbors

__all__ = ["HyperbolicNeighbors"]
