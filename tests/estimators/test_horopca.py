"""HoroPCA: laws, limits and contracts of its own. Those that it shares with other reductions are in test_reductions.py."""

from typing import get_args

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from clouds import cloud, directions
from hierarchies import TREE
from horopca import HoroPCA, geometry, metrics
from horopca._optimize.objectives import ObjectiveName
from horopca.datasets import make_hierarchy
from horopca.estimators.horopca_fit import measured_variances, spine_images
from horopca.projections import spine_from_ideal_points
from horopca.statistics import frechet_mean

QUICK = {"n_init": 2, "random_state": 0}


X = TREE.points


# ---- laws


def test_greedy_components_are_nested():
    """The first of two greedy components is the best single one; joint components need not contain it."""
    one, joint = (HoroPCA(K, random_state=0).fit(X) for K in (1, 2))
    greedy = HoroPCA(2, strategy="greedy", random_state=0).fit(X)
    assert greedy.explained_variance_[0] == pytest.approx(one.explained_variance_[0], rel=1e-6)
    assert np.allclose(greedy.ideal_points_[0], one.ideal_points_[0], atol=1e-4)
    assert joint.explained_variance_.sum() >= greedy.explained_variance_.sum() * (1 - 1e-6)


@pytest.mark.parametrize("model", ["poincare", "lorentz"])
@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_the_nested_projections_have_their_ways_back(model, spine):
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
def test_busemann_coordinates_are_kept_by_the_projection(options):
    pca = HoroPCA(**QUICK, **options).fit(X)
    coordinates = pca.busemann(X)
    assert coordinates.shape == (len(X), pca.n_components)
    assert np.allclose(np.linalg.norm(pca.ideal_points_, axis=1), 1)
    assert np.allclose(pca.busemann(pca.inverse_transform(pca.transform(X))), coordinates, atol=1e-6)
    # zero at the mean, and the geometry's own Busemann functions but for that constant
    assert np.allclose(pca.busemann(pca.mean_[None]), 0, atol=1e-9)
    for column, q in zip(coordinates.T, pca.ideal_points_, strict=True):
        assert np.ptp(geometry.busemann(geometry.to_hyperboloid(X), q) - column) < 1e-9


@pytest.mark.parametrize("n", [60, 4000])  # all pairs, and a fixed sample of them
def test_a_score_is_the_objective_by_its_definition(n):
    x, some = cloud(n, 4), np.triu_indices(min(n, 2000), 1)
    reach = np.quantile(geometry.pairwise_distance(x[:2000])[some], 0.25, method="inverted_cdf")
    for objective in get_args(ObjectiveName):
        pca = HoroPCA(2, objective=objective, model="lorentz", n_init=1, random_state=0).fit(x[:60])
        Y = pca.transform(x)
        d = geometry.pairwise_distance(Y[:2000])[some]
        expected = {
            "variance": metrics.pair_variance(Y, model="lorentz"),
            "frechet": metrics.frechet_variance(Y, model="lorentz"),
            "distortion": -metrics.average_distortion(x, Y, model="lorentz"),
            "robust": np.mean(d**2 / (d**2 + reach**2)),
        }
        assert pca.score(x) == pytest.approx(expected[objective], rel=1e-9 if n == 60 else 0.03), objective


def test_the_standard_errors_of_variances_are_those_of_drawing_rows_and_pairs():
    few, many, spines = cloud(60, 4, seed=3), cloud(3001, 4, seed=4), [spine_from_ideal_points(directions(2, 4))]
    squares = geometry.pairwise_distance(spine_images(few, spines[0])) ** 2
    for seen in (90, 10**6):  # rows of which the 60 are a sample
        values, error = measured_variances(few, spines, np.random.default_rng(0), seen)
        assert error == pytest.approx(2 * squares.mean(axis=1).std() * np.sqrt(1 / 60 - 1 / seen), rel=1e-9)
        assert values[0] == pytest.approx(squares.sum() / (60 * 59) * (seen - 1) / seen, rel=1e-9)
    estimates = [measured_variances(many, spines, np.random.default_rng(seed), 3001) for seed in range(12)]
    found, exact = (
        [values[0] for values, _ in estimates],
        (geometry.pairwise_distance(spine_images(many, spines[0])) ** 2).mean(),
    )
    # offsets are consecutive, so the pairs of a few of them are alike
    assert estimates[0][1] / 3 < np.sqrt(np.mean((np.array(found) - exact) ** 2)) < 2 * estimates[0][1]


# ---- a scikit-learn citizen


@pytest.mark.parametrize(
    "call", [HoroPCA.fit, HoroPCA.fit_transform, HoroPCA.partial_fit, lambda pca, X: make_pipeline(pca).fit(X)]
)
def test_a_warning_that_it_stopped_early_points_at_the_line_of_the_caller(call):
    pca = HoroPCA(max_iter=1, tol=1e-15, n_init=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"HoroPCA stopped at max_iter without converging\. Raise max_iter") as caught:
        call(pca, X)
    assert caught[0].filename == __file__
    assert not pca.converged_ and "max_iter" in pca.status_ and pca.n_iter_ == 1


# ---- data of every kind


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
