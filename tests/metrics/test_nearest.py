"""The nearest neighbours, by all distances and by a search among candidates."""

import numpy as np
import pytest

from horopca.geometry import lift, pairwise_distance, to_hyperboloid
from horopca.metrics import false_neighbours, nearest
from horopca.metrics.nearest import false_neighbour_shares, nearest_neighbours

rng = np.random.default_rng(0)


@pytest.mark.parametrize("few", [10_000, 0], ids=["all distances", "candidates"])
def test_neighbours_are_the_nearest(monkeypatch, few):
    monkeypatch.setattr(nearest, "FEW", few)
    u = rng.standard_normal((300, 5))
    x = lift(u / np.linalg.norm(u, axis=1)[:, None] * np.sinh(rng.uniform(0, 12, 300))[:, None])
    x[17] = x[40]
    indices, distances = nearest_neighbours(x, 6)
    d = pairwise_distance(x)
    np.fill_diagonal(d, np.inf)
    # the same sum in another order: a few units in the last place
    assert np.allclose(distances, np.sort(d, axis=1)[:, :6], rtol=1e-12, atol=1e-15)
    assert np.allclose(np.take_along_axis(d, indices, axis=1), distances, rtol=1e-12, atol=1e-15)
    assert not (indices == np.arange(300)[:, None]).any() and indices[17, 0] == 40


def test_points_too_deep_for_a_euclidean_search_are_still_told_apart(monkeypatch):
    monkeypatch.setattr(nearest, "FEW", 0)
    angle = np.arange(40) * np.exp(-20.0)
    x = lift(np.sinh(20.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert (np.abs(nearest_neighbours(x, 1)[0][:, 0] - np.arange(40)) == 1).all()


def test_false_neighbours_are_those_of_the_metrics():
    X, Y = rng.normal(0, 1, (120, 5)), rng.normal(0, 1, (120, 2))
    x, y = to_hyperboloid(X, "tangent"), to_hyperboloid(Y, "tangent")
    found = false_neighbour_shares(x, nearest_neighbours(y, 9)[0], nearest_neighbours(x, 9)[1][:, -1])
    assert np.allclose(found, 1 - false_neighbours(X, Y, n_neighbors=9, model="tangent")["kept"])
