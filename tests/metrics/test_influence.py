"""Points one by one: each number against its definition, the leverage against fits without the point."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from clouds import clusters
from horopca import HoroPCA, TangentPCA, metrics
from horopca._objectives.objectives import OBJECTIVES, SHARPEST
from horopca._objectives.pairs import AllPairs
from horopca._objectives.sample import as_sample
from horopca._search.climb import climb
from horopca._search.families import compose, family_at
from horopca._search.influence import Optimum, _pulls
from horopca.datasets import make_hierarchy
from horopca.geometry import distance, pairwise_distance, to_hyperboloid
from horopca.metrics import false_neighbours, inspect_points
from horopca.metrics import influence as report
from horopca.statistics import frechet_median

X = make_hierarchy(n_features=5, random_state=0).points
FITS = {
    "variance": {},
    "free": {"spine": "free"},
    "distortion": {"spine": "free", "objective": "distortion"},
    "frechet": {"objective": "frechet"},
    "robust": {"spine": "free", "objective": "robust"},
}


@pytest.fixture(scope="module", params=FITS)
def fitted(request):
    return HoroPCA(**{"n_components": 2, "n_init": 2} | FITS[request.param]).fit(X)


def optimum_of(fit, X):
    """The optimum of a fit, as the report has it."""
    frame, bases = fit._answer
    sample = OBJECTIVES[fit.objective_].prepared(as_sample(frame.enter(to_hyperboloid(X))))
    return Optimum(fit.objective_, sample, *family_at(bases[-1], fit.spine == "free"), len(X))


def changed_without(optimum, left_out):
    """How much distances in the picture of all points change if the climb goes on without some of them."""
    rest = optimum.sample.take(np.setdiff1d(np.arange(optimum.sample.size), left_out))
    objective = OBJECTIVES[optimum.name].over(rest, AllPairs(rest.size), SHARPEST)
    theta = climb(compose(objective, optimum.family), optimum.theta, max_iter=200, tol=1e-14).point
    pictures = (optimum.slid(optimum.sample, at) for at in (optimum.theta, theta))
    before, after = (pairwise_distance(to_hyperboloid(y.T, "halfspace")) for y in pictures)
    return np.sqrt(np.mean((after - before) ** 2) / np.mean(before**2))


def test_leverage_is_what_fits_without_the_point_say(fitted):
    """For the most influential points and some others: the size to within a third, and the order."""
    optimum = optimum_of(fitted, X)
    found = inspect_points(fitted, X)
    assert found.note == "" and not found.leverage_error.any()
    some = np.argsort(-found.leverage)[[0, 3, 12, 30, 60, 90]]
    true = [changed_without(optimum, [k]) for k in some]
    np.testing.assert_allclose(found.leverage[some], true, rtol=0.33)
    assert np.corrcoef(found.leverage[some], true)[0, 1] > 0.98


def test_pulls_cancel_at_the_optimum_and_add_up_to_the_gradient_elsewhere():
    """Each pair pulls at both its points: the mean of all pulls is the gradient over pairs, times (n - 1) / n."""
    fit = HoroPCA(2, n_init=2).fit(X)
    optimum = optimum_of(fit, X)
    for name in ("variance", "distortion", "robust"):
        term = OBJECTIVES[name].term(optimum.sample, SHARPEST)
        away = optimum._replace(name=name, theta=optimum.theta + 0.1)
        pulls, apart = _pulls(term, away, optimum.sample, optimum.sample)
        objective = compose(OBJECTIVES[name].over(optimum.sample, AllPairs(len(X)), SHARPEST), optimum.family)
        gradient = objective(away.theta)[1].ravel()
        np.testing.assert_allclose(pulls.mean(axis=0), gradient * (len(X) - 1) / len(X), atol=1e-6 * np.abs(gradient).max())
        assert apart == pytest.approx((len(X) - 1) / len(X) if term.distances else 1)


def test_a_weight_is_a_number_of_copies_here_too():
    """Of a point that is there three times, the leverage is that of all three; of one without weight there is none."""
    weights = np.r_[3, 0, np.ones(len(X) - 2, dtype=int)]
    for options in ({"spine": "free"}, {"spine": "free", "objective": "distortion"}):
        fit = HoroPCA(2, n_init=2, **options).fit(X, sample_weight=weights)
        found = inspect_points(fit, X, sample_weight=weights)
        optimum = optimum_of(fit, np.repeat(X, weights, axis=0))
        assert found.leverage[0] == pytest.approx(changed_without(optimum, [0, 1, 2]), rel=0.2)
        assert found.leverage[1] == 0 < found.leverage[2:].min()


def test_every_number_is_its_definition():
    fit = HoroPCA(2, n_init=2, curvature=-1.0).fit(X)
    found, Y, x = inspect_points(fit, X, n_neighbors=7), fit.transform(X), to_hyperboloid(X)
    before, after = pairwise_distance(x), pairwise_distance(to_hyperboloid(Y))
    off = ~np.eye(len(X), dtype=bool)
    change = np.abs(after[off] / before[off] - 1).reshape(len(X), -1).mean(axis=1)
    np.testing.assert_allclose(found.distortion, change, rtol=1e-9)
    assert found.distortion.mean() == pytest.approx(metrics.average_distortion(X, Y))
    near = false_neighbours(X, Y, n_neighbors=7)
    np.testing.assert_array_equal(found.neighbours_kept, near["kept"])
    np.testing.assert_allclose(found.false_neighbours, near["false"] / 7)
    far = distance(x, frechet_median(x).point)
    np.testing.assert_allclose(found.outlyingness, far / np.median(far))
    assert list(found.rows) == list(range(len(X)))


def test_the_curvature_and_the_model_change_no_number():
    plain = inspect_points(HoroPCA(2, n_init=1).fit(X), X)
    other = inspect_points(HoroPCA(2, n_init=1, curvature=-0.25).fit(2 * X), 2 * X)
    for name in ("distortion", "outlyingness", "leverage"):
        np.testing.assert_allclose(getattr(other, name), getattr(plain, name), rtol=1e-5, atol=1e-9)


def test_points_that_coincide_are_no_trouble():
    twice = np.repeat(X[:30], 2, axis=0)
    found = inspect_points(HoroPCA(2, n_init=2).fit(twice), twice)
    assert all(np.isfinite(part).all() for part in (found.distortion, found.leverage, found.outlyingness))
    np.testing.assert_allclose(found.leverage[::2], found.leverage[1::2], rtol=1e-6)


def test_a_row_far_out_is_found_and_said():
    far = np.r_[X, [[0, 0, 0, 0, 1 - 1e-9]]]
    found = inspect_points(HoroPCA(2, n_init=1, spine="free").fit(far), far)
    assert found.outlyingness.argmax() == len(X)
    frame = found.to_frame()
    assert list(frame.index) == list(range(len(far))) and frame.loc[len(X), "outlyingness"] == found.outlyingness[-1]
    top = found.most_influential(3)
    assert len(top) == 3 and found.leverage[top[0]] == found.leverage.max()
    said = str(found)
    assert said.startswith(f"All {len(far)} points were looked at. Mean distortion 0.")
    assert f"Without row {top[0]} distances in the picture would change by" in said


def test_some_points_among_many_and_a_leverage_from_a_sample(monkeypatch):
    many = clusters(300, 4)
    fit = HoroPCA(2, n_init=2, spine="free").fit(many)
    exact = inspect_points(fit, many)
    monkeypatch.setattr(report, "EXACT_POINTS", 200)
    monkeypatch.setattr(report, "SAMPLED_POINTS", 150)
    some = inspect_points(fit, many, n_points=50, random_state=3)
    assert len(set(some.rows)) == 50 and some.n_samples == 300 and "50 of 300 points were looked at." in str(some)
    assert " ± 0." in str(some)
    np.testing.assert_allclose(some.distortion, exact.distortion[some.rows], rtol=1e-12)
    assert (some.leverage_error > 0).all()
    off = np.abs(some.leverage - exact.leverage[some.rows])
    # the error is of the pulls; half of the points also bend the objective differently
    assert np.mean(off < 3 * some.leverage_error + 0.2 * exact.leverage[some.rows]) > 0.9


def test_without_a_leverage_it_says_why():
    found = inspect_points(TangentPCA(2).fit(X), X)
    assert found.leverage is None and "There is no leverage: it takes the objective of a HoroPCA" in str(found)
    assert "leverage" not in found.to_frame().columns
    with pytest.raises(ValueError, match="The most influential points are those of the largest leverage"):
        found.most_influential()
    fit = HoroPCA(2, n_init=2, strategy="greedy").fit(X)
    assert "each depends on those before it" in inspect_points(fit, X).note
    assert "the fit saw 121 points, and these are 100" in inspect_points(fit.set_params(strategy="joint"), X[:100]).note


def test_a_fit_that_does_not_end_on_a_peak_says_so():
    """Stopped after a step, the pulls do not cancel."""
    with pytest.warns(match="without converging"):
        fit = HoroPCA(2, n_init=1, max_iter=1).fit(X)
    fit._answer = fit._answer._replace(bases=[basis + 0.05 for basis in fit._answer.bases])
    assert "does not end on a smooth peak" in inspect_points(fit, X).note


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_neighbors": 60.5}, "n_neighbors must be a whole number"),
        ({"n_neighbors": 100}, "n_neighbors must be"),
        ({"n_points": 1}, "n_points must be"),
        ({"sample_weight": np.ones(3)}, "sample_weight must have one number for each of the 121 rows"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        inspect_points(TangentPCA(2).fit(X), X, **options)
    with pytest.raises(ValueError, match="count must be"):
        inspect_points(TangentPCA(2).fit(X), X).most_influential(0)


def test_other_models_are_refused():
    for model in (PCA(2).fit(X), "HoroPCA"):
        with pytest.raises(ValueError, match="model must be a reduction of this package, such as HoroPCA, but is"):
            inspect_points(model, X)


def test_points_outside_are_refused():
    fit = TangentPCA(2).fit(X)
    with pytest.raises(ValueError, match="X must lie inside the unit ball"):
        inspect_points(fit, 3 * X)
    for few in (1, 2):
        with pytest.raises(ValueError, match=f"at least 3 points to compare neighbours, but there are {few}"):
            inspect_points(fit, X[:few])
