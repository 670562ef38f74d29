"""Means and variances: laws and limits."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, rotation, turned
from horopca.geometry import distance, lift, pairwise_distance, to_hyperboloid, translate, translate_to_origin
from horopca.geometry._arrays import to_numpy
from horopca.statistics import (
    frechet_mean,
    mean_relative_change,
    mean_square_distance,
    pair_distances,
    principal_axes,
    sampled_mean_square_distance,
    variance_about,
)


@pytest.mark.parametrize("radius", [0.5, 5.0, 12.0, 60.0])
def test_frechet_mean_is_a_minimum(radius):
    x = cloud(60, 4, radius=radius)
    mean = frechet_mean(x)
    assert mean.converged
    assert mean.n_iter < 30
    for step in np.random.default_rng(0).standard_normal((20, 4)) * 1e-2:
        assert variance_about(x, translate(lift(step), mean.point)) > mean.variance


@pytest.mark.parametrize("radius", [0.5, 5.0, 12.0])
def test_frechet_variance_is_at_most_half_the_pair_variance(radius):
    """Equal in flat space; a mean that has not converged breaks it."""
    x = cloud(60, 4, radius=radius)
    assert frechet_mean(x).variance <= mean_square_distance(x) / 2 * (1 + 1e-12)
    tiny = lift(1e-5 * np.random.default_rng(0).standard_normal((50, 3)))
    assert frechet_mean(tiny).variance == pytest.approx(mean_square_distance(tiny) / 2, rel=1e-8)


def test_frechet_mean_moves_with_the_data():
    x, m, Q = cloud(60, 4, radius=8), cloud(1, 4, seed=3)[0], rotation(4)
    moved = frechet_mean(translate(turned(x, Q), m))
    expected = translate(turned(frechet_mean(x).point[None], Q), m)[0]
    assert distance(moved.point, expected) < 1e-9


def test_frechet_mean_of_one_point_and_of_equal_points():
    x = cloud(1, 3)
    assert np.allclose(frechet_mean(x).point, x[0])
    same = frechet_mean(np.repeat(x, 7, axis=0))
    assert np.allclose(same.point, x[0])
    assert same.variance < 1e-20


def test_frechet_mean_says_when_it_did_not_converge():
    mean = frechet_mean(cloud(60, 4, radius=12), max_iter=1)
    assert not mean.converged
    assert mean.status == "stopped after 1 iterations"


def test_frechet_mean_from_a_far_start_takes_shorter_steps():
    """A full Newton step from radius 30 would overshoot; the variance must fall at every step all the same."""
    x = cloud(40, 3, radius=1)
    start = lift(np.sinh(30.0) * np.array([0.0, 0.6, 0.8]))
    mean = frechet_mean(x, start=start)
    assert mean.converged
    assert distance(mean.point, frechet_mean(x).point) < 1e-8


def test_pair_variance_is_the_papers_double_sum(monkeypatch):
    x = cloud(37, 3)
    double_sum = np.mean(pairwise_distance(x) ** 2)
    assert mean_square_distance(x) == pytest.approx(double_sum, rel=1e-13)
    monkeypatch.setattr("horopca.statistics.BLOCK_ELEMENTS", 100)
    assert len(list(pair_distances(x))) > 10
    assert mean_square_distance(x) == pytest.approx(double_sum, rel=1e-13)


def test_pair_variance_on_a_line_needs_no_pairs():
    x = lift(np.sinh(np.random.default_rng(0).normal(0, 3, 50))[:, None])
    assert np.isclose(mean_square_distance(x), np.mean(pairwise_distance(x) ** 2), rtol=1e-12)


def test_sampled_pair_variance_is_unbiased_within_its_error():
    x = cloud(400, 3)
    offsets = np.random.default_rng(0).choice(199, size=20, replace=False) + 1
    value, error = sampled_mean_square_distance(x, offsets)
    assert abs(value - mean_square_distance(x)) < 4 * error
    whole, _ = sampled_mean_square_distance(x[:399], range(1, 200))
    assert whole == pytest.approx(mean_square_distance(x[:399]), rel=1e-12)


def test_average_distortion_of_a_scaled_line():
    v = np.random.default_rng(0).uniform(-2, 2, size=(30, 1))
    x, y = (to_hyperboloid(s * v, "tangent") for s in (1.0, 0.7))
    assert mean_relative_change(x, y)[0] == pytest.approx(0.3)
    assert mean_relative_change(x, x) == (0.0, 0.0)


def test_average_distortion_leaves_out_coincident_pairs():
    x = cloud(20, 3)
    doubled = np.concatenate([x, x[:5]])
    value, _ = mean_relative_change(doubled, doubled[:, :3] @ np.eye(3))
    assert np.isfinite(value)


def test_principal_axes_turn_with_the_data():
    v = np.random.default_rng(0).standard_normal((300, 3)) * [3, 2, 1] + np.random.default_rng(1).exponential(size=(300, 3))
    x = to_hyperboloid(v, "tangent")
    x = translate_to_origin(x, frechet_mean(x).point)
    Q = rotation(3)
    axes, variances = principal_axes(x)
    turned_axes, turned_variances = principal_axes(turned(x, Q))
    assert np.allclose(variances, turned_variances)
    assert np.all(np.diff(variances) < 0)
    assert np.allclose(turned_axes, axes @ Q.T)


def test_principal_axes_point_where_the_third_moment_is_positive_not_to_the_farthest_point():
    a = np.array([3.0, 3, 3, 3, -4, -2, -2, -2, -2])  # sum 0; farthest at -4; sum of cubes 12
    axes, _ = principal_axes(to_hyperboloid(np.column_stack([a, 0.1 * np.sin(a)]), "tangent"))
    assert np.sum(a**3) > 0
    assert axes[0, 0] > 0.9
    mirrored, _ = principal_axes(to_hyperboloid(np.column_stack([-a, 0.1 * np.sin(a)]), "tangent"))
    assert mirrored[0, 0] < -0.9


def test_principal_axes_of_symmetric_data_point_to_the_farthest_point():
    a = np.array([1.0, 1, 1, 1, 1, 1, 1, 1, -2, -((8 - 8) ** (1 / 3))])  # sum of cubes 0, the farthest at -2
    assert np.sum(a**3) == 0
    axes, _ = principal_axes(to_hyperboloid(np.column_stack([a, 0 * a]), "tangent"))
    assert axes[0, 0] == -1


def test_every_array_library_has_the_same_mean(xp):
    x = cloud(50, 3)
    mean = frechet_mean(xp.asarray(x))
    assert isinstance(mean.point, type(xp.asarray(x)))
    assert np.allclose(to_numpy(mean.point), frechet_mean(x).point, atol=1e-12)
    assert mean_square_distance(xp.asarray(x)) == pytest.approx(mean_square_distance(x), rel=1e-12)
    assert np.allclose(principal_axes(xp.asarray(x))[0], principal_axes(x)[0])
