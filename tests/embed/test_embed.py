"""Embeddings of graphs: accepted inputs, laws of the constructions, gradients, and distortion on trees."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, save_npz
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from horopca import metrics
from horopca.datasets import balanced_tree, make_hierarchical_normals, random_tree
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, reconstruction
from horopca.embed.descent import Ball, Descent, Targets, best_fit, factors, squared_differences
from horopca.embed.graphs import as_graph, as_relations, centre, rooted, shortest_paths
from horopca.embed.poincare import _batch, closure_of
from horopca.embed.sarkar import construct, spread_directions
from horopca.geometry import distance, lift, pairwise_distance, radius, to_hyperboloid, translate, translate_to_origin
from horopca.io import EdgeList

TREE = balanced_tree(3, 3)
QUICK = {"n_init": 0, "tol": 1.0, "random_state": 0}  # one descent from Sarkar's construction, for tests of other things
ALL = [SarkarEmbedding(3), DistortionEmbedding(3, **QUICK), PoincareEmbedding(3, epochs=20, burn_in=5)]


def names_of(estimators):
    return [type(estimator).__name__ for estimator in estimators]


def weighted(*edges):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(edges)
    return graph


def graph_distances(source):
    return shortest_paths(as_graph(source).adjacency)


# ---------------------------------------------------------------- accepted inputs


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
    named = as_graph({"cat": "feline", "lion": "feline", "feline": None})
    assert named.names == ["cat", "feline", "lion"]
    assert np.array_equal(named.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_names_may_be_anything_and_keep_their_order():
    graph = nx.Graph([("b", ("a", 1)), (("a", 1), 3.5), (3.5, frozenset("x"))])
    assert SarkarEmbedding(2).fit(graph).names_ == ["b", ("a", 1), 3.5, frozenset("x")]


def test_an_array_of_two_edges_is_no_adjacency_matrix():
    assert as_relations(np.array([[0, 1], [1, 2]])).names == [0, 1, 2]
    assert as_relations(np.array([["a", "b"], ["b", "c"]])).names == ["a", "b", "c"]
    assert as_relations(np.array([[0, 1], [1, 0]])).names == [0, 1]


def test_warns_about_similarities():
    connectivities = csr_array(np.array([[0, 1, 0.2], [1, 0, 0.5], [0.2, 0.5, 0]]))
    with pytest.warns(UserWarning, match=r"like similarities, .* pass adata\.obsp\['distances'\]"):
        as_relations(connectivities)


def test_weights_are_lengths_and_an_edge_given_twice_counts_once():
    graph = weighted((0, 1, 2.0), (1, 0, 2.0), (1, 2, 0.5), (0, 2, 9.0))
    assert np.array_equal(graph_distances(graph), [[0, 2, 2.5], [2, 0, 0.5], [2.5, 0.5, 0]])


@pytest.mark.parametrize(
    "graph",
    [
        EdgeList([0, 1, 2], np.array([(0, 1), (1, 1), (1, 2)])),
        csr_array(([1.0, 1.0, 1.0], ([0, 1, 1], [1, 1, 2])), shape=(3, 3)),
    ],
)
def test_warns_about_loops_and_leaves_them_out(graph):
    with pytest.warns(UserWarning, match=r"joins 1 node\(s\) to themselves, e\.g\. 1: this is left out"):
        assert as_relations(graph).edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.empty_graph(3), "at least one edge, but has 3 node"),
        ([-1], "at least one edge"),
        (nx.Graph([(0, 1), (2, 3)]), r"has 2 components, the largest with 2 of 4 nodes \(no path leads from 0 to 2\)"),
        (weighted((0, 1, -1.0)), "between 1e-100 and .*, but 0 - 1 has -1"),
        (weighted((0, 1, float("nan"))), "0 - 1 has nan"),
        (weighted((0, 1, "long")), "numbers as the weights"),
        (weighted((0, 1, 1.0), (1, 0, 2.0)), "one weight, but 0 - 1 comes with 1 and with 2"),
        (nx.Graph([(1, "1")]), "different names, but two are written '1'"),
        ([-1, 2, 3, 1], "is among its own ancestors"),
        ({"a": "b", "b": "a"}, "no cycles, but '[ab]' is among its own ancestors"),
        ([-1, 7], "-1 to 1, but has 7 at 1"),
        (["feline", "cat"], "-1 to 1, but has 'feline' at 0"),
        ([(0, 1), (1, 2, 3, 4)], "but is of type list"),
        ({"a": ["b", "c"]}, r"to its parent, but 'a' leads to several nodes. Pass pairs"),
        (weighted((0, 1, 1e-300), (1, 2, 1.0)), "between 1e-100 and 1e\\+100, but 0 - 1 has 1e-300"),
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


def test_rejects_files_without_a_sparse_matrix(tmp_path):
    np.savez(tmp_path / "points.npz", X=np.eye(3))
    (tmp_path / "broken.npz").write_bytes(b"PK but no more")
    for name in ("points.npz", "broken.npz"):
        with pytest.raises(ValueError, match="no sparse matrix"):
            as_graph(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        as_graph(tmp_path / "absent.npz")


@pytest.mark.parametrize("seed", range(2))
def test_the_centre_of_a_tree_has_the_least_depth(seed):
    rng = np.random.default_rng(seed)
    graph = as_graph(weighted(*((u, v, rng.uniform(0.1, 2)) for u, v in random_tree(40, random_state=seed).edges.tolist())))
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


def test_dense_matrices_are_lengths_or_distances():
    ring = nx.to_numpy_array(nx.cycle_graph(6))
    assert np.array_equal(as_graph(ring).adjacency.toarray(), ring) and as_graph(ring).distances is None
    rng = np.random.default_rng(0)
    D = pdist(rng.standard_normal((12, 3)))
    given_distances = as_graph(squareform(D))
    assert np.array_equal(given_distances.distances, squareform(D))
    found = DistortionEmbedding(3, **QUICK).fit(squareform(D**2))  # no metric: not shortest paths
    E = pairwise_distance(to_hyperboloid(found.embedding_))
    D2 = found.distance_scale_ * squareform(D**2)
    assert np.isclose(metrics.average_distortion(D2, E, metric="precomputed"), found.distortion_)


# ---------------------------------------------------------------- all embeddings


@pytest.mark.parametrize("estimator", ALL, ids=names_of(ALL))
def test_the_seed_determines_the_points_and_models_agree(estimator):
    first, lorentz, wide = (
        clone(estimator).set_params(random_state=0, **options).fit(TREE.parent)
        for options in ({}, {"model": "lorentz"}, {"curvature": -0.25})
    )
    assert first.embedding_.shape == (40, 3) and first.names_ == list(range(40))
    assert np.array_equal(clone(estimator).set_params(random_state=0).fit_transform(TREE.parent), first.embedding_)
    assert lorentz.embedding_.shape == (40, 4)
    D = pairwise_distance(to_hyperboloid(first.embedding_))
    if isinstance(estimator, DistortionEmbedding):  # whose search sees the rounding of the model
        assert np.isclose(lorentz.distortion_, first.distortion_, rtol=0.2)
        assert np.isclose(wide.distance_scale_, 2 * first.distance_scale_, rtol=0.1)
    elif not isinstance(estimator, SarkarEmbedding):  # whose scale depends on the largest radius of the model
        assert np.allclose(pairwise_distance(lift(lorentz.embedding_[:, 1:])), D, atol=1e-4 * D.max())
        assert np.allclose(wide.embedding_ / 2, first.embedding_, atol=1e-6)


@pytest.mark.parametrize("estimator", ALL, ids=names_of(ALL))
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 1}, "n_components must be a whole number of at least 2"),
        ({"model": "sphere"}, "model must be one of"),
        ({"curvature": 1.0}, "curvature must be"),
        ({"scale": -1.0}, "scale must be 'auto' or a positive number"),
        ({"scale": None}, "scale must be 'auto'"),
        ({"root": 99}, "root must be a node of graph, but 99 is not"),
        ({"tol": 0.0}, "tol must be"),
        ({"n_init": -1}, "n_init must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"learning_rate": float("nan")}, "learning_rate must be"),
    ],
)
def test_rejects_invalid_options(estimator, options, message):
    if not options.keys() <= estimator.get_params().keys():
        return
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(**options).fit(TREE.parent)


@pytest.mark.parametrize("estimator", [e for e in ALL if hasattr(e, "largest_component")], ids=lambda e: type(e).__name__)
def test_rejects_disconnected_graphs_by_default(estimator):
    two = nx.Graph([(0, 1), ("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(ValueError, match=r"pass largest_component=True\."):
        clone(estimator).fit(two)
    assert clone(estimator).set_params(largest_component=True, random_state=0).fit(two).names_ == list("abcd")


def test_verbose_prints_on_stderr(capsys):
    SarkarEmbedding(2, verbose=1).fit(TREE.parent)
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("SarkarEmbedding: scale")


# ---------------------------------------------------------------- directions


@pytest.mark.parametrize(("count", "d"), [(1, 3), (2, 5), (4, 3), (6, 10), (11, 10)])
def test_few_directions_are_a_regular_simplex(count, d):
    cosines = spread_directions(count, d) @ spread_directions(count, d).T
    expected = np.where(np.eye(count) > 0, 1.0, -1 / max(count - 1, 1))
    assert np.allclose(cosines, expected, atol=1e-3)  # repulsion ends there; up to d directions are exact


@pytest.mark.parametrize(
    ("count", "d", "degrees"), [(5, 2, 72), (5, 3, 90), (6, 3, 90), (15, 10, 89.8), (12, 3, 63.43), (24, 4, 57)]
)
def test_more_directions_keep_the_best_known_angle(count, d, degrees):
    """90 degrees up to 2d directions (Rankin); the icosahedron for 12 in space; near the 24-cell's 60 for 24 in R^4."""
    V = spread_directions(count, d)
    assert np.allclose(np.linalg.norm(V, axis=1), 1)
    cosines = V @ V.T - 2 * np.eye(count)
    assert np.degrees(np.arccos(cosines.max())) > degrees - 0.01


# ---------------------------------------------------------------- Sarkar


def sarkar_longhand(tree, d, tau):
    """One node after another, the direction of the parent looked up from where the points are."""
    x = np.zeros((len(tree.parent), d + 1))
    x[:, 0] = 1
    root = int(tree.levels[0][0])
    hops = {root: 0}
    rng = np.random.default_rng(0)
    turns = [np.linalg.qr(rng.standard_normal((d, d)))[0] if d > 2 else np.eye(d) for _ in range(len(tree.parent))]
    for p in np.argsort(tree.depth, kind="stable"):
        children = np.flatnonzero(tree.parent == p)
        hops |= {child: hops[p] + 1 for child in children}
        if p == root:
            V = spread_directions(len(children), d) @ turns[0]
        else:
            V = spread_directions(len(children) + 1, d) @ turns[hops[p]]
            back = translate_to_origin(x[tree.parent[p]], x[p])[1:]
            back /= np.linalg.norm(back)
            h = V[0] - back
            V = V[1:] - 2 * np.outer(V[1:] @ h, h) / (h @ h) if h @ h > 0 else V[1:]
        for child, v in zip(children, V, strict=False):
            x[child] = translate(to_hyperboloid(tau * tree.length[child] * v, "tangent"), x[p])
    return x


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_construction_equals_sarkar_node_by_node(d):
    graph = as_graph(random_tree(60, kind="preferential", random_state=3).parent)
    tree = rooted(graph.adjacency, centre(graph.adjacency))
    assert np.allclose(construct(tree, d, 0.8), sarkar_longhand(tree, d, 0.8), rtol=1e-7, atol=1e-9)


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


def test_the_distortion_reported_is_the_one_measured():
    for estimator in (SarkarEmbedding(2), DistortionEmbedding(2, **QUICK)):
        estimator.fit(TREE.parent)
        D = estimator.distance_scale_ * graph_distances(TREE.parent)
        E = pairwise_distance(to_hyperboloid(estimator.embedding_))
        assert np.isclose(metrics.average_distortion(D, E, metric="precomputed"), estimator.distortion_)


def test_no_other_scale_is_better():
    best = SarkarEmbedding(2, max_radius=None).fit(TREE.parent)
    others = [
        SarkarEmbedding(2, scale=best.scale_ * factor, max_radius=None).fit(TREE.parent).distortion_
        for factor in (0.3, 0.6, 0.9)
    ]
    assert best.distortion_ < min(others) and best.distortion_ < 0.0121


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_the_unit_of_lengths_changes_the_scale_alone(unit):
    edges = random_tree(30, random_state=0).edges.tolist()
    first = SarkarEmbedding(2).fit(weighted(*((u, v, 1.0) for u, v in edges)))
    other = SarkarEmbedding(2).fit(weighted(*((u, v, unit) for u, v in edges)))
    # near the best scale, rounding in the ball matters: scales within 3 % are as good
    assert np.isclose(other.scale_ * unit, first.scale_, rtol=0.03)
    assert np.isclose(other.distortion_, first.distortion_, rtol=0.03)


def test_rejects_scales_beyond_the_largest_radius():
    assert SarkarEmbedding(3, scale=16.0, model="lorentz", max_radius=None).fit(TREE.parent).distortion_ < 0.005
    with pytest.raises(ValueError, match=r"radius 47.\d*, but max_radius is 34 in the model 'poincare'"):
        SarkarEmbedding(3, scale=16.0, max_radius=None).fit(TREE.parent)
    with pytest.raises(ValueError, match=r"scale 1.5 puts .* at radius 150, but max_radius is 12 .* at most about 0.12"):
        SarkarEmbedding(2, scale=1.5, curvature=-4.0).fit(nx.path_graph(101))


@pytest.mark.parametrize("model", ["poincare", "klein"])
@pytest.mark.parametrize("estimator", ALL, ids=names_of(ALL))
def test_no_point_lies_beyond_the_largest_radius(estimator, model):
    """By default single precision distinguishes every point from the boundary and from every other point."""
    deep = balanced_tree(2, 5).parent
    fitted = clone(estimator).set_params(model=model, random_state=0).fit(deep)
    single = to_hyperboloid(fitted.embedding_.astype(np.float32).astype(np.float64), model)
    assert np.isfinite(single).all() and len(np.unique(single, axis=0)) == len(single)
    far = 1.5
    near = clone(estimator).set_params(model=model, random_state=0, max_radius=far).fit(deep)
    assert radius(to_hyperboloid(near.embedding_, model)).max() <= far * (1 + 1e-9)
    if hasattr(near, "distortion_"):
        free = clone(estimator).set_params(model=model, random_state=0, max_radius=None).fit(deep)
        assert near.distortion_ > fitted.distortion_ > free.distortion_


def test_the_scale_can_be_fixed():
    found = DistortionEmbedding(3, scale=0.5, **QUICK).fit(TREE.parent)
    assert found.distance_scale_ == 0.5
    D, E = graph_distances(TREE.parent), pairwise_distance(to_hyperboloid(found.embedding_))
    assert np.isclose(metrics.average_distortion(0.5 * D, E, metric="precomputed"), found.distortion_)
    assert found.distortion_ < 0.1


def test_graphs_with_circles_are_embedded_through_a_spanning_tree():
    sarkar = SarkarEmbedding(5).fit(nx.karate_club_graph())
    x = to_hyperboloid(sarkar.embedding_)
    edges = [(i, p) for i, p in enumerate(sarkar.parent_) if p >= 0]
    assert len(edges) == 33 and nx.is_tree(nx.Graph(edges))
    assert all(nx.karate_club_graph().has_edge(u, v) for u, v in edges)
    assert sarkar.distortion_ < 0.6 and np.isfinite(x).all()


# ---------------------------------------------------------------- frames and gradients


def cloud(n, d, size=1.0, seed=0):
    return to_hyperboloid(size * np.random.default_rng(seed).standard_normal((n, d)), "tangent")


def test_a_move_is_as_long_as_its_vector_at_any_radius():
    xi = np.random.default_rng(1).standard_normal((20, 3))
    for far in (1.0, 10.0, 25.0):
        x = to_hyperboloid(far * spread_directions(20, 3), "tangent")
        after = Ball.of(x).moved(xi)
        error = np.abs(distance(x, after.hyperboloid()) - np.linalg.norm(xi, axis=1))
        assert error.max() < 1e-14 * np.exp(far) + 1e-12  # a direction is known to eps, which is eps e^r at radius r


@pytest.mark.parametrize("weight", [0.0, 0.2])
@pytest.mark.parametrize("sources", [13])
def test_the_gradient_equals_autograd(sources, weight):
    """Of the distortion and of the loss of neighbours, in the frames of the points and in the log of the scale."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    targets = Targets.of(as_graph(TREE.parent), rng)
    D, ball = targets.distances[:sources], Ball.of(cloud(40, 4))
    descent = Descent(D, rng, lambda points: points, neighbor_weight=weight)
    gradient, slope = descent.gradient(ball, 0.3, 0.3)  # 40 nodes are one block: all pairs
    z, log_scale = torch.tensor(ball.z, requires_grad=True), torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    delta, wanted, known = 1 - (z**2).sum(1), torch.tensor(D), torch.tensor(D > 0)
    gap = ((z[:sources, None] - z) ** 2).sum(-1) / (delta[:sources, None] * delta)
    d = 2 * torch.asinh(torch.sqrt(torch.where(known, gap, 1.0))) * torch.exp(-log_scale)
    loss = torch.where(known, torch.sqrt((d / torch.where(known, wanted, 1.0) - 1) ** 2 + 0.09), 0.0).sum()
    if weight:
        widths = torch.tensor(0.2 * np.sort(D, axis=0)[10 * sources // 40])
        p, q = (torch.where(known, -u / widths, -np.inf) for u in (wanted, d))
        log_q = torch.where(known, torch.log_softmax(q, 0), 0.0)
        loss = loss - weight * sources * (torch.softmax(p, 0) * log_q).sum()
    loss.backward()
    assert np.allclose(gradient, z.grad.numpy() * ball.delta[:, None] / 2, rtol=1e-3, atol=1e-3)  # pairs in single precision
    assert np.isclose(slope, log_scale.grad.item(), rtol=1e-3)


def test_differences_of_close_points_do_not_cancel():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((30, 3)) / 3
    near = z + np.geomspace(1e-9, 1e-3, 30)[:, None] * rng.standard_normal((30, 3))
    exact = np.sum((z[:, None] - near[None]) ** 2, axis=-1)
    assert np.allclose(squared_differences(factors(z)[0], factors(near)[1]), exact, rtol=1e-4, atol=0)


def test_the_best_scale_is_the_best():
    ratios = np.random.default_rng(0).lognormal(size=301)
    scale, least = best_fit(ratios)
    grid = scale * np.geomspace(0.2, 5, 20001)
    assert least <= min(np.mean(np.abs(ratios / s - 1)) for s in grid) + 1e-12
    assert best_fit(np.zeros(3)) == (1.0, 1.0)


# ---------------------------------------------------------------- DistortionEmbedding


def test_a_tree_is_embedded_better_than_by_sarkar():
    for d, most in ((2, 0.0075), (10, 0.003)):  # Sarkar's 0.0098 and 0.0034
        found = DistortionEmbedding(d, max_radius=None, n_init=0, random_state=0).fit(TREE.parent)
        assert found.converged_ and found.distortion_ < most


def test_a_circle_is_embedded_as_well_as_a_flat_polygon():
    """The best points of a circle are nearly flat: a regular polygon, with a distortion of about 0.1."""
    ring = nx.cycle_graph(20)
    found = DistortionEmbedding(2, n_init=1, random_state=0).fit(ring)
    angle = 2 * np.pi * np.arange(20) / 20
    polygon = to_hyperboloid(1e-3 * np.stack([np.cos(angle), np.sin(angle)], axis=1), "tangent")
    chosen = Targets.of(as_graph(ring), np.random.default_rng(0))
    flat = chosen.fit(polygon[chosen.order]).distortion
    # within the 2% that ends the search
    assert found.distortion_ < 1.03 * flat and found.distortion_ < 0.7 * SarkarEmbedding(2).fit(ring).distortion_


def test_a_search_that_leads_to_infinity_stays_finite():
    """Of a complete graph all distances are equal, and the farther out the points, the more equal theirs."""
    embedding = DistortionEmbedding(3, max_radius=None, n_init=0, random_state=0).fit(nx.complete_graph(20))
    assert embedding.distortion_ < 0.02 and np.isfinite(embedding.embedding_).all()


@pytest.mark.parametrize(("n", "kind", "orders"), [(2, "uniform", 0), (33, "recursive", 6)])
def test_more_dimensions_and_more_steps_are_never_worse(n, kind, orders):
    """On trees with lengths over up to six orders of magnitude, within the noise of the samples of pairs."""
    rng = np.random.default_rng(n)
    edges = random_tree(n, kind=kind, random_state=n).edges.tolist()
    tree = weighted(*((u, v, 10 ** (orders * (rng.random() - 1))) for u, v in edges))
    flat, wide = (DistortionEmbedding(d, n_init=1, random_state=0).fit(tree) for d in (2, 10))
    assert wide.distortion_ <= 1.02 * flat.distortion_ + 1e-3
    assert flat.distortion_ <= SarkarEmbedding(2).fit(tree).distortion_ + 1e-9
    assert wide.distortion_ <= SarkarEmbedding(10).fit(tree).distortion_ + 1e-9
    assert flat.converged_ and wide.converged_


def test_converged_means_that_a_longer_search_finds_little_more():
    tree = random_tree(60, random_state=0).parent
    first, longer = (DistortionEmbedding(2, tol=tol, n_init=0, random_state=0).fit(tree) for tol in (0.02, 3e-3))
    assert first.converged_ and longer.distortion_ <= first.distortion_ < 1.1 * longer.distortion_


def test_binary_trees_are_not_kept_in_a_plane():
    """Three directions around a node lie in a plane: ten dimensions must not be two of them."""
    graph = as_graph(nx.balanced_tree(2, 6))
    x = construct(rooted(graph.adjacency, centre(graph.adjacency)), 10, 0.5)
    shares = np.linalg.svd(x[:, 1:], compute_uv=False)
    assert shares[9] > 1e-3 * shares[0]  # in a plane the third is rounding already


def test_large_graphs_are_embedded_from_a_sample_of_pairs():
    star = nx.full_rary_tree(50, 2200)
    with pytest.warns(ConvergenceWarning):
        found = DistortionEmbedding(2, n_init=0, max_iter=20, random_state=0).fit(star)
    some = np.random.default_rng(0).choice(2200, 200, replace=False)
    D = shortest_paths(as_graph(star).adjacency, some)[:, some]
    E = pairwise_distance(to_hyperboloid(found.embedding_[some]))
    true = metrics.average_distortion(found.distance_scale_ * D, E, metric="precomputed")
    assert np.isclose(true, found.distortion_, rtol=0.2)


def test_a_weight_of_neighbours_keeps_more_of_them():
    D = pairwise_distance(to_hyperboloid(make_hierarchical_normals(117, 10, random_state=1).points))
    near, plain = (DistortionEmbedding(2, neighbor_weight=w, **QUICK).fit(D) for w in (0.3, 0.0))
    E, F = (pairwise_distance(to_hyperboloid(found.embedding_)) for found in (near, plain))
    kept = [metrics.neighbours_kept(D, each, metric="precomputed") for each in (E, F)]
    assert kept[0] > kept[1] and near.distortion_ > plain.distortion_


def test_warns_if_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 steps without converging. Raise max_iter \(now 1\)"):
        found = DistortionEmbedding(2, n_init=0, max_iter=1, random_state=0).fit(nx.karate_club_graph())
    assert not found.converged_ and found.n_iter_ == 1


# ---------------------------------------------------------------- Poincaré embeddings


def test_the_gradient_of_a_batch_equals_autograd():
    torch = pytest.importorskip("torch")
    x = cloud(11, 3, 0.7)
    ball = Ball.of(x)
    known = np.zeros((4, 3), dtype=bool)
    known[1, 2] = True
    loss, gradient = _batch(ball.z, ball.delta, 4, known)
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
