"""Nearest neighbours: exactness, ties, models, array libraries, scikit-learn's contract, errors."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

from clouds import cloud
from horopca.datasets import make_hierarchy
from horopca.geometry import MODELS, from_hyperboloid, lift, pairwise_distance, to_hyperboloid
from horopca.neighbors import HyperbolicNeighbors, to_umap

ALGORITHMS = ["brute", "shells"]
TREE = make_hierarchy(3, 8, 3, step=1.5, random_state=0).points  # 9841 points


CLOUDS = {
    "tree": lambda: to_hyperboloid(TREE[:500]),
    "flat": lambda: lift(0.01 * np.random.default_rng(0).standard_normal((400, 3))),
    "far out": lambda: cloud(400, 2, radius=300),
    "line": lambda: cloud(300, 1, radius=20),
    "equal": lambda: np.repeat(cloud(2, 3), 40, axis=0),
    "circle": lambda: lift(np.sinh(20.0) * np.stack([f(np.arange(99) * np.exp(-20.0)) for f in (np.cos, np.sin)], axis=1)),
}


def sorted_distances(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All distances from x to y in order, and the rows of y."""
    d = pairwise_distance(x, y)
    order = np.argsort(d, axis=1, kind="stable")
    return np.take_along_axis(d, order, axis=1), order


@pytest.mark.parametrize("name", CLOUDS)
def test_neighbours_are_the_nearest_and_algorithms_agree_to_the_last_bit(name):
    x = CLOUDS[name]()
    x = np.concatenate([x, x[:10], x[:10]])  # with neighbours at distance 0, and ties
    queries = np.concatenate([x[::7], cloud(20, x.shape[1] - 1), np.eye(1, x.shape[1])])  # the last is the origin
    both = [HyperbolicNeighbors(9, model="lorentz", algorithm=a, n_jobs=2).fit(x) for a in ALGORITHMS]
    reach = float(np.median(pairwise_distance(x))) / 2
    for one, other in zip(
        *((*found.kneighbors(), *found.kneighbors(queries), *found.radius_neighbors(queries, reach)) for found in both),
        strict=True,
    ):
        assert all(map(np.array_equal, one, other))
    distances, indices = both[0].kneighbors()
    expected = pairwise_distance(x)
    np.fill_diagonal(expected, np.inf)
    # the same formula in another order of summation: a few units in the last place
    assert np.allclose(distances, np.sort(expected, axis=1)[:, :9], rtol=1e-13, atol=1e-15)
    assert np.allclose(distances, np.take_along_axis(expected, indices, axis=1), rtol=1e-13, atol=1e-15)
    assert (np.diff(indices, axis=1)[np.diff(distances, axis=1) == 0] > 0).all()  # by row number
    assert (np.diff(np.sort(indices, axis=1), axis=1) > 0).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equal_distances_and_a_radius_that_is_reached(algorithm):
    """The first rows are taken of points that coincide, and a radius is inclusive."""
    X = np.array([[0.0], [1.0], [2.0], [4.0], [0.0]])
    found = HyperbolicNeighbors(1, model="tangent", algorithm=algorithm).fit(X)
    assert found.kneighbors(return_distance=False).ravel().tolist() == [4, 0, 1, 2, 0]
    near = found.radius_neighbors(radius=1.0, return_distance=False)
    assert [list(part) for part in near] == [[4, 1], [0, 2, 4], [1], [], [0, 1]]


@pytest.mark.parametrize("model", MODELS)
def test_models_and_curvatures(model):
    x, q = cloud(60, 3), cloud(9, 3, seed=1)
    to_model = lambda p: from_hyperboloid(p, model) * (2 if MODELS[model].scaled else 1)
    d, order = sorted_distances(q, x)
    found = HyperbolicNeighbors(4, model=model, curvature=-0.25).fit(to_model(x))
    distances, indices = found.kneighbors(to_model(q))
    assert np.array_equal(indices, order[:, :4])
    assert np.allclose(distances, 2 * d[:, :4], rtol=1e-9)
    near = found.radius_neighbors(to_model(q), 3.0)
    assert [len(part) for part in near[0]] == (2 * d <= 3.0).sum(axis=1).tolist()


def test_the_interface_is_that_of_scikit_learn():
    x, q = cloud(80, 3), cloud(11, 3, seed=1)
    D = pairwise_distance(x)
    reference = NearestNeighbors(n_neighbors=5, metric="precomputed").fit(D)
    found = HyperbolicNeighbors(5, model="lorentz").fit(x)
    for options in ({}, {"n_neighbors": 3}):
        assert all(map(np.allclose, found.kneighbors(**options), reference.kneighbors(**options)))
    assert np.array_equal(found.kneighbors(q, return_distance=False), sorted_distances(q, x)[1][:, :5])
    near = found.radius_neighbors(radius=2.0), reference.radius_neighbors(radius=2.0, sort_results=True)
    assert all(all(map(np.allclose, ours, theirs)) for ours, theirs in zip(*near, strict=True))
    for mode in ("connectivity", "distance"):
        graph = found.kneighbors_graph(mode=mode)
        assert graph.format == "csr" and abs(graph - reference.kneighbors_graph(mode=mode)).max() < 1e-12
    assert found.kneighbors_graph(q).shape == (11, 80)


def test_array_libraries(xp):
    x, q = cloud(150, 4), cloud(20, 4, seed=1)
    expected = HyperbolicNeighbors(7, model="lorentz").fit(x).kneighbors(q)
    found = HyperbolicNeighbors(7, model="lorentz").fit(xp.asarray(x))
    for queries in (xp.asarray(q), q):
        distances, indices = found.kneighbors(queries)
        assert isinstance(distances, type(queries)) and isinstance(indices, type(queries))
        assert np.array_equal(np.asarray(indices), expected[1]) and np.allclose(np.asarray(distances), expected[0], rtol=1e-13)
    assert found.kneighbors()[1].shape == (150, 7)


def test_a_mapped_file_of_several_chunks(tmp_path):
    X = np.concatenate([TREE, 0.9 * TREE]).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    brute = HyperbolicNeighbors(5, algorithm="brute").fit(mapped)
    auto = HyperbolicNeighbors(5).fit(X)
    assert (brute.algorithm_, auto.algorithm_) == ("brute", "shells")
    assert np.shares_memory(brute._rows.X, mapped)
    assert all(map(np.array_equal, brute.kneighbors(X[::50]), auto.kneighbors(X[::50])))


def test_auto_takes_brute_force_where_shells_have_many_candidates():
    x = np.random.default_rng(0).standard_normal((8192, 8))
    x *= np.linspace(3, 9, 8192)[:, None] / np.linalg.norm(x, axis=1, keepdims=True)
    assert HyperbolicNeighbors(model="tangent").fit(x).algorithm_ == "brute"


@parametrize_with_checks([HyperbolicNeighbors(model="tangent")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda found, X: found.kneighbors(n_neighbors=5), r"from 1 to 4 \(the number of points other than the query\)"),
        (lambda found, X: found.kneighbors(X[:, :1]), "X has 1 features, but HyperbolicNeighbors is expecting 2"),
        (lambda found, X: found.radius_neighbors(X, -1), "radius must be a distance >= 0, but is -1"),
        (lambda found, X: found.kneighbors_graph(mode="weight"), "mode must be one of"),
        (lambda found, X: found.set_params(algorithm="tree").fit(X), "algorithm must be one of 'auto', 'brute', 'shells'"),
        (lambda found, X: found.set_params(n_neighbors=0).fit(X), "n_neighbors must be a whole number of at least 1"),
    ],
)
def test_invalid_queries_raise(call, sentence):
    X = from_hyperboloid(cloud(5, 2))
    with pytest.raises(ValueError, match=sentence):
        call(HyperbolicNeighbors(2).fit(X), X)
    with pytest.raises(NotFittedError):
        HyperbolicNeighbors().kneighbors(X)


def test_the_arguments_for_umap():
    x = cloud(60, 4)
    X, Y = 2 * from_hyperboloid(x), 2 * from_hyperboloid(cloud(60, 2))
    arguments = to_umap(X, Y, n_neighbors=5, curvature=-0.25)
    indices, distances = arguments["precomputed_knn"]
    expected, order = sorted_distances(x, x)
    assert arguments["n_neighbors"] == 6  # UMAP counts the point itself
    assert np.array_equal(indices, order[:, :6]) and np.allclose(distances, 2 * expected[:, :6], atol=1e-6)
    assert arguments["init"].shape == (60, 2) and np.abs(arguments["init"]).max() == 10
    assert "init" not in to_umap(X, curvature=-0.25)
    with pytest.raises(ValueError, match="init must have one row for each of the 60 points of X, but has 59"):
        to_umap(X, Y[1:], curvature=-0.25)
