"""Refined pictures: never worse than the picture, the same each time, for points and distances."""

import numpy as np
import pytest

from horopca import HoroPCA, TangentPCA, refine
from horopca.datasets import load_mammals, make_hierarchy
from horopca.geometry import distance, from_hyperboloid, to_hyperboloid
from horopca.metrics import average_distortion, neighbours_kept

X = make_hierarchy(3, 2, 5, random_state=0).points
Y = HoroPCA(2, random_state=0).fit_transform(X)
D = distance(to_hyperboloid(X)[:, None], to_hyperboloid(X)[None])


@pytest.fixture(scope="module")
def refined():
    return refine(X, Y, max_iter=500)


def test_a_refined_picture_has_less_distortion_and_is_the_same_each_time(refined):
    assert average_distortion(X, refined) < 0.8 * average_distortion(X, Y)
    assert np.array_equal(refine(X, Y, max_iter=500), refined)


@pytest.mark.parametrize(("kind", "n_components"), [("noise", 3), ("optimum", 2)])
def test_never_worse_than_the_picture(kind, n_components):
    """On points without structure, and from a picture that has no distortion at all."""
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (30, n_components + 2))
    if kind == "optimum":
        points[:, n_components:] = 0
    picture = points[:, :n_components].copy()
    found = refine(points, picture, max_iter=500)
    assert found.shape == picture.shape
    assert average_distortion(points, found) <= average_distortion(points, picture)


def test_distances_stand_for_points_and_coordinates_are_those_of_the_picture(refined):
    # the same numbers up to rounding, which a descent of thousands of steps amplifies
    expected = pytest.approx(average_distortion(X, refined), rel=0.05)
    assert average_distortion(X, refine(D, Y, metric="precomputed", max_iter=500)) == expected
    x, y = (2 * from_hyperboloid(to_hyperboloid(points), "lorentz") for points in (X, Y))
    options = {"model": "lorentz", "curvature": -0.25}
    found = refine(x, y, max_iter=500, **options)
    assert found.shape == (len(X), 3) and average_distortion(x, found, **options) == expected


def test_more_points_than_pairs_that_count():
    """Above 2048 rows the pairs are a sample; the distortion over other pairs improves as well."""
    large = make_hierarchy(13, 3, 3, random_state=0).points
    flat = large[:, :2]
    assert len(large) > 2048
    assert average_distortion(large, refine(large, flat, max_iter=50)) < 0.95 * average_distortion(large, flat)


def test_real_points_keep_more_neighbours():
    some = load_mammals().points[::6]
    start = TangentPCA(2).fit_transform(some)
    found = refine(some, start, max_iter=1000)
    assert average_distortion(some, found) < 0.5 * average_distortion(some, start)
    assert neighbours_kept(some, found) > neighbours_kept(some, start)


@pytest.mark.parametrize(
    ("original", "picture", "options", "message"),
    [
        (X, Y[:5], {}, "X and Y must have the same number of rows, but have"),
        (X, Y, {"metric": "cosine"}, "metric must be one of"),
        (X, Y, {"max_iter": -1}, "max_iter must be"),
        (X, Y, {"tol": -1.0}, "tol must be a number of at least 0"),
        (D[:, :3], Y, {"metric": "precomputed"}, "X must be a square matrix of distances"),
        (np.zeros((5, 3)), Y[:5], {}, "X must contain two different points"),
        (X, 2 * Y / np.linalg.norm(Y, axis=1, keepdims=True).clip(1e-3), {}, "Y must lie inside the unit ball"),
        (X[:2], [[40.0, 0.0], [0.0, 0.0]], {"model": "tangent"}, "Y must lie within distance 34 of the origin"),
    ],
)
def test_rejects_invalid_input(original, picture, options, message):
    with pytest.raises(ValueError, match=message):
        refine(original, picture, **options)
