"""Pictures of points, for the commands that draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import plots
from ..plots import views
from .files import Writer
from .points import Description

PICTURES = (".png", ".pdf", ".svg")
VIEWS = ("auto", *views.VIEWS)


def figure_for(path: Path | None) -> Any:
    """A figure of matplotlib if there is a picture to draw. Raises ImportError before the work if matplotlib is missing."""
    return None if path is None else plots.new_figure(interactive=False)


def save_figure(figure: Any) -> Writer:
    return lambda path: plots.save_figure(figure, path)


def draw_plane(figure: Any, Y: Any, about: Description, edges: np.ndarray | None = None, **options: Any) -> None:
    plots.plot_plane(Y, **{"names": about.names, **about.colours(), **options}, edges=edges, ax=figure.subplots())
