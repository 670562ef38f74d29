"""The skip-gram baseline: communities separate."""

import networkx as nx
import numpy as np
import pytest

from horopca.geometry import pairwise_distance, radius, to_hyperboloid

pytest.importorskip("torch")
from reproduction.skipgram import skipgram


@pytest.mark.parametrize("d", [2, 6])
def test_communities_separate(d):
    graph = nx.planted_partition_graph(2, 25, 0.5, 0.02, seed=0)
    side = np.arange(50) < 25
    names, points = skipgram(graph, d, n_walks=5, epochs=3)
    x = to_hyperboloid(points)
    nearest = np.argsort(pairwise_distance(x) + 99 * np.eye(50), axis=1)[:, :5]
    assert names == list(range(50)) and radius(x).max() < 12
    assert (side[nearest] == side[:, None]).mean() > 0.9
