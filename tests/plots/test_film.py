"""Films: all frames in one view and layout, in a file that is complete or absent."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from horopca.plots import COLOURS, animate

rng = np.random.default_rng(0)
Y = rng.uniform(-0.6, 0.6, (20, 2))


def pictures(path):
    """The pictures of a film as arrays (height, width, 3)."""
    with Image.open(path) as film:
        for k in range(film.n_frames):
            film.seek(k)
            yield np.asarray(film.convert("RGB")).astype(int)


def test_a_film_has_a_picture_for_every_frame_and_between(tmp_path):
    calls = []
    path = animate(
        [Y, 0.5 * Y, -Y],
        tmp_path / "new" / "film.gif",
        np.arange(20) % 3,
        titles=["a", "b", "c"],
        between=1,
        companions=[{"root": y} for y in Y[:3]],
        progress=lambda *done: calls.append(done),
        dpi=40,
        fps=5,
    )
    assert calls == [(k, 5) for k in range(1, 6)] and list(path.parent.iterdir()) == [path]
    with Image.open(path) as film:
        assert film.n_frames == 5 and film.size == (280, 240) and film.info["duration"] == 200
    seen = list(pictures(path))
    assert all((first != second).any() for first, second in pairwise(seen))


@pytest.mark.parametrize("view", ["auto", "equidistant"])
def test_nothing_but_the_points_moves(tmp_path, view):
    """The frame and the legend are the same where a note appears and names no longer fit."""
    heap = np.r_[np.full((19, 2), 0.3), [[0.9, 0.0]]] + 1e-3 * Y
    deep = 0.9999 * Y / np.linalg.norm(Y, axis=1, keepdims=True)
    options = {"names": [f"{k}" for k in range(20)], "edges": [[0, 1]], "dpi": 60, "view": view}
    path = animate([heap, deep, Y], tmp_path / "film.gif", np.arange(20) % 2, **options)
    first, second, third = pictures(path)
    for picture in (second, third):
        assert np.abs(first - picture)[:, 355:].max() < 40  # the legend, but for the colours of a GIF


def test_points_between_two_frames_are_on_geodesics(tmp_path):
    """Halfway between two points of a diameter, a film shows their middle, as a film of the middle does."""
    ends, middle = [[[0.0, 0.0]], [[0.8, 0.0]]], [[[0.5, 0.0]]]  # tanh(artanh(0.8) / 2) = 0.5
    moving = list(pictures(animate(ends, tmp_path / "a.gif", between=1, view="disk", dpi=40)))[1]
    still = next(iter(pictures(animate(middle, tmp_path / "b.gif", view="disk", dpi=40))))
    assert np.abs(moving - still).max() < 10


def test_colours_of_a_film_are_those_of_its_pictures(tmp_path):
    for picture in pictures(animate([Y, -Y], tmp_path / "film.gif", np.arange(20) % 8, dpi=60)):
        shades = {"#{:02X}{:02X}{:02X}".format(*shade) for shade in np.unique(picture.reshape(-1, 3), axis=0)}
        assert shades >= {"#FFFFFF", *COLOURS[:8]}


@pytest.mark.parametrize("nobody", [None, [], {}, np.empty((0, 2))])
def test_films_without_companions_and_from_generators(tmp_path, nobody):
    assert len(list(pictures(animate((k * Y for k in (0.5, 1.0)), tmp_path / "film.gif", dpi=10, companions=nobody)))) == 2


def test_a_film_replaces_a_file_only_with_force(tmp_path):
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")
    with pytest.raises(FileExistsError, match=r"film.gif exists already. Pass force=True to replace it."):
        animate([Y, -Y], path, dpi=10)
    assert path.read_bytes() == b"before"
    animate([Y, -Y], path, dpi=10, force=True)
    assert path.read_bytes()[:3] == b"GIF" and list(tmp_path.iterdir()) == [path]


def test_an_interrupted_film_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "film.gif"
    with pytest.raises(FileExistsError):  # written while the film was drawn
        animate([Y, -Y], path, dpi=10, progress=lambda done, total: path.write_bytes(b"before"))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate([Y, -Y], path, dpi=20, progress=stop, force=True)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("frames", "path", "options", "message"),
    [
        ([], "film.gif", {}, "frames must contain at least one array of points, but is empty."),
        ([Y, Y[:3]], "film.gif", {}, r"frames must contain the same points, row by row, but its arrays have \[20, 3\] rows."),
        (Y, "film.gif", {}, r"but is one array. Pass \[frames\]."),
        ([Y], "film.gif", {"companions": [("root", (0, 0))]}, "companions must be a mapping of names to points"),
        ([Y], "film.avi", {}, "path must end in .gif or .mp4, but is"),
        ([Y], "film.mp4", {}, "film.mp4 needs the program ffmpeg, which is not installed here. Write a .gif"),
        ([Y], "film.gif", {"titles": ["a", "b"]}, "titles must have one entry per frame, but has 2 for 1 frames."),
        ([Y], "film.gif", {"companions": [{}, {}]}, "companions must have one entry per frame, but has 2 for 1 frames."),
        ([Y], "film.gif", {"fps": 0}, "fps must be a whole number of at least 1, but is 0"),
        ([Y], "film.gif", {"dpi": 0}, "dpi must be a positive number, but is 0"),
        ([Y], "film.gif", {"regions": np.zeros((20, 3, 2))}, "regions belong to one picture"),
    ],
)
def test_errors(tmp_path, monkeypatch, frames, path, options, message):
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(ValueError, match=message):
        animate(frames, tmp_path / path, **options)
    assert not list(tmp_path.iterdir())
