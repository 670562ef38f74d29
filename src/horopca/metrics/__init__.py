"""Figures of merit: what a reduction keeps of what it was given, and methods and classifiers side by side."""

from .distances import (
    average_distortion,
    frechet_variance,
    mean_squared_error,
    pair_variance,
    squared_distortion,
    unexplained_variance,
    worst_case_distortion,
)

__all__ = [
    "average_distortion",
    "frechet_variance",
    "mean_squared_error",
    "pair_variance",
    "squared_distortion",
    "unexplained_variance",
    "worst_case_distortion",
]
