"""Crossing-free layouts of trees: no crossings by exact arithmetic, and the distortion beside Sarkar's construction."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from horopca.datasets import balanced_tree, load_mammals, random_tree
from horopca.embed import SarkarEmbedding, TreeEmbedding


def random_binary(n_leaves, seed, draw):
    """Subtrees joined at random, with random lengths: edges (child, parent, length)."""
    rng = np.random.default_rng(seed)
    roots, edges = list(range(n_leaves)), []
    for node in range(n_leaves, 2 * n_leaves - 1):
        joined = sorted(rng.choice(len(roots), 2, replace=False))[::-1]
        edges += [(roots.pop(k), node, float(draw(rng))) for k in joined]
        roots.append(node)
    return edges


def comb(n, seed=0):
    lengths = np.random.default_rng(seed).uniform(0.5, 1.5, (2, n))
    spine = [(f"s{i + 1}", f"s{i}", lengths[1, i]) for i in range(n)]
    return [*((f"t{i}", f"s{i}", lengths[0, i]) for i in range(n)), *spine]


def mammals():
    data = load_mammals()
    return nx.DiGraph([(child, int(parent)) for child, parent in enumerate(data.parent) if parent >= 0])


TREES = {
    "uniform": random_tree(120, random_state=0).parent,
    "preferential": random_tree(150, kind="preferential", random_state=0).parent,
    "balanced": balanced_tree(3, 4).parent,
    "exponential lengths": random_binary(60, 0, lambda rng: rng.exponential()),
    "lengths over twelve orders": random_binary(60, 1, lambda rng: 10 ** rng.uniform(-12, 0)),
    "comb": comb(20),
    "path": nx.path_graph(40),
    "star": nx.star_graph(80),
    "two hubs": [*((i, "a") for i in range(60)), *((i, "b") for i in range(60, 120)), ("a", "b")],
    "one edge": [(0, 1)],
    "mammals": mammals(),
}


def klein(z, model):
    """Exact Klein coordinates of one point: rational for the models of the disk."""
    z = [Fraction(float(v)) for v in z]
    return z if model == "klein" else [2 * v / (1 + sum(w * w for w in z)) for v in z]


def crossings(X, edges, model="poincare"):
    """The number of pairs of edges that have a point in common other than a common end, by exact arithmetic.

    Geodesics are straight in the Klein model. Floating point with a bound of its error decides the clear pairs.
    """
    K = np.array([[float(v) for v in klein(z, model)] for z in X])
    a, b = K[edges[:, 0]], K[edges[:, 1]]

    def sides(p, q, r):
        return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])

    s, t = sides(a[:, None], b[:, None], a[None]), sides(a[:, None], b[:, None], b[None])
    separate = ((s > 4e-15) & (t > 4e-15)) | ((s < -4e-15) & (t < -4e-15))  # both ends of an edge on one side of another's line
    turned = (np.abs(s) > 4e-15) | (np.abs(t) > 4e-15)  # an end of an edge is not on another's line
    common = (edges[:, None, :, None] == edges[None, :, None, :]).any(axis=(2, 3))  # such edges meet at one node
    unclear = ~(separate | separate.T | (common & turned))
    pairs = np.argwhere(np.triu(unclear, 1))
    exact = {k: klein(X[k], model) for k in np.unique(edges[pairs])}
    return sum(_meet(*(exact[k] for k in (*edges[i], *edges[j])), edges[i], edges[j]) for i, j in pairs)


def _side(p, q, r):
    turn = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    return (turn > 0) - (turn < 0)


def _meet(a, b, c, d, first, second):
    common = set(first.tolist()) & set(second.tolist())
    if common:  # two edges at one node overlap only if they leave it in one direction
        (node,) = common
        hub = a if first[0] == node else b
        p, q = (b if hub is a else a), (d if second[0] == node else c)
        dot = (p[0] - hub[0]) * (q[0] - hub[0]) + (p[1] - hub[1]) * (q[1] - hub[1])
        return _side(hub, p, q) == 0 and dot >= 0
    s, t, u, v = _side(a, b, c), _side(a, b, d), _side(c, d, a), _side(c, d, b)
    if s == t == u == v == 0:
        return max(min(a, b), min(c, d)) <= min(max(a, b), max(c, d))
    return s * t <= 0 and u * v <= 0


def edges_of(fitted):
    return np.array([(child, parent) for child, parent in enumerate(fitted.parent_) if parent >= 0])


@pytest.mark.parametrize("name", TREES)
def test_no_two_edges_cross(name):
    for options in ({}, {"model": "klein", "max_iter": 0, "max_radius": None}):
        found = TreeEmbedding(random_state=0, **{"max_iter": 50, **options}).fit(TREES[name])
        assert crossings(found.embedding_, edges_of(found), found.model) == 0, options


def test_the_count_finds_crossings():
    X = np.array([[0.0, 0.5], [0.0, -0.5], [0.5, 0.0], [-0.5, 0.1], [0.0, 0.2]])
    assert crossings(X, np.array([[0, 1], [2, 3]])) == 1
    assert crossings(X, np.array([[0, 1], [0, 4]])) == 1  # one along the other
    assert crossings(X, np.array([[0, 2], [1, 3]])) == 0
    sarkar = SarkarEmbedding(2).fit(random_binary(120, 0, lambda rng: rng.exponential()))
    assert crossings(sarkar.embedding_, edges_of(sarkar)) > 5


@pytest.mark.parametrize("name", ["exponential lengths", "comb", "star"])
def test_the_distortion_is_a_tenth_below_that_of_sarkar(name):
    found = TreeEmbedding(random_state=0).fit(TREES[name])
    limit = 1.0 if name == "star" else 0.9  # both are the best layout of a star
    assert found.distortion_ < limit * SarkarEmbedding(2, random_state=0).fit(TREES[name]).distortion_ + 1e-3
    assert found.distortion_ <= TreeEmbedding(random_state=0, max_iter=0).fit(TREES[name]).distortion_


def test_children_follow_in_the_order_of_the_file(tmp_path):
    (tmp_path / "tree.nwk").write_text("(a:1,(b:1,c:1,d:1):1,e:2,(f:1,g:1):2);")
    found = TreeEmbedding(max_iter=50, random_state=0).fit(tmp_path / "tree.nwk")
    leaves = [found.names_.index(name) for name in "abcdefg"]
    angle = np.unwrap(np.angle(found.embedding_[leaves] @ [1, 1j]))
    turns = np.diff(np.append(angle, angle[0] + 2 * np.pi)) % (2 * np.pi)
    assert np.isclose(turns.sum(), 2 * np.pi)  # once around, and never back


def test_the_root_can_be_chosen():
    found = TreeEmbedding(root=5, max_iter=0).fit(TREES["uniform"])
    assert found.parent_[5] == -1 and np.allclose(found.embedding_[5], 0)
    again = TreeEmbedding(root=5, max_iter=50, random_state=0).fit(TREES["uniform"])
    assert crossings(again.embedding_, edges_of(again)) == 0


def test_rejects_other_graphs_and_radii_that_cannot_be_resolved():
    with pytest.raises(ValueError, match="must be a tree, with one edge fewer than nodes, but has 4 nodes and 4 edges"):
        TreeEmbedding().fit(nx.cycle_graph(4))
    with pytest.raises(ValueError, match=r"max_radius must be at most 8\.5"):
        TreeEmbedding(max_radius=9.0, model="klein").fit([-1, 0])
