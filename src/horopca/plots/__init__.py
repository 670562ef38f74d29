"""Plots of the hyperbolic plane and of reductions to it, in matplotlib.

Functions take arrays and ``ax=None``, draw, and return the axes. Nothing is shown or saved:
``save_figure(ax.figure, "plot.pdf")`` or matplotlib's ``savefig`` does that.
"""

from .ball import plot_ball
from .charts import plot_components, plot_distortion
from .comparison import plot_comparison
from .figures import save_figure
from .film import animate
from .lines import plot_cones, plot_geodesics, plot_horocycles, plot_projection
from .palette import COLOURS, class_colours
from .plane import plot_plane

__all__ = [
    "COLOURS",
    "animate",
    "class_colours",
    "plot_ball",
    "plot_comparison",
    "plot_components",
    "plot_cones",
    "plot_distortion",
    "plot_geodesics",
    "plot_horocycles",
    "plot_plane",
    "plot_projection",
    "save_figure",
]
