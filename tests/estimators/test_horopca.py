"""HoroPCA: laws, limits and contracts of its own. Those that it shares with other reductions are in test_reductions.py."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from horopca import HoroPCA, geometry, metrics
from horopca.datasets import make_hierarchy
from horopca.statistics import frechet_mean

QUICK = {"n_init": 2, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    return make_hierarchy(branching=3, depth=3, n_features=5, random_state=0).points


# ---- laws


@pytest.mark.parametrize("spine", ["ideal", "free"])
@pytest.mark.parametrize("objective", ["variance", "distortion"])
@pytest.mark.parametrize("strategy", ["joint", "greedy"])
def test_lengthens_no_distance_and_reports_what_it_keeps(X, spine, objective, strategy):
    pca = HoroPCA(spine=spine, objective=objective, strategy=strategy, **QUICK).fit(X)
    Y = pca.transform(X)
    before, after = (geometry.pairwise_distance(geometry.to_hyperboloid(P)) for P in (X, Y))
    assert np.all(after <= before * (1 + 1e-9) + 1e-9)
    assert pca.explained_variance_.sum() == pytest.approx(metrics.pair_variance(Y), rel=1e-9)
    assert pca.total_variance_ == pytest.approx(metrics.pair_variance(X), rel=1e-9)
    assert np.all(pca.explained_variance_ >= 0)
    assert pca.variance_error_ == 0
    expected = pca.explained_variance_.sum() if objective == "variance" else -metrics.average_distortion(X, Y)
    assert pca.score(X) == pytest.approx(expected, rel=1e-9)


def test_greedy_components_are_nested(X):
    """The first of two greedy components is the best single one; joint components need not contain it."""
    one, joint = (HoroPCA(K, random_state=0).fit(X) for K in (1, 2))
    greedy = HoroPCA(2, strategy="greedy", random_state=0).fit(X)
    assert greedy.explained_variance_[0] == pytest.approx(one.explained_variance_[0], rel=1e-6)
    assert np.allclose(greedy.ideal_points_[0], one.ideal_points_[0], atol=1e-4)
    assert joint.explained_variance_.sum() >= greedy.explained_variance_.sum() * (1 - 1e-6)


@pytest.mark.parametrize("model", ["poincare", "lorentz"])
@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_the_nested_projections_have_their_ways_back(X, model, spine):
    points = geometry.from_hyperboloid(geometry.to_hyperboloid(X), model)
    pca = HoroPCA(3, spine=spine, model=model, **QUICK).fit(points)
    for k in (1, 2, 3):
        Y = pca.transform(points, n_components=k)
        back = pca.inverse_transform(Y)
        assert np.allclose(pca.transform(back, n_components=k), Y, atol=1e-7)
        assert metrics.pair_variance(back, model=model) == pytest.approx(metrics.pair_variance(Y, model=model), rel=1e-7)
    with pytest.raises(ValueError, match=r"Y must have [12] to [34] columns, as the output of transform has, but has 5"):
        pca.inverse_transform(geometry.from_hyperboloid(geometry.to_hyperboloid(X[:, : 5 - (model == "lorentz")]), model))


@pytest.mark.parametrize("options", [{"n_components": 1}, {}, {"strategy": "greedy", "n_components": 3}])
def test_busemann_coordinates_are_kept_by_the_projection(X, options):
    pca = HoroPCA(**QUICK, **options).fit(X)
    coordinates = pca.busemann(X)
    assert coordinates.shape == (len(X), pca.n_components)
    assert np.allclose(np.linalg.norm(pca.ideal_points_, axis=1), 1)
    assert np.allclose(pca.busemann(pca.inverse_transform(pca.transform(X))), coordinates, atol=1e-6)
    # zero at the mean, and the geometry's own Busemann functions but for that constant
    assert np.allclose(pca.busemann(pca.mean_[None]), 0, atol=1e-9)
    for column, q in zip(coordinates.T, pca.ideal_points_, strict=True):
        assert np.ptp(geometry.busemann(geometry.to_hyperboloid(X), q) - column) < 1e-9


def test_shrunk_to_a_point_it_is_scikit_learns_pca():
    v = np.random.default_rng(0).standard_normal((200, 4)) * [4, 3, 2, 1]
    angles = []
    for scale in (1e-1, 1e-2):
        for spine in ("ideal", "free"):
            pca = HoroPCA(2, model="tangent", spine=spine, random_state=0).fit(scale * v)
            axes = np.concatenate([pca.spine_.n[None], pca.spine_.U])
            cosines = np.linalg.svd(PCA(2).fit(v).components_ @ axes.T, compute_uv=False)
            angles.append(np.arccos(np.clip(cosines[-1], -1, 1)))
    assert max(angles[:2]) < 0.2
    assert max(angles[2:]) < max(angles[:2]) / 3 + 1e-4


# ---- models, curvatures, dtypes, libraries


@pytest.mark.parametrize("model", ["lorentz", "halfspace"])
def test_curvature_is_a_unit_of_length(X, model):
    curvature = -0.25  # lengths are doubled
    points = geometry.from_hyperboloid(geometry.to_hyperboloid(X), model)
    scaled = points if model == "halfspace" else 2 * points
    one = HoroPCA(model=model, **QUICK).fit(points)
    two = HoroPCA(model=model, curvature=curvature, **QUICK).fit(scaled)
    assert np.allclose(two.explained_variance_, 4 * one.explained_variance_)
    assert two.total_variance_ == pytest.approx(4 * one.total_variance_)
    assert np.allclose(two.transform(scaled), one.transform(points) * (1 if model == "halfspace" else 2))
    assert np.allclose(two.busemann(scaled), 2 * one.busemann(points), atol=1e-9)
    assert two.score(scaled) == pytest.approx(4 * one.score(points))


# ---- a scikit-learn citizen


@pytest.mark.parametrize(
    "call", [HoroPCA.fit, HoroPCA.fit_transform, HoroPCA.partial_fit, lambda pca, X: make_pipeline(pca).fit(X)]
)
def test_a_warning_that_it_stopped_early_points_at_the_line_of_the_caller(X, call):
    pca = HoroPCA(max_iter=1, tol=1e-15, n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"HoroPCA stopped at max_iter without converging\. Raise max_iter") as caught:
        call(pca, X)
    assert caught[0].filename == __file__
    assert not pca.converged_ and "max_iter" in pca.status_ and pca.n_iter_ == 1


# ---- data of every kind


@pytest.mark.parametrize("objective", ["variance", "distortion"])
def test_points_that_all_coincide(objective):
    same = np.full((6, 3), 0.3)
    pca = HoroPCA(objective=objective, **QUICK).fit(same)
    assert np.allclose(pca.transform(same), 0, atol=1e-7)
    assert np.array_equal(pca.explained_variance_ratio_, [1, 0])


@pytest.mark.parametrize("n", [3_100, 70_000])  # all are searched, but not all pairs are measured; a sample is searched
def test_the_report_and_the_mean_are_of_all_rows(n):
    X = np.random.default_rng(0).standard_normal((n, 3)) * [0.2, 0.15, 0.1]
    pca = HoroPCA(model="tangent", **QUICK).fit(X)
    kept = metrics.pair_variance(pca.transform(X), model="tangent", n_pairs=1 << 20, random_state=0)  # to about 0.1 %
    assert 0 < pca.variance_error_ < 0.02 * kept
    assert abs(pca.explained_variance_.sum() - kept) < 4 * (pca.variance_error_ + 1e-3 * kept)
    assert pca.explained_variance_ratio_.sum() <= 1
    mean = frechet_mean(geometry.to_hyperboloid(X, "tangent")).point
    assert geometry.distance(geometry.to_hyperboloid(pca.mean_, "tangent"), mean) < 1e-4 * 0.3 / np.sqrt(n)  # standard error


def test_ideal_points_are_there_whenever_the_spine_is_ideal():
    """Also where the optimum has all but merged them."""
    X = make_hierarchy(branching=4, depth=3, n_features=5, random_state=1).points
    pca = HoroPCA(n_init=4).fit(X)
    assert pca.spine_.kappa >= -1e-12
    assert pca.busemann(X).shape == (len(X), 2)


@pytest.mark.parametrize("far", [12.0, 100.0, 170.0])
def test_equal_points_far_out_are_their_own_mean(far):
    x = np.repeat(geometry.lift(np.sinh(far) * np.array([[1, 2, 3, 4]]) / np.sqrt(30)), 5, axis=0)
    pca = HoroPCA(model="lorentz", **QUICK).fit(x)
    assert np.allclose(pca.mean_, x[0], rtol=1e-10)  # Newton's steps end below 1e-12 of the first distance, here about 100
    assert np.allclose(pca.transform(x), geometry.origin(2), atol=1e-6)


# ---- wrong input


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": True}, "n_components must be a whole number"),
        ({"spine": "loose"}, "spine must be one of 'auto', 'ideal', 'free', but is 'loose'"),
        ({"strategy": "lazy"}, "strategy must be one of 'joint', 'greedy'"),
        ({"objective": "beauty"}, "objective must be one of 'auto', 'variance', 'distortion'"),
        ({"model": "sphere"}, "model must be one of 'poincare', .*, 'auto', but is 'sphere'"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1, or 'auto', but is 0"),
        ({"pairs": "many"}, "pairs must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1}, "tol must be a positive number, but is -1"),
        ({"tol": "small"}, "tol must be a positive number, but is 'small'"),
        ({"model": ["poincare"]}, "model must be one of"),
        ({"pairs": np.arange(3)}, "pairs must be a whole number"),
        *(
            ({"stretch": True, **option}, "stretch=True implies spine='free', objective='distortion' and strategy='joint'")
            for option in ({"spine": "ideal"}, {"objective": "variance"}, {"strategy": "greedy"})
        ),
        ({"stretch": 2.0}, r"stretch must be True or False, but is 2\.0"),
        ({"stretch": True, "n_components": 0.9}, r"n_components must be a whole number or None, but is 0\.9"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(X, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        HoroPCA(**options).fit(X)


def test_a_failed_fit_is_not_a_fit(X):
    pca = HoroPCA(n_components=99)
    with pytest.raises(ValueError, match="n_components"):
        pca.fit(X)
    with pytest.raises(NotFittedError):
        pca.transform(X)
