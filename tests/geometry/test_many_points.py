"""Many points at a time: boosts, frames and chunks."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, rotation
from horopca.geometry import MODELS, distance, from_hyperboloid, origin, radius, to_hyperboloid, translate, translate_to_origin
from horopca.geometry._arrays import on_host, to_numpy
from horopca.geometry._points import CHUNK_ELEMENTS, Chunk, TranslatedPoints, as_points
from horopca.geometry.isometries import Frame, change_of_frame


@pytest.mark.parametrize("seen", [False, True])
def test_points_in_chunks_are_all_the_points_in_order(xp, seen):
    step, m = CHUNK_ELEMENTS // 4, cloud(1, 3, seed=1)[0]
    x = cloud(2 * step + 5, 3)
    points, expected = as_points(xp.asarray(x)), x
    if seen:
        points, expected = TranslatedPoints(xp.asarray(x), m), translate_to_origin(x, m)
    chunks = list(points.chunks())
    starts = [0, step, 2 * step] if on_host(xp.asarray(x)) else [0]  # a chunk on a device is larger
    assert as_points(points) is points and points.shape == x.shape and [chunk.start for chunk in chunks] == starts
    mapped = points.map(lambda chunk: chunk.points())
    assert isinstance(mapped, type(xp.asarray(x)))
    for found in (np.concatenate([to_numpy(chunk.points()) for chunk in chunks]), to_numpy(mapped)):
        assert np.allclose(found, expected, rtol=1e-12)
    some = points.take(np.array([5, 0, 7]))
    assert isinstance(some, np.ndarray) and np.allclose(some, expected[[5, 0, 7]], rtol=1e-12)
    time, counts = points.fold(lambda chunk: (to_numpy(chunk.t).sum(), (chunk.start, chunk.t.shape[0])))
    assert counts == (sum(starts), len(x)) and np.isclose(time, expected[:, 0].sum())


def test_frames_are_isometries_with_their_mean_at_the_origin():
    old, new = (Frame(cloud(1, 3, seed=seed)[0], rotation(3, seed=seed)) for seed in (1, 2))
    x = cloud(40, 3)
    seen = old.enter(x)
    assert np.allclose(old.enter(old.mean[None]), origin(3), atol=1e-12) and np.allclose(radius(seen), distance(x, old.mean))
    tangent = from_hyperboloid(translate_to_origin(x, old.mean), "tangent")
    assert np.allclose(from_hyperboloid(seen, "tangent"), tangent @ old.axes.T)  # the axes become the axes
    assert np.allclose(old.leave(seen), x, rtol=1e-12)
    assert np.allclose(x @ old.matrix().T, seen, rtol=1e-11)
    assert np.allclose(seen @ change_of_frame(old, new).T, new.enter(x), rtol=1e-10)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("model", [name for name, model in MODELS.items() if model.radial is not None])
def test_distances_from_a_chunk_keep_their_digits(model, apart):
    """arccosh of a product alone would leave 1e-8 between points at radius 4 that are equal, where 1e-13 is possible."""
    X = from_hyperboloid(cloud(60, 3, radius=4), model)
    x, space = to_hyperboloid(X, model), X[:, MODELS[model].space]
    t, factor = MODELS[model].radial(np.sum(space**2, axis=1))
    y = translate(x, to_hyperboloid(np.array([apart, 0.0, 0.0]), "tangent"))
    y[::2] = cloud(30, 3, radius=4, seed=3)  # and some that are not close
    assert np.allclose(Chunk(space, factor, t).distances(y), distance(x, y), rtol=1e-6, atol=1e-11)
