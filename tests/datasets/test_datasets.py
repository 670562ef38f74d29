"""Data: distances and shapes of generated data, the bundled mammals, and downloads."""

import hashlib
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from horopca.datasets import (
    balanced_tree,
    fetch_embedding,
    fetch_graph,
    fetch_network,
    fetching,
    load_mammals,
    make_hierarchical_normals,
    make_hierarchy,
    random_tree,
)
from horopca.embed import reconstruction
from horopca.embed.poincare import closure_of
from horopca.geometry import distance, from_hyperboloid, pairwise_distance, radius, to_hyperboloid, translate_to_origin


@pytest.mark.parametrize(("branching", "depth", "d", "step"), [(3, 4, 10, 1.5), (2, 6, 2, 4.0), (1, 3, 2, 0.1), (5, 1, 50, 9)])
def test_every_child_is_one_step_from_its_parent(branching, depth, d, step):
    tree = make_hierarchy(branching, depth, d, step=step, random_state=0)
    n = sum(branching**level for level in range(depth + 1))
    assert tree.points.shape == (n, d) and tree.parent.shape == (n,) and len(tree.labels) == n
    x = to_hyperboloid(tree.points)
    # a ball coordinate at radius r holds the point to about eps e^r
    assert np.allclose(distance(x[1:], x[tree.parent[1:]]), step, rtol=0, atol=1e-14 * np.exp(step * depth) + 1e-12)
    assert radius(x).max() <= step * depth * (1 + 1e-9)
    assert np.array_equal(tree.edges, balanced_tree(branching, depth).edges)
    assert np.array_equal(tree.edges[:, 1], np.arange(1, n)) and (np.bincount(tree.edges[:, 0]) == branching).all()
    inner = range(branching + 1, n)
    assert tree.labels[:2] == ["root", "branch 1"] and all(tree.labels[i] == tree.labels[tree.parent[i]] for i in inner)


def test_children_head_away_from_the_root():
    x = to_hyperboloid((tree := make_hierarchy(3, 4, random_state=2)).points)
    assert (radius(x)[1:] > radius(x)[tree.parent[1:]]).mean() > 0.9
    straight = to_hyperboloid(make_hierarchy(2, 3, 3, spread=0.0, random_state=0).points)
    assert np.allclose(radius(straight)[7:], 3.0)


@pytest.mark.parametrize("make", [make_hierarchy, make_hierarchical_normals, lambda **seed: random_tree(50, **seed)])
def test_the_seed_determines_the_data(make):
    data = lambda seed: make(random_state=seed)[0]
    assert np.array_equal(data(0), data(0)) and not np.array_equal(data(0), data(1))
    for kind in (np.random.RandomState, np.random.default_rng):
        assert np.array_equal(data(kind(0)), data(kind(0)))
    with pytest.raises(ValueError, match="'dice' cannot be used to seed"):
        data("dice")


@pytest.mark.parametrize("kind", ["uniform", "recursive", "preferential"])
def test_random_trees_are_trees(kind):
    for n in (1, 2, 3, 50):
        tree = random_tree(n, kind=kind, random_state=1)
        assert tree.parent[0] == -1 and len(tree.parent) == n
        assert (tree.parent[1:] >= 0).all() and (tree.parent[1:] < np.arange(1, n)).all()


def test_uniform_trees_are_uniform():
    """On 4 nodes there are 16 labelled trees: 4 stars and 12 paths. Seen from node 0 a star has one centre in four there."""
    rng = np.random.default_rng(0)
    stars = [np.bincount(random_tree(4, random_state=rng).edges.ravel()).max() == 3 for _ in range(4000)]
    assert abs(np.mean(stars) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)


def test_kinds_of_random_trees_differ_as_they_should():
    trees = {kind: random_tree(2000, kind=kind, random_state=0) for kind in ("uniform", "recursive", "preferential")}
    degree = {kind: np.bincount(tree.edges.ravel()) for kind, tree in trees.items()}
    assert degree["preferential"].max() > 2 * max(degree["recursive"].max(), degree["uniform"].max())
    # a node of degree 1 is a leaf: 1 / e of uniform trees, half of recursive, two thirds of preferential ones
    shares = {"uniform": np.exp(-1), "recursive": 1 / 2, "preferential": 2 / 3}
    assert all(abs(np.mean(degree[kind] == 1) - share) < 4 / np.sqrt(2000) for kind, share in shares.items())


def test_hierarchical_normals_are_normal_seen_from_the_nodes_of_a_tree():
    blobs = make_hierarchical_normals(26000, 3, branching=3, depth=2, step=2.0, scale=0.7, random_state=0)
    x, m = to_hyperboloid(blobs.points), to_hyperboloid(blobs.centres)
    assert m.shape == (13, 4) and np.array_equal(np.bincount(blobs.labels), np.full(13, 2000))
    assert np.allclose(distance(m[1:], m[(np.arange(1, 13) - 1) // 3]), 2.0)
    for k in (0, 7):
        v = from_hyperboloid(translate_to_origin(x[blobs.labels == k], m[k]), "tangent")
        assert np.abs(v.mean(axis=0)).max() < 5 * 0.7 / np.sqrt(2000)
        assert np.allclose(np.cov(v.T), 0.49 * np.eye(3), atol=5 * 0.49 * np.sqrt(2 / 2000))


@pytest.mark.parametrize(
    ("function", "options", "sentence"),
    [
        (balanced_tree, {"branching": 0}, "branching must be a whole number of at least 1"),
        (balanced_tree, {"branching": 10, "depth": 30}, "but the limit is 10,000,000"),
        (random_tree, {"n_nodes": 0}, "n_nodes must be"),
        (random_tree, {"n_nodes": 5, "kind": "oak"}, "kind must be one of 'uniform'"),
        (make_hierarchical_normals, {"scale": 0.0}, "scale must be a positive number"),
        (make_hierarchy, {"step": float("nan")}, "step must be a positive distance"),
        (make_hierarchy, {"spread": -1.0}, "spread must be 0 or more"),
        (make_hierarchy, {"step": 10.0}, "at most 30"),
        (make_hierarchical_normals, {"step": 20.0}, "round to the boundary"),
        (fetch_graph, {"name": "no"}, "name must be one of"),
        (fetch_embedding, {"name": "smalltree", "dimension": 3}, "dimension must be 10 or 50"),
        (fetch_network, {"name": "polbooks", "version": 9}, "version must be"),
    ],
)
def test_rejects_impossible_data(function, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        function(**options)


def test_the_mammals_are_a_tree_but_for_the_elephant():
    mammals = load_mammals()
    n = 1182
    assert mammals.points.shape == (n, 10) and mammals.edges.shape == (n, 2)
    assert len(mammals.names) == len(set(mammals.synsets)) == len(mammals.labels) == n
    twice = np.flatnonzero(np.bincount(mammals.edges[:, 0], minlength=n) == 2)
    assert [mammals.synsets[i] for i in twice] == ["elephant.n.01"]
    assert [mammals.synsets[i] for i in np.flatnonzero(mammals.parent < 0)] == ["mammal.n.01"]
    above = mammals.parent.copy()
    for _ in range(20):
        above = np.where(above >= 0, mammals.parent[above], -1)
    assert (above < 0).all()


def test_the_mammals_embedding_is_the_one_described():
    mammals = load_mammals()
    pairs = closure_of(mammals.edges, mammals.synsets)
    assert len(pairs) == 6542
    found = reconstruction(mammals.points, pairs)
    assert found.mean_rank < 1.2 and found.mean_average_precision > 0.96
    nearest = np.argsort(pairwise_distance(to_hyperboloid(mammals.points))[mammals.names.index("burmese cat")])[1:30]
    assert "domestic cat" in [mammals.names[i] for i in nearest]
    licence = (files("horopca") / "datasets" / "data" / "mammals" / "LICENSE").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence and "ALL copies" in licence


EDGES = b"0 1\n0 2\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """What the public home serves, by name, and the place of the graph in an empty folder of data."""
    pooch, served = pytest.importorskip("pooch"), {"smalltree.edges": EDGES}

    def download(downloader, url, output, *_):
        if url.rpartition("/")[2] not in served:
            raise OSError("not found")
        Path(output).write_bytes(served[url.rpartition("/")[2]])

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    monkeypatch.setattr(fetching, "registry", lambda: {"graphs/smalltree.edges": hashlib.sha256(EDGES).hexdigest()})
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path))
    return served, tmp_path / "graphs" / "smalltree.edges"


def test_a_file_is_fetched_once_and_again_if_it_is_damaged(home):
    served, path = home
    fetch_graph("smalltree")
    path.write_bytes(b"0 7\n")
    assert fetch_graph("smalltree").names == ["0", "1", "2"] and path.read_bytes() == EDGES
    del served["smalltree.edges"]
    assert fetch_graph("smalltree").edges.tolist() == [[0, 1], [0, 2]]


def test_a_corrupt_download_is_deleted(home):
    served, path = home
    served["smalltree.edges"] = b"0 1\n"
    with pytest.raises(ValueError, match="another SHA-256 than the original, and was deleted"):
        fetch_graph("smalltree")
    assert not any(path.parent.iterdir())


def test_the_folder_can_be_filled_by_hand(home):
    served, path = home
    served.clear()
    with pytest.raises(OSError, match=r"put the file from https://.*/smalltree.edges into \$HOROPCA_DATA/graphs/"):
        fetch_graph("smalltree")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(EDGES)
    assert fetch_graph("smalltree").names == ["0", "1", "2"]


def test_the_registry_knows_every_file_that_is_offered():
    names = {f"graphs/{name}.edges" for name in fetching.GRAPHS}
    names |= {f"embeddings/{name}_{d}_poincare.npy" for name in fetching.GRAPHS for d in fetching.DIMENSIONS}
    names |= {f"realnet/{name}_data_{k}.mat" for name in fetching.NETWORKS for k in fetching.VERSIONS}
    assert names == set(fetching.registry())
    assert all(len(digest) == 64 and int(digest, 16) for digest in fetching.registry().values())


def test_networks_are_read_with_their_labels(tmp_path, monkeypatch):
    content = {"A": np.eye(3), "B": np.full((3, 2), 0.1), "label": np.array([[1], [2], [1]]), "R": np.eye(3)}
    name = "realnet/polbooks_data_5.mat"
    (tmp_path / "realnet").mkdir()
    savemat(tmp_path / name, content)
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path))
    monkeypatch.setattr(fetching, "registry", lambda: {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()})
    points, labels, adjacency = fetch_network("polbooks", 5)
    assert points.shape == (3, 2) and labels == ["1", "2", "1"] and np.array_equal(adjacency, np.eye(3))


def test_the_error_without_pooch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install pooch.*put the file from https://"):
        fetch_embedding("smalltree")
