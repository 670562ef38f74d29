"""Neighbours before and after: scikit-learn's definitions, ties, samples, wrong input."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness as reference

from clouds import cloud
from horopca import geometry, metrics


@pytest.fixture(scope="module")
def pair():
    """Points of H^3, and of a line on which hyperbolic and Euclidean distances are the same, and the matrices of distances."""
    v = geometry.from_hyperboloid(cloud(80, 3), "tangent")
    X, Y = v, v[:, :1] + 0.1 * np.random.default_rng(0).standard_normal((80, 1))
    return X, Y, *(geometry.pairwise_distance(geometry.to_hyperboloid(P, "tangent")) for P in (X, Y))


@pytest.mark.parametrize("k", [1, 5, 10, 39])
def test_trustworthiness_and_continuity_are_those_of_scikit_learn(pair, k):
    X, Y, D, E = pair
    expected = reference(D, Y, n_neighbors=k, metric="precomputed")
    assert metrics.trustworthiness(X, Y, n_neighbors=k, model="tangent") == pytest.approx(expected, rel=1e-12)
    assert metrics.trustworthiness(D, E, n_neighbors=k, metric="precomputed") == pytest.approx(expected, rel=1e-12)
    found = metrics.continuity(Y, X, n_neighbors=k, model="tangent")  # the trustworthiness of the way back
    assert found == pytest.approx(expected, rel=1e-12)


def test_neighbours_kept_and_false_neighbours_are_their_definitions(pair):
    X, Y, D, E = pair
    sets = [[set(np.argsort(row)[1:8]) for row in M] for M in (D, E)]
    kept = np.array([len(a & b) / 7 for a, b in zip(*sets, strict=True)])
    found = metrics.false_neighbours(X, Y, n_neighbors=7, model="tangent")
    assert np.allclose(found["kept"], kept)
    assert np.array_equal(found["false"], [len(b - a) for a, b in zip(*sets, strict=True)])
    assert metrics.neighbours_kept(X, Y, n_neighbors=7, model="tangent") == pytest.approx(kept.mean())
    for name, which in (("trustworthiness", "trust"), ("continuity", "continuity")):
        assert getattr(metrics, name)(X, Y, n_neighbors=7, model="tangent") == pytest.approx(found[which].mean())


@pytest.mark.parametrize("metric", [metrics.neighbours_kept, metrics.trustworthiness, metrics.continuity])
def test_an_isometry_keeps_all_a_shuffle_next_to_none_and_a_sample_is_close(metric):
    x = cloud(400, 4)
    X, moved = geometry.from_hyperboloid(x), geometry.from_hyperboloid(geometry.translate(x, cloud(1, 4, seed=2)[0]))
    assert metric(X, moved) == 1 and metric(X, moved[np.random.default_rng(0).permutation(400)]) < 0.7
    exact, value = metric(X, X[:, :2]), metric(X, X[:, :2], n_points=150, random_state=0)
    assert value != exact and value == pytest.approx(exact, abs=0.05)  # the deviation of a point is below 0.3: four errors
    assert metric(X, X[:, :2], n_points=10**6) == exact
    copies = np.repeat(X[:10], 4, axis=0)  # points that coincide are neighbours of one rank
    assert metric(copies, copies, n_neighbors=2) == 1


def test_flat_pictures(pair):
    """Points of Euclidean space, beside a matrix of their distances."""
    X, _, D, _ = pair
    Y = 1e5 * np.random.default_rng(1).standard_normal((80, 2))
    E = np.linalg.norm(Y[:, None] - Y[None], axis=-1)
    for name in ("neighbours_kept", "trustworthiness", "continuity", "average_distortion"):
        metric = getattr(metrics, name)
        expected = metric(D, E, metric="precomputed")
        assert metric(X, Y, model="tangent", flat=True) == pytest.approx(expected, rel=1e-7)  # that of FLAT_RADIUS squared
    found = metrics.false_neighbours(X, Y, model="tangent", flat=True)
    assert np.allclose(found["distortion"], metrics.false_neighbours(D, E, metric="precomputed")["distortion"], rtol=1e-7)
