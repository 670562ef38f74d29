"""What the tests of plots share."""

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

matplotlib.use("Agg")


def new_figure():
    return Figure(figsize=(7, 6), layout="constrained")


@pytest.fixture
def ax():
    return new_figure().subplots()


other = ax  # a second fixture


def offsets(ax):
    """Where the points are drawn, in the order of rows: they are painted in another order."""
    drawn = np.asarray(ax.collections[-1].get_offsets())
    rows = np.empty_like(drawn)
    rows[np.random.default_rng(0).permutation(len(drawn))] = drawn
    return rows


def names_on(ax):
    """The texts of the names on a drawn plot."""
    FigureCanvasAgg(ax.figure).draw()
    (artist,) = (artist for artist in ax.get_children() if artist.get_gid() == "names")
    return artist.texts


def note_on(ax):
    FigureCanvasAgg(ax.figure).draw()
    (note,) = (text for text in ax.texts if text.get_gid() == "note")
    return note.get_text().replace("\n", " ")


def legend_on(ax):
    """Texts and colours of the legend."""
    legend = ax.get_legend()
    pairs = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return {text.get_text(): handle.get_color() for text, handle in pairs}
