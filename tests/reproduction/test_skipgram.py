"""The skip-gram baseline: walks follow edges, and communities separate."""

import networkx as nx
import numpy as np
import pytest

from horopca.embed.graphs import as_graph
from horopca.geometry import pairwise_distance, radius, to_hyperboloid

pytest.importorskip("torch")
from reproduction.skipgram import pairs_within, random_walks, skipgram


def test_walks_follow_edges():
    graph = as_graph(nx.karate_club_graph())
    walks = random_walks(graph.adjacency, 3, 12, np.random.default_rng(0))
    assert walks.shape == (102, 12) and np.array_equal(np.bincount(walks[:, 0]), np.full(34, 3))
    assert (graph.adjacency.toarray()[walks[:, :-1], walks[:, 1:]] > 0).all()


def test_all_pairs_within_a_window_are_listed():
    found = pairs_within(np.array([[5, 6, 7, 5]]), 2)
    ahead = [(5, 6), (6, 7), (7, 5), (5, 7), (6, 5)]
    assert sorted(map(tuple, found.tolist())) == sorted([*ahead, *((v, u) for u, v in ahead)])


@pytest.mark.parametrize("d", [2, 6])
def test_communities_separate(d):
    graph = nx.planted_partition_graph(2, 25, 0.5, 0.02, seed=0)
    side = np.arange(50) < 25
    names, points = skipgram(graph, d, n_walks=5, epochs=3)
    x = to_hyperboloid(points)
    nearest = np.argsort(pairwise_distance(x) + 99 * np.eye(50), axis=1)[:, :5]
    assert names == list(range(50)) and radius(x).max() < 12
    assert (side[nearest] == side[:, None]).mean() > 0.9
