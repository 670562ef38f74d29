"""Poincaré embeddings and the reconstruction of relations."""

import networkx as nx
import numpy as np
import pytest

from clouds import cloud
from horopca.datasets import balanced_tree
from horopca.embed import PoincareEmbedding, reconstruction
from horopca.embed.descent import Ball
from horopca.embed.poincare import batch_loss, closure_of
from horopca.geometry import pairwise_distance, radius, to_hyperboloid

TREE = balanced_tree(3, 3)


def test_the_gradient_of_a_batch_equals_autograd():
    torch = pytest.importorskip("torch")
    x = cloud(11, 3, radius=1.5)
    ball = Ball.of(x)
    known = np.zeros((4, 3), dtype=bool)
    known[1, 2] = True
    loss, gradient = batch_loss(ball, np.hstack([np.eye(4, dtype=bool), ~known]))
    z = torch.tensor(ball.z, requires_grad=True)
    d = lambda a, b: torch.acosh(1 + 2 * ((a - b) ** 2).sum(-1) / ((1 - (a**2).sum(-1)) * (1 - (b**2).sum(-1))))
    near, far = d(z[:4], z[4:8]), d(z[:4, None], z[None, 8:])
    total = torch.exp(-near) + torch.where(torch.tensor(known), 0.0, torch.exp(-far)).sum(1)
    expected = (near + torch.log(total)).sum()
    expected.backward()
    assert np.isclose(loss, expected.item(), rtol=1e-6)
    assert np.allclose(gradient, z.grad.numpy() * ball.delta[:, None] / 2, rtol=1e-5, atol=1e-8)  # metric of the frames


def test_a_hierarchy_is_learnt():
    found = PoincareEmbedding(5, closure=True, epochs=150, learning_rate=0.1, random_state=0).fit(TREE.parent)
    assert len(found.pairs_) == 3 * 1 + 9 * 2 + 27 * 3
    assert found.mean_rank_ < 1.2 and found.map_ > 0.95 and found.loss_ < 0.5
    r = radius(to_hyperboloid(found.embedding_))
    assert r[0] < r[1:4].mean() < r[4:13].mean() < r[13:].mean()  # the root inside, the leaves outside


def test_relations_of_an_undirected_graph_go_both_ways():
    found = PoincareEmbedding(2, epochs=2, burn_in=1, random_state=0).fit(nx.Graph([("a", "b"), ("b", "c")]))
    assert found.pairs_.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    with pytest.raises(ValueError, match="closure=True needs directed edges"):
        PoincareEmbedding(2, closure=True).fit(nx.path_graph(4))


def test_the_closure_equals_that_of_networkx():
    dag = nx.gn_graph(60, seed=1)
    dag.add_edge(50, 3)
    found = closure_of(np.array(dag.edges), list(dag.nodes))
    assert {tuple(pair) for pair in found.tolist()} == set(nx.transitive_closure_dag(dag).edges)
    with pytest.raises(ValueError, match=r"no cycles, but [1-3] is among its own ancestors"):
        PoincareEmbedding(2, closure=True).fit(nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 1)]))


def test_ranks_and_precision_equal_those_counted_one_by_one():
    rng = np.random.default_rng(0)
    x, related = cloud(30, 3), rng.integers(30, size=(80, 2))
    related = related[related[:, 0] != related[:, 1]]
    D, ranks, precisions = pairwise_distance(x), [], []
    for u in np.unique(related[:, 0]):
        mine = set(related[related[:, 0] == u, 1].tolist())
        order = [v for v in np.argsort(D[u]) if v != u]
        hits = 0
        precision = []
        for k, v in enumerate(order, 1):
            if v in mine:
                hits += 1
                precision.append(hits / k)
                ranks.append(1 + k - hits)
        precisions.append(np.mean(precision))
    found = reconstruction(x, related, model="lorentz")
    assert np.allclose(found, (np.mean(ranks), np.mean(precisions)))


@pytest.mark.parametrize(
    ("related", "message"),
    [([[0, 9]], "from 0 to 2, but run from 0 to 9"), ([0, 1], r"shape \(m, 2\)"), ([[0.5, 1]], "whole numbers"), ([], "shape")],
)
def test_rejects_relations_that_cannot_be_ranked(related, message):
    with pytest.raises(ValueError, match=message):
        reconstruction(np.zeros((3, 2)), related)
