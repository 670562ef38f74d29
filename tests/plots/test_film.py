"""Companions, entailment cones, and films."""

import matplotlib
import numpy as np
import pytest
from PIL import Image

from horopca.geometry import distance, from_hyperboloid, geodesic, radius, to_hyperboloid, translate_to_origin
from horopca.plots import COLOURS, animate, new_figure, plot_cones, plot_disk, plot_plane
from horopca.plots.curves import cone_angles

matplotlib.use("Agg")
rng = np.random.default_rng(0)
Y = rng.uniform(-0.6, 0.6, (20, 2))


def companions_of(ax):
    (drawn,) = (part for part in ax.collections if part.get_gid() == "companions")
    return drawn.get_offsets().data


# ---------------------------------------------------------------- companions


def test_companions_are_on_top_with_their_names(ax):
    plot_disk(Y, companions={"root": [0.0, 0.0], "leaf": [0.5, 0.5]}, ax=ax)
    ax.figure.draw_without_rendering()
    np.testing.assert_allclose(companions_of(ax), [[0, 0], [0.5, 0.5]])
    assert max(ax.collections, key=lambda part: part.zorder).get_gid() == "companions"
    (names,) = (part for part in ax.get_children() if part.get_gid() == "names")
    assert {text.get_text() for text in names.get_texts()} == {"root", "leaf"}


def test_names_of_companions_are_written_over_a_crowd(ax):
    crowd = np.stack(np.meshgrid(*[np.linspace(-0.6, 0.6, 40)] * 2), axis=-1).reshape(-1, 2)
    plot_disk(crowd, names=["point"] * len(crowd), companions={"root": [0.0, 0.0]}, ax=ax)
    ax.figure.draw_without_rendering()
    (names,) = (part for part in ax.get_children() if part.get_gid() == "names")
    assert "root" in {text.get_text() for text in names.get_texts()}


def test_companions_move_with_the_centre_and_have_room(ax):
    plot_disk(Y, companions=Y[[3, 5]], centre=3, ax=ax)
    np.testing.assert_allclose(companions_of(ax)[0], 0, atol=1e-12)
    far = plot_plane(Y, view="equidistant", companions=[[0.999, 0.0]], ax=ax.figure.subplots())
    assert far.get_xlim()[1] > radius(to_hyperboloid(np.array([0.999, 0.0])))


def test_no_companions_are_none(ax):
    plot_disk(Y, companions={}, ax=ax)
    assert len(ax.collections) == 1


# ---------------------------------------------------------------- cones


def test_both_ways_to_write_the_aperture_are_one():
    x = to_hyperboloid(Y)
    K, size = 0.05, np.linalg.norm(Y, axis=1)
    ganea = np.arcsin(np.minimum(K * (1 - size**2) / size, 1))
    meru = np.arcsin(np.minimum(2 * K / np.linalg.norm(x[:, 1:], axis=1), 1))
    np.testing.assert_allclose(cone_angles(radius(x), K), ganea, rtol=1e-12)
    np.testing.assert_allclose(cone_angles(radius(x), K), meru, rtol=1e-12)


@pytest.mark.parametrize("root", [None, [0.2, -0.3]])
@pytest.mark.parametrize("given", [{"K": 0.2}, {"angles": 0.4}])
def test_borders_of_cones_are_geodesics_that_leave_at_the_angle(ax, root, given):
    plot_cones(Y, root=root, ax=ax, **given)
    middle = to_hyperboloid(np.zeros(2) if root is None else np.array(root))
    for y, path in zip(Y, ax.collections[-1].get_paths(), strict=True):
        x, first = to_hyperboloid(y), path.vertices[:60]  # the rest of the border ends on the rim
        np.testing.assert_allclose(first[0], y, atol=1e-9)
        border = to_hyperboloid(first)
        length = distance(x, border[-1])
        np.testing.assert_allclose(distance(x, border) + distance(border, border[-1]), length, atol=1e-8)
        # the angle at x between what comes from the root and the border
        back, along = (translate_to_origin(p, x)[1:] for p in (middle, border[20]))
        cosine = -back @ along / np.linalg.norm(back) / np.linalg.norm(along)
        r = distance(x, middle)
        psi = given.get("angles", np.arcsin(min(1, 0.4 / np.sinh(r))))
        assert np.arccos(cosine) == pytest.approx(psi, abs=1e-6)


def test_entailment_is_transitive():
    """The cone of a point on the border of another lies in it and shares that border: sinh(r) sin(psi) is one for both."""
    border = _border([0.5, 0.1])
    inner = from_hyperboloid(geodesic(*to_hyperboloid(border[[0, 40]]), 0.7), "poincare")
    shared = _border(inner)
    np.testing.assert_allclose(shared[64], border[64], atol=1e-9)  # where the two geodesics end on the rim
    assert np.linalg.norm(shared[-66] - border[64]) < np.linalg.norm(border[-66] - border[64])


def _border(point, K=0.1):
    ax = plot_cones([point], K=K, ax=new_figure(interactive=False).subplots())
    return ax.collections[-1].get_paths()[0].vertices


def test_the_root_has_no_cone(ax):
    plot_cones([[0.0, 0.0], [0.5, 0.0]], ax=ax)
    assert len(ax.collections[-1].get_paths()) == 1


def test_a_root_anywhere_has_no_cone(ax):
    """Moved to the middle, a root is off it by rounding."""
    for k in range(4):
        Y = np.random.default_rng(k).uniform(-0.6, 0.6, (5, 2))
        assert len(plot_cones(Y, root=Y[k], ax=ax).collections[-1].get_paths()) == 4


@pytest.mark.parametrize("centre", [1, [0.9995, 0.0]])
def test_cones_are_seen_from_the_centre_of_the_picture(ax, centre):
    """The border of a cone of a picture with a centre is that without one, moved; its rim is evenly drawn."""
    plot_cones(Y, K=0.2, ax=plot_disk(Y, centre=centre, ax=ax))
    there = to_hyperboloid(Y[1] if centre == 1 else np.array(centre))
    for y, path in zip(Y, ax.collections[-1].get_paths(), strict=True):
        border, plain = path.vertices[:-1], _border(y, K=0.2)[:-1]
        seen = from_hyperboloid(translate_to_origin(to_hyperboloid(np.stack([y, plain[30]])), there), "poincare")
        np.testing.assert_allclose(border[[0, -1]], seen[[0, 0]], atol=1e-9)
        side = to_hyperboloid(np.stack([border[0], seen[1], border[64] * (1 - 1e-6)]))
        parts = distance(side[0], side[1]) + distance(side[1], side[2])
        assert parts == pytest.approx(distance(side[0], side[2]), abs=1e-3)
        assert np.linalg.norm(np.diff(border[65:130], axis=0), axis=1).max() < 2 * np.pi / 60


def test_angles_of_cones_may_be_a_function_of_the_distance(ax):
    root = [0.2, -0.3]
    plot_cones(Y, angles=lambda r: cone_angles(r, 0.3), root=root, ax=ax)
    plot_cones(Y, K=0.3, root=root, ax=ax)
    for one, other in zip(*(part.get_paths() for part in ax.collections[-2:]), strict=True):
        np.testing.assert_array_equal(one.vertices, other.vertices)


def test_a_cone_as_narrow_as_a_line_or_as_wide_as_all_has_its_own_rim(ax):
    plot_cones([[0.5, 0.1]] * 2, angles=[0.0, np.pi], ax=ax)
    narrow, wide = (path.vertices[65:130] for path in ax.collections[-1].get_paths())
    assert np.ptp(narrow, axis=0).max() < 1e-9 and np.ptp(wide, axis=0).min() > 1.9


def test_tensors_that_ask_for_gradients_are_drawn(ax):
    torch = pytest.importorskip("torch")
    Y = torch.nn.Parameter(torch.tensor([[0.1, 0.2], [0.3, -0.2]]))
    plot_disk(Y, ax=ax, companions={"root": Y[0]})


@pytest.mark.parametrize("nobody", [None, [], {}, np.empty((0, 2))])
def test_a_film_without_companions(tmp_path, nobody):
    assert animate([Y, -Y], tmp_path / "film.gif", dpi=10, companions=nobody).stat().st_size > 0


def test_an_error_of_the_first_picture_of_a_film_is_told(tmp_path):
    with pytest.raises(ValueError, match="dpi"):
        animate([[[0.0, 0], [0.1, 0]]] * 2, tmp_path / "film.gif", dpi=0)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- films


def test_a_film_has_all_pictures_in_one_view(tmp_path, monkeypatch):
    drawn, told = [], []
    monkeypatch.setattr("horopca.plots.film.draw_plane", lambda *given: drawn.append(given))
    frames = [Y, 0.5 * Y, 0.999 * Y / np.linalg.norm(Y, axis=1, keepdims=True)]
    beside = [{"root": y} for y in Y[:3]]
    tell = {"progress": lambda *done: told.append(done), "dpi": 20, "fps": 10}
    animate(frames, tmp_path / "film.gif", titles=["a", "b", "c"], between=1, companions=beside, view="equidistant", **tell)
    assert told == [(k, 5) for k in range(1, 6)]
    assert [given[4] for given in drawn] == ["a", "a", "b", "b", "c"]
    for given, Z in zip(drawn[::2], frames, strict=True):
        np.testing.assert_allclose(from_hyperboloid(given[1].x, "poincare"), Z, atol=1e-12)
    for k in (0, 1):  # halfway
        start, middle, end = (to_hyperboloid(frames[k]), drawn[2 * k + 1][1].x, to_hyperboloid(frames[k + 1]))
        np.testing.assert_allclose(distance(start, middle), distance(middle, end), atol=1e-6)
    assert all(len(given[1].room) == 63 for given in drawn)
    np.testing.assert_allclose(from_hyperboloid(drawn[-1][1].companions, "poincare"), Y[2:3], atol=1e-12)


def test_a_film_is_a_file_that_moves(tmp_path):
    path = animate([Y, -Y], tmp_path / "new" / "film.gif", np.arange(20) % 3, dpi=40, fps=5)
    with Image.open(path) as film:
        assert film.n_frames == 2 and film.size == (280, 240) and film.info["duration"] == 200
        first = np.asarray(film.convert("RGB"))
        film.seek(1)
        assert (first != np.asarray(film.convert("RGB"))).any()
    assert list(path.parent.iterdir()) == [path]


def test_frames_of_a_film_may_be_made_one_after_another(tmp_path):
    with Image.open(animate((k * Y for k in (0.5, 1.0)), tmp_path / "film.gif", dpi=10)) as film:
        assert film.n_frames == 2


def test_colours_of_a_film_are_those_of_its_pictures(tmp_path):
    with Image.open(animate([Y, -Y], tmp_path / "film.gif", np.arange(20) % 8, dpi=60)) as film:
        for k in range(2):
            film.seek(k)
            shades = {"#{:02X}{:02X}{:02X}".format(*shade) for _, shade in film.convert("RGB").getcolors(1 << 24)}
            assert shades >= {"#FFFFFF", *COLOURS[:8]}


def test_a_film_replaces_a_file_only_if_told_to(tmp_path):
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")
    with pytest.raises(FileExistsError, match=r"film.gif exists already. Pass force=True to replace it."):
        animate([Y, -Y], path, dpi=10)
    assert path.read_bytes() == b"before"
    animate([Y, -Y], path, dpi=10, force=True)
    assert path.read_bytes()[:3] == b"GIF" and list(tmp_path.iterdir()) == [path]


def test_a_film_leaves_what_was_written_meanwhile(tmp_path):
    path = tmp_path / "film.gif"
    with pytest.raises(FileExistsError):
        animate([Y, -Y], path, dpi=10, progress=lambda done, total: path.write_bytes(b"meanwhile"))
    assert path.read_bytes() == b"meanwhile" and list(tmp_path.iterdir()) == [path]


def test_an_interrupted_film_leaves_what_was_there(tmp_path):
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate([Y, -Y], path, dpi=20, progress=stop, force=True)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "frames, path, options, sentence",
    [
        ([], "film.gif", {}, "frames must be one array of points after another, but there are none."),
        ([Y, Y[:3]], "film.gif", {}, r"frames must hold the same points, row by row, but its pictures have \[20, 3\] rows."),
        (Y, "film.gif", {}, r"but is one array itself. Pass \[frames\]."),
        ([Y], "film.gif", {"companions": "root"}, "companions must be a mapping of names to points, .* but is 'root'"),
        ([Y], "film.gif", {"companions": [("root", (0, 0))]}, "companions must be a mapping of names to points"),
        ([Y], "film.avi", {}, "path must end in .gif or .mp4, but is"),
        ([Y], "film.mp4", {}, "film.mp4 needs the program ffmpeg, which is not installed here. Write a .gif"),
        ([Y], "film.gif", {"titles": ["a", "b"]}, "titles must have one entry per frame, but has 2 for 1 frames."),
        ([Y], "film.gif", {"companions": [{}, {}]}, "companions must have one entry per frame, but has 2 for 1 frames."),
        ([Y], "film.gif", {"companions": [[0.0, 2.0]]}, "companions must lie inside the unit ball"),
        ([Y], "film.gif", {"fps": 0}, "fps must be a whole number of at least 1, but is 0"),
    ],
)
def test_wrong_films_are_refused_in_a_sentence(tmp_path, monkeypatch, frames, path, options, sentence):
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(ValueError, match=sentence):
        animate(frames, tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"K": 0}, "K must be a positive number, but is 0"),
        ({"colour": ["red", "blue"]}, "colour must be one colour or one for each of the 20 points, but is 2 of them"),
        ({"angles": [0.1]}, "angles must have one entry per point, but has 1 for 20 points."),
        ({"root": [3.0, 0.0]}, "root must lie inside the unit ball"),
        ({"ax": "x"}, "ax must be axes of matplotlib, such as plot_disk returns them, but is 'x'"),
        ({"angles": 60.0}, "angles must be half-apertures between 0 and pi, in radians, but are 60.0"),
    ],
)
def test_wrong_cones_are_refused_in_a_sentence(ax, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        plot_cones(Y, **{"ax": ax} | options)
