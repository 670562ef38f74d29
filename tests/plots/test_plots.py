"""Pictures: arcs are geodesics, wrong input is refused, pyplot is left as it was."""

import sys
from collections import Counter

import matplotlib
import numpy as np
import pytest

from horopca.geometry import distance, to_hyperboloid
from horopca.plots import COLOURS, OTHER, geodesic_arcs, new_figure, plot_disk

matplotlib.use("Agg")
rng = np.random.default_rng(0)
Y = rng.uniform(-0.7, 0.7, (40, 2))


def test_arcs_are_geodesics():
    a, b = rng.uniform(-0.7, 0.7, (2, 200, 2))
    arcs = geodesic_arcs(a, b)
    assert np.allclose(arcs[:, 0], a) and np.allclose(arcs[:, -1], b)
    x, y, z = to_hyperboloid(a)[:, None], to_hyperboloid(b)[:, None], to_hyperboloid(arcs)
    # the triangle inequality is an equality exactly on the geodesic
    assert np.allclose(distance(x, z) + distance(z, y), distance(x, y), atol=1e-12)


def test_arcs_of_special_pairs():
    a = np.array([[0.0, 0.0], [0.5, 0.0], [0.3, 0.3], [0.9999999, 0.0]])
    b = np.array([[0.5, 0.5], [-0.9, 0.0], [0.3, 0.3], [-0.01, 0.9999]])
    arcs = geodesic_arcs(a, b)
    assert np.isfinite(arcs).all()
    assert (np.hypot(*arcs.reshape(-1, 2).T) < 1).all()
    assert np.abs(arcs[1][:, 1]).max() < 1e-6  # a diameter is straight
    steps = np.linalg.norm(np.diff(arcs, axis=1), axis=2)
    assert np.allclose(steps, steps[:, :1])  # evenly spaced


def test_the_axes_come_back_and_hold_what_was_asked_for(ax):
    labels = ["a"] * 20 + ["b"] * 15 + ["c"] * 5
    assert plot_disk(Y, labels, edges=[[0, 1], [2, 3]], names=["n"] * 40, title="t", ax=ax) is ax
    points, edges = sorted(ax.collections, key=lambda c: -c.zorder)
    assert len(points.get_offsets()) == 40 and len(edges.get_segments()) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert ax.get_title() == "t"


def test_rare_labels_are_grey(ax):
    labels = np.repeat(np.arange(24), np.arange(24, 0, -1))
    plot_disk(rng.uniform(-0.5, 0.5, (len(labels), 2)), labels, ax=ax)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [str(k) for k in range(20)] + ["4 others"]
    drawn = Counter(matplotlib.colors.to_hex(c).upper() for c in ax.collections[0].get_facecolors())
    assert drawn == {**{COLOURS[k]: 24 - k for k in range(20)}, OTHER: 4 + 3 + 2 + 1}


def test_many_points_are_drawn_small_and_as_pixels(ax):
    plot_disk(rng.uniform(-0.5, 0.5, (10_000, 2)), ax=ax)
    many = ax.collections[0]
    assert many.get_rasterized() and many.get_sizes()[0] < 10


@pytest.mark.parametrize("edges", [[], None, np.empty((0, 2), dtype=int)])
def test_no_points_and_no_edges_make_an_empty_disk(ax, edges):
    plot_disk(np.empty((0, 2)), [], edges=edges, ax=ax)
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("points", "options", "sentence"),
    [
        (np.zeros((4, 3)), {}, r"shape \(4, 3\)"),
        (np.zeros(2), {}, r"shape \(2,\)"),
        ([[0.0, np.nan]], {}, "Y must be finite, but row 0 contains NaN"),
        ([[0.0, 0.5], [0.9, 0.9]], {}, "Y must lie inside the unit ball, but row 1 has norm 1.27"),
        (Y, {"labels": ["a"]}, "labels must have one entry per point, but has 1 for 40"),
        (Y, {"names": ["a"]}, "names must have one entry"),
        (Y, {"edges": [[0, 40]]}, "the first joins 0 and 40"),
        (Y, {"edges": [[-1, 0]]}, "the first joins -1 and 0"),
        (Y, {"edges": [0, 1]}, "pairs of row numbers"),
        (Y, {"edges": [[0.5, 1.0]]}, "pairs of row numbers"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(ax, points, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        plot_disk(points, ax=ax, **options)
    assert not ax.patches  # nothing half-drawn


def test_a_point_rounded_to_the_boundary_is_drawn(ax):
    plot_disk(np.array([[1.0, 0.0]], dtype=np.float32), ax=ax)


def test_pyplot_makes_the_figure_only_when_no_axes_are_given():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    plot_disk(Y, ax=new_figure(interactive=False).subplots())
    assert plt.get_fignums() == before
    plt.close(plot_disk(Y).figure)


def test_without_matplotlib_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_disk(Y)
