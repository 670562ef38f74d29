"""Figures of merit: what a reduction keeps of what it was given, and methods and classifiers side by side."""

from ..estimators.component_curve import ComponentCurve, HeldOut, component_curve
from .distances import (
    average_distortion,
    frechet_variance,
    mean_squared_error,
    pair_variance,
    squared_distortion,
    unexplained_variance,
    worst_case_distortion,
)
from .neighbours import continuity, false_neighbours, neighbours_kept, trustworthiness
from .stability import Stability, bootstrap

__all__ = [
    "ComponentCurve",
    "HeldOut",
    "Stability",
    "average_distortion",
    "bootstrap",
    "component_curve",
    "continuity",
    "false_neighbours",
    "frechet_variance",
    "mean_squared_error",
    "neighbours_kept",
    "pair_variance",
    "squared_distortion",
    "trustworthiness",
    "unexplained_variance",
    "worst_case_distortion",
]
