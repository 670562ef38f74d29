"""Measures of what a reduction keeps, how stable it is, and whether data are hyperbolic at all."""

from ..estimators.component_curve import ComponentCurve, HeldOut, component_curve
from .curvature import CurvatureFit, fit_curvature
from .distances import (
    average_distortion,
    frechet_variance,
    pair_variance,
    unexplained_variance,
    worst_case_distortion,
)
from .hyperbolicity import Flatness, Hyperbolicity, delta_hyperbolicity, flatness
from .neighbours import continuity, false_neighbours, neighbours_kept, trustworthiness
from .stability import Stability, bootstrap

__all__ = [
    "ComponentCurve",
    "CurvatureFit",
    "Flatness",
    "HeldOut",
    "Hyperbolicity",
    "Stability",
    "average_distortion",
    "bootstrap",
    "component_curve",
    "continuity",
    "delta_hyperbolicity",
    "false_neighbours",
    "fit_curvature",
    "flatness",
    "frechet_variance",
    "neighbours_kept",
    "pair_variance",
    "trustworthiness",
    "unexplained_variance",
    "worst_case_distortion",
]
