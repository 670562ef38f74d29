"""How many components: curves of unseen rows, comparison with chance, `HoroPCACV`."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from clouds import cloud
from horopca import HoroPCA, HoroPCACV, TangentPCA, metrics
from horopca.estimators import component_curve as selection
from horopca.estimators import parallel_analysis
from horopca.estimators.folds import make_folds
from horopca.estimators.parallel_analysis import look_dependent, without_direction
from horopca.estimators.scores import slid
from horopca.geometry import from_hyperboloid, pairwise_distance, radius, to_hyperboloid
from horopca.metrics import component_curve
from horopca.plots import plot_components
from horopca.projections.spines import spine_from_basis

QUICK = {"cv": 2, "copies": 0, "rule": "one_se"}
QUICKLY = HoroPCA(n_init=1)


def planted(n: int, d: int, K: int, *, noise: float = 0.2, first: float = 1.0, seed: int = 0) -> np.ndarray:
    """Tangent vectors of points about a K-dimensional submanifold."""
    rng = np.random.default_rng(seed)
    scales = np.where(np.arange(d) < K, 1.0, noise)
    scales[0] *= first if K else 1.0
    return rng.standard_normal((n, d)) * scales @ np.linalg.qr(rng.standard_normal((d, d)))[0]


def ball(v: np.ndarray) -> np.ndarray:
    return from_hyperboloid(to_hyperboloid(v, "tangent"))


X = ball(planted(60, 4, 2))  # fits are from one start where the optimum does not matter


@pytest.fixture(scope="module")
def curve():
    return component_curve(X, 3, estimator=QUICKLY, cv=2, copies=9)


# ---- laws


def test_a_planted_number_of_components_is_found(curve):
    assert curve.chosen == curve.choices["null"] == 2
    assert "2 components add more to the variance than chance does (p ≤ 0.1, against 9 copies)." in curve.sentence
    assert "(p ≤ 0.5, against 1 copy)" in curve._replace(null=curve.null[:1]).sentence
    assert curve.p_values.tolist()[:2] == [0.1, 0.1] and curve.null.shape == (9, 3)


def test_points_without_a_direction_have_none():
    found = component_curve(ball(planted(60, 4, 0, noise=1.0)), 2, estimator=QUICKLY, cv=2, copies=5)
    assert found.chosen == 0 and found.null.shape == (5, 1) and "these points have no meaning" in found.sentence


def test_the_last_dimension_is_not_compared():
    assert component_curve(X[:, :2], estimator=QUICKLY, cv=2, copies=1).null.shape == (1, 1)
    line = component_curve(X[:, :1], estimator=QUICKLY, cv=2, copies=1)
    assert line.chosen == 1 and line.null.shape == (1, 0) and "there is nothing to choose" in line.sentence


def test_copies_keep_radii_and_images_on_the_components_before():
    x, rng = cloud(50, 5), np.random.default_rng(1)
    for k in (0, 1, 3):
        basis = rng.standard_normal((k, 6))
        copy = without_direction(x, basis, rng)
        assert np.allclose(radius(copy), radius(x)) and not np.allclose(copy, x)
        if k:
            spine = spine_from_basis(basis)
            assert np.allclose(slid(copy, spine), slid(x, spine), rtol=1e-9)
        across = copy[:, 1:] - copy[:, 1:] @ parallel_analysis._directions(basis).T @ parallel_analysis._directions(basis)
        mean = (across / np.linalg.norm(across, axis=1, keepdims=True)).mean(axis=0)
        assert np.linalg.norm(mean) < 4 / np.sqrt(50)  # four deviations of the mean of as many random directions


def families(n: int, d: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Isotropic tangent vectors in families, each 0.2 times as wide as all points, and the family of each."""
    rng, members = np.random.default_rng(seed), np.repeat(np.arange(n // size), size)
    return rng.standard_normal((n // size, d))[members] + 0.2 * rng.standard_normal((n, d)), members


def test_copies_of_a_group_are_rotated_together():
    v, groups = families(60, 5, 10, 0)
    x, basis = to_hyperboloid(v, "tangent"), np.eye(6)[1:3]
    copy = without_direction(x, basis, np.random.default_rng(0), groups)
    assert np.allclose(radius(copy), radius(x)) and np.allclose(copy[:, 1:3], x[:, 1:3])
    same = groups[:, None] == groups[None]
    assert np.allclose(pairwise_distance(copy)[same], pairwise_distance(x)[same], atol=1e-7)
    assert not np.allclose(pairwise_distance(copy), pairwise_distance(x), atol=0.1)


def test_families_are_not_taken_for_components():
    v, groups = families(100, 5, 10, 1)
    options = {"estimator": HoroPCA(model="tangent", n_init=1), "cv": 2, "copies": 5}
    without = component_curve(v, 1, **options)
    assert without.chosen == 1 and without.dependent and "Rows look dependent" in without.sentence
    grouped = component_curve(v, 1, groups=groups, **options)
    assert grouped.chosen == 0 and not grouped.dependent and "groups=" not in grouped.sentence


def test_the_figures_are_those_of_the_metrics_on_the_unseen_rows(curve):
    part = KFold(2, shuffle=True, random_state=1)
    estimator = TangentPCA(model="poincare")
    found = component_curve(X, 2, estimator=estimator, **{**QUICK, "cv": part})
    for fold, (seen, unseen) in enumerate(part.split(X)):
        fitted = TangentPCA(2).fit(X[seen])
        Y, Z = X[unseen], fitted.transform(X[unseen])
        assert found.distortion.among[fold, 1] == pytest.approx(metrics.average_distortion(Y, Z))
        assert found.variance.among[fold, 1] == pytest.approx(metrics.pair_variance(Z) / metrics.pair_variance(Y))
        assert found.neighbours.among[fold, 1] == pytest.approx(metrics.neighbours_kept(Y, Z, n_neighbors=9))


def test_all_dimensions_keep_all_and_more_components_keep_more():
    for options in ({"strategy": "greedy"}, {"spine": "free"}, {}):
        found = component_curve(X[:40, :3], estimator=HoroPCA(n_init=1, **options), **QUICK)
        assert np.all(np.diff(found.variance.mean) > 0) and np.all(np.diff(found.distortion.mean) < 0), options
        if options.get("strategy") == "greedy":  # whose last component is found by a climb
            continue
        assert found.n_components.tolist() == [1, 2, 3]
        for held, best in ((found.distortion, 0), (found.variance, 1), (found.neighbours, 1)):
            assert np.allclose([held.mean[-1], held.across.mean(axis=0)[-1]], best, atol=1e-9)


@pytest.mark.parametrize("objective", ["variance", "robust"])
def test_folds_are_fitted_as_the_estimator_fits_them(objective):
    far = np.vstack([X, 0.9999 * np.eye(4)[[3, 3, 3]]])  # three points that pull the mean and the variance aside
    estimator, part = HoroPCA(objective=objective, n_init=1), KFold(2, shuffle=True, random_state=0)
    found = component_curve(far, 2, estimator=estimator, **{**QUICK, "cv": part})
    for fold, (seen, unseen) in enumerate(part.split(far)):
        Z = HoroPCA(2, objective=objective, n_init=1).fit(far[seen]).transform(far[unseen])
        assert found.distortion.among[fold, 1] == pytest.approx(metrics.average_distortion(far[unseen], Z), rel=1e-6)


def test_nothing_depends_on_the_jobs():
    told = []
    few = component_curve(X, 1, estimator=QUICKLY, cv=2, copies=2, progress=lambda *about: told.append(about))
    assert told[0] == (0, 5, "fitting folds") and told[-1] == (5, 5, "fitting copies, k = 1")
    with parallel_config(backend="threading"):
        again = component_curve(X, 1, estimator=QUICKLY, cv=2, copies=2, n_jobs=2)
    for name in ("distortion", "variance", "neighbours"):
        assert np.array_equal(getattr(again, name).among, getattr(few, name).among)
    assert np.array_equal(again.null, few.null) and np.array_equal(again.added, few.added)


def test_groups_stay_together_and_so_do_equal_rows():
    groups = np.arange(60) % 10
    told = []

    class Watching(KFold):
        def split(self, X, y=None, groups=None):
            told.append(groups)
            return super().split(X)

    component_curve(X, 1, estimator=QUICKLY, groups=[f"family {g}" for g in groups], **{**QUICK, "cv": Watching(2)})
    assert np.array_equal(told[0], np.unique([f"family {g}" for g in groups], return_inverse=True)[1])
    twice, every = np.tile(X[:20], (2, 1)), np.arange(60)
    found = make_folds(to_hyperboloid(twice), 4, None, every[:40], 40, 0)
    together = make_folds(to_hyperboloid(X), 5, groups, every, 60, 0)
    assert all(not set(seen % 20) & set(unseen % 20) for seen, unseen in found)
    assert all(not set(groups[seen]) & set(groups[unseen]) for seen, unseen in together)


def test_splits_may_be_given_and_are_of_the_rows_that_were_passed():
    part = KFold(2, shuffle=True, random_state=0)
    curves = [
        component_curve(X, 1, estimator=QUICKLY, **{**QUICK, "cv": cv}) for cv in (part, part.split(X), list(part.split(X)))
    ]
    assert all(np.array_equal(curves[0].distortion.among, again.distortion.among) for again in curves)
    some = np.arange(1, 60, 2)
    for given, kept in zip(part.split(X), make_folds(to_hyperboloid(X[some]), part.split(X), None, some, 60, 0), strict=True):
        for rows, of_some in zip(given, kept, strict=True):
            assert np.array_equal(rows[rows % 2 == 1], some[of_some])


def test_the_fewest_within_one_error_of_the_best(curve):
    held = lambda *values: selection.HeldOut(np.array([values, values]) + [[-0.01], [0.01]], np.array([values, values]))
    near = curve._replace(rule="one_se", distortion=held(0.5, 0.2, 0.195), neighbours=held(0.5, 0.98, 0.97))
    assert near.choices["one_se"] == 2 and near.chosen == 2
    assert "2 components are within one standard error of the best distortion" in near.sentence
    assert near._replace(measure="neighbours").chosen == 2
    assert near._replace(measure="variance", variance=held(0.5, 0.99, 1.2)).chosen == 2  # stretched: variance that was made
    assert near._replace(distortion=held(0.2, 0.25, 0.3)).sentence.startswith("1 component is within")


# ---- HoroPCACV


def test_a_chosen_fit_is_that_of_horopca_with_as_many_components():
    chosen = HoroPCACV(2, cv=2, copies=2, n_init=1).fit(X)
    plain = HoroPCA(2, random_state=0, n_init=1).fit(X)
    assert chosen.n_components_ == chosen.n_components == chosen.curve_.chosen == 2
    assert np.array_equal(chosen.transform(X), plain.transform(X))
    assert "There may be more: raise max_components." in chosen.curve_.sentence
    assert not hasattr(chosen, "partial_fit") and chosen.get_feature_names_out().tolist() == ["horopcacv0", "horopcacv1"]
    assert plot_components(chosen).axes[3].get_title() == "fraction that each component adds"
    before = chosen.curve_
    with pytest.raises(ValueError, match="max_components must be a whole number from 1 to 4"):
        chosen.set_params(max_components=9).fit(X)
    assert chosen.curve_ is before


def test_a_stretch_needs_no_other_option():
    chosen = HoroPCACV(2, cv=2, rule="one_se", copies=0, n_init=2, stretch=True).fit(X)
    assert chosen.stretch_ > 1 and chosen.objective_ == "distortion"


def test_weights_count_in_the_fit_and_those_of_0_leave_rows_out_of_the_curve():
    weight, groups = np.arange(60) % 3, np.arange(60) % 10
    counted, how = weight > 0, {"max_components": 1, "n_init": 1, **QUICK}
    weighted = HoroPCACV(**how).fit(X, None, weight, groups=groups)
    repeated = HoroPCA(1, n_init=1).fit(np.repeat(X, weight, axis=0))
    assert np.array_equal(weighted.transform(X), repeated.transform(X)) and weighted.n_samples_seen_ == 60
    alone = HoroPCACV(**how).fit(X[counted], groups=groups[counted])
    assert np.array_equal(weighted.curve_.distortion.among, alone.curve_.distortion.among)
    with pytest.raises(ValueError, match="sample_weight must have one number for each of the 60 rows"):
        HoroPCACV(**how).fit(X, None, weight[:5])
    with pytest.raises(ValueError, match="groups must name one group for each of the 60 rows"):
        HoroPCACV(**how).fit(X, None, weight, groups=groups[counted])


def test_one_component_of_points_without_a_direction_is_warned_of():
    with pytest.warns(UserWarning, match="HoroPCACV keeps one component"):
        assert HoroPCACV(1, cv=2, copies=9, n_init=1).fit(ball(planted(40, 3, 0, noise=1.0))).n_components_ == 1


# ---- errors and warnings


def test_the_comparison_with_chance_says_that_it_is_not_robust():
    with pytest.warns(UserWarning, match="rule='null' compares the plain variance"):
        component_curve(X, 1, estimator=HoroPCA(objective="robust", n_init=1), cv=2, copies=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cv": 61}, "cv must be at most the number of different rows, 60, but is 61"),
        ({"cv": 50}, "Each fold must have two different rows for training and for testing"),
        ({"cv": 1}, "cv must be a whole number of at least 2, a splitter"),
        ({"cv": "five"}, "cv must be a number of folds, a splitter that needs no classes, or splits"),
        ({"cv": StratifiedKFold(2)}, "cv must be a number of folds, a splitter that needs no classes, or splits"),
        ({"cv": [([0, 1], [2, 60])] * 2}, "or splits, each two arrays of indices of the 60 rows, but: index 60"),
        (
            {"groups": [None] * 30 + ["a"] * 30},
            "groups must be names or numbers that can be sorted, all of one type, but have types",
        ),
        ({"max_components": 5}, "max_components must be a whole number from 1 to 4 (the dimension of X is 4, and"),
        ({"groups": [0] * 60}, "cv must be at most the number of groups, 1, but is 5"),
        ({"groups": [0] * 59}, "groups must name one group for each of the 60 rows, but has shape (59,)"),
        ({"copies": 0}, "copies must be at least 1 for rule='null'"),
        ({"rule": "best"}, "rule must be"),
        ({"measure": "beauty"}, "measure must be"),
        ({"estimator": "HoroPCA"}, "estimator must be a reduction of this package, such as HoroPCA(), but is 'HoroPCA'"),
        ({"estimator": HoroPCA(spine="loose")}, "spine must be"),
    ],
)
def test_rejects_invalid_options(options, sentence):
    with pytest.raises(ValueError) as refusal:
        component_curve(X, **options)
    assert sentence in str(refusal.value)


def test_rejects_unsuitable_points():
    with pytest.raises(ValueError, match="must be at most the number of different rows, 3, but is 5"):
        component_curve(np.tile(X[:3], (20, 1)))
    with pytest.raises(ValueError, match="cv must be at most the number of different rows, 3, but is 5"):
        component_curve(X[:3])
    with pytest.raises(ValueError, match="smallest part that is fitted has 3 rows"):
        component_curve(X[:6], 4, cv=2)
    with pytest.raises(ValueError, match="has 1 and 59 of the 60 rows"):
        component_curve(X, cv=ShuffleSplit(2, train_size=1))
    with pytest.raises(ValueError, match="cv must make at least 2 folds, for a standard error, but makes 1"):
        component_curve(X, cv=ShuffleSplit(1))
    with pytest.raises(ValueError, match="measure='neighbours' needs at least 4 unseen rows in every fold"):
        component_curve(X[:6], 1, measure="neighbours", **QUICK)
    with pytest.raises(ValueError, match="finite"):
        component_curve(np.where(np.arange(60)[:, None] == 7, np.nan, X))
    with pytest.warns(UserWarning, match="groups keeps no rows together: each of its 60 groups has one row"):
        component_curve(X, 1, estimator=QUICKLY, groups=np.arange(60), **QUICK)
    with pytest.raises(ValueError, match="curve must be a result of component_curve, or a fitted HoroPCACV, but is ndarray"):
        plot_components(X)


def test_few_points_have_no_neighbours_to_count():
    found = component_curve(X[:6], 1, estimator=QUICKLY, **QUICK)
    assert np.isnan(found.neighbours.mean).all() and np.isfinite(found.distortion.mean).all()


def test_points_closer_than_float64_can_express_keep_everything():
    found = component_curve(1e-310 * planted(12, 3, 2), 1, estimator=HoroPCA(model="tangent", n_init=1), **QUICK)
    assert found.distortion.mean == 0 and found.variance.mean == 1


@pytest.mark.parametrize(("size", "width"), [(2, 0.05), (4, 0.0), (10, 0.2)])
def test_similar_rows_look_dependent(size, width):
    rng = np.random.default_rng(0)
    v = np.repeat(rng.standard_normal((100 // size, 5)), size, axis=0) + width * rng.standard_normal((100, 5))
    assert look_dependent(to_hyperboloid(v, "tangent"))


@pytest.mark.parametrize("n", [8, 100, 400])
@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_clusters_of_independent_rows_do_not_look_dependent(n, clusters):
    rng = np.random.default_rng(0)
    v = 3 * rng.standard_normal((clusters, 5))[rng.integers(clusters, size=n)] + rng.standard_normal((n, 5))
    assert not look_dependent(to_hyperboloid(v, "tangent"))
    assert not look_dependent(to_hyperboloid(v / np.sqrt(rng.chisquare(3, (n, 1)) / 3), "tangent"))


def test_equal_points_have_no_gaps():
    assert not look_dependent(to_hyperboloid(np.ones((100, 5)), "tangent"))
