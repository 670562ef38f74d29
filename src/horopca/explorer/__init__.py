"""The explorer: one self-contained HTML page for navigating points of the hyperbolic plane.

>>> from horopca.explorer import explore
>>> explore([[0.0, 0.0], [0.5, 0.0], [0.0, 0.9]], names=["root", "left", "right"], edges=[[0, 1], [0, 2]])
<Page: 3 points, 0.2 MB; .save("page.html") keeps it>
"""

from .page import Page, explore

__all__ = ["Page", "explore"]
