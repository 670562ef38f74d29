"""More pictures: other models, curves, charts, the ball, names and crowds."""

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from horopca import HoroPCA
from horopca.datasets import make_hierarchy
from horopca.geometry import (
    MODELS,
    busemann,
    distance,
    from_hyperboloid,
    radius,
    to_hyperboloid,
    translate,
    translate_to_origin,
)
from horopca.metrics import average_distortion
from horopca.plots import (
    COLOURS,
    OTHER,
    geodesic_arcs,
    horocycle_arcs,
    new_figure,
    plot_ball,
    plot_cones,
    plot_disk,
    plot_distortion,
    plot_explained_variance,
    plot_geodesics,
    plot_halfplane,
    plot_horocycles,
    plot_klein,
    plot_plane,
    plot_projection,
)
from horopca.plots.curves import geodesic_lines
from horopca.plots.palette import RAMPS
from horopca.plots.plane import CROWD
from horopca.plots.views import VIEWS, geodesic_grid, ring_radii, rings

matplotlib.use("Agg")
rng = np.random.default_rng(0)
Y = rng.uniform(-0.65, 0.65, (40, 2))
EDGES = np.array([[i // 2, i] for i in range(1, 40)])
IDEAL = np.array([np.cos(1.0), np.sin(1.0)])


def offsets(ax):
    """Where the points are drawn, in the order of rows: they are painted in another."""
    drawn = np.asarray(ax.collections[-1].get_offsets())
    if len(drawn) != len(Y):
        return drawn
    back = np.empty_like(drawn)
    back[np.random.default_rng(0).permutation(len(Y))] = drawn
    return back


def names_on(ax):
    """The names as they are written on a drawn picture."""
    FigureCanvasAgg(ax.figure).draw()
    (artist,) = (artist for artist in ax.get_children() if artist.get_gid() == "names")
    return artist.get_texts()


def note_on(ax):
    (note,) = (text for text in ax.texts if text.get_gid() == "note")
    return note.get_text()


# ---------------------------------------------------------------- curves


@pytest.mark.parametrize("model", ["poincare", "klein", "halfspace", "tangent"])
def test_arcs_are_geodesics_in_every_model(model):
    a, b = (from_hyperboloid(to_hyperboloid(y), model) for y in rng.uniform(-0.65, 0.65, (2, 100, 2)))
    arcs = geodesic_arcs(a, b, model=model)
    assert np.allclose(arcs[:, 0], a) and np.allclose(arcs[:, -1], b)
    x, y, z = to_hyperboloid(a, model)[:, None], to_hyperboloid(b, model)[:, None], to_hyperboloid(arcs, model)
    # the triangle inequality is an equality exactly on the geodesic; a straight piece of 1e-6 radians stands for Klein's
    assert np.allclose(distance(x, z) + distance(z, y), distance(x, y), atol=1e-9)


def test_whole_geodesics_go_through_both_points_from_rim_to_rim():
    a, b = rng.uniform(-0.6, 0.6, (2, 50, 2))
    lines = geodesic_lines(a, b, 4001)
    assert np.allclose(np.linalg.norm(lines[:, [0, -1]], axis=2), 1)
    for points in (a, b):
        assert np.linalg.norm(lines - points[:, None], axis=2).min(axis=1).max() < 1e-3


def test_horocycles_keep_the_busemann_function_and_end_on_the_diameter():
    x = rng.uniform(-0.65, 0.65, (100, 2))
    arcs = horocycle_arcs(x, IDEAL)
    level = busemann(to_hyperboloid(arcs), IDEAL)
    assert np.allclose(arcs[:, 0], x) and np.allclose(level, level[:, :1], atol=1e-9)
    assert np.allclose(arcs[:, -1] @ [-IDEAL[1], IDEAL[0]], 0)
    assert (np.linalg.norm(arcs - IDEAL, axis=2).min(axis=1) > 1e-3).all()  # never through the ideal point


def test_grids():
    for name, view in VIEWS.items():
        radii = ring_radii(view, 10.0 if name == "equidistant" else 1.0, 1.0)
        for r, ring in zip(radii, rings(view.model, radii), strict=True):
            assert np.allclose(radius(to_hyperboloid(ring, view.model)), r)
    for line in geodesic_grid("klein"):  # across the axes: vertical or horizontal
        assert np.ptp(line, axis=0).min() < 1e-5  # a straight line is drawn as an arc of 1e-6 radians


# ---------------------------------------------------------------- planes


def test_klein_and_halfplane_show_the_same_points(ax):
    x = to_hyperboloid(Y)
    assert np.allclose(offsets(plot_klein(Y, ax=ax)), from_hyperboloid(x, "klein"))
    halfplane = plot_halfplane(Y, ["a", "b"] * 20, edges=EDGES, ax=new_figure(interactive=False).subplots())
    y = from_hyperboloid(x, "halfspace")
    assert np.allclose(offsets(halfplane), y)
    (left, right), (bottom, top) = halfplane.get_xlim(), halfplane.get_ylim()
    assert bottom == 0 and (y[:, 1] < top).all() and (left < y[:, 0]).all() and (y[:, 0] < right).all()
    assert len(halfplane.collections[0].get_segments()) == len(EDGES)


@pytest.mark.parametrize("model", MODELS)
def test_any_model_and_curvature_may_be_given(ax, model):
    given = from_hyperboloid(to_hyperboloid(Y), model) * (1 if model == "halfspace" else 2)
    assert np.allclose(offsets(plot_disk(given, model=model, curvature=-0.25, ax=ax)), Y)


def test_any_point_may_be_the_centre(ax):
    moved = from_hyperboloid(translate_to_origin(to_hyperboloid(Y), to_hyperboloid(Y[7])), "poincare")
    assert np.allclose(offsets(plot_disk(Y, centre=7, ax=ax)), moved)
    assert np.allclose(offsets(plot_disk(Y, centre=Y[7], ax=ax)), moved)
    with pytest.raises(ValueError, match="centre must be a row of Y, 0 to 39"):
        plot_disk(Y, centre=40, ax=ax)


def test_values_have_a_colour_bar_and_missing_ones_are_grey(ax):
    values = np.arange(40.0)
    values[5] = np.nan
    plot_disk(Y, values=values, value_name="weight", size=np.arange(1.0, 41.0), ax=ax)
    colours = [matplotlib.colors.to_hex(colour).upper() for colour in ax.collections[-1].get_facecolors()]
    assert colours[0] == OTHER and len(set(colours)) == 40  # grey is painted first
    assert ax.figure.axes[1].get_ylabel() == "weight" and ax.figure.axes[1].get_ylim() == (0, 39)
    sizes = np.random.default_rng(0).permutation(40) + 1.0
    assert np.array_equal(ax.collections[-1].get_sizes(), np.r_[6.0, sizes[sizes != 6]])
    with pytest.raises(ValueError, match="pass one of them"):
        plot_disk(Y, ["a"] * 40, values=values, ax=ax)


def test_names_do_not_overlap_and_the_telling_ones_stay(ax):
    y = rng.normal(0, 0.15, (400, 2)).clip(-0.6, 0.6)
    y[0] = 0
    plot_disk(y, ["a", "b"] * 200, names=[f"name {i}" for i in range(400)], ax=ax)
    written = names_on(ax)
    boxes = [text.get_window_extent() for text in written]
    assert 20 < len(boxes) < 400 and note_on(ax) == f"{len(boxes)} of 400 names fit"
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    points = ax.transData.transform(y)
    assert not any(box.contains(*point) for box in boxes for point in points)
    assert not any(box.overlaps(ax.get_legend().get_window_extent()) for box in boxes)
    plot_disk(y[:3] * 9, names=["telling", "", ""], ax=(other := new_figure(interactive=False).subplots()))
    assert [text.get_text() for text in names_on(other)] == ["telling"] and note_on(other) == ""


def test_a_name_is_text_and_not_mathematics(ax):
    plot_disk(Y[:2], names=["$x^2$", "$ & % _"], ax=ax)
    assert sorted(text.get_text() for text in names_on(ax)) == [r"\$ & % _", r"\$x^2\$"]


@pytest.mark.parametrize("colouring", ["labels", "values"])
def test_a_crowd_is_an_image_of_how_many_there_are(ax, colouring):
    n = CROWD
    y = np.zeros((n, 2))
    y[: n // 2] = [0.5, 0.0]
    y[n // 2 : -1] = [-0.5, 0.0]
    y[-1] = [0.0, 0.5]  # one alone
    plot_disk(y, **{colouring: np.repeat([0, 1], n // 2)}, ax=ax)
    (image,) = ax.images
    pixels = image.get_array()
    alpha = np.sort(pixels[..., 3].ravel())[::-1]
    assert (alpha[:3] > 0).all() and alpha[3] == 0  # three places
    colours = {matplotlib.colors.to_hex(pixel[:3]).upper() for pixel in pixels[pixels[..., 3] > 0.9]}
    ends = {RAMPS["value"]["light"][0], RAMPS["value"]["light"][-1]}
    assert colours == (set(COLOURS[:2]) if colouring == "labels" else ends)
    assert alpha[0] == pytest.approx(1, abs=1e-3) and alpha[2] < 0.5
    assert not [c for c in ax.collections if hasattr(c, "get_offsets") and len(c.get_offsets()) > 10]


# ---------------------------------------------------------------- lines


def test_geodesics_and_horocycles(ax):
    plot_geodesics(Y[:5], Y[5:10], ax=ax)
    plot_geodesics(Y[:5], Y[5:10], extended=True, ax=ax)
    plot_horocycles([IDEAL, -IDEAL], through=Y[:3], ax=ax)
    assert len(ax.patches) == 1 + 6  # the rim once, a horocycle for each ideal point and each point
    for circle in ax.patches[1:]:
        centre = np.array(circle.center)
        assert np.linalg.norm(centre) + circle.radius == pytest.approx(1)  # it touches the rim
    for circle, y in zip(ax.patches[1:4], Y[:3], strict=True):
        assert np.linalg.norm(y - circle.center) == pytest.approx(circle.radius)


@pytest.mark.parametrize("view", ["disk", "klein", "equidistant", "halfplane"])
def test_geodesics_join_the_points_of_the_picture_in_its_view(ax, view):
    plot_plane(Y, view=view, centre=3, size=range(len(Y)), ax=ax)
    marks = ax.collections[-1]
    places = np.asarray(marks.get_offsets())[np.argsort(marks.get_sizes())]
    plot_geodesics(Y[:5], Y[5:10], ax=ax)
    for k, line in enumerate(ax.collections[-1].get_segments()):
        np.testing.assert_allclose(line[[0, -1]], places[[k, k + 5]], atol=1e-9)


def test_lines_are_seen_from_the_centre_of_the_disk(ax):
    plot_disk(Y, centre=3, ax=ax)
    plot_horocycles(IDEAL, through=Y[3:4], ax=ax)
    plot_horocycles(IDEAL, levels=busemann(to_hyperboloid(Y[3:4]), IDEAL), ax=ax)
    for circle in ax.patches[-2:]:  # through the centre, to the rim
        assert circle.radius == pytest.approx(0.5) and np.linalg.norm(circle.center) == pytest.approx(0.5)
    plot_projection(Y[3:4], IDEAL, base=Y[3], ax=ax)
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), [[0, 0]], atol=1e-9)
    plot_geodesics(Y[3:4], Y[4:5], extended=True, ax=ax)
    first, last = ax.collections[-1].get_segments()[0][[0, -1]]
    np.testing.assert_allclose(first, -last, atol=1e-6)  # a diameter


@pytest.mark.parametrize("view, title", [("klein", "Klein's disk"), ("equidistant", "the equidistant disk")])
def test_what_is_drawn_in_the_disk_alone_is_refused_elsewhere(ax, view, title):
    plot_plane(Y, view=view, ax=ax)
    sentence = f"draws in the Poincaré disk, but ax shows {title}. Pass the axes of plot_disk."
    for draw in (
        lambda: plot_cones(Y, ax=ax),
        lambda: plot_horocycles(IDEAL, ax=ax),
        lambda: plot_projection(Y, IDEAL, ax=ax),
        lambda: plot_geodesics(Y[:2], Y[2:4], extended=True, ax=ax),
    ):
        with pytest.raises(ValueError, match=sentence):
            draw()
    ax.clear()
    assert len(plot_cones(Y, ax=ax).patches) == 1  # a new disk


def test_the_projection_keeps_the_busemann_function_on_the_geodesic(ax):
    base = np.array([0.3, -0.2])
    plot_projection(Y, IDEAL, base=base, ax=ax)
    images = np.asarray(ax.collections[-1].get_offsets())
    q, b = IDEAL, to_hyperboloid(base)
    assert np.allclose(busemann(to_hyperboloid(images), q), busemann(to_hyperboloid(Y), q))
    # on the geodesic from the base to q: in the frame of the base, on a diameter
    seen = from_hyperboloid(translate_to_origin(to_hyperboloid(images), b), "poincare")
    assert np.linalg.matrix_rank(seen, tol=1e-6) == 1
    assert np.allclose(from_hyperboloid(translate(to_hyperboloid(seen), b), "poincare"), images)


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda ax: plot_geodesics(Y[:2], Y[:3], ax=ax), "as many rows as each other, but have 2 and 3"),
        (lambda ax: plot_geodesics(Y[:2], Y[:2], extended=True, ax=ax), "row 0 of a and b is the same point"),
        (lambda ax: plot_horocycles([0.5, 0.0], ax=ax), "q must be unit vectors"),
        (lambda ax: plot_projection(Y, [IDEAL, IDEAL], ax=ax), "q must be one ideal point"),
        (lambda ax: plot_disk(np.zeros((4, 3)), ax=ax), r"shape \(4, 3\). HoroPCA\(n_components=2\), or"),
        (lambda ax: plot_disk(Y, grid="square", ax=ax), "grid must be one of 'polar', 'geodesic'"),
        (lambda ax: plot_disk(Y, values=[1.0], ax=ax), "values must have one entry per point"),
        (lambda ax: plot_klein(Y, names=["a"], ax=ax), "names must have one entry per point"),
        (lambda ax: plot_ball(np.zeros((4, 3)), ax=ax), "3-D axes"),
        (lambda ax: plot_ball(Y), r"points of the ball, of shape \(n, 3\)"),
        (lambda ax: plot_explained_variance([0.5], threshold=2, ax=ax), "threshold must be a fraction"),
        (lambda ax: plot_explained_variance([], ax=ax), "ratio must be a sequence"),
        (lambda ax: plot_distortion(Y, Y[:3], ax=ax), "as many rows as each other"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(ax, draw, sentence):
    with pytest.raises(ValueError, match=sentence):
        draw(ax)


# ---------------------------------------------------------------- charts and the ball


def test_explained_variance_says_how_many_components_are_enough(ax):
    X = make_hierarchy(3, 3, 5, random_state=0).points
    pca = HoroPCA(3, random_state=0).fit(X)
    plot_explained_variance(pca, threshold=0.1, ax=ax)
    assert np.array_equal(ax.lines[0].get_ydata(), np.cumsum(pca.explained_variance_ratio_))
    assert "keep" in ax.get_title()
    assert plot_explained_variance([0.97], ax=ax).get_title() == "1 component keeps 95 % of the variance"
    assert plot_explained_variance([0.2, 0.3], ax=ax).get_title() == "2 components keep 50%, less than 95 % of the variance"


def test_distortion_of_few_and_of_many_pairs(ax):
    X = rng.uniform(-0.4, 0.4, (60, 4))
    Z = X[:, :2]
    plot_distortion(X, Z, ax=ax)
    assert ax.get_title() == f"average distortion {average_distortion(X, Z):.3f}"
    d = distance(to_hyperboloid(X)[:, None], to_hyperboloid(X)[None])
    drawn = np.asarray(ax.collections[0].get_offsets())
    assert np.allclose(np.sort(drawn[:, 0]), np.sort(d[np.triu_indices(60, 1)]))
    other, third = new_figure(interactive=False).subplots(1, 2)
    plot_distortion(2 * X, 2 * Z, curvature=-0.25, ax=other, n_pairs=100, random_state=0)
    assert other.get_xlim()[1] > 1.2 * ax.get_xlim()[1]
    X = rng.uniform(-0.4, 0.4, (300, 4))
    hexagons = plot_distortion(X, X[:, :2], ax=third, n_pairs=9000, random_state=0)
    bins = hexagons.collections[0]
    assert bins.get_array().sum() == 9000  # every pair is in a bin
    few, many = (bins.get_cmap()(bins.norm(count))[:3] for count in (bins.get_array().min(), bins.get_array().max()))
    assert sum(few) > sum(many) + 0.5  # lighter where there are fewer


def test_the_ball():
    y = rng.uniform(-0.5, 0.5, (20, 3))
    ax = new_figure(interactive=False).add_subplot(projection="3d")
    plot_ball(y, ["a", "b"] * 10, edges=[[0, 1], [2, 3]], title="ball", ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_title() == "ball" and [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_pictures_can_be_saved(ax, tmp_path, suffix):
    plot_disk(Y, ["<a & b>"] * 40, names=["<b>"] * 40, edges=EDGES, grid="polar", ax=ax)
    ax.figure.savefig(tmp_path / f"disk.{suffix}")
    assert (tmp_path / f"disk.{suffix}").stat().st_size > 5000
