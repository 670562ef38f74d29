"""Explained and total variance: over all pairs, over some, of a sample for all rows; and their standard error."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, directions
from horopca.estimators.fitting import EXACT_ROWS
from horopca.estimators.horopca_fit import measured_variances, spine_images
from horopca.estimators.scores import MEASURES
from horopca.geometry import distance, pairwise_distance, to_hyperboloid
from horopca.projections import slide, spine_from_ideal_points
from horopca.statistics import frechet_mean

X, MANY = cloud(60, 4, seed=3), cloud(EXACT_ROWS + 1, 4, seed=4)
SPINES = [spine_from_ideal_points(directions(2, 4)[:k]) for k in (1, 2)]
CLOUDS = [*(to_hyperboloid(slide(X, spine), "halfspace") for spine in SPINES), X]
ALL = [(pairwise_distance(y) ** 2).sum() / (60 * 59) for y in CLOUDS]  # of different points
rng = np.random.default_rng


def test_all_rows_have_no_error_and_pairs_with_themselves():
    values, error = measured_variances(X, SPINES, rng(0), 60)
    np.testing.assert_allclose(values, np.array(ALL) * 59 / 60, rtol=1e-9)
    assert error == 0


@pytest.mark.parametrize("seen", [90, 10**6])
def test_the_error_of_a_sample_is_that_of_choosing_it(seen):
    own = np.array([row.mean() for row in pairwise_distance(CLOUDS[-2]) ** 2]).std()  # what a point brings to its pairs
    values, error = measured_variances(X, SPINES, rng(0), seen)
    assert error == pytest.approx(2 * own * np.sqrt(1 / 60 - 1 / seen), rel=1e-9)
    np.testing.assert_allclose(values, np.array(ALL) * (seen - 1) / seen, rtol=1e-9)


def test_the_error_of_some_pairs_is_the_spread_over_choices_of_pairs():
    estimates, errors = zip(*(measured_variances(MANY, SPINES, rng(seed), len(MANY)) for seed in range(12)), strict=True)
    exact = (pairwise_distance(spine_images(MANY, SPINES[1])) ** 2).mean()
    found = np.array(estimates)[:, 1]
    assert np.sqrt(np.mean((found - exact) ** 2)) < 2 * errors[0]  # offsets are consecutive: a few more of them are alike
    assert found.std() > errors[0] / 3


def test_whole_weights_are_copies():
    times = rng(1).integers(1, 4, size=60)
    weighted, error = measured_variances(X, SPINES, rng(0), 60, times.astype(float))
    copies, _ = measured_variances(np.repeat(X, times, axis=0), SPINES, rng(0), times.sum())
    np.testing.assert_allclose(weighted, copies, rtol=1e-9)
    assert error == 0


@pytest.mark.parametrize("offsets", [None, (1, 4, 7)])
def test_measures_are_those_of_the_pairs_that_are_counted(offsets):
    n, (x, y) = 20, (cloud(20, 4, seed=1), cloud(20, 2, seed=2))
    i, j = np.triu_indices(n, 1)
    if offsets:
        i, j = np.tile(np.arange(n), 3), np.add.outer(offsets, np.arange(n)).ravel() % n
    before, after = distance(x[i], x[j]), distance(y[i], y[j])
    values = {name: measure(x, y, offsets) for name, (measure, _) in MEASURES.items()}
    # the pairs of a point with itself are among the n^2
    assert values["variance"] == pytest.approx((n - 1) / n * np.mean(after**2), rel=1e-9)
    assert values["distortion"] == pytest.approx(-np.mean(np.abs(after / before - 1)), rel=1e-9)
    assert values["frechet"] == pytest.approx(np.mean(distance(y, frechet_mean(y).point) ** 2), rel=1e-9)
    reach = np.quantile(distance(x[:, None], x)[np.triu_indices(n, 1)], 0.25, method="inverted_cdf")
    assert values["robust"] == pytest.approx(np.mean(after**2 / (after**2 + reach**2)), rel=1e-9)
