"""The search for geodesic submanifolds: never below what one can list, and honest about how it ended."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud
from horopca._optimize.result import Ending
from horopca._optimize.sample import as_sample
from horopca._optimize.submanifold_search import (
    SubmanifoldOptions,
    nested_frame,
    search_flag,
    search_greedy,
    search_joint,
    search_last,
    space_form,
)
from horopca._optimize.submanifolds import distance_to, explained_objective, mean_over_points, spread_objective
from horopca.geometry import lift

OPTIONS = SubmanifoldOptions(4, 300, 1e-9)
RNG = np.random.default_rng


def on_a_clip(n: int = 60, d: int = 4, radius: float = 9.0):
    """Most points at one large radius, in clusters: the data that leaves narrow valleys."""
    rng = RNG(3)
    u = rng.standard_normal((n, d)) * [3, 2, 1, 1]
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return as_sample(lift(u * np.sinh(np.where(rng.uniform(size=n) < 0.8, radius, 3.0))[:, None]))


def through_each_point(sample):
    s = sample.columns[1:].T
    u = s / np.linalg.norm(s, axis=1, keepdims=True)
    return [np.concatenate([np.eye(1, sample.dimension + 1), np.pad(v[None], ((0, 0), (1, 0)))]) for v in u]


@pytest.mark.parametrize(
    ("goal", "objective"), [("variance", spread_objective), ("residual", explained_objective)], ids=["variance", "residual"]
)
@pytest.mark.parametrize("sample", [on_a_clip(), as_sample(cloud(60, 4))], ids=["clip", "cloud"])
def test_never_below_the_direction_of_a_data_point(sample, goal, objective):
    listed = max(objective(sample)(A)[0] for A in through_each_point(sample))
    for search in (search_joint, search_greedy):
        found = search(sample, 1, goal, OPTIONS, RNG(0))
        assert objective(sample)(found.bases[0])[0] >= listed * (1 - 1e-12)
        assert found.ending.converged


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("sample", [on_a_clip(), as_sample(cloud(60, 4))], ids=["clip", "cloud"])
def test_the_last_submanifold_is_never_farther_than_the_eigen_solution(sample, K):
    found = search_last(sample, K, False, OPTIONS, RNG(0))
    near = mean_over_points(sample, found.bases[-1], distance_to)[0]
    for power in (0.0, 0.5, 1.0):
        assert near <= mean_over_points(sample, space_form(sample, K, False, power), distance_to)[0] * (1 + 1e-9)
    through = search_last(sample, K, True, OPTIONS, RNG(0))
    assert near <= mean_over_points(sample, through.bases[-1], distance_to)[0] * (1 + 1e-6)


def test_the_eigen_solution_has_the_least_sum_of_squared_sinh():
    sample = as_sample(cloud(50, 3, seed=2))
    square = lambda q, B, t: (q, np.ones_like(q))  # sinh^2 of the distance, and its derivative
    best = mean_over_points(sample, space_form(sample, 2, False, 0.0), square)[0]
    for seed in range(200):
        A = RNG(seed).standard_normal((3, 4)) * 0.7
        A[0, 0] = 2 + abs(A[0, 0])
        assert best <= mean_over_points(sample, A, square)[0] * (1 + 1e-9)


@pytest.mark.parametrize("search", [search_flag, search_last])
def test_nested_submanifolds_are_nested(search):
    sample = as_sample(cloud(40, 4, seed=1))
    bases = search(sample, 3, False, OPTIONS, RNG(0)).bases
    frame = nested_frame(bases, 1)
    J = np.diag([-1.0, 1, 1, 1, 1])
    assert np.allclose(frame @ J @ frame.T, np.diag([-1.0, 1, 1, 1]), atol=1e-8)
    for k, A in enumerate(bases, start=1):
        values = [mean_over_points(sample, B, distance_to)[0] for B in (A, frame[: k + 1])]
        assert values[1] == pytest.approx(values[0], rel=1e-6)


def test_a_greedy_search_has_converged_only_if_all_its_ascents_have():
    sample = as_sample(cloud(40, 4))
    assert search_greedy(sample, 3, "variance", OPTIONS, RNG(0)).ending.converged
    stopped = search_greedy(sample, 3, "variance", OPTIONS._replace(max_iter=1, tol=1e-15), RNG(0)).ending
    assert not stopped.converged and stopped.status == "stopped at max_iter"


def test_an_ending_of_several():
    good, bad = Ending(3, True, "converged"), Ending(3, False, "stopped")
    assert Ending.of_all([good, bad, good], "Raise it.") == Ending(9, False, "stopped", "Raise it.")
    assert Ending.of_all([good, good]) == Ending(6, True, "converged")
    assert Ending.of_all([]).converged
