"""The search for geodesic submanifolds: never below what one can list, and honest about how it ended."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud
from horopca._optimize.multi_start import SearchOptions
from horopca._optimize.objectives import as_sample
from horopca._optimize.result import Ending
from horopca._optimize.submanifolds import (
    mean_over_points,
    nested_frame,
    search_bsa,
    search_pga,
    space_form_pca,
    squared_distance_to,
    submanifold_objective,
)
from horopca.geometry import lift

OPTIONS = SearchOptions(4, 0, 300, 1e-9)
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


@pytest.mark.parametrize("goal", ["variance", "residual"])
@pytest.mark.parametrize("sample", [on_a_clip(), as_sample(cloud(60, 4))], ids=["clip", "cloud"])
def test_never_below_the_direction_of_a_data_point(sample, goal):
    objective = submanifold_objective(sample, goal)
    listed = objective(np.stack(through_each_point(sample)))[0].max()
    for greedy in (False, True):
        found = search_pga(sample, 1, goal, greedy, OPTIONS, RNG(0))
        assert objective(found.bases[0][None])[0][0] >= listed * (1 - 1e-12)
        assert found.status.converged


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("sample", [on_a_clip(), as_sample(cloud(60, 4))], ids=["clip", "cloud"])
def test_the_last_submanifold_is_never_farther_than_the_eigen_solution(sample, K):
    found, through = (search_bsa(sample, K, anchored, True, OPTIONS, RNG(0)).bases[-1] for anchored in (False, True))
    eigen = [space_form_pca(sample, K, False, power) for power in (0.0, 0.5, 1.0)]
    near, *others = mean_over_points(sample, np.stack([found, through, *eigen]), squared_distance_to)[0]
    assert near <= min(others) * (1 + 1e-6)


def test_the_eigen_solution_has_the_least_sum_of_squared_sinh():
    sample = as_sample(cloud(50, 3, seed=2))
    square = lambda q, B, t: (q, np.ones_like(q))  # sinh^2 of the distance, and its derivative
    A = RNG(0).standard_normal((200, 3, 4)) * 0.7
    A[:, 0, 0] = 2 + abs(A[:, 0, 0])
    best = mean_over_points(sample, space_form_pca(sample, 2, False, 0.0)[None], square)[0]
    assert (best <= mean_over_points(sample, A, square)[0] * (1 + 1e-9)).all()


@pytest.mark.parametrize("last", [False, True])
def test_nested_submanifolds_are_nested(last):
    sample = as_sample(cloud(40, 4, seed=1))
    bases = search_bsa(sample, 3, False, last, OPTIONS, RNG(0)).bases
    frame = nested_frame(bases, through=False)
    J = np.diag([-1.0, 1, 1, 1, 1])
    assert np.allclose(frame @ J @ frame.T, np.diag([-1.0, 1, 1, 1]), atol=1e-8)
    for k, A in enumerate(bases, start=1):
        values = mean_over_points(sample, np.stack([A, frame[: k + 1]]), squared_distance_to)[0]
        assert values[1] == pytest.approx(values[0], rel=1e-6)


def test_a_greedy_search_has_converged_only_if_all_its_ascents_have():
    sample = as_sample(cloud(40, 4))
    assert search_pga(sample, 3, "variance", True, OPTIONS, RNG(0)).status.converged
    stopped = search_pga(sample, 3, "variance", True, OPTIONS._replace(max_iter=1, tol=1e-15), RNG(0))
    assert stopped.status.value == "stopped at max_iter"


def test_an_ending_of_several():
    good, bad = Ending(3, True, "converged"), Ending(3, False, "stopped")
    assert Ending.of_all([good, bad, good], "Raise it.") == Ending(9, False, "stopped", "Raise it.")
    assert Ending.of_all([good, good]) == Ending(6, True, "converged")
    assert Ending.of_all([]).converged
