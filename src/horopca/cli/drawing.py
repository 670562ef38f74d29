"""Pictures of points, for the commands that draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import plots
from .files import Writer
from .texts import Texts

PICTURES = (".png", ".pdf", ".svg")


def figure_for(path: Path | None) -> Any:
    """A figure of matplotlib's if there is a picture to draw: where it is missing, that is said before the work."""
    return None if path is None else plots.new_figure(interactive=False)


def saved(figure: Any) -> Writer:
    return lambda path: plots.save_figure(figure, path)


def draw_plane(figure: Any, Y: Any, texts: Texts, **options: Any) -> None:
    plots.plot_plane(Y, texts.labels, names=texts.names, edges=texts.edges, ax=figure.subplots(), **options)
