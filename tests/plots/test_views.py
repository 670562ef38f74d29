"""The equidistant disk, what pictures say of themselves, and pictures that survive a paper."""

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from horopca.geometry import distance, radius, to_hyperboloid, translate
from horopca.plots import new_figure, plot_comparison, plot_disk, plot_equidistant, plot_halfplane, plot_klein, plot_plane
from horopca.plots.comparison import aligned
from horopca.plots.palette import DARK

matplotlib.use("Agg")
rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 80)
DEEP = rng.uniform(7, 11, 80)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
EDGES = np.array([[i // 2, i] for i in range(1, 80)])
FLAT = rng.uniform(-0.6, 0.6, (80, 2))


def note_on(ax):
    FigureCanvasAgg(ax.figure).draw()
    (note,) = (text for text in ax.texts if text.get_gid() == "note")
    return note.get_text()


def test_in_the_equidistant_disk_radius_and_angle_are_true(ax):
    plot_equidistant(FLAT, edges=EDGES, ax=ax)
    drawn = np.asarray(ax.collections[-1].get_offsets())
    x = to_hyperboloid(FLAT)[np.random.default_rng(0).permutation(80)]
    assert np.allclose(np.linalg.norm(drawn, axis=1), radius(x))
    assert np.allclose(np.cross(np.c_[drawn, np.zeros(80)], np.c_[x[:, 1:], np.zeros(80)])[:, 2], 0)
    lines = to_hyperboloid(np.array(ax.collections[1].get_segments()), "tangent")  # after the rings
    a, b = lines[:, :1], lines[:, -1:]
    assert np.allclose(distance(a, lines) + distance(lines, b), distance(a, b), atol=1e-9)


def test_rings_are_numbered_in_the_users_unit(ax):
    plot_equidistant(2 * DEEP, model="tangent", curvature=-0.25, ax=ax)
    numbers = [text for text in ax.texts if text.get_gid() == "ring"]
    assert [text.get_text() for text in numbers] == ["5", "10", "15", "20"]
    assert np.allclose([text.get_position()[1] for text in numbers], [2.5, 5, 7.5, 10])


@pytest.mark.parametrize("draw", [plot_disk, plot_klein, plot_halfplane])
def test_every_model_has_rings_with_their_distances(ax, draw):
    draw(FLAT, grid="polar", ax=ax)
    numbers = [text for text in ax.texts if text.get_gid() == "ring"]
    model = {plot_disk: "poincare", plot_klein: "klein", plot_halfplane: "halfspace"}[draw]
    places = to_hyperboloid(np.array([text.get_position() for text in numbers]), model)
    assert len(numbers) > 1 and np.allclose(radius(places), [float(text.get_text()) for text in numbers], atol=1e-3)


def test_deep_points_are_shown_by_distance_and_the_picture_says_so(ax):
    plot_plane(DEEP, model="tangent", ax=ax)
    assert "100% of the points would lie on the rim of the Poincaré disk" in note_on(ax)
    assert np.ptp(np.linalg.norm(ax.collections[-1].get_offsets(), axis=1)) > 3
    plot_plane(FLAT, ax=(flat := new_figure(interactive=False).subplots()))
    assert note_on(flat) == "" and flat.get_xlim()[1] == pytest.approx(1.02)


@pytest.mark.parametrize(("draw", "where"), [(plot_disk, "the rim"), (plot_halfplane, "the boundary")])
def test_a_view_that_cannot_be_read_says_why(ax, draw, where):
    draw(DEEP, model="tangent", ax=ax)
    assert f"of the points lie on {where} to the eye" in note_on(ax)


def test_edges_left_out_are_counted(ax):
    n = 6000
    plot_disk(np.full((n, 2), 0.1), edges=[[0, i] for i in range(1, n)], ax=ax)
    assert note_on(ax) == "5,999 of 5,999 edges are too short to see"


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("size", [(7, 6), (3.3, 2.8), (6.4, 4.8)])
def test_legends_and_names_stay_inside_and_apart(layout, size):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout=layout)
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        plot_disk(FLAT, [f"quite a long label {i % 12}" for i in range(80)], names=["name"] * 80, ax=ax)
    FigureCanvasAgg(figure).draw()
    for ax in (left, right):
        box = ax.get_legend().get_window_extent()
        assert box.x1 <= figure.bbox.x1 + 1 or size[0] < 4  # two long legends in one column have no room at all
        (artist,) = (artist for artist in ax.get_children() if artist.get_gid() == "names")
        for text in artist.get_texts():
            name = text.get_window_extent()
            assert not name.overlaps(box) and ax.get_window_extent().padded(20).overlaps(name)


def test_sizes_are_in_proportion_to_the_axes():
    sizes = []
    for inches in (7.0, 3.5):
        ax = new_figure(interactive=False).subplots()
        ax.figure.set_size_inches(inches, inches * 6 / 7)
        plot_disk(FLAT, edges=EDGES, ax=ax)
        sizes.append((ax.collections[-1].get_sizes()[0], ax.collections[0].get_linewidths()[0]))
    assert sizes[0][0] / sizes[1][0] == pytest.approx(4) and sizes[0][1] / sizes[1][1] == pytest.approx(2)


def test_dark_background():
    with matplotlib.style.context("dark_background"):
        ax = new_figure(interactive=False).subplots()
        plot_disk(FLAT, ["a", "b"] * 40, names=["n"] * 80, edges=EDGES, ax=ax)
        FigureCanvasAgg(ax.figure).draw()
    to_hex = lambda colour: matplotlib.colors.to_hex(colour).upper()
    assert to_hex(ax.patches[0].get_facecolor()) == DARK.disk
    assert {to_hex(colour) for colour in ax.collections[-1].get_facecolors()} == set(DARK.classes[:2])


def test_panels_of_a_comparison_are_aligned():
    x = to_hyperboloid(FLAT)
    turn = np.array([[np.cos(2.0), np.sin(2.0)], [np.sin(2.0), -np.cos(2.0)]])  # turned and mirrored
    moved = translate(np.c_[x[:, :1], x[:, 1:] @ turn], to_hyperboloid(np.array([0.4, 0.2])))
    other = moved[:, 1:] / (1 + moved[:, :1])
    found = aligned({"one": FLAT, "two": other})
    assert np.allclose(found["one"], FLAT) and np.allclose(found["two"], FLAT, atol=1e-6)
    with pytest.raises(ValueError, match="'two' has 3 rows and the first 80"):
        aligned({"one": FLAT, "two": FLAT[:3]})


def test_the_legend_of_a_comparison_is_not_cropped():
    figure = plot_comparison(
        {f"method {k}": FLAT for k in range(2)},
        [f"quite a long label {i % 15}" for i in range(80)],
        figure=new_figure(interactive=False),
    )
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len(legend.get_texts()) == 15 and box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y0 >= -1
    for ax in figure.axes:
        assert not ax.get_window_extent().overlaps(box)


def test_names_run_neither_into_the_note_nor_into_other_axes():
    figure = new_figure(interactive=False)
    figure.set_size_inches(8, 4)
    panels = figure.subplots(1, 2)
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rim = 9 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for ax in panels:
        plot_disk(rim, names=[f"a rather long name {k}" for k in range(60)], model="tangent", ax=ax)
    inset = panels[0].inset_axes((0.3, 0.3, 0.4, 0.4))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for k, ax in enumerate(panels):
        (artist,) = (artist for artist in ax.get_children() if artist.get_gid() == "names")
        (note,) = (text for text in ax.texts if text.get_gid() == "note")
        boxes = [text.get_window_extent(renderer) for text in artist.get_texts()]
        assert len(boxes) > 5
        below = note.get_window_extent(renderer)
        assert below.y0 >= 0 and below.x1 <= ax.bbox.x1  # inside the figure, from the first drawing on
        for other in (below, panels[1 - k].bbox, inset.bbox):
            assert not any(box.padded(-2).overlaps(other) for box in boxes)  # letters are as wide as they are measured, about
