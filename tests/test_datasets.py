"""Generated data: distances and shapes are what the docstrings say."""

import numpy as np
import pytest

from horopca.datasets import make_hierarchy
from horopca.geometry import distance, radius, to_hyperboloid


@pytest.mark.parametrize(
    ("branching", "depth", "d", "step"), [(3, 4, 10, 1.5), (2, 6, 2, 4.0), (1, 3, 2, 0.1), (5, 1, 50, 9)]
)
def test_every_child_is_one_step_from_its_parent(branching, depth, d, step):
    tree = make_hierarchy(branching, depth, d, step=step, random_state=0)
    n = sum(branching**level for level in range(depth + 1))
    assert tree.points.shape == (n, d) and tree.parent.shape == (n,) and len(tree.labels) == n
    x = to_hyperboloid(tree.points)
    # a ball coordinate at radius r holds the point to about eps e^r
    assert np.allclose(distance(x[1:], x[tree.parent[1:]]), step, rtol=0, atol=1e-14 * np.exp(step * depth) + 1e-12)
    assert radius(x).max() <= step * depth * (1 + 1e-9)


def test_parents_and_labels_describe_one_tree():
    tree = make_hierarchy(3, 3, random_state=1)
    assert tree.parent[0] == -1 and not tree.points[0].any() and tree.labels[0] == "root"
    assert np.array_equal(np.bincount(tree.parent[1:]), np.full(13, 3))
    assert tree.labels[1:4] == ["branch 1", "branch 2", "branch 3"]
    below = [i for i in range(1, 40) if tree.parent[i] > 0]
    assert all(tree.labels[i] == tree.labels[tree.parent[i]] for i in below)
    assert np.array_equal(tree.edges, [[tree.parent[i], i] for i in range(1, 40)])


def test_children_head_away_from_the_root():
    x = to_hyperboloid((tree := make_hierarchy(3, 4, random_state=2)).points)
    assert (radius(x)[1:] > radius(x)[tree.parent[1:]]).mean() > 0.9


def test_no_spread_draws_straight_rays():
    tree = make_hierarchy(2, 3, 3, spread=0.0, random_state=0)
    x = to_hyperboloid(tree.points)
    assert np.allclose(radius(x)[7:], 3.0)


def test_the_seed_decides():
    same, again, other = (make_hierarchy(random_state=seed).points for seed in (0, 0, 1))
    assert np.array_equal(same, again) and not np.allclose(same, other)
    assert make_hierarchy(random_state=np.random.default_rng(0)).points.shape == same.shape


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"branching": 0}, "branching must be at least 1"),
        ({"depth": 0}, "depth must be at least 1"),
        ({"n_features": 1}, "n_features must be at least 2"),
        ({"step": 0.0}, "step must be a positive distance"),
        ({"step": float("nan")}, "step must be a positive distance"),
        ({"spread": -1.0}, "spread must be 0 or more"),
        ({"step": 10.0}, "at most 30"),
    ],
)
def test_impossible_trees_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_hierarchy(**options)
