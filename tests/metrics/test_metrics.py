"""Metrics against double loops, on points and on distance matrices; sampling; wrong input."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from clouds import cloud
from horopca import geometry, metrics


@pytest.fixture(scope="module")
def pair():
    X = geometry.from_hyperboloid(cloud(40, 4))
    Y = geometry.from_hyperboloid(cloud(40, 2, seed=1))
    D, E = (geometry.pairwise_distance(geometry.to_hyperboloid(P)) for P in (X, Y))
    return X, Y, D, E


def test_metrics_are_their_definitions(pair):
    X, Y, D, E = pair
    d, e = (distances[np.triu_indices(len(D), 1)] for distances in (D, E))
    for one, two, options in ((X, Y, {}), (D, E, {"metric": "precomputed"})):
        assert metrics.average_distortion(one, two, **options) == pytest.approx(np.mean(np.abs(e - d) / d), rel=1e-10)
        assert metrics.worst_case_distortion(one, two, **options) == pytest.approx(np.max(e / d) / np.min(e / d), rel=1e-10)
        assert metrics.pair_variance(one, **options) == pytest.approx(np.mean(D**2), rel=1e-12)
    moved = geometry.distance(*(geometry.to_hyperboloid(P) for P in (X, X[::-1])))
    assert metrics.unexplained_variance(X, X[::-1]) == pytest.approx(np.mean(moved**2))


def test_sampled_distortion_is_right_within_its_error():
    """Over many samples the error is that of a sum of independent parts, neither half nor twice."""
    x, y = cloud(500, 3), cloud(500, 2, seed=1)
    X, Y = geometry.from_hyperboloid(x), geometry.from_hyperboloid(y)
    distortion = lambda **options: metrics.average_distortion(X, Y, return_error=True, **options)
    exact, error = distortion()
    assert error == 0 and distortion(n_pairs=10**6) == (exact, 0.0)
    D, E = geometry.pairwise_distance(x), geometry.pairwise_distance(y)  # of matrices all pairs are counted
    found = metrics.average_distortion(D, E, metric="precomputed", n_pairs=10, return_error=True)
    assert found == (pytest.approx(exact), 0.0)
    found = [distortion(n_pairs=5000, random_state=seed) for seed in range(60)]
    deviations = [(value - exact) / error for value, error in found]
    # of 60 samples with errors from 10 blocks each the spread itself is uncertain by a fifth
    assert 0.6 < np.std(deviations) < 1.6 and max(error for _, error in found) < 0.1 * exact
    assert distortion(n_pairs=5000, random_state=0) == found[0]
    rng = np.random.default_rng(0)
    assert distortion(n_pairs=100, random_state=rng) != distortion(n_pairs=100, random_state=rng)


def test_curvature_is_a_unit_of_length(pair):
    X, Y, _, _ = pair
    for metric, factor in {
        lambda c, **options: metrics.pair_variance(c * X, **options): 4,
        lambda c, **options: metrics.frechet_variance(c * X, **options): 4,
        lambda c, **options: metrics.unexplained_variance(c * X, c * X[::-1], **options): 4,
        lambda c, **options: metrics.average_distortion(c * X, c * Y, **options): 1,
    }.items():
        assert metric(2, curvature=-0.25) == pytest.approx(factor * metric(1))


def test_array_libraries_can_be_mixed(pair, xp):
    X, Y, _, _ = pair
    P, Q = xp.asarray(X), xp.asarray(Y)
    assert metrics.pair_variance(P) == pytest.approx(metrics.pair_variance(X), rel=1e-12)
    assert metrics.frechet_variance(P) == pytest.approx(metrics.frechet_variance(X), rel=1e-10)
    assert metrics.average_distortion(P, Q) == pytest.approx(metrics.average_distortion(X, Y), rel=1e-12)
    assert metrics.unexplained_variance(P, X) == pytest.approx(0, abs=1e-20)
    assert metrics.neighbours_kept(P, Q) == metrics.neighbours_kept(X, Y)


def test_points_that_merge_and_points_that_coincide(pair):
    X = pair[0]
    doubled = np.concatenate([X, X])
    assert metrics.worst_case_distortion(X, X[[1, *range(1, 40)]]) == np.inf
    assert metrics.average_distortion(doubled, doubled) == 0  # pairs that coincide are left out
    assert metrics.worst_case_distortion(X[[0, 0]], X[[0, 0]]) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X, Y, D: metrics.average_distortion(D[:, :-1], D, metric="precomputed"), "square matrix of distances"),
        (lambda X, Y, D: metrics.average_distortion(X, Y[:-1]), "the same number of rows, but have 40 and 39"),
        (lambda X, Y, D: metrics.average_distortion(X, Y, metric="cosine"), "metric must be one of"),
        (lambda X, Y, D: metrics.average_distortion(X, Y, n_pairs=0), "n_pairs must be a whole number"),
        (lambda X, Y, D: metrics.average_distortion(X, 3 * Y), "Y must lie inside the unit ball"),
        (lambda X, Y, D: metrics.unexplained_variance(X, Y), "the same shape"),
        (lambda X, Y, D: metrics.continuity(X, Y, n_neighbors=20), r"from 1 to 19 \(fewer than half of the 40 points\)"),
        (lambda X, Y, D: metrics.trustworthiness(X[:2], Y[:2], n_neighbors=1), "fewer than half of the 2 points"),
        (lambda X, Y, D: metrics.neighbours_kept(X, Y, n_points=1), "n_points must be a whole number of at least 2"),
        (lambda *_: metrics.delta_hyperbolicity(csr_array((4, 4))), "must be connected"),
        (lambda *_: metrics.delta_hyperbolicity(csr_array(np.ones((3, 4)))), r"square sparse matrix .* \(3, 4\)"),
        (lambda X, Y, D: metrics.delta_hyperbolicity(D[:3], metric="precomputed"), "square matrix"),
        (lambda X, Y, D: metrics.delta_hyperbolicity(X, n_points=3), "n_points must be a whole number of at least 4"),
        (lambda X, Y, D: metrics.fit_curvature(0 * X), "two different points"),
        (lambda X, Y, D: metrics.fit_curvature(X[:3], 3), "n_components must be .* from 1 to 2"),
        (lambda X, Y, D: metrics.flatness(X[:1]), "at least 2 rows"),
    ],
)
def test_invalid_arguments_raise(pair, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(*pair[:3])


@pytest.mark.parametrize("scale", [1e-8, 1e-160, 1e-200, 1e-300])
def test_distortions_of_points_close_together(scale):
    D = scale * np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
    assert metrics.average_distortion(D, D / 2, metric="precomputed") == pytest.approx(0.5)
    assert metrics.worst_case_distortion(D, D / 2, metric="precomputed") == pytest.approx(1)


def test_distortions_beyond_float64_raise():
    near, far = np.array([[0.0, 1e-320], [1e-320, 0.0]]), np.array([[0.0, 1e150], [1e150, 0.0]])
    assert metrics.average_distortion(far, near, metric="precomputed") == 1
    with pytest.raises(ValueError, match="ratios of distances overflow float64"):
        metrics.average_distortion(near, far, metric="precomputed")


@pytest.mark.parametrize("n", [2, 4, 5, 100])
def test_few_pairs_have_a_finite_distortion_and_error(n):
    X, Y = geometry.from_hyperboloid(cloud(n, 3)), geometry.from_hyperboloid(cloud(n, 2))
    assert np.isfinite(metrics.average_distortion(X, Y, n_pairs=1, return_error=True, random_state=0)).all()
    assert metrics.average_distortion(0 * X, Y, n_pairs=1, return_error=True, random_state=0) == (0, 0)
