"""Points of the plane: every view, model and curvature; names, notes and legends."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from conftest import legend_on, names_on, new_figure, note_on, offsets
from horopca.geometry import MODELS, distance, from_hyperboloid, radius, to_hyperboloid, translate_to_origin
from horopca.plots import COLOURS, plot_ball, plot_comparison, plot_plane, save_figure
from horopca.plots.palette import DARK, OTHER, RAMPS
from horopca.plots.plane import CROWD
from horopca.plots.views import VIEWS

rng = np.random.default_rng(0)
Y = rng.uniform(-0.65, 0.65, (40, 2))
EDGES = np.array([[i // 2, i] for i in range(1, 40)])
angle = rng.uniform(0, 2 * np.pi, 40)
DEEP = rng.uniform(7, 11, 40)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_the_points_and_joins_them_by_geodesics(ax, view):
    model, x = VIEWS[view].model, to_hyperboloid(Y)
    assert plot_plane(Y, view=view, edges=EDGES, ax=ax) is ax
    assert np.allclose(offsets(ax), from_hyperboloid(x, model))
    (edges,) = (part for part in ax.collections if hasattr(part, "get_segments") and len(part.get_segments()) == len(EDGES))
    for (i, j), line in zip(EDGES, edges.get_segments(), strict=True):
        z = to_hyperboloid(line, model)
        # the triangle inequality is an equality exactly on the geodesic; an arc of 1e-6 radians stands for Klein's lines
        assert np.allclose(distance(x[i], z) + distance(z, x[j]), distance(x[i], x[j]), atol=1e-9)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert (offsets(ax) > [left, bottom]).all() and (offsets(ax) < [right, top]).all()


@pytest.mark.parametrize("model", MODELS)
def test_points_may_be_in_any_model_and_curvature(ax, model):
    points = from_hyperboloid(to_hyperboloid(Y), model) * (1 if model == "halfspace" else 2)
    assert np.allclose(offsets(plot_plane(points, model=model, curvature=-0.25, ax=ax)), Y)


def test_any_point_may_be_the_centre(ax, other):
    moved = from_hyperboloid(translate_to_origin(to_hyperboloid(Y), to_hyperboloid(Y[7])), "poincare")
    for axes, centre in ((ax, 7), (other, Y[7])):
        assert np.allclose(offsets(plot_plane(Y, centre=centre, ax=axes)), moved)


def test_values_have_a_colour_bar_and_missing_ones_are_grey(ax):
    values = np.arange(40.0)
    values[5] = np.nan
    plot_plane(Y, values=values, value_name="weight", size=np.arange(1.0, 41.0), ax=ax)
    colours = [matplotlib.colors.to_hex(colour).upper() for colour in ax.collections[-1].get_facecolors()]
    assert colours[0] == OTHER and len(set(colours)) == 40  # grey is painted first
    assert ax.figure.axes[1].get_ylabel() == "weight" and ax.figure.axes[1].get_ylim() == (0, 39)
    sizes = np.random.default_rng(0).permutation(40) + 1.0
    assert np.array_equal(ax.collections[-1].get_sizes(), np.r_[6.0, sizes[sizes != 6]])


@pytest.mark.parametrize("colouring", ["labels", "values"])
def test_a_crowd_is_an_image_of_how_many_points_there_are(ax, colouring):
    y = np.zeros((CROWD, 2))
    y[: CROWD // 2], y[CROWD // 2 : -1], y[-1] = [0.5, 0.0], [-0.5, 0.0], [0.0, 0.5]
    plot_plane(y, **{colouring: np.repeat([0, 1], CROWD // 2)}, ax=ax)
    (image,) = ax.images
    pixels = image.get_array()
    alpha = np.sort(pixels[..., 3].ravel())[::-1]
    assert alpha[0] == pytest.approx(1, abs=1e-3) and 0 < alpha[2] < 0.5 and alpha[3] == 0  # three pixels
    colours = {matplotlib.colors.to_hex(pixel[:3]).upper() for pixel in pixels[pixels[..., 3] > 0.9]}
    ends = {RAMPS["value"]["light"][0], RAMPS["value"]["light"][-1]}
    assert colours == (set(COLOURS[:2]) if colouring == "labels" else ends)
    assert not ax.collections


def test_sizes_are_in_proportion_to_the_axes():
    sizes = []
    for inches in (7.0, 3.5):
        ax = Figure(figsize=(inches, inches * 6 / 7), layout="constrained").subplots()
        plot_plane(Y, edges=EDGES, ax=ax)
        sizes.append((ax.collections[-1].get_sizes()[0], ax.collections[0].get_linewidths()[0]))
    assert sizes[0][0] / sizes[1][0] == pytest.approx(4) and sizes[0][1] / sizes[1][1] == pytest.approx(2)


def test_dark_backgrounds():
    with plt.style.context("dark_background"):
        ax = plot_plane(Y, ["a", "b"] * 20, names=["n"] * 40, edges=EDGES, ax=new_figure().subplots())
        FigureCanvasAgg(ax.figure).draw()
    to_hex = lambda colour: matplotlib.colors.to_hex(colour).upper()
    assert to_hex(ax.patches[0].get_facecolor()) == DARK.disk
    assert {to_hex(colour) for colour in ax.collections[-1].get_facecolors()} == set(DARK.classes[:2])


def test_pyplot_creates_the_figure_only_if_no_axes_are_passed(ax, monkeypatch):
    before = plt.get_fignums()
    plot_plane(Y, ax=ax)
    assert plt.get_fignums() == before
    plt.close(plot_plane(Y).figure)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_plane(Y)


def test_the_ball():
    ax = new_figure().add_subplot(projection="3d")
    plot_ball(rng.uniform(-0.5, 0.5, (20, 3)), ["a", "b"] * 10, edges=[[0, 1], [2, 3]], title="ball", ax=ax)
    FigureCanvasAgg(ax.figure).draw()
    assert ax.get_title() == "ball" and list(legend_on(ax)) == ["a", "b"]


@pytest.mark.parametrize("view", VIEWS)
def test_rings_are_numbered_in_the_unit_of_the_user(ax, view):
    plot_plane(2 * DEEP / 5, view=view, model="tangent", curvature=-0.25, grid=True, ax=ax)
    numbers = [text for text in ax.texts if text.get_gid() == "ring"]
    drawn = to_hyperboloid(np.array([text.get_position() for text in numbers]), VIEWS[view].model)
    assert len(numbers) > 1 and np.allclose(2 * radius(drawn), [float(text.get_text()) for text in numbers], atol=1e-3)


@pytest.mark.parametrize(
    ("points", "options", "note"),
    [
        (Y, {}, ""),
        (DEEP, {"model": "tangent"}, "by distance from the centre: 100% of the points would lie on the rim"),
        (DEEP, {"model": "tangent", "view": "disk"}, '100% of the points appear to lie on the rim: view="equidistant"'),
        (np.full((6000, 2), 0.1), {"edges": [[0, i] for i in range(1, 6000)]}, "edges too short to see: 5,999 of 5,999"),
        (np.empty((0, 2)), {"labels": [], "edges": []}, ""),
    ],
)
def test_a_note_says_what_cannot_be_seen(ax, points, options, note):
    assert note_on(plot_plane(points, ax=ax, **options))[: len(note) or None] == note


def test_names_do_not_overlap_and_those_of_central_points_are_kept(ax, other):
    y = rng.normal(0, 0.15, (400, 2)).clip(-0.6, 0.6)
    y[0] = 0
    plot_plane(y, ["a", "b"] * 200, names=[f"name {i}" for i in range(400)], ax=ax)
    boxes = [text.get_window_extent() for text in names_on(ax)]
    assert 20 < len(boxes) < 400 and note_on(ax) == f"names that fit: {len(boxes)} of 400"
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not any(box.contains(*point) for box in boxes for point in ax.transData.transform(y))
    plot_plane(Y[:3], names=["central", "", ""], ax=other)
    assert [text.get_text() for text in names_on(other)] == ["central"] and note_on(other) == ""


TURN = np.linspace(0, 2 * np.pi, 60, endpoint=False)
RIM = 9 * np.stack([np.cos(TURN), np.sin(TURN)], axis=1)
CROWDED = {"view": "disk", "names": [f"a rather long name {k}" for k in range(60)], "model": "tangent"}
LONG = [f"quite a long label {i % 12}" for i in range(60)]
BAR = {"values": np.arange(60.0), "value_name": "how far refits of the same method move each of the points"}


@pytest.mark.parametrize(
    ("size", "layout", "left", "right"),
    [
        ((8, 4), "constrained", {}, {}),
        ((14, 6), "constrained", {"labels": LONG}, {"labels": LONG}),
        ((14, 6.2), "constrained", BAR, {"labels": LONG}),
        ((7, 6), None, {"labels": LONG}, None),
        ((6.4, 4.8), "constrained", {"labels": LONG}, None),
    ],
)
def test_nothing_overlaps_and_nothing_is_outside_the_figure(size, layout, left, right):
    figure = Figure(figsize=size, layout=layout)
    given = [options for options in (left, right) if options is not None]
    panels = figure.subplots(1, len(given), squeeze=False).ravel()
    for ax, options in zip(panels, given, strict=True):
        plot_plane(RIM, ax=ax, **CROWDED, **options)
    inset = panels[0].inset_axes((0.3, 0.3, 0.4, 0.4)) if right == {} else None
    names = [[text.get_window_extent() for text in names_on(ax)] for ax in panels]
    for k, (ax, own) in enumerate(zip(panels, names, strict=True)):
        beside = [text for text in ax.texts if text.get_gid() == "note"] + [ax.get_legend()]
        beside += [bar.yaxis.label for bar in figure.axes[len(panels) :]]
        boxes = [artist.get_window_extent() for artist in beside if artist is not None]
        assert own and all((box.min >= 0).all() and (box.max <= figure.bbox.max).all() for box in boxes)
        assert not any(one.overlaps(other.bbox) for one in boxes for other in panels[k + 1 :])
        boxes += [other.bbox for other in panels if other is not ax] + ([] if inset is None else [inset.bbox])
        assert not any(name.padded(-2).overlaps(box) for name in own for box in boxes)  # widths are measured to two pixels
        assert all(ax.get_window_extent().padded(20).overlaps(name) for name in own)


def test_names_do_not_cross_the_rim(ax):
    turn = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    near = 0.97 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    boxes = [text.get_window_extent() for text in names_on(plot_plane(near, names=[f"n{k}" for k in range(30)], ax=ax))]
    corners = np.array([box.corners() for box in boxes])
    inside = np.linalg.norm(ax.transData.inverted().transform(corners.reshape(-1, 2)), axis=1).reshape(-1, 4) < 1.005
    assert len(boxes) == 30 and (inside.all(axis=1) | ~inside.any(axis=1)).all()


def test_companions_are_on_top_and_their_names_have_priority(ax, other):
    crowd = np.stack(np.meshgrid(*[np.linspace(-0.6, 0.6, 40)] * 2), axis=-1).reshape(-1, 2)
    plot_plane(crowd, names=["point"] * len(crowd), companions={"root": [0.0, 0.0], "leaf": [0.5, 0.5]}, ax=ax)
    top = max(ax.collections, key=lambda part: part.zorder)
    np.testing.assert_allclose(top.get_offsets(), [[0, 0], [0.5, 0.5]])
    assert {"root", "leaf"} <= {text.get_text() for text in names_on(ax)}
    plot_plane(Y, view="equidistant", companions={"a": Y[3], "b": [0.999, 0.0]}, centre=3, ax=other)
    drawn = other.collections[-1].get_offsets()
    assert np.allclose(drawn[0], 0) and other.get_xlim()[1] > np.linalg.norm(drawn[1])  # the frame encloses them
    other.clear()
    assert len(plot_plane(Y, companions={}, ax=other).collections) == 1


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([f"class {k}" for k in [*range(40), *range(20, 40)]], [*range(11), *range(20, 40), "and 9 more classes"]),
        (["A/Puerto_Rico/PRV/2016-01-10 – A/Colombia/COL/2016-08-17"], ["A/Puerto_Ric…-01-10 – A/Colombia/C…-08-17"]),
        (["a" * 20 + "b" * 20], ["a" * 18 + "…" + "b" * 12]),
        (["$x^2$", "$ & % _"], [r"\$ & % _", r"\$x^2\$"]),  # not mathematics
    ],
)
def test_legends_list_the_most_frequent_classes_and_shorten_long_names(ax, labels, shown):
    plot_plane(np.resize(Y, (len(labels), 2)), labels, ax=ax)
    assert list(legend_on(ax)) == [f"class {one}" if isinstance(one, int) else one for one in shown]


@pytest.mark.parametrize(("suffix", "contained"), [("svg", b">&lt;b&gt;</text>"), ("pdf", b"/CIDFontType2"), ("png", b"PNG")])
def test_saved_files_have_text_as_text_and_truetype_fonts(ax, tmp_path, suffix, contained):
    plot_plane(Y, ["<a & b>"] * 40, names=["<b>"] * 40, edges=EDGES, grid=True, ax=ax)
    before = dict(matplotlib.rcParams)
    save_figure(ax.figure, tmp_path / f"disk.{suffix}")
    assert contained in (tmp_path / f"disk.{suffix}").read_bytes() and dict(matplotlib.rcParams) == before


def test_panels_of_a_comparison_are_aligned_in_a_view_in_which_points_are_not_on_the_rim():
    x = to_hyperboloid(Y)
    turn = np.array([[np.cos(2.0), np.sin(2.0)], [np.sin(2.0), -np.cos(2.0)]])  # turned and mirrored
    moved = translate_to_origin(np.c_[x[:, :1], x[:, 1:] @ turn], to_hyperboloid(np.array([0.4, 0.2])))
    figure = plot_comparison({"one": Y, "two": from_hyperboloid(moved)}, figure=new_figure())
    assert np.allclose(offsets(figure.axes[0]), Y) and np.allclose(offsets(figure.axes[1]), Y, atol=1e-6)
    deep = from_hyperboloid(to_hyperboloid(DEEP, "tangent"))
    assert np.allclose(offsets(plot_comparison({"one": deep}, figure=new_figure()).axes[0]), DEEP, atol=1e-6)


def test_the_legend_of_a_comparison_is_inside_the_figure():
    labels = [f"quite a long label {i % 15}" for i in range(40)]
    figure = plot_comparison({f"method {k}": Y for k in range(2)}, labels, figure=new_figure())
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len(legend.get_texts()) == 15 and box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
    assert not any(ax.get_window_extent().overlaps(box) or ax.get_legend() for ax in figure.axes)


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (np.zeros((4, 3)), {}, r"shape \(4, 3\). HoroPCA\(n_components=2\), or"),
        (np.zeros(2), {}, r"shape \(2,\)"),
        ([[0.0, np.nan]], {}, "Y must be finite, but row 0 contains NaN"),
        ([[0.0, 0.5], [0.9, 0.9]], {}, "Y must lie inside the unit ball, but row 1 has norm 1.27"),
        (Y, {"labels": ["a"]}, "labels must have one entry per point, but has 1 for 40"),
        (Y, {"labels": ["a"] * 40, "values": np.zeros(40)}, "pass one of them"),
        (Y, {"names": ["a"]}, "names must have one entry"),
        (Y, {"edges": [[0, 40]]}, "edge 0 joins rows 0 and 40"),
        (Y, {"edges": [[0.5, 1.0]]}, "pairs of row numbers"),
        (Y, {"centre": 40}, "centre must be a row of Y, 0 to 39"),
        (Y, {"view": "round"}, "view must be one of"),
        (Y, {"companions": "root"}, "companions must be a mapping of names to points, but is 'root'"),
        (Y, {"companions": {"root": [0.0, 2.0]}}, "companions must lie inside the unit ball"),
    ],
)
def test_invalid_arguments_are_errors_before_anything_is_drawn(ax, points, options, message):
    with pytest.raises(ValueError, match=message):
        plot_plane(points, ax=ax, **options)
    assert not ax.patches
