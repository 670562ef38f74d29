"""Samples: what is seen of points along some axes, products that keep their digits, an order that nothing changes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from clouds import cloud, rotation, turned
from horopca._objectives.frechet import frechet_objective, mean_of_images, on_hyperboloid, squares_from
from horopca._objectives.objectives import OBJECTIVES
from horopca._objectives.pairs import AllPairs, Shifts
from horopca._objectives.sample import Sample, as_sample, pole_product
from horopca.geometry import distance, lift, to_hyperboloid
from horopca.projections import slide, spine_from_basis
from horopca.statistics import frechet_mean


def test_what_a_sample_says_of_itself():
    x = cloud(9, 4)
    sample = as_sample(x)
    assert (sample.size, sample.dimension) == (9, 4) and np.array_equal(sample.points(), x)
    np.testing.assert_allclose(sample.floor, x[:, 0] - np.linalg.norm(x[:, 1:], axis=1), rtol=1e-12)
    M, W = np.random.default_rng(0).standard_normal((2, 5)), np.random.default_rng(1).standard_normal((3, 9))
    np.testing.assert_allclose(sample.products(M), M @ x.T)
    np.testing.assert_allclose(sample.gather(W), W @ x)
    few = sample.first_axes(2)
    for part, rows in ((sample.head(4), [0, 1, 2, 3]), (sample.take(np.array([7, 2])), [7, 2])):
        assert part.whole is None and np.array_equal(part.points(), x[rows]) and np.array_equal(part.floor, sample.floor[rows])
    for part, rows in ((few.head(4), [0, 1, 2, 3]), (few.take(np.array([7, 2])), [7, 2])):
        assert np.array_equal(part.points(), x[rows]) and np.array_equal(part.columns, few.columns[:, rows])
    moved = few.beside(x.astype(np.float32))
    assert all(a.dtype == np.float64 and np.array_equal(a, b) for a, b in zip(moved[:3], few[:3], strict=True))
    known = sample._replace(reach=3.0)  # goes with the points, whatever is seen of them
    parts = known.head(4), known.take(np.array([1])), known.first_axes(2), known.along(np.eye(4)[:, :2]), known.beside(x)
    assert [part.reach for part in parts] == [3.0] * 5
    assert sample.beside(x).whole is None


def test_directions_are_units_and_a_point_at_the_origin_has_one():
    found = as_sample(lift(np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.3, 0.0, -0.4]]))).directions()
    np.testing.assert_allclose(found, [[1, 0, 0], [0, 1, 0], [0.6, 0, -0.8]])


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["variance", "distortion", "frechet", "robust"])
def test_spines_along_some_axes_see_no_others(m, name):
    """The objective of a spine inside them is that of the whole sample, in fewer coordinates."""
    sample, Q = as_sample(cloud(20, 4)), rotation(4)[:, :m]
    A = np.random.default_rng(0).standard_normal((2, m + 1)) if m > 1 else np.array([[0.3, 1.0]])
    over = lambda some, A: OBJECTIVES[name].over(some, AllPairs(20), 0.0)(A)
    cases = [(sample.first_axes(m), np.pad(A, ((0, 0), (0, 4 - m)))), (sample.along(Q), np.c_[A[:, :1], A[:, 1:] @ Q.T])]
    for seen, whole in cases:
        assert seen.dimension == m and np.array_equal(seen.points(), sample.points())
        assert over(seen, A)[0] == pytest.approx(over(sample, whole)[0], rel=1e-9)
        s = seen.columns[1:]
        np.testing.assert_allclose(seen.floor, seen.columns[0] - np.linalg.norm(s, axis=0), rtol=1e-9)
    assert sample.first_axes(4) is sample and sample.first_axes(5) is sample


def test_the_order_of_points_is_theirs_and_not_that_of_the_rows():
    x = cloud(40, 3)
    sample, shuffle = as_sample(x), np.random.default_rng(1).permutation(40)
    order = sample.order()
    assert sorted(order) == list(range(40))
    assert np.array_equal(as_sample(x[shuffle]).points()[as_sample(x[shuffle]).order()], x[order])
    along = 0.5 ** np.arange(3) @ x[order, 1:].T
    assert abs(np.corrcoef(along, np.arange(40))[0, 1]) < 0.4  # it looks random


@pytest.mark.parametrize("length", [0.0, 0.5, 1.0, 2.0])
def test_products_with_a_pole_keep_their_digits(length):
    """v0 t - s.w of points up to radius 14, some of them in the direction of w: against 60 digits."""
    r = np.array([0.0, 1.0, 7.0, 14.0, 14.0])
    u = np.array([[1.0, 0, 0], [0.6, 0.8, 0], [0, 0.6, -0.8], [0.6, 0.8, 0], [-0.6, -0.8, 0]])
    x, w = lift(np.sinh(r)[:, None] * u), length * np.array([0.6, 0.8, 0.0])
    found = pole_product(x, as_sample(x).floor, 1.0, w)
    with mpmath.workdps(60):
        for c, point in zip(found, x, strict=True):
            s = [mpmath.mpf(v) for v in point[1:]]
            true = mpmath.sqrt(1 + sum(v * v for v in s)) - sum(a * mpmath.mpf(b) for a, b in zip(s, w, strict=True))
            # w is the direction of s to a rounding, which is worth |s| 2^-53 there; elsewhere no digit is lost
            assert abs(c - true) <= 1e-13 * abs(true) + 1e-9 * length
    plain = Sample(*as_sample(x)[:2]).sharpened(x[:, 0] - x[:, 1:] @ w, 1.0, w)
    np.testing.assert_allclose(plain, found, rtol=1e-6)


def test_only_a_product_that_has_lost_its_digits_is_taken_another_way():
    sample = as_sample(cloud(20, 3))
    c = sample.products(np.array([[1.0, -0.5, 0, 0]]))[0]
    assert sample.sharpened(c, 1.0, np.array([0.5, 0, 0])) is c
    lost = np.where(np.arange(20) == 3, 0.0, c)
    np.testing.assert_allclose(sample.sharpened(lost, 1.0, np.array([0.5, 0, 0])), c, rtol=1e-12)


# ---- the variance about the mean


@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_variance_about_the_mean_is_that_of_the_images(K):
    x, A = cloud(40, 4), np.random.default_rng(K).standard_normal((K, 5))
    f, images = frechet_objective(as_sample(x), AllPairs(40)), to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    value, gradient = f(A)
    assert value == pytest.approx(frechet_mean(images).variance, rel=1e-9)
    step = np.random.default_rng(9).standard_normal(A.shape)
    slope = (f(A + 1e-5 * step)[0] - f(A - 1e-5 * step)[0]) / 2e-5
    assert np.sum(gradient * step) == pytest.approx(slope, rel=1e-6)
    assert f(A)[0] == pytest.approx(value, rel=1e-12)  # from the mean before


@pytest.mark.parametrize("K", [1, 3])
def test_squares_from_a_point_are_its_distances(K):
    rng = np.random.default_rng(K)
    y, point = np.concatenate([rng.standard_normal((K - 1, 12)), rng.uniform(0.3, 3, (1, 12))]), cloud(1, K, seed=4)[0]
    total = lambda y: np.sum(distance(on_hyperboloid(y[:-1], y[-1]), point) ** 2)
    value, g_beta, g_eta = squares_from(y[:-1], y[-1], point)
    assert value == pytest.approx(total(y), rel=1e-12)
    slopes = [(total(y + e) - total(y - e)) / 2e-6 for e in 1e-6 * np.eye(y.size).reshape(-1, *y.shape)]
    np.testing.assert_allclose(np.concatenate([g_beta, g_eta[None]]), np.reshape(slopes, y.shape), atol=1e-7)
    mean = mean_of_images(y[:-1], y[-1])
    assert squares_from(y[:-1], y[-1], mean)[0] <= value
    np.testing.assert_allclose(mean, mean_of_images(y[:-1], y[-1], start=point), atol=1e-7)


# ---- true distances


def test_distances_that_are_not_kept_are_those_that_are(monkeypatch):
    sample, A = as_sample(np.repeat(cloud(12, 3), 2, axis=0)), np.random.default_rng(0).standard_normal((2, 4))
    sets = (Shifts(24, (1, 5)), AllPairs(24))
    before = [OBJECTIVES["distortion"].over(sample, pairs)(A) for pairs in sets]
    monkeypatch.setattr("horopca._objectives.objectives.KEPT_SQUARE", 23)
    monkeypatch.setattr("horopca._objectives.pairs.BLOCK_PAIRS", 40)
    for pairs, (kept, g_kept) in zip(sets, before, strict=True):
        value, gradient = OBJECTIVES["distortion"].over(sample, pairs)(A)
        assert value == pytest.approx(kept, rel=1e-12)
        np.testing.assert_allclose(gradient, g_kept, rtol=1e-9, atol=1e-12)
    images = to_hyperboloid(slide(sample.points(), spine_from_basis(A)), "halfspace")
    i, j = np.triu_indices(24, 1)
    d = distance(sample.points()[i], sample.points()[j])
    apart = d > 0
    assert value == pytest.approx(np.mean(distance(images[i], images[j])[apart] / d[apart]), rel=1e-9)
    turn = rotation(3, seed=2)
    moved = OBJECTIVES["distortion"].over(as_sample(turned(sample.points(), turn)), AllPairs(24))(
        np.c_[A[:, :1], A[:, 1:] @ turn.T]
    )[0]
    assert moved == pytest.approx(value, rel=1e-9)
