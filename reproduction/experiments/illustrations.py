"""The paper's explanatory figures."""

from __future__ import annotations

from ..definitions import Experiment, Picture, Section
from ..illustrated import lines, projection_in_space, rays_and_horocycles, two_projections

PICTURES = (
    Picture(
        "lines",
        "Projections on two parallel lines: Euclidean, geodesic, horospherical",
        lines,
    ),
    Picture("horocycles", "Geodesics towards an ideal point, and horocycles centred there", rays_and_horocycles),
    Picture("two-projections", "Horospherical and geodesic projections of two points", two_projections),
    Picture("space", "The horospherical projection from three to two dimensions", projection_in_space),
)
TEXT = """**Projections on lines that point the same way.** Black dots are projected on two lines that end in the same point at
infinity. Euclidean (left): the distances between the images do not depend on the line. Geodesic (middle): they do.
Horospherical (right): they do not; points slide along horocycles. The distance between the two outer images on each line is
written below each panel.

{lines}

**Geodesics and horocycles of an ideal point.** Segments of the geodesics between two horocycles are equally
long: all marked segments have the length written beside them.

{horocycles}

**Two points on one geodesic towards p.** The horospherical projections x′, y′ are as far apart as x and y; the geodesic
projections are closer together.

{two-projections}

**From three dimensions to two.** The plane of the base point and the ideal points p₁, p₂ (its rim in yellow), the spine between
them (blue), the two horospheres through x (red), and the circle in which they meet (green), all of whose points have the
Busemann coordinates of x. It meets the plane in two points: x′, on the side of the base point, is the image; x″ is not.

{space}"""


ILLUSTRATIONS = Experiment(
    "illustrations",
    "The explanatory figures",
    "Figures 1, 2, 3 and 5 of the paper (`fig:lines`, `fig:horo_geo`, `fig:horo_geo_proj`, `fig:horo_proj_3d`)",
    lambda size: [],
    lambda results: Section(TEXT, PICTURES),
)
