"""Reductions of hyperbolic data as scikit-learn estimators."""

from .horopca import HoroPCA

__all__ = ["HoroPCA"]
