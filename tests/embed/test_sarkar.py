"""Sarkar's construction: directions, lengths, scales and errors."""

import networkx as nx
import numpy as np
import pytest

from horopca.datasets import balanced_tree, random_tree
from horopca.embed import SarkarEmbedding
from horopca.embed.sarkar import spread_directions
from horopca.geometry import distance, radius, to_hyperboloid, translate_to_origin
from horopca.geometry._arrays import unit

TREE = balanced_tree(3, 3)


@pytest.mark.parametrize(
    ("count", "d", "degrees"),
    [
        *((count, d, np.degrees(np.arccos(-1 / (count - 1)))) for count, d in ((2, 5), (4, 3), (6, 10), (11, 10))),
        *((5, 2, 72), (5, 3, 90), (6, 3, 90), (15, 10, 89.8), (12, 3, 63.43), (24, 4, 57)),
    ],
)
def test_directions_have_the_best_known_angle(count, d, degrees):
    """A regular simplex up to d + 1 directions, 90 degrees up to 2d (Rankin), the icosahedron for 12 in space, near the 60 of
    the 24-cell for 24 in R^4."""
    V = spread_directions(count, d)
    assert np.allclose(np.linalg.norm(V, axis=1), 1)
    cosines = V @ V.T - 2 * np.eye(count)
    assert np.degrees(np.arccos(cosines.max())) > degrees - 0.05  # the search by repulsion ends there


def test_binary_trees_are_not_kept_in_a_plane():
    """Three directions around a node lie in a plane: ten dimensions must not be two of them."""
    found = SarkarEmbedding(10, scale=0.5, max_radius=None).fit(balanced_tree(2, 6).parent)
    shares = np.linalg.svd(found.embedding_, compute_uv=False)
    assert shares[9] > 1e-3 * shares[0]  # in a plane the third is rounding already


@pytest.mark.parametrize("d", [2, 3, 10])
def test_around_every_node_the_neighbours_are_spread_as_evenly_as_their_number_allows(d):
    parent = random_tree(60, kind="preferential", random_state=3).parent
    found = SarkarEmbedding(d, scale=0.8, model="lorentz", max_radius=None).fit(parent)
    for node, x in enumerate(found.embedding_):
        around = found.embedding_[(parent == node) | (np.arange(60) == parent[node])]
        V, best = unit(translate_to_origin(around, x)[:, 1:]), spread_directions(len(around), d)
        assert np.allclose(np.sort((V @ V.T).ravel()), np.sort((best @ best.T).ravel()), atol=1e-6)


@pytest.mark.parametrize(("d", "model"), [(2, "poincare"), (7, "lorentz")])
def test_every_edge_has_its_length(d, model):
    rng = np.random.default_rng(0)
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, rng.uniform(0.5, 2)) for u, v in random_tree(50, random_state=0).edges.tolist())
    sarkar = SarkarEmbedding(d, scale=0.7, max_radius=None, model=model, root=0).fit(graph)
    rows = {name: i for i, name in enumerate(sarkar.names_)}
    x = to_hyperboloid(sarkar.embedding_, model)
    assert np.allclose(radius(x[rows[0]]), 0)
    for u, v, w in graph.edges(data="weight"):
        # coordinates of the ball are precise to about eps e^r at radius r
        assert np.isclose(distance(x[rows[u]], x[rows[v]]), 0.7 * w, atol=1e-14 * np.exp(radius(x).max()) + 1e-9)


def test_distances_tend_to_those_of_the_tree():
    """The error of Sarkar's construction is bounded in distance, so it falls as 1 / scale relative to it."""
    errors = [
        SarkarEmbedding(3, scale=scale, model="lorentz", max_radius=None).fit(TREE.parent).distortion_
        for scale in (2.0, 4.0, 8.0)
    ]
    assert errors[0] > 1.8 * errors[1] > 3.4 * errors[2] and errors[2] < 0.01


def test_no_other_scale_is_better():
    best = SarkarEmbedding(2, max_radius=None).fit(TREE.parent)
    for factor in (0.3, 0.6, 0.9):
        other = SarkarEmbedding(2, scale=best.scale_ * factor, max_radius=None).fit(TREE.parent)
        assert best.distortion_ < min(other.distortion_, 0.0121)


def test_equal_directions_are_not_reflected():
    """All branchings of a binary tree are alike; a direction spoilt by rounding had increased the distortion threefold."""
    tree = balanced_tree(2, 7).parent
    disk, hyperboloid = (SarkarEmbedding(2, max_radius=None, model=model).fit(tree) for model in ("poincare", "lorentz"))
    assert disk.distortion_ < 0.0035 and hyperboloid.distortion_ < 0.003


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_the_unit_of_lengths_changes_the_scale_alone(unit):
    edges = random_tree(30, random_state=0).edges.tolist()
    first = SarkarEmbedding(2).fit([(u, v, 1.0) for u, v in edges])
    other = SarkarEmbedding(2).fit([(u, v, unit) for u, v in edges])
    # near the best scale, rounding in the ball matters: scales within 3 % are as good
    assert np.isclose(other.scale_ * unit, first.scale_, rtol=0.03)
    assert np.isclose(other.distortion_, first.distortion_, rtol=0.03)


def test_rejects_scales_beyond_the_largest_radius():
    assert SarkarEmbedding(3, scale=16.0, model="lorentz", max_radius=None).fit(TREE.parent).distortion_ < 0.005
    with pytest.raises(ValueError, match=r"radius 47.\d*, but max_radius is 34 in the model 'poincare'"):
        SarkarEmbedding(3, scale=16.0, max_radius=None).fit(TREE.parent)
    with pytest.raises(ValueError, match=r"scale 1.5 puts .* at radius 150, but max_radius is 12 .* at most about 0.12"):
        SarkarEmbedding(2, scale=1.5, curvature=-4.0).fit(nx.path_graph(101))


def test_graphs_with_circles_are_embedded_through_a_spanning_tree():
    sarkar = SarkarEmbedding(5).fit(nx.karate_club_graph())
    x = to_hyperboloid(sarkar.embedding_)
    edges = [(i, p) for i, p in enumerate(sarkar.parent_) if p >= 0]
    assert len(edges) == 33 and nx.is_tree(nx.Graph(edges))
    assert all(nx.karate_club_graph().has_edge(u, v) for u, v in edges)
    assert sarkar.distortion_ < 0.6 and np.isfinite(x).all()
