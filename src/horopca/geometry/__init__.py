"""Hyperbolic geometry as functions on arrays: models, points and isometries, ideal points, geodesic hulls.

Points are on the hyperboloid at curvature -1, shape (..., d+1) with time first; `to_hyperboloid` and
`from_hyperboloid` bring other models in and out. Any array library that follows the array API standard works.
"""

from .alignment import Alignment, align
from .directions import busemann, exp, horosphere, ideal_endpoint, log, transport
from .hulls import geodesic_hull, geodesic_projection
from .hyperboloid import distance, geodesic, inner, origin, pairwise_distance, radius
from .isometries import reflect_to_origin, translate, translate_to_origin
from .models import MODELS, ModelName, clip, from_hyperboloid, lift, to_hyperboloid

__all__ = [
    "MODELS",
    "Alignment",
    "ModelName",
    "align",
    "busemann",
    "clip",
    "distance",
    "exp",
    "from_hyperboloid",
    "geodesic",
    "geodesic_hull",
    "geodesic_projection",
    "horosphere",
    "ideal_endpoint",
    "inner",
    "lift",
    "log",
    "origin",
    "pairwise_distance",
    "radius",
    "reflect_to_origin",
    "to_hyperboloid",
    "translate",
    "translate_to_origin",
    "transport",
]
