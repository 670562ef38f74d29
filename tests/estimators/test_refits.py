"""Fits one after another: where the picture is centred, how it stays as it was turned, and how much each point counts."""

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from clouds import cloud
from horopca import HoroPCA
from horopca._input.coordinates import check_coordinates
from horopca._optimize.objectives import ObjectiveName
from horopca.geometry import from_hyperboloid, pairwise_distance, radius, to_hyperboloid
from horopca.io import load_fitted, save_fitted

X = from_hyperboloid(cloud(60, 4, radius=2.0), "poincare")
FLIPPED = X * [1.0, -1.0, 1.0, -1.0]  # an isometry, which the canonical frame is turned with


def moved(amount, seed=1):
    return X + amount * np.random.default_rng(seed).standard_normal(X.shape)


def test_points_that_move_a_little_move_a_little_in_the_picture():
    """Of images that are symmetric to the eye the canonical frame flips at the least change."""
    even = np.vstack([X[:20], -X[:20]])
    noise = 1e-6 * np.random.default_rng(0).standard_normal((3, *even.shape))
    options = {"spine": "free", "centre": "origin", "n_init": 1}
    free = [HoroPCA(2, **options).fit_transform(even + part) for part in noise]
    film = HoroPCA(2, warm_start=True, **options)
    kept = [film.fit_transform(even + part) for part in noise]
    np.testing.assert_array_equal(kept[0], free[0])  # there is nothing to follow
    assert max(np.abs(a - b).max() for a, b in pairwise(kept)) < 1e-4
    assert max(np.abs(a - b).max() for a, b in pairwise(free)) > 0.1


def test_pictures_on_fewer_components_are_turned_too_whatever_the_rows():
    pca = HoroPCA(3, warm_start=True, strategy="greedy", n_init=1)
    first, few = pca.fit_transform(X), pca.transform(X, n_components=2)
    pca.fit(moved(1e-6)[::-1])
    # the optimum moves with the points, and a climb ends so near to it
    np.testing.assert_allclose(pca.transform(X), first, atol=1e-3)
    np.testing.assert_allclose(pca.transform(X, n_components=2), few, atol=1e-3)
    low = X[:30, :3]  # of points of another dimension there is nothing to follow
    np.testing.assert_allclose(pca.fit_transform(low), HoroPCA(3, strategy="greedy", n_init=1).fit_transform(low), atol=1e-12)


def test_a_warm_search_begins_where_the_last_one_ended():
    """It has one start more: the optimum of a thorough search is kept by a search that would not find it."""
    x = np.random.default_rng(3).standard_normal((60, 10))
    options = {"n_components": 2, "objective": "distortion", "spine": "free", "model": "tangent"}
    thorough, quick = HoroPCA(n_init=48, **options).fit(x), HoroPCA(n_init=1, **options).fit(x)
    assert thorough.score(x) > quick.score(x)
    warm = thorough.set_params(n_init=1, warm_start=True)
    before = warm.score(x)
    assert warm.fit(x).score(x) >= before * (1 + 1e-9)  # a score below 0


def test_a_kept_fit_goes_on(tmp_path):
    centre = np.array([0.1, 0.0, 0.0, 0.2])
    pca = HoroPCA(2, warm_start=True, centre=centre, n_init=1).fit(FLIPPED)
    again = load_fitted(save_fitted(pca, tmp_path / "fit.npz"))
    np.testing.assert_array_equal(again.fit_transform(X), pca.fit_transform(X))


STRETCHED = {"spine": "free", "objective": "distortion", "stretch": True}


@pytest.mark.parametrize(
    "model, curvature, options", [("poincare", -1.0, STRETCHED), ("lorentz", -0.25, {}), ("halfspace", -2.0, {})]
)
def test_the_centre_is_in_the_middle_and_nothing_else_changes(model, curvature, options):
    coordinates = check_coordinates(model, curvature)
    points, origin = (coordinates.from_hyperboloid(x, x.dtype) for x in (to_hyperboloid(X[:12]), np.eye(1, 5)))
    here = {"model": model, "curvature": curvature, "n_init": 1, **options}
    usual = HoroPCA(2, **here).fit(points)
    for centre, place in (("origin", origin), (points[7], points[7:8])):
        pca = HoroPCA(2, centre=centre, **here).fit(points)
        for k in (1, 2):
            assert radius(coordinates.to_hyperboloid(pca.transform(place, n_components=k))) < 1e-7
        a, b = (pairwise_distance(coordinates.to_hyperboloid(fit.transform(points))) for fit in (pca, usual))
        np.testing.assert_allclose(a, b, atol=1e-7)
        np.testing.assert_allclose(pca.explained_variance_, usual.explained_variance_, rtol=1e-12)
        np.testing.assert_array_equal(pca.mean_, usual.mean_)


def same_fit(one, other):
    """Whether two fits are the same to the last bit, in all that they say."""
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    np.testing.assert_array_equal(one.mean_, other.mean_)
    np.testing.assert_array_equal(one.explained_variance_, other.explained_variance_)
    return all(getattr(one, name) == getattr(other, name) for name in ("total_variance_", "variance_error_", "status_"))


@pytest.mark.parametrize(
    "options",
    [
        *({"objective": name, "spine": "free"} for name in get_args(ObjectiveName)),
        STRETCHED,
        {"strategy": "greedy"},
        {"n_components": 1, "objective": "robust"},
    ],
    ids=str,
)
def test_a_weight_is_a_number_of_copies(options):
    some, weights = X[:20], np.random.default_rng(0).integers(0, 5, size=20)
    weighted, copied = (HoroPCA(n_init=1, random_state=0, tol=1e-3).set_params(**options) for _ in range(2))
    assert same_fit(weighted.fit(some, sample_weight=0.3 * weights), copied.fit(np.repeat(some, weights, axis=0)))
    assert weighted.n_samples_seen_ == 20
    counted = weights > 0  # a weight of 0 leaves a point out
    assert same_fit(weighted, copied.fit(some[counted], sample_weight=weights[counted]))


@pytest.mark.parametrize("unit", [7.3, 1e-9, 1 / 3])
def test_the_unit_of_weights_changes_nothing(unit):
    """Not one bit: with K = 1 and the distortion, Gaussian points have optima that are nearly equal."""
    rng = np.random.default_rng(0)
    points, weights = rng.standard_normal((120, 8)), rng.uniform(0.1, 3, size=120)
    fit = lambda weights: HoroPCA(1, objective="distortion", model="tangent", n_init=4).fit(points, sample_weight=weights)
    np.testing.assert_array_equal(fit(unit * weights).transform(points), fit(weights).transform(points))


def test_weights_count_in_proportion():
    """Groups of 40 and 20 points that count the same, by whole multiples and by others."""
    groups, fit = np.repeat([0, 1], [40, 20]), lambda weight: HoroPCA(2, n_init=1).fit(X, sample_weight=weight)
    exact = fit(1 + groups)
    np.testing.assert_allclose(fit(compute_sample_weight("balanced", groups)).transform(X), exact.transform(X), atol=1e-12)
    for same in (2.0, torch.tensor(3.0)):
        np.testing.assert_array_equal(fit(same).transform(X), fit(None).transform(X))
    tensor = torch.tensor(1.0 + groups, requires_grad=True)
    np.testing.assert_array_equal(fit(tensor).transform(X), exact.transform(X))


def test_weights_go_with_dask():
    """Chunks of 17 rows, one of them without any weight."""
    da = pytest.importorskip("dask.array")
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    weights[17:34] = 0
    fit = HoroPCA(2, n_init=1, random_state=0)
    there = clone(fit).fit(da.from_array(X, chunks=(17, 4)), sample_weight=weights)
    np.testing.assert_allclose(there.transform(X), fit.fit(X, sample_weight=weights).transform(X), atol=1e-6)
    outside = np.r_[[[2.0, 0, 0, 0]], X[1:]]
    with pytest.raises(ValueError, match="row 0 has norm 2"):
        fit.fit(da.from_array(outside, chunks=(17, 4)), sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.zeros(60), "sample_weight must be positive for at least two points, but is zero for all of them."),
        (np.eye(60)[7], "sample_weight must be positive for at least two points, but is zero for all but one of them."),
        (-np.ones(60), "sample_weight must contain finite non-negative numbers, but row 0 has -1."),
        (np.ones(3), r"sample_weight must have one number for each of the 60 rows of X, but has shape \(3,\)."),
        (["heavy"] * 60, r"sample_weight must contain numbers, one for each row of X, but is \['heavy'"),
    ],
)
def test_errors_of_weights(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        HoroPCA().fit(X, sample_weight=weights)
