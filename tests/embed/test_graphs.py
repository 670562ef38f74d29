"""Graphs in every form that `fit` accepts, and those that it rejects."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, save_npz
from scipy.spatial.distance import pdist, squareform

from horopca.datasets import random_tree
from horopca.embed import SarkarEmbedding
from horopca.embed.graphs import as_graph, as_relations, centre, rooted, shortest_paths
from horopca.io import EdgeList


def test_every_input_describes_the_same_graph(tmp_path):
    parents = [-1, 0, 0, 1, 1]
    digraph = nx.DiGraph([(child, parent) for child, parent in enumerate(parents) if parent >= 0])
    ordered = nx.Graph()
    ordered.add_nodes_from(range(5))
    ordered.add_edges_from(digraph.edges)
    (tmp_path / "tree.edges").write_text("1 0\n2 0\n3 1\n4 1\n")
    sparse = nx.to_scipy_sparse_array(ordered)
    save_npz(tmp_path / "tree.npz", sparse)
    expected = sparse.toarray()
    for source in (parents, np.array(parents), [None, 0, 0, 1, 1], ordered, sparse, coo_array(sparse), tmp_path / "tree.npz"):
        graph = as_graph(source)
        assert graph.names == list(range(5)) and np.array_equal(graph.adjacency.toarray(), expected)
    read = as_graph(str(tmp_path / "tree.edges"))
    assert read.names == list("01234") and np.array_equal(read.adjacency.toarray(), expected)
    np.savez(tmp_path / "points.npz", X=np.eye(3))
    with pytest.raises(ValueError, match="holds points, like X"):
        as_graph(tmp_path / "points.npz")
    named = as_graph({"cat": "feline", "lion": "feline", "feline": None})
    assert named.names == ["cat", "feline", "lion"]
    assert np.array_equal(named.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_names_may_be_anything_and_weights_are_lengths():
    graph = nx.Graph([("b", ("a", 1)), (("a", 1), 3.5), (3.5, frozenset("x"))])
    assert SarkarEmbedding(2).fit(graph).names_ == ["b", ("a", 1), 3.5, frozenset("x")]
    twice = as_graph([(0, 1, 2.0), (1, 0, 2.0), (1, 2, 0.5), (0, 2, 9.0)])  # an edge given twice counts once
    assert np.array_equal(shortest_paths(twice.adjacency), [[0, 2, 2.5], [2, 0, 0.5], [2.5, 0.5, 0]])
    ring = nx.to_numpy_array(nx.cycle_graph(6))  # a dense matrix with zeros has lengths of edges, another distances
    assert np.array_equal(as_graph(ring).adjacency.toarray(), ring) and as_graph(ring).distances is None
    D = squareform(pdist(np.random.default_rng(0).standard_normal((12, 3))))
    assert np.array_equal(as_graph(D).distances, D)


def test_an_array_of_two_edges_is_no_adjacency_matrix():
    assert as_relations(np.array([[0, 1], [1, 2]])).names == [0, 1, 2]
    assert as_relations(np.array([["a", "b"], ["b", "c"]])).names == ["a", "b", "c"]
    assert as_relations(np.array([[0, 1], [1, 0]])).names == [0, 1]
    assert as_graph(np.array([[0, 1.5], [1.5, 0]])).is_tree  # which the distance matrix of larger trees is not


def test_warns_about_similarities():
    connectivities = csr_array(np.array([[0, 1, 0.2], [1, 0, 0.5], [0.2, 0.5, 0]]))
    with pytest.warns(UserWarning, match=r"like similarities, .* pass adata\.obsp\['distances'\]"):
        as_relations(connectivities)


def test_warns_about_loops_and_leaves_them_out():
    for graph in (EdgeList([0, 1, 2], np.array([(0, 1), (1, 1), (1, 2)])), csr_array([[0, 1, 0], [0, 1, 1], [0, 0, 0]])):
        with pytest.warns(UserWarning, match=r"has 1 self-loop\(s\), e\.g\. at 1: these edges are ignored"):
            assert as_relations(graph).edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.empty_graph(3), "at least one edge, but has none"),
        ([-1], "at least one edge"),
        (nx.Graph([(0, 1), (2, 3)]), r"has 2 components, the largest with 2 of 4 nodes \(no path leads from 0 to 2\)"),
        ([(0, 1, -1.0)], "between 1e-100 and .*, but 0 - 1 has -1"),
        ([(0, 1, float("nan"))], "0 - 1 has nan"),
        ([(0, 1, "long")], "must be numbers, but some are not"),
        ([(0, 1, 1.0), (1, 0, 2.0)], "one weight, but 0 - 1 has 1 and 2"),
        (nx.Graph([(1, "1")]), "different names as text, but two are called '1'"),
        ([-1, 2, 3, 1], "is among its own ancestors"),
        ({"a": "b", "b": "a"}, "no cycles, but '[ab]' is among its own ancestors"),
        ([-1, 7], "-1 to 1, but has 7 at 1"),
        (["feline", "cat"], "-1 to 1, but has 'feline' at 0"),
        ([(0, 1), (1, 2, 3, 4)], "but is of type list"),
        ({"a": ["b", "c"]}, r"to its parent, but maps 'a' to several nodes. Pass pairs"),
        ([(0, 1, 1e-300), (1, 2, 1.0)], "between 1e-100 and 1e\\+100, but 0 - 1 has 1e-300"),
        (csr_array(np.ones((2, 3))), "square"),
        (csr_array(np.array([[0, 1j], [1j, 0]])), "complex128"),
        (3, "but is of type int"),
        (np.zeros((3, 3)), "at least one edge"),
        (np.zeros((3, 3, 3)), "type ndarray. Trees of other libraries"),
    ],
)
def test_rejects_invalid_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        as_graph(graph)


def test_the_centre_of_a_tree_has_the_least_depth():
    rng = np.random.default_rng(0)
    graph = as_graph([(u, v, rng.uniform(0.1, 2)) for u, v in random_tree(40, random_state=0).edges.tolist()])
    D = shortest_paths(graph.adjacency)
    tree = rooted(graph.adjacency, centre(graph.adjacency))
    assert np.isclose(tree.depth.max(), D.max(axis=1).min())
    assert np.allclose(tree.adjacency.toarray(), graph.adjacency.toarray())


def test_edges_read_child_first():
    """Pairs, arrays, mappings and graphs describe the same tree, in either direction."""
    pairs = [("cat", "feline"), ("lion", "feline"), ("feline", "carnivore"), ("dog", "carnivore")]
    parent_first = [(v, u) for u, v in pairs]
    for form in (pairs, parent_first, np.array(pairs), dict(pairs), nx.DiGraph(pairs), nx.DiGraph(parent_first)):
        found = as_relations(form)
        assert found.directed
        assert {(found.names[u], found.names[v]) for u, v in found.edges} == set(pairs)
    assert as_relations([("a", "b", 2.0), ("c", "b", 0.5)]).weights.tolist() == [2.0, 0.5]
    assert as_relations([("a", "b"), ("b", "c")]).edges.tolist() == [[0, 1], [1, 2]]  # a path may go either way
