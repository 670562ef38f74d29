"""Plots of the hyperbolic plane and of reductions to it, in matplotlib.

Functions take arrays and ``ax=None``, draw, and return the axes. Nothing is shown or saved:
``save_figure(ax.figure, "plot.pdf")`` or matplotlib's ``savefig`` does that. `animate` writes a file.
"""

from .ball import plot_ball
from .charts import plot_components, plot_distortion, plot_explained_variance
from .comparison import plot_comparison
from .cones import plot_cones
from .curves import horocycle_arcs
from .figures import new_figure, save_figure
from .film import animate
from .lines import plot_geodesics, plot_horocycles, plot_projection
from .palette import COLOURS, NO_LABEL, OTHER, class_colours
from .plane import plot_disk, plot_equidistant, plot_halfplane, plot_klein, plot_plane
from .views import geodesic_arcs

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
    "save_figure",
]
