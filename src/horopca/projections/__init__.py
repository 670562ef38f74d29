"""Spines, and the horospherical projection onto them in closed form."""

from .horospherical import horospherical_projection, slide, unslide
from .spines import Spine, ideal_points, spine_basis, spine_from_basis, spine_from_ideal_points

__all__ = [
    "Spine",
    "horospherical_projection",
    "ideal_points",
    "slide",
    "spine_basis",
    "spine_from_basis",
    "spine_from_ideal_points",
    "unslide",
]
