"""Is the data hyperbolic: delta against all quadruples, curvature and flatness against spaces where they are known."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from clouds import cloud
from horopca.geometry import from_hyperboloid, pairwise_distance, to_hyperboloid
from horopca.metrics import delta_hyperbolicity, fit_curvature, flatness

rng = np.random.default_rng(0)


def euclidean(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def all_quadruples(D: np.ndarray) -> float:
    """delta by its definition."""
    sums = [sorted([D[a, b] + D[c, d], D[a, c] + D[b, d], D[a, d] + D[b, c]]) for a, b, c, d in combinations(range(len(D)), 4)]
    return max(high - middle for _, middle, high in sums) / 2


def sparse(graph: nx.Graph) -> csr_array:
    return nx.to_scipy_sparse_array(graph, dtype=float)


@pytest.mark.parametrize("seed", range(2))
def test_delta_is_its_definition(seed):
    A = sparse(nx.connected_watts_strogatz_graph(14, 4, 0.3, seed=seed))
    D = shortest_path(A, directed=False)
    expected = all_quadruples(D)
    for found in (delta_hyperbolicity(A), delta_hyperbolicity(D, metric="precomputed")):
        assert found == (expected, expected, D.max(), True, 14) and found.relative == 2 * expected / D.max()
    P = euclidean(np.random.default_rng(seed).standard_normal((16, 2)))
    assert delta_hyperbolicity(P, metric="precomputed").delta == pytest.approx(all_quadruples(P))


@pytest.mark.parametrize(
    ("X", "options", "expected"),
    [
        (sparse(nx.random_labeled_tree(60, seed=0)), {}, 0),
        (0.1 * sparse(nx.random_labeled_tree(60, seed=0)), {}, 0),
        (sparse(nx.grid_2d_graph(6, 6)), {}, 5),  # its side
        (sparse(nx.complete_graph(5)), {}, 0),
        # the corners of a large square at curvature -1/4: the supremum of the space, log 2 times its unit
        (2 * np.tanh(6.0) * np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]]), {"curvature": -0.25}, 2 * np.log(2)),
    ],
)
def test_delta_of_spaces_in_which_it_is_known(X, options, expected):
    assert delta_hyperbolicity(X, **options).delta == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_a_sample_and_a_limit_give_bounds():
    A = sparse(nx.connected_watts_strogatz_graph(80, 4, 0.1, seed=0))
    exact = delta_hyperbolicity(A).delta
    sample = delta_hyperbolicity(A, n_points=40)
    assert sample.delta <= exact and not sample.exact and sample.upper == np.inf and sample.n_points == 40
    limited = delta_hyperbolicity(A, max_quadruples=10)
    assert limited.delta <= exact <= limited.upper and not limited.exact
    assert delta_hyperbolicity(from_hyperboloid(cloud(50, 2)), max_quadruples=1).upper <= np.log(2)


def test_the_curvature_of_a_plane_is_found(curvature=-0.05):
    D = pairwise_distance(cloud(40, 2, radius=5)) / np.sqrt(-curvature)
    found = fit_curvature(D, 2, metric="precomputed")
    low, high = found.interval
    assert low <= curvature <= high
    assert found.distortion < 0.02 < found.euclidean
    assert found.distortion == found.distortions.min() and found.curvature in found.curvatures
    flat = fit_curvature(euclidean(rng.standard_normal((40, 2))), 2, metric="precomputed")
    assert flat.euclidean < 1e-3 and flat.interval[1] > flat.curvatures[0]


def test_a_graph_and_a_sample():
    tree = sparse(nx.balanced_tree(3, 3))
    found = fit_curvature(tree, 2)
    assert found.distortion < 0.5 * found.euclidean
    first, second = (fit_curvature(tree, 2, n_points=12, random_state=0) for _ in range(2))
    assert first.curvature == second.curvature and first.distortion == second.distortion


@pytest.mark.parametrize(("size", "verdict"), [(1e-3, "nearly flat"), (0.6, "nearly flat"), (3.0, "curved")])
def test_flatness(size, verdict):
    v = rng.standard_normal((200, 10))
    v *= size / np.median(np.linalg.norm(v, axis=1))
    found = flatness(v, model="tangent")
    assert verdict in found.sentence and found.median_radius == pytest.approx(size, rel=0.1)
    moved = flatness(to_hyperboloid(v, "tangent"), model="lorentz")
    assert moved.tangent_distortion == pytest.approx(found.tangent_distortion, rel=1e-6)
    assert flatness(np.zeros((5, 2))).tangent_distortion == 0
