"""How stable a fit is: laws of resampling, of the regions of images, and errors."""

import joblib
import numpy as np
import pytest

from horopca import EuclideanPCA, HoroPCA, HoroPCACV, TangentPCA
from horopca.geometry import from_hyperboloid, to_hyperboloid, translate
from horopca.metrics import bootstrap
from horopca.metrics.stability import stability_note


def planted(n=40, d=3, K=1, noise=0.2, seed=0):
    """Points of the ball about a submanifold through the origin."""
    v = np.random.default_rng(seed).standard_normal((n, d)) * np.where(np.arange(d) < K, 1.0, noise)
    return from_hyperboloid(to_hyperboloid(v, "tangent"))


def horo(X, K=1, **options):
    """A fit of HoroPCA from few starts."""
    return HoroPCA(K, spine="free", n_init=1, tol=1e-6, **options).fit(X)


def tangent(X, K=1, **options):
    """A fit in closed form, where it is not about the search."""
    return TangentPCA(K, **options).fit(X)


def same(a, b):
    """Whether two results are the same to the last bit."""
    left, right = ({**one._asdict(), "conclusion": 0, "coordinates": 0} for one in (a, b))
    return all(np.array_equal(left[name], right[name], equal_nan=True) for name in left)


@pytest.mark.filterwarnings("ignore:A worker stopped")  # by joblib, once a second if the memory of a worker has grown
@pytest.mark.parametrize(("backend", "fitted"), [("threading", horo), ("loky", tangent)])
def test_the_result_does_not_depend_on_the_number_of_jobs(backend, fitted):
    X = planted()
    model = fitted(X)
    steps = []
    alone = bootstrap(model, X, n_resamples=10, progress=lambda *step: steps.append(step))
    assert steps == [(k, 10) for k in range(1, 11)]
    with joblib.parallel_config(backend=backend):
        assert same(alone, bootstrap(model, X, n_resamples=10, n_jobs=2))
    assert not same(alone, bootstrap(model, X, n_resamples=10, random_state=1))


def test_resamples_of_one_point_alone_are_drawn_again():
    mostly = np.concatenate([planted(1).repeat(20, axis=0), planted(4, seed=2)])
    assert bootstrap(tangent(mostly), mostly, n_resamples=20).spread.shape == (24,)


def test_a_number_of_components_that_was_chosen_is_kept():
    X = planted(16, 2)
    model = HoroPCACV(1, cv=2, rule="one_se", copies=0, n_init=1, tol=1e-3).fit(X)
    found = bootstrap(model.set_params(cv="none"), X, n_resamples=10)  # no refit chooses again, which would raise an error
    assert np.array_equal(found.images, model.transform(X)) and found.angles.shape == (10, 1) and 0 < found.stability < 1


def test_regions_are_ellipses_of_the_tangent_space():
    X = planted(60, 3, 2)
    found, wider, narrower = (bootstrap(tangent(X, 2), X, n_resamples=12, level=level) for level in (0.9, 0.91, 0.89))
    axes, x = found.semi_axes(), to_hyperboloid(found.images)
    assert found.contains(found.images).all()
    for angle in (0.0, 1.0, 4.0):
        border = from_hyperboloid(translate(to_hyperboloid(axes @ [np.cos(angle), np.sin(angle)], "tangent"), x))
        assert wider.contains(border).all() and not narrower.contains(border).any()
    # the long axis is the deviation along it, times the quantile of the level: 2.15 of a normal distribution, more of 12 refits
    ratio = np.linalg.norm(axes, axis=1)[:, -1] / np.sqrt(np.linalg.eigvalsh(found.covariances)[:, -1])
    assert np.allclose(ratio, ratio[0]) and 2.1 < ratio[0] < 3.3
    with_time = to_hyperboloid(planted())
    found = bootstrap(tangent(with_time, model="lorentz"), with_time, n_resamples=10)
    assert found.semi_axes().shape == (40, 1, 1) and found.contains(found.images).all() and np.isnan(found.merged)


def test_what_is_planted_is_stable_and_what_is_not_is_not():
    found = [bootstrap(horo(X), X, n_resamples=10) for X in (planted(50, noise=0.1), planted(50, noise=1.0))]
    assert found[0].spread.mean() < found[1].spread.mean() / 3 and found[0].stability > 0.95 > found[1].stability
    assert found[1].angle_bounds[0] > 30 and "not stable" in found[1].conclusion
    line = planted(noise=0.0)
    still = bootstrap(tangent(line), line, n_resamples=10)
    assert still.stability > 1 - 1e-9 and still.spread.max() < 1e-6 and still.distance_change < 1e-6
    assert "the positions of most points are reliable" in still.conclusion and "half of that radius" not in still.conclusion
    vague = planted(40, 4, 0, noise=1.0)
    loose = bootstrap(tangent(vague, 2), vague, n_resamples=12)
    rows = loose.stable_points(0.5)
    assert (np.diff(loose.spread[rows]) >= 0).all() and len(loose.stable_points(1e9)) == 40
    assert f"Distances in the picture change by {loose.distance_change:.0%} on average" in loose.conclusion
    assert ("and are stable" in loose.conclusion) == (loose.distance_change <= 0.1)


def test_the_note_of_a_picture():
    X, labels = np.tile(planted(60, 4, 2, noise=0.01), (2, 1)), np.arange(120) % 3  # distances of 0 have no relative change
    note = stability_note(tangent(X, 2), X, labels)
    assert note.startswith("Changes in refits to random halves of the rows. Stable: distances between classes (")
    assert "distances within classes (" in note and "Not stable" not in note
    unlabelled = stability_note(tangent(X, 2), X, np.where(labels, None, ""))
    assert "Stable: distances (" in unlabelled
    noise = planted(60, 4, 4)
    assert "Not stable: distances (" in stability_note(tangent(noise, 2), noise)
    assert stability_note(tangent(X[:19], 2), X[:19]) is None


def test_groups_of_one_are_rows_and_copies_in_a_group_say_nothing_new():
    X = planted(30, noise=0.4)
    model = tangent(X)
    rows = bootstrap(model, X, n_resamples=20)
    assert same(rows, bootstrap(model, X, n_resamples=20, groups=np.arange(30)))
    copies = np.repeat(X, 4, axis=0)
    model = tangent(copies)
    naive = bootstrap(model, copies, n_resamples=20)
    honest = bootstrap(model, copies, n_resamples=20, groups=np.repeat(np.arange(30), 4))
    # copies divide the deviation by 2 if they count as rows, and not at all if they are drawn together
    assert honest.spread.mean() > 1.4 * naive.spread.mean()
    assert honest.spread.mean() == pytest.approx(rows.spread.mean(), rel=0.05)


def test_weights_and_other_reductions():
    X, weight = planted(), np.tile([1, 2], 20)
    model = HoroPCA(1, spine="free", n_init=1, tol=1e-6).fit(X, sample_weight=weight)
    found = bootstrap(model, X, n_resamples=10, sample_weight=weight)
    assert found.conclusion.startswith("Of 10 refits to bootstrap samples of 40 rows")
    with pytest.raises(ValueError, match="the sample_weight of the fit"):  # without it the mean is another
        bootstrap(model, X, n_resamples=10)
    weight = np.r_[np.ones(12), np.zeros(28)]
    found = bootstrap(model.fit(X, sample_weight=weight), X, n_resamples=10, sample_weight=weight)
    assert "samples of 12 rows" in found.conclusion
    for method in (TangentPCA(2), EuclideanPCA(1)):
        found = bootstrap(method.fit(X), X, n_resamples=10)
        assert found.angles.shape == (10, 0) and 0 <= found.stability <= 1 and "spine" not in found.conclusion


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "HoroPCA"}, "model must be a reduction of this package"),
        ({"model": HoroPCA(1)}, "not fitted yet"),
        ({"X": planted(19)}, "X must hold the 20 points that the model was fitted to, but has 19 rows"),
        ({"X": planted(20, seed=1)}, "X must hold the points that the model was fitted to, but has another mean"),
        ({"n_resamples": 3}, "n_resamples must be a whole number of at least 10, but is 3"),
        *(({"level": level}, "level must be a confidence between 0 and 1") for level in (0, 1, "high")),
        ({"groups": np.zeros(20)}, "groups must name at least 4 groups, but names 1"),
        ({"sample_weight": np.ones(3)}, "sample_weight must have one number for each of the 20 rows"),
        ({"model": tangent(planted(20)[[0] * 20]), "X": planted(20)[[0] * 20]}, "too few different points to resample"),
    ],
)
def test_invalid_arguments_raise(change, sentence):
    X = planted(20)
    with pytest.raises(ValueError, match=sentence):
        bootstrap(**{"model": horo(X), "X": X, "n_resamples": 10, **change})
