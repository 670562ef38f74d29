"""Explained and total variance: over all pairs, over some, of a sample for all rows; and how far they may be off."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, directions
from horopca._objectives import variances
from horopca._objectives.variances import measured_variances, pair_variances, slid
from horopca.geometry import lift, pairwise_distance, to_hyperboloid
from horopca.projections import slide, spine_from_ideal_points

X = cloud(60, 4, seed=3)
SPINES = [spine_from_ideal_points(directions(2, 4)[:k]) for k in (1, 2)]
CLOUDS = [*(to_hyperboloid(slide(X, spine), "halfspace") for spine in SPINES), X]
ALL = [(pairwise_distance(y) ** 2).sum() / (60 * 59) for y in CLOUDS]  # of different points
rng = np.random.default_rng


def some(monkeypatch):
    monkeypatch.setattr(variances, "EXACT_ROWS", 59)


def test_few_points_are_counted_in_all_their_pairs(monkeypatch):
    values, counted = pair_variances(CLOUDS, rng(0), 10)
    np.testing.assert_allclose(values, ALL, rtol=1e-9)
    assert counted == np.inf
    monkeypatch.setattr(variances, "EXACT_ROWS", 60)
    monkeypatch.setattr(variances, "EXACT_PAIRS", 3 * 60 * 60)
    assert pair_variances(CLOUDS, rng(0), 10)[1] == np.inf
    monkeypatch.setattr(variances, "EXACT_PAIRS", 3 * 60 * 60 - 1)
    assert pair_variances(CLOUDS, rng(0), 10)[1] == 60


@pytest.mark.parametrize(("pairs", "shifts"), [(0, 1), (119, 1), (180, 3), (10**6, 29)])
def test_more_in_some_the_same_in_every_cloud(monkeypatch, pairs, shifts):
    some(monkeypatch)
    values, counted = pair_variances([X, X[:, :], *CLOUDS], rng(0), pairs)
    assert counted == 60 * shifts and values[0] == values[1] == values[-1]
    if shifts == 29:  # all but the pairs half way around
        rest = np.mean([pairwise_distance(X)[i, (i + 30) % 60] ** 2 for i in range(60)])
        assert (58 * values[0] + rest) / 59 == pytest.approx(ALL[-1], rel=1e-9)


def test_images_are_those_of_the_projection_next_to_the_pole_too():
    q = directions(2, 4)
    x = np.concatenate([X, lift(np.outer([1e6, 1e12], q[0]))])
    np.testing.assert_allclose(slid(x, SPINES[1]), to_hyperboloid(slide(x, SPINES[1]), "halfspace"), rtol=1e-6)


def test_all_rows_have_no_error_and_pairs_with_themselves():
    values, error = measured_variances(X, SPINES, rng(0), 60, None)
    np.testing.assert_allclose(values, np.array(ALL) * 59 / 60, rtol=1e-9)
    assert error == 0


def parts(y):
    """What a point brings to all its pairs, and what is left to a pair: longhand."""
    d = pairwise_distance(y) ** 2
    own = np.array([row.mean() for row in d]) - d.mean() / 2
    left = np.array([[d[i, j] - own[i] - own[j] for j in range(len(d))] for i in range(len(d))])
    return own.std(), left.std()


@pytest.mark.parametrize("seen", [60, 90, 10**6])
def test_the_error_of_a_sample_is_that_of_choosing_it_and_of_its_pairs(monkeypatch, seen):
    own, left = parts(CLOUDS[-2])
    choice = 2 * own * np.sqrt(1 / 60 - 1 / seen)
    values, error = measured_variances(X, SPINES, rng(0), seen, None)
    assert error == pytest.approx(choice, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(values, np.array(ALL) * (seen - 1) / seen, rtol=1e-9)
    some(monkeypatch)
    monkeypatch.setattr(variances, "REPORTED_PAIRS", 120)
    _, error = measured_variances(X, SPINES, rng(0), seen, None)
    assert error == pytest.approx(np.hypot(choice, left / np.sqrt(120)), rel=1e-9)


@pytest.mark.parametrize("seen", [120, 150])
def test_pairs_of_rows_and_sample_say_what_is_peculiar_to_it(seen, monkeypatch):
    kept, true, count = 1.1 * ALL[1], 0.9 * ALL[2], 500
    values, error = measured_variances(X, SPINES, rng(0), seen, (count, count * kept, count * true))
    share = (seen - 1) / seen
    assert values[-1] == pytest.approx((2 * true - ALL[2]) * share, rel=1e-9)
    assert values[1] == pytest.approx((2 * kept - ALL[1]) * share, rel=1e-9)
    assert values[0] == pytest.approx(ALL[0] * (2 * kept - ALL[1]) / ALL[1] * share, rel=1e-9)  # in proportion
    own, left = parts(CLOUDS[-2])
    half = seen / 60 % 1  # with 150 rows, half of the sample stands opposite one row more than the other half
    uneven = 2 * own * np.sqrt(half * (1 - half) / 60) * 60 / seen
    assert error == pytest.approx(np.hypot(2 * left / np.sqrt(count), uneven), rel=1e-9)
    some(monkeypatch)
    monkeypatch.setattr(variances, "REPORTED_PAIRS", 120)
    _, more = measured_variances(X, SPINES, rng(0), seen, (count, count * kept, count * true))
    assert more == pytest.approx(np.hypot(error, left / np.sqrt(120)), rel=1e-9)


def test_points_close_together_are_corrected_as_well():
    x = cloud(60, 4, radius=0.3)
    (_, kept, true), _ = measured_variances(x, SPINES, rng(0), 60, None)
    values, _ = measured_variances(x, SPINES, rng(0), 120, (10, 20 * kept, 20 * true))
    assert kept < 1 and values[1] == pytest.approx((4 * kept - kept * 60 / 59) * 119 / 120, rel=1e-9)


def test_one_point_many_times_has_no_variance():
    values, _ = measured_variances(np.repeat(X[:1], 5, axis=0), SPINES, rng(0), 50, (10, 0.0, 0.0))
    assert np.abs(values).max() < 1e-9
