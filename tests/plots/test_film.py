"""Films: all pictures in one view and layout, with points on geodesics between frames."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from horopca.plots import animate

rng = np.random.default_rng(0)
Y = rng.uniform(-0.6, 0.6, (20, 2))


def pictures(path, *arguments, dpi=40, **options):
    """The pictures of a film as arrays (height, width, 3)."""
    animate(*arguments, **options).save(path / "film.gif", writer="pillow", dpi=dpi)
    with Image.open(path / "film.gif") as film:
        for k in range(film.n_frames):
            film.seek(k)
            yield np.asarray(film.convert("RGB")).astype(int)


def test_a_film_has_a_picture_for_every_frame_and_between(tmp_path):
    options = {"titles": ["a", "b", "c"], "between": 1, "companions": {"root": Y[0]}}
    seen = list(pictures(tmp_path, [Y, 0.5 * Y, -Y], np.arange(20) % 3, **options))
    assert len(seen) == 5 and seen[0].shape == (240, 280, 3)
    assert all((first != second).any() for first, second in pairwise(seen))


@pytest.mark.parametrize("view", ["auto", "equidistant"])
def test_nothing_but_the_points_moves(tmp_path, view):
    """The frame and the legend are the same where a note appears and names no longer fit."""
    heap = np.r_[np.full((19, 2), 0.3), [[0.9, 0.0]]] + 1e-3 * Y
    deep = 0.9999 * Y / np.linalg.norm(Y, axis=1, keepdims=True)
    options = {"names": [f"{k}" for k in range(20)], "edges": [[0, 1]], "view": view}
    first, second, third = pictures(tmp_path, [heap, deep, Y], np.arange(20) % 2, dpi=60, **options)
    for picture in (second, third):
        assert np.abs(first - picture)[:, 355:].max() < 40  # the legend, but for the colours of a GIF


def test_points_between_two_frames_are_on_geodesics(tmp_path):
    """Halfway between two points of a diameter, a film shows their middle, as a film of the middle does."""
    ends, middle = [[[0.0, 0.0]], [[0.8, 0.0]]], [[[0.5, 0.0]]]  # tanh(artanh(0.8) / 2) = 0.5
    moving = list(pictures(tmp_path, ends, between=1, view="disk"))[1]
    assert np.abs(moving - next(pictures(tmp_path, middle, view="disk"))).max() < 10
