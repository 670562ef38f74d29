"""An objective at many spines at once: each has the value and the gradient that it has alone."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud
from horopca._objectives import many
from horopca._objectives.many import over_many, split_many
from horopca._objectives.measures import PAIR_VARIANCE
from horopca._objectives.objectives import OBJECTIVES, Goal, Term
from horopca._objectives.pairs import AllPairs, Shifts, some_offsets
from horopca._objectives.profiles import SQUARE
from horopca._objectives.sample import as_sample


@pytest.mark.parametrize("objective", ["variance", "distortion", "stretch", "robust"])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_many_spines_at_once_are_each_alone(objective, K):
    x, rng = cloud(90, 5, radius=4.0, seed=2), np.random.default_rng(0)
    x[:20] = x[0]  # some coincide
    sample = as_sample(x)
    bases = rng.standard_normal((7, K, 7 if objective == "stretch" else 6)) / 2
    at = over_many(sample, objective, 6, 0.05, np.random.default_rng(3))
    values, gradients = at(bases)
    alone = OBJECTIVES[objective].over(sample, Shifts(90, some_offsets(90, 6, np.random.default_rng(3))), 0.05)
    for A, value, G in zip(bases, values, gradients, strict=True):
        expected, expected_G = alone(A)
        assert np.isclose(value, expected, rtol=1e-10)
        assert np.allclose(G, expected_G, rtol=1e-8, atol=1e-9 * np.abs(expected_G).max())
    only, none = at(bases, gradient=False)
    assert np.array_equal(only, values) and none.shape == bases.shape and not none.any()


def test_a_row_more_in_the_table_is_searched_as_it_says(monkeypatch):
    """A mean over the pairs that are counted, of a single component too: only the variance has a closed form there."""
    monkeypatch.setitem(OBJECTIVES, "another", Goal(lambda *_: Term(SQUARE, 3.0), PAIR_VARIANCE))
    test_many_spines_at_once_are_each_alone("another", 1)


@pytest.mark.parametrize("objective", ["variance", "distortion"])
def test_blocks_of_spines_change_nothing(objective, monkeypatch):
    sample, bases = as_sample(cloud(30, 4)), np.random.default_rng(0).standard_normal((7, 2, 5))
    whole = over_many(sample, objective, 4, 0.0, np.random.default_rng(1))(bases)
    monkeypatch.setattr(many, "BLOCK", 60)
    parts = over_many(sample, objective, 4, 0.0, np.random.default_rng(1))(bases)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)


def test_two_points_are_one_pair_and_coincident_ones_have_no_distortion():
    A = np.random.default_rng(0).standard_normal((1, 2, 4))
    x = cloud(2, 3)
    rng = np.random.default_rng(0)
    value, _ = over_many(as_sample(x), "variance", 3, 0.0, rng)(A)
    assert value[0] == pytest.approx(OBJECTIVES["variance"].over(as_sample(x), AllPairs(2), 0.0)(A[0])[0], rel=1e-12)
    doubled = as_sample(np.repeat(cloud(8, 3), 2, axis=0))
    offsets = some_offsets(16, 5, np.random.default_rng(2))
    assert 1 in offsets  # and so eight of the pairs coincide
    value, _ = over_many(doubled, "distortion", 5, 0.0, np.random.default_rng(2))(A)
    alone = OBJECTIVES["distortion"].over(doubled, Shifts(16, offsets), 0.0)(A[0])[0]
    assert value[0] == pytest.approx(alone, rel=1e-10)


def test_a_spine_that_overflows_is_told_by_its_value_and_harms_no_other():
    sample, bases = as_sample(cloud(20, 3)), np.random.default_rng(0).standard_normal((3, 2, 4))
    at = over_many(sample, "variance", 4, 0.0, np.random.default_rng(1))
    values, gradients = at(bases)
    bases[1, 0] = np.nan
    found, slopes = at(bases)
    assert found[1] == -np.inf and not slopes[1].any()
    assert np.array_equal(found[[0, 2]], values[[0, 2]]) and np.array_equal(slopes[[0, 2]], gradients[[0, 2]])


@pytest.mark.parametrize("K", [1, 2, 3])
def test_many_bases_are_split_as_one_is(K):
    A = np.random.default_rng(K).standard_normal((6, K, 5))
    A[0, :, 0], A[1, 0, 0] = 0.0, -abs(A[1, 0, 0])  # without time, and with the first row's time negative
    A[2:4, :, 0], A[2:4, 0, 0] = 4e-9, [0.5, -0.5]  # or nearly all of it in the first row
    V, g = split_many(A)
    J = np.diag([-1.0, 1, 1, 1, 1])
    for k in range(6):
        assert np.linalg.matrix_rank(np.concatenate([A[k], V[k]]), tol=1e-12) == K  # the same span
        np.testing.assert_allclose(V[k, 1:] @ V[k].T, np.eye(K)[1:], atol=1e-12)
        assert np.linalg.norm(V[k, 0]) == pytest.approx(1) and V[k, 0, 0] >= 0 and not V[k, 1:, 0].any()
        assert g[k, 0] == pytest.approx(V[k, 0] @ J @ V[k, 0], abs=1e-12)


def test_ratios_of_distances_have_many_optima():
    assert [name for name, goal in OBJECTIVES.items() if goal.rugged] == ["distortion", "stretch"]
