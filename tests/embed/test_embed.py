"""All embeddings, and DistortionEmbedding: gradients, laws, distortion."""

import pickle

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from clouds import cloud
from horopca import metrics
from horopca.datasets import balanced_tree, make_hierarchical_normals, random_tree
from horopca.embed import DistortionEmbedding, PoincareEmbedding, SarkarEmbedding, TreeEmbedding
from horopca.embed.descent import Ball, Descent, Targets, factors, squared_differences_of_factors
from horopca.embed.graphs import as_graph, shortest_paths
from horopca.geometry import lift, pairwise_distance, radius, to_hyperboloid

TREE = balanced_tree(3, 3)
QUICK = {"n_init": 0, "tol": 1.0, "random_state": 0}  # one descent from Sarkar's construction, for tests of other things
ALL = [SarkarEmbedding(3), DistortionEmbedding(3, **QUICK), PoincareEmbedding(3, epochs=20, burn_in=5)]


def name_of(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", ALL, ids=name_of)
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


@pytest.mark.parametrize("estimator", [*ALL, TreeEmbedding()], ids=name_of)
def test_a_refit_leaves_nothing_of_the_fit_before(estimator):
    """Another graph, another model, and other options."""
    known, path = estimator.get_params(), [(f"n{i}", f"n{i - 1}") for i in range(1, 9)]
    other = {
        "model": "lorentz",
        "curvature": -2.0,
        "n_components": 2,
        "max_radius": 5.0,
        "neighbor_weight": 0.2,
        "closure": True,
    }
    other = {name: value for name, value in other.items() if name in known}
    graphs = [(TREE.parent, {name: known[name] for name in other}), (path, other)]
    for (before, first), (after, second) in (graphs, graphs[::-1]):
        seeded = {"random_state": 0} if "random_state" in known else {}
        again = clone(estimator).set_params(**seeded, **first).fit(before).set_params(**second).fit(after)
        fresh = clone(estimator).set_params(**seeded, **second).fit(after)
        assert vars(again).keys() == vars(fresh).keys()
        assert [key for key in vars(fresh) if pickle.dumps(vars(again)[key]) != pickle.dumps(vars(fresh)[key])] == []


@pytest.mark.parametrize("estimator", [*ALL, TreeEmbedding()], ids=name_of)
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
        ({"verbose": None}, "verbose must be"),
        ({"max_radius": 1e4}, r"max_radius must be at most (17|34) for"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"learning_rate": float("nan")}, "learning_rate must be"),
    ],
)
def test_rejects_invalid_options(estimator, options, message):
    if not options.keys() <= estimator.get_params().keys():
        return
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(**options).fit(TREE.parent)


@pytest.mark.parametrize("estimator", [*(e for e in ALL if hasattr(e, "largest_component")), TreeEmbedding()], ids=name_of)
def test_rejects_disconnected_graphs_by_default(estimator):
    two = nx.Graph([(0, 1), ("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(ValueError, match=r"pass largest_component=True\."):
        clone(estimator).fit(two)
    assert clone(estimator).set_params(largest_component=True, random_state=0).fit(two).names_ == list("abcd")


LENGTHS = [(child, int(p), 1 + child % 3) for child, p in enumerate(TREE.parent) if p >= 0]
NO_METRIC = pdist(np.random.default_rng(0).standard_normal((12, 3))) ** 2


@pytest.mark.parametrize(
    ("estimator", "graph"),
    [
        (SarkarEmbedding(2), LENGTHS),
        (TreeEmbedding(max_iter=20, random_state=0), LENGTHS),
        (TreeEmbedding(max_iter=20, random_state=0, model="lorentz"), LENGTHS),
        (TreeEmbedding(max_iter=20, random_state=0, curvature=-4.0), LENGTHS),
        (DistortionEmbedding(2, **QUICK), LENGTHS),
        (DistortionEmbedding(3, **QUICK, scale=0.5), LENGTHS),
        (DistortionEmbedding(3, **QUICK), squareform(NO_METRIC)),  # not lengths of shortest paths
    ],
)
def test_the_distortion_is_the_one_measured_at_the_best_scale(estimator, graph):
    found = clone(estimator).fit(graph)
    D = shortest_paths(as_graph(graph).adjacency) if graph is LENGTHS else graph
    x = to_hyperboloid(found.embedding_ * np.sqrt(-found.curvature), found.model)
    E, measured = pairwise_distance(x) / np.sqrt(-found.curvature), metrics.average_distortion
    at = lambda scale: measured(scale * D, E, metric="precomputed")
    assert np.isclose(at(found.distance_scale_), found.distortion_) and found.distortion_ < 0.4
    if getattr(found, "scale", "auto") == "auto":
        assert found.distortion_ <= min(at(found.distance_scale_ * factor) for factor in (0.9, 0.99, 1.01, 1.1)) + 1e-9
    else:
        assert found.distance_scale_ == found.scale


@pytest.mark.parametrize("model", ["poincare", "klein"])
@pytest.mark.parametrize("estimator", ALL, ids=name_of)
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


@pytest.mark.parametrize("weight", [0.0, 0.2])
def test_the_gradient_equals_autograd(weight, sources=13):
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
    assert np.allclose(squared_differences_of_factors(factors(z)[0], factors(near)[1]), exact, rtol=1e-4, atol=0)


def test_a_circle_is_embedded_as_well_as_a_flat_polygon():
    """The best points of a circle are nearly flat: a regular polygon, with a distortion of about 0.1."""
    ring = nx.cycle_graph(20)
    found = DistortionEmbedding(2, n_init=1, random_state=0).fit(ring)
    angle = 2 * np.pi * np.arange(20) / 20
    polygon = to_hyperboloid(1e-3 * np.stack([np.cos(angle), np.sin(angle)], axis=1), "tangent")
    chosen = Targets.of(as_graph(ring), np.random.default_rng(0))
    _, flat = chosen.scale_and_distortion(polygon[chosen.order])
    # within the 2% that ends the search
    assert found.distortion_ < 1.03 * flat and found.distortion_ < 0.7 * SarkarEmbedding(2).fit(ring).distortion_


def test_a_search_that_leads_to_infinity_stays_finite():
    """Of a complete graph all distances are equal, and the farther out the points, the more equal theirs."""
    embedding = DistortionEmbedding(3, max_radius=None, n_init=0, random_state=0).fit(nx.complete_graph(20))
    assert embedding.distortion_ < 0.02 and np.isfinite(embedding.embedding_).all()


def test_more_dimensions_and_more_steps_are_never_worse():
    """On a tree with lengths over six orders of magnitude, within the noise of the samples of pairs."""
    rng = np.random.default_rng(19)
    edges = random_tree(19, kind="recursive", random_state=19).edges.tolist()
    tree = [(u, v, 10 ** (6 * (rng.random() - 1))) for u, v in edges]
    flat, wide = (DistortionEmbedding(d, n_init=1, random_state=0).fit(tree) for d in (2, 10))
    assert wide.distortion_ <= 1.02 * flat.distortion_ + 1e-3
    assert flat.distortion_ <= SarkarEmbedding(2).fit(tree).distortion_ + 1e-9
    assert wide.distortion_ <= SarkarEmbedding(10).fit(tree).distortion_ + 1e-9
    assert flat.converged_ and wide.converged_


def test_large_graphs_are_embedded_from_a_sample_of_pairs_and_from_a_start_of_some_nodes():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(55, 40))
    tree_alone, found = (DistortionEmbedding(2, n_init=n, max_iter=100, tol=1.0, random_state=0) for n in (0, 1))
    with pytest.warns(ConvergenceWarning):
        tree_alone.fit(grid), found.fit(grid)
    assert found.distortion_ < 0.7 * tree_alone.distortion_
    some = np.random.default_rng(0).choice(2200, 200, replace=False)
    D = shortest_paths(as_graph(grid).adjacency, some)[:, some]
    E = pairwise_distance(to_hyperboloid(found.embedding_[some]))
    true = metrics.average_distortion(found.distance_scale_ * D, E, metric="precomputed")
    assert np.isclose(true, found.distortion_, rtol=0.2)


def test_a_weight_of_neighbours_keeps_more_of_them():
    D = pairwise_distance(to_hyperboloid(make_hierarchical_normals(117, 10, random_state=1).points))
    near, plain = (DistortionEmbedding(2, neighbor_weight=w, **QUICK).fit(D) for w in (0.3, 0.0))
    E, F = (pairwise_distance(to_hyperboloid(found.embedding_)) for found in (near, plain))
    kept = [metrics.neighbours_kept(D, each, metric="precomputed") for each in (E, F)]
    assert kept[0] > kept[1] and near.distortion_ > plain.distortion_
    few = DistortionEmbedding(2, neighbor_weight=0.2, **QUICK).fit([-1, 0, 0, 1])  # fewer nodes than neighbours
    assert np.isfinite(few.embedding_).all()


def test_warns_if_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 steps without converging. Raise max_iter \(now 1\)"):
        found = DistortionEmbedding(2, n_init=0, max_iter=1, random_state=0).fit(nx.karate_club_graph())
    assert not found.converged_ and found.n_iter_ == 1
