"""Whitening: laws of the features, limits, references, contracts."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from horopca import BusemannWhitener, HoroPCA, TangentWhitener
from horopca.datasets import make_hierarchy
from horopca.geometry import busemann, from_hyperboloid, lift, to_hyperboloid

TREE = make_hierarchy(branching=3, depth=3, n_features=3, random_state=0)
HEAVY = from_hyperboloid(lift(np.random.default_rng(0).standard_t(3, size=(60, 3))))  # without structure, and some far out
FEW = np.repeat(TREE.points[:3], 5, axis=0)


def busemann_whitener(*arguments, **settings):
    return BusemannWhitener(*arguments, random_state=0, n_init=3, **settings)


WHITENERS = {
    "busemann": busemann_whitener,
    "decorrelated": lambda *a, **s: busemann_whitener(*a, decorrelate=True, **s),
    "greedy": lambda *a, **s: busemann_whitener(*a, strategy="greedy", **s),
    "tangent": TangentWhitener,
}


@pytest.fixture(params=WHITENERS)
def whitener(request):
    return WHITENERS[request.param]


# ---- laws


@pytest.mark.parametrize("X", [TREE.points, HEAVY], ids=["tree", "heavy tails"])
def test_features_have_zero_mean_and_unit_variance(whitener, X):
    fitted = whitener().fit(X)
    F = fitted.transform(X)
    assert np.allclose(F.mean(axis=0), 0, atol=1e-9)  # the Fréchet mean is good to about 1e-12
    assert np.allclose(F.std(axis=0), 1, atol=1e-9)
    if isinstance(fitted, TangentWhitener) or fitted.decorrelate:
        assert np.allclose(F.T @ F / len(F), np.eye(F.shape[1]), atol=1e-9)
    else:  # more directions than dimensions are independent too
        assert F.shape == (len(X), 6) and np.linalg.svd(F)[1][-1] > 1e-3


def test_decorrelation_goes_coordinate_by_coordinate():
    """The k-th feature is the residual of the k-th coordinate on those before it."""
    plain, residual = (busemann_whitener(4, decorrelate=flag).fit_transform(TREE.points) for flag in (False, True))
    explained = np.column_stack([np.ones(len(plain)), plain[:, :3]])
    left = plain[:, 3] - explained @ np.linalg.lstsq(explained, plain[:, 3], rcond=None)[0]
    assert np.allclose(left / left.std(), residual[:, 3], atol=1e-8)


def test_greedy_directions_are_nested_and_add_less_and_less():
    two, four = (busemann_whitener(K, strategy="greedy", tol=1e-10).fit(TREE.points) for K in (2, 4))
    assert np.allclose(two.ideal_points_, four.ideal_points_[:2], atol=1e-4)  # second order at the optimum: sqrt(tol)
    assert np.all(np.diff(four.explained_variance_) < 0)


def test_joint_search_has_the_larger_generalised_variance():
    joint, greedy = (busemann_whitener(4, strategy=s).fit(TREE.points) for s in ("joint", "greedy"))
    assert np.prod(joint.explained_variance_) > np.prod(greedy.explained_variance_) * 1.001
    assert np.all(np.diff(joint.explained_variance_) <= 0)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_features_of_the_points_with_given_features(whitener, K):
    fitted = whitener(K).fit(TREE.points)
    F = fitted.transform(TREE.points)
    assert np.allclose(fitted.transform(fitted.inverse_transform(F)), F, atol=1e-7)


@pytest.mark.parametrize("K", [4, 7])
def test_more_directions_than_dimensions_give_the_points_back(K):
    fitted = busemann_whitener(K, decorrelate=True).fit(TREE.points)
    for whitener in (fitted, TangentWhitener().fit(TREE.points)):
        assert np.allclose(whitener.inverse_transform(whitener.transform(TREE.points)), TREE.points, atol=1e-9)


# ---- limits


def test_greedy_directions_of_small_data_are_those_of_pca():
    v = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
    errors = []
    for scale in (1e-2, 1e-3):
        x = from_hyperboloid(lift(scale * v), "poincare")
        q = busemann_whitener(3, strategy="greedy", tol=1e-12).fit(x).ideal_points_
        errors.append(np.abs(np.abs(np.sum(q * PCA().fit(v).components_, axis=1)) - 1).max())
    assert errors[1] < 1e-4 and errors[1] < errors[0] / 20  # the cosine is of second order: a hundredth


def test_tangent_whitening_of_small_data_is_that_of_pca():
    v = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
    F = TangentWhitener(2).fit_transform(1e-4 * v)
    reference = PCA(2, whiten=True).fit_transform(v) * np.sqrt(200 / 199)
    assert np.allclose(np.abs(F), np.abs(reference), atol=1e-3)


# ---- references


def test_features_are_normalised_busemann_functions():
    fitted = busemann_whitener(4).fit(TREE.points)
    x = to_hyperboloid(TREE.points)
    B = np.column_stack([busemann(x, q) for q in fitted.ideal_points_])
    assert np.allclose(fitted.transform(TREE.points), (B - B.mean(axis=0)) / B.std(axis=0), atol=1e-9)
    assert np.allclose(fitted.coordinate_scale_, B.std(axis=0))


def test_the_first_direction_is_horopca_s():
    first = busemann_whitener(1, tol=1e-12).fit(TREE.points)
    pca = HoroPCA(1, random_state=0).fit(TREE.points)
    assert first.explained_variance_[0] == pytest.approx(pca.explained_variance_[0], rel=1e-6)


# ---- contracts


def test_the_default_falls_back_to_what_there_is():
    assert busemann_whitener().fit_transform(TREE.points[:3]).shape == (3, 2)
    line = np.linspace(-0.5, 0.9, 20)[:, None]
    assert busemann_whitener().fit_transform(line).shape == (20, 1)  # the two ends of a line are one coordinate
    assert busemann_whitener(decorrelate=True).fit_transform(FEW).shape == (15, 2)
    assert TangentWhitener().fit_transform(FEW).shape == (15, 2)


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (BusemannWhitener(0), TREE.points, "n_components must be a whole number"),
        (BusemannWhitener(40), TREE.points, r"from 1 to 39 or None \(X has 40 rows\), but is 40"),
        (BusemannWhitener(strategy="best"), TREE.points, "strategy must be one of 'joint', 'greedy', but is 'best'"),
        (TangentWhitener(4), TREE.points, r"from 1 to 3 or None \(the dimension of X is 3\), but is 4"),
        (BusemannWhitener(), np.full((5, 3), 0.3), "X must hold different points, but all its rows are the same point"),
        (BusemannWhitener(3, n_init=1), FEW, "n_components must be at most 2"),
        (TangentWhitener(3), FEW, "n_components must be at most 2"),
    ],
)
def test_errors(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
