"""What the cells compute: the slips, the paper's systems as they are written and coded, and what is measured."""

import numpy as np
import pytest
from reproduction.cells import ball, data, defects, orthonormal, whitening
from reproduction.cells import histogram as histogram_cells
from reproduction.cells.reduction import SARKARS, hierarchy_seen, reduce_embedding
from reproduction.cells.systems import SYSTEMS
from reproduction.definitions import Cell
from reproduction.run import Answer, compute

from horopca.datasets import load_mammals, make_hierarchy
from horopca.geometry import busemann, distance, geodesic_hull, geodesic_projection, origin, to_hyperboloid
from reproduction import paper


def test_the_slips_of_bsa_and_pga_are_the_methods_where_nothing_slips():
    """Without the clip, midpoints of mirror images are geodesic projections."""
    x = 0.4 * make_hierarchy(2, 3, 5, random_state=0).points
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0].T
    image = to_hyperboloid(defects.mirror_midpoints(x, Q))
    nearest = geodesic_projection(to_hyperboloid(x), geodesic_hull(origin(5), Q))
    np.testing.assert_allclose(image, nearest, atol=1e-12)


def test_orthonormal_ideal_points_have_the_gradient_of_their_variance():
    rng = np.random.default_rng(0)
    x = to_hyperboloid(rng.standard_normal((20, 5)), "tangent")
    loss, theta, h = orthonormal.orthonormal_loss(x, 2), rng.standard_normal(10), 1e-6
    slopes = [(loss(theta + e)[0] - loss(theta - e)[0]) / (2 * h) for e in h * np.eye(10)]
    np.testing.assert_allclose(loss(theta)[1], slopes, rtol=1e-5, atol=1e-7)  # differences of h^2 and eps / h
    found = orthonormal.best_orthonormal(x, 2, rng)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    assert loss(found.ravel())[0] <= min(loss(rng.standard_normal(10))[0] for _ in range(50))


def test_whitening_as_written_is_busemann_coordinates_normalised():
    X = make_hierarchy(2, 4, 2, random_state=0).points
    features = whitening.AlongDirections("random", 0).fit(X)
    q = features.ideal_points_
    np.testing.assert_allclose(q @ q.T, np.eye(2), atol=1e-12)
    Y = features.transform(X)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Y.std(axis=0), 1)
    assert np.corrcoef(Y[:, 0], busemann(to_hyperboloid(X), q[0]))[0, 1] == pytest.approx(1)


def test_distances_of_the_ball_are_right_until_they_saturate():
    z = make_hierarchy(2, 3, 4, random_state=0).points
    x = to_hyperboloid(z)
    np.testing.assert_allclose(ball.ball_distances(z), distance(x[:, None], x[None]), atol=1e-6)
    far = np.array([[1 - 1e-16, 0.0], [-1 + 1e-16, 0.0]])
    assert ball.ball_distances(far)[0, 1] == pytest.approx(2 * np.arctanh(ball.RIM)), "true distance: 73"
    assert ball.ball_distances(far)[0, 1] ** 2 == pytest.approx(paper.SARKAR["hmds"]["CS Ph.D."].variance.mean, abs=0.005)


def test_sarkar_in_the_ball_has_edges_of_the_scale(small_data):
    graph = data.graph("balanced tree")
    z = ball.sarkar_in_ball(graph, 10, scale=2.0)
    assert (np.linalg.norm(z, axis=1) < 1).all()
    x = to_hyperboloid(z)
    u, v = graph.adjacency.nonzero()
    np.testing.assert_allclose(distance(x[u], x[v]), 2.0, rtol=1e-6)


@pytest.mark.parametrize("sarkar", ["", *SARKARS])
def test_a_reduction_says_what_it_keeps_and_where_the_ideal_points_are(small_data, sarkar):
    arguments = {"graph": "diseases", "sarkar": sarkar}
    cloud = compute(Cell("sarkar", "a", "reduction.cloud", arguments))
    found = compute(Cell("sarkar", "b", "reduction.reduce_embedding", {**arguments, "system": "orthonormal", "run": 0}))
    assert isinstance(cloud, Answer) and isinstance(found, Answer), (cloud, found)
    assert found.result["angle"] == pytest.approx(90)
    assert found.result["frechet_variance"] <= cloud.result["frechet_variance"], "a projection lengthens nothing"


@pytest.mark.parametrize("system", ["pca", "greedy", "horopca"])
def test_systems_without_chance_have_one_run(small_data, system):
    assert not SYSTEMS[system].chance
    one, other = (reduce_embedding("diseases", system, run) for run in (0, 1))
    assert {**one, "points": None} == {**other, "points": None}


def test_what_is_seen_of_a_hierarchy():
    X = load_mammals().points
    seen = hierarchy_seen(X, X)
    assert seen["feline_cat"] == seen["cat_burmese"] == 1 and seen["in_order"] and seen["above"] > 0.9
    nothing = hierarchy_seen(X, np.zeros((len(X), 2)))
    assert nothing == {"above": 0, "in_order": False, "feline_cat": 0, "cat_burmese": 0}


def test_histogram_by_hand(monkeypatch):
    monkeypatch.setattr(histogram_cells, "HISTOGRAM_POINTS", 200)
    found = histogram_cells.project_on_lines(2.0, 0)
    rng = np.random.default_rng(0)
    x = to_hyperboloid(2.0 * rng.standard_normal((200, 2)), "tangent")
    angle = rng.uniform(0, 2 * np.pi, 100)[0]
    b = busemann(x, np.array([np.cos(angle), np.sin(angle)]))
    i, j = np.triu_indices(200, 1)
    assert found["horospherical"][0] == pytest.approx(np.mean(np.abs(np.abs(b[i] - b[j]) / distance(x[i], x[j]) - 1)))
    assert len(found["geodesic"]) == 100 and np.mean(found["horospherical"]) < np.mean(found["geodesic"])
