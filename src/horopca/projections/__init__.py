"""Spines, and the horospherical projection onto them in closed form."""

from .spines import (
    Spine,
    horospherical_projection,
    ideal_points,
    nested_ideal_points,
    slide,
    spine_basis,
    spine_from_basis,
    spine_from_ideal_points,
    unslide,
)

__all__ = [
    "Spine",
    "horospherical_projection",
    "ideal_points",
    "nested_ideal_points",
    "slide",
    "spine_basis",
    "spine_from_basis",
    "spine_from_ideal_points",
    "unslide",
]
