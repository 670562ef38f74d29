"""Multidimensional scaling: the spectrum in sixty digits, distances small and huge, distances that are none."""

import mpmath
import numpy as np
import pytest

from clouds import cloud
from hierarchies import TREE
from horopca import HyperbolicMDS
from horopca.geometry import lift, pairwise_distance, to_hyperboloid
from horopca.geometry._arrays import to_numpy

X = TREE.points


def distances_of(x):
    D = pairwise_distance(x)
    return np.triu(D, 1) + np.triu(D, 1).T


def exact_point(row):
    """Time and space of a point of the ball."""
    z = [mpmath.mpf(float(c)) for c in row]
    q = mpmath.fdot(z, z)
    return (1 + q) / (1 - q), [2 * c / (1 - q) for c in z]


def test_mds_against_the_spectrum_in_sixty_digits():
    with mpmath.workdps(60):
        lifted = mpmath.matrix([[time, *space] for row in X for time, space in [exact_point(row)]])
        root = mpmath.cholesky(lifted.T * lifted)
        J = mpmath.diag([-1, *[1] * 5])
        values, vectors = mpmath.eigsy(root.T * J * root)
        top = root * vectors[:, 4:] * mpmath.diag([1 / mpmath.sqrt(value) for value in values[4:]])
        s = np.array((lifted * J * top).tolist(), dtype=float)
    expected = pairwise_distance(lift(s))
    for mds, points in ((HyperbolicMDS(2), X), (HyperbolicMDS(2, metric="precomputed"), distances_of(to_hyperboloid(X)))):
        Y = mds.fit_transform(points)
        assert np.allclose(pairwise_distance(to_hyperboloid(Y)), expected, atol=1e-9)
        assert mds.eigenvalues_[1] == pytest.approx(float(values[4] / values[5]), rel=1e-9)


@pytest.mark.parametrize("radius", [2.0, 30.0, 170.0])
def test_mds_keeps_what_fits(radius):
    x = cloud(60, 3, radius=radius, seed=6)
    D = distances_of(x)
    points = HyperbolicMDS(3, model="lorentz").fit(x)
    given = HyperbolicMDS(3, model="lorentz", metric="precomputed").fit(D)
    assert np.allclose(pairwise_distance(points.transform(x)), D, atol=1e-9 * radius)
    assert np.allclose(pairwise_distance(given.transform(D)), D, atol=1e-8 * radius)  # though cosh(300) is 1e130
    assert given.departure_ < 1e-9
    # new points from their distances to the old ones
    new = cloud(7, 3, radius=radius / 2, seed=7)
    across = pairwise_distance(given.transform(pairwise_distance(new, x)), given.transform(D))
    assert np.allclose(across, pairwise_distance(new, x), atol=1e-6 * radius)


def test_mds_says_how_far_distances_are_from_hyperbolic():
    hyperbolic = HyperbolicMDS(2, metric="precomputed").fit(distances_of(cloud(30, 4, seed=8)))
    assert hyperbolic.departure_ == 0 and "are hyperbolic" in hyperbolic.status_
    circle = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    circle = np.minimum(circle, 12 - circle) * 1.0  # shortest ways around a ring: no space of negative curvature has them
    ring = HyperbolicMDS(2, metric="precomputed").fit(circle)
    assert 0.01 < ring.departure_ < 1
    assert "fit no hyperbolic space" in ring.status_


def test_mds_warns_if_rounding_hides_components():
    x = cloud(30, 3, seed=9)
    x[0] = lift(np.sinh(150.0) * np.eye(1, 3)[0])
    with pytest.warns(UserWarning, match="only 1 of the 3 components are accurate"):
        HyperbolicMDS(3, model="lorentz").fit(x)
    with pytest.warns(UserWarning, match="hides smaller components"):
        HyperbolicMDS(3, model="lorentz", metric="precomputed").fit(distances_of(x))


def test_distances_in_other_curvatures_and_libraries(xp):
    D = distances_of(cloud(8, 2, seed=13)).astype(np.float32)
    Y = HyperbolicMDS(2, metric="precomputed").fit_transform(xp.asarray(D))
    assert Y.dtype == xp.float32
    assert np.allclose(to_numpy(Y), HyperbolicMDS(2, metric="precomputed").fit_transform(D), atol=1e-6)
    one = HyperbolicMDS(2, metric="precomputed", model="lorentz").fit_transform(D)
    two = HyperbolicMDS(2, metric="precomputed", model="lorentz", curvature=-0.25).fit_transform(2 * D)
    assert np.allclose(two, 2 * one)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, lambda D: D[:4], r"X must be a square matrix of distances .*shape \(4, 6\)"),
        ({}, lambda D: np.where(np.eye(6) > 0, np.nan, D), "NaN"),
        ({}, lambda D: 1000 * D, "X must hold distances of at most 350"),
        ({"metric": "cosine"}, lambda D: D, "metric must be one of 'hyperbolic', 'precomputed'"),
        ({"model": "auto"}, lambda D: D, "model must be one of 'poincare', .* but is 'auto'"),
        ({"n_components": 7}, lambda D: D, "n_components must be at most the number of points, but is 7 for n_samples = 6"),
    ],
)
def test_errors_of_distances(options, change, message):
    with pytest.raises(ValueError, match=message):
        HyperbolicMDS(**{"metric": "precomputed", **options}).fit(change(distances_of(cloud(6, 2, seed=11))))


def test_distances_have_no_inverse_transform():
    D = distances_of(cloud(6, 2, seed=12))
    mds = HyperbolicMDS(2, metric="precomputed").fit(D)
    assert not hasattr(mds, "inverse_transform")
    with pytest.raises(ValueError, match="5 features, but HyperbolicMDS is expecting 6"):
        mds.transform(D[:, :5])
