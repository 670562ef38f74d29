"""How many components: curves of unseen rows, comparison with chance, `HoroPCACV`."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from horopca import HoroPCA, HoroPCACV, TangentPCA, metrics
from horopca.geometry import from_hyperboloid, to_hyperboloid
from horopca.metrics import component_curve
from horopca.plots import plot_components

QUICK = {"cv": 2, "copies": 0, "rule": "one_se"}
QUICKLY, TANGENT = HoroPCA(n_init=1), HoroPCA(model="tangent", n_init=1)


def planted(n: int, d: int, K: int, *, noise: float = 0.2, seed: int = 0) -> np.ndarray:
    """Tangent vectors of points about a K-dimensional submanifold."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.where(np.arange(d) < K, 1.0, noise) @ np.linalg.qr(rng.standard_normal((d, d)))[0]


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


@pytest.mark.parametrize("tails", [False, True])
def test_points_without_a_direction_have_none(tails):
    v = planted(60, 4, 0, noise=1.0)
    if tails:  # of a t distribution of three degrees of freedom
        v = v / np.sqrt(np.random.default_rng(0).chisquare(3, (60, 1)) / 3)
    found = component_curve(v, 2, estimator=TANGENT, cv=2, copies=5)
    assert found.chosen == 0 and found.null.shape == (5, 1) and "these points have no meaning" in found.sentence


def families(sizes: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Isotropic tangent vectors in families of given sizes, each 0.2 times as wide as all points, and the family of each."""
    rng, members = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    return rng.standard_normal((len(sizes), 5))[members] + 0.2 * rng.standard_normal((len(members), 5)), members


@pytest.mark.parametrize(("sizes", "seed"), [([10] * 10, 1), ([50, *[5] * 10], 3)])
def test_families_are_not_taken_for_components(sizes, seed):
    """Nor is a large one, though the mean of the rows is near it and all others are on one side."""
    v, groups = families(sizes, seed)
    options = {"estimator": TANGENT, "cv": 2, "copies": 5}
    without = component_curve(v, 1, **options)
    assert without.chosen == 1 and without.dependent and "Rows look dependent" in without.sentence
    with pytest.warns(UserWarning, match="Rows look dependent, .* pass groups="):
        HoroPCACV(1, model="tangent", n_init=1, cv=2, copies=1).fit(v)
    grouped = component_curve(v, 1, groups=groups, **options)
    assert grouped.chosen == 0 and not grouped.dependent and "groups=" not in grouped.sentence


@pytest.mark.parametrize("estimator", [TangentPCA(), HoroPCA(n_init=1), HoroPCA(n_init=1, objective="robust")])
def test_the_figures_are_those_of_the_metrics_on_the_unseen_rows(estimator):
    """Three points far out pull the mean and the variance aside."""
    far, part = np.vstack([X, 0.9999 * np.eye(4)[[3, 3, 3]]]), KFold(2, shuffle=True, random_state=1)
    curves = [component_curve(far, 2, estimator=estimator, **{**QUICK, "cv": c}) for c in (part, part.split(far))]
    found = curves[0]
    assert np.array_equal(found.distortion.among, curves[1].distortion.among)
    for fold, (seen, unseen) in enumerate(part.split(far)):
        Y, Z = far[unseen], clone(estimator).set_params(n_components=2).fit(far[seen]).transform(far[unseen])
        assert found.distortion.among[fold, 1] == pytest.approx(metrics.average_distortion(Y, Z), rel=1e-6)
        ratio = metrics.pair_variance(Z) / metrics.pair_variance(Y)
        assert found.variance.among[fold, 1] == pytest.approx(ratio, rel=1e-6)
        if isinstance(estimator, TangentPCA):
            k = min(10, (len(unseen) - 1) // 3)
            assert found.neighbours.among[fold, 1] == pytest.approx(metrics.neighbours_kept(Y, Z, n_neighbors=k))


def test_all_dimensions_keep_all_and_more_components_keep_more():
    for options in ({"strategy": "greedy"}, {"spine": "free"}, {}):
        found = component_curve(X[:40, :3], estimator=HoroPCA(n_init=1, **options), **QUICK)
        assert np.all(np.diff(found.variance.mean) > 0) and np.all(np.diff(found.distortion.mean) < 0), options
        if options.get("strategy") == "greedy":  # whose last component is found by a climb
            continue
        assert found.n_components.tolist() == [1, 2, 3]
        for held, best in ((found.distortion, 0), (found.variance, 1), (found.neighbours, 1)):
            assert np.allclose([held.mean[-1], held.across.mean(axis=0)[-1]], best, atol=1e-9)


def test_nothing_depends_on_the_jobs():
    told = []
    few = component_curve(X, 1, estimator=QUICKLY, cv=2, copies=2, progress=lambda *about: told.append(about))
    assert told == [(done, 5) for done in range(1, 6)]
    with parallel_config(backend="threading"):
        again = component_curve(X, 1, estimator=QUICKLY, cv=2, copies=2, n_jobs=2)
    for name in ("distortion", "variance", "neighbours"):
        assert np.array_equal(getattr(again, name).among, getattr(few, name).among)
    assert np.array_equal(again.null, few.null) and np.array_equal(again.added, few.added)


def test_groups_stay_together_and_so_do_equal_rows():
    groups, parts = np.arange(60) % 10, []

    class Watching(GroupKFold):
        def split(self, X, y=None, groups=None):
            parts.extend(super().split(X, y, groups))
            return iter(parts)

    options = {"estimator": TangentPCA(), "groups": [f"family {g}" for g in groups], **QUICK}
    found = component_curve(X, 1, **{**options, "cv": Watching(2, shuffle=True, random_state=0)})
    assert all(not set(groups[seen]) & set(groups[unseen]) for seen, unseen in parts)
    assert np.array_equal(component_curve(X, 1, **{**options, "cv": parts}).distortion.among, found.distortion.among)
    with pytest.raises(ValueError, match=r"from 2 to 20 \(the number of different rows\), a scikit-learn .* but is 21"):
        component_curve(np.tile(X[:20], (2, 1)), 1, **{**QUICK, "cv": 21})


def test_the_fewest_within_one_error_of_the_best(curve):
    held = lambda *values: curve.distortion._replace(among=np.array([values, values]) + [[-0.01], [0.01]])
    near = curve._replace(rule="one_se", distortion=held(0.5, 0.2, 0.195))
    assert near.choices["one_se"] == near.chosen == 2
    assert "2 components are within one standard error of the best distortion" in near.sentence
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


def test_weights_count_in_the_fit_and_those_of_0_leave_rows_out_of_the_curve():
    weight, groups = np.arange(60) % 3, np.arange(60) % 10
    counted, how = weight > 0, {"max_components": 1, "n_init": 1, **QUICK}
    weighted = HoroPCACV(**how).fit(X, None, weight, groups=groups)
    repeated = HoroPCA(1, n_init=1).fit(np.repeat(X, weight, axis=0))
    assert np.array_equal(weighted.transform(X), repeated.transform(X)) and weighted.n_samples_seen_ == 60
    alone = HoroPCACV(**how).fit(X[counted], groups=groups[counted])
    assert np.array_equal(weighted.curve_.distortion.among, alone.curve_.distortion.among)


# ---- errors and warnings


def test_warnings():
    with pytest.warns(UserWarning, match="rule='null' compares the variance") as caught:
        component_curve(X, 1, cv=2, copies=1, estimator=HoroPCA(objective="robust", n_init=1))
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="groups has no effect: each of its 60 groups has one row"):
        component_curve(X, 1, cv=2, copies=1, estimator=QUICKLY, groups=np.arange(60))
    with pytest.warns(UserWarning, match="HoroPCACV keeps one component"):
        assert HoroPCACV(1, cv=2, copies=9, n_init=1).fit(ball(planted(40, 3, 0, noise=1.0))).n_components_ == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cv": 61}, "cv must be a whole number from 2 to 60 (the number of different rows), a scikit-learn splitter"),
        ({"cv": 50}, "Each fold must have two different rows for training and for testing"),
        ({"cv": [([0, 1], [2, 60])] * 2}, "or splits: pairs of arrays of row numbers below 60. scikit-learn reports: index 60"),
        (
            {"groups": np.array([1] * 30 + ["a"] * 30, dtype=object)},
            "all of one type, but '<' not supported between instances of",
        ),
        ({"groups": [None, *range(59)]}, "groups must name the group of every row, but row 0 has None"),
        ({"max_components": 5}, "max_components must be a whole number from 1 to 4 (the dimension of X is 4, and"),
        ({"groups": [0] * 60}, "cv must be a whole number from 2 to 1 (the number of groups)"),
        ({"groups": [0] * 59}, "groups must name one group for each of the 60 rows, but has shape (59,)"),
        ({"copies": 0}, "copies must be at least 1 for rule='null'"),
        ({"rule": "best"}, "rule must be"),
        ({"X": X[:6], "max_components": 4, "cv": 2}, "smallest part that is fitted has 3 rows"),
        ({"X": np.where(np.arange(60)[:, None] == 7, np.nan, X)}, "finite"),
        ({"cv": ShuffleSplit(1)}, "cv must make at least 2 folds, for a standard error, but makes 1"),
        ({"estimator": "HoroPCA"}, "estimator must be a reduction of this package, such as HoroPCA(), but is 'HoroPCA'"),
        ({"estimator": HoroPCA(spine="loose")}, "spine must be"),
    ],
)
def test_rejects_invalid_options(options, sentence):
    with pytest.raises(ValueError) as refusal:
        component_curve(**{"X": X, **options})
    assert sentence in str(refusal.value)


def test_little_data():
    few = component_curve(X[:6], 1, estimator=QUICKLY, **QUICK)
    assert np.isnan(few.neighbours.mean).all() and np.isfinite(few.distortion.mean).all()
    near = component_curve(1e-310 * planted(12, 3, 2), 1, estimator=TANGENT, **QUICK)  # closer than float64 can express
    assert near.distortion.mean == 0 and near.variance.mean == 1
    line = component_curve(X[:, :1], estimator=QUICKLY, cv=2, copies=1)
    assert line.chosen == 1 and line.null.shape == (1, 0) and "there is nothing to choose" in line.sentence


def look_dependent(v):
    return component_curve(v, 1, estimator=TangentPCA(model="tangent"), **QUICK).dependent


@pytest.mark.parametrize(("size", "width"), [(2, 0.05), (4, 0.0), (10, 0.2)])
def test_similar_rows_look_dependent(size, width):
    rng = np.random.default_rng(0)
    v = np.repeat(rng.standard_normal((100 // size, 5)), size, axis=0) + width * rng.standard_normal((100, 5))
    assert look_dependent(v)


@pytest.mark.parametrize("n", [8, 100, 400])
@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_clusters_and_tails_of_independent_rows_do_not_look_dependent(n, clusters):
    rng = np.random.default_rng(0)
    v = 3 * rng.standard_normal((clusters, 5))[rng.integers(clusters, size=n)] + rng.standard_normal((n, 5))
    assert not look_dependent(v)
    assert not look_dependent(v / np.sqrt(rng.chisquare(3, (n, 1)) / 3))
    assert not look_dependent(rng.exponential(size=(n, 1)) * v / np.linalg.norm(v, axis=1, keepdims=True))
