"""Pictures of the hyperbolic plane and of reductions to it, in matplotlib.

Functions take arrays and ``ax=None``, draw, and return the axes; nothing is shown or saved:
``ax.figure.savefig("picture.pdf")`` does that. `animate` alone writes a file: a film.
"""

from .ball import plot_ball
from .charts import plot_distortion, plot_explained_variance
from .comparison import plot_comparison
from .components import plot_components
from .curves import geodesic_arcs, horocycle_arcs
from .figures import new_figure
from .film import animate
from .lines import plot_cones, plot_geodesics, plot_horocycles, plot_projection
from .palette import COLOURS, NO_LABEL, OTHER, class_colours
from .plane import plot_disk, plot_equidistant, plot_halfplane, plot_klein, plot_plane

__all__ = [
    "COLOURS",
    "NO_LABEL",
    "OTHER",
    "animate",
    "class_colours",
    "geodesic_arcs",
    "horocycle_arcs",
    "new_figure",
    "plot_ball",
    "plot_comparison",
    "plot_components",
    "plot_cones",
    "plot_disk",
    "plot_distortion",
    "plot_equidistant",
    "plot_explained_variance",
    "plot_geodesics",
    "plot_halfplane",
    "plot_horocycles",
    "plot_klein",
    "plot_plane",
    "plot_projection",
]
