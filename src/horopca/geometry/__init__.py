"""Hyperbolic geometry as functions on arrays: models, points and isometries, ideal points, geodesic hulls.

Points are on the hyperboloid at curvature -1, shape (..., d+1) with time first; `to_hyperboloid` and
`from_hyperboloid` bring other models in and out. Any array library that follows the array API standard works.
"""

from .alignment import Alignment, align
from .hulls import geodesic_hull, geodesic_projection, hull_coordinates, hull_points, lorentz_frame
from .hyperboloid import (
    distance,
    distance_blocks,
    exp,
    gap,
    geodesic,
    inner,
    light_cone,
    log,
    origin,
    pairwise_distance,
    radius,
    transport,
)
from .ideal import busemann, horosphere, ideal_endpoint
from .isometries import (
    Frame,
    between,
    boost,
    boost_to_origin,
    reflect_to_origin,
    translate,
    translate_ideal,
    translate_ideal_to_origin,
    translate_to_origin,
)
from .models import MODELS, ModelName, clip, from_hyperboloid, lift, to_hyperboloid

__all__ = [
    "MODELS",
    "Alignment",
    "Frame",
    "ModelName",
    "align",
    "between",
    "boost",
    "boost_to_origin",
    "busemann",
    "clip",
    "distance",
    "distance_blocks",
    "exp",
    "from_hyperboloid",
    "gap",
    "geodesic",
    "geodesic_hull",
    "geodesic_projection",
    "horosphere",
    "hull_coordinates",
    "hull_points",
    "ideal_endpoint",
    "inner",
    "lift",
    "light_cone",
    "log",
    "lorentz_frame",
    "origin",
    "pairwise_distance",
    "radius",
    "reflect_to_origin",
    "to_hyperboloid",
    "translate",
    "translate_ideal",
    "translate_ideal_to_origin",
    "translate_to_origin",
    "transport",
]
