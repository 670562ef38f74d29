"""New nodes in a fitted embedding, and single cells from their neighbour graph."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import kneighbors_graph

from horopca import anndata
from horopca.datasets import balanced_tree, make_hierarchy, random_tree
from horopca.embed import DistortionEmbedding, PoincareEmbedding
from horopca.embed.graphs import as_graph, shortest_paths
from horopca.geometry import pairwise_distance, to_hyperboloid

QUICK = {"n_init": 0, "tol": 1.0, "random_state": 0}  # one descent from Sarkar's construction


def distances_of(graph):
    return shortest_paths(as_graph(graph).adjacency)


def split(D, every):
    """The rows of new and of known nodes, and the distances between them."""
    new = np.arange(1, len(D), every)
    known = np.setdiff1d(np.arange(len(D)), new)
    return new, known, D[np.ix_(new, known)]


def misfits(X, fitted, D):
    """The average distortion of each of the points X."""
    E = pairwise_distance(to_hyperboloid(X), to_hyperboloid(fitted.embedding_))
    return np.abs(E / (fitted.distance_scale_ * D) - 1).mean(axis=1)


def test_new_nodes_are_embedded_nearly_as_well_as_by_a_new_fit():
    D = distances_of(random_tree(100, kind="recursive", random_state=0).parent)
    new, known, D_new = split(D, 5)
    whole, part = (DistortionEmbedding(2, **QUICK).fit(D[np.ix_(rows, rows)]) for rows in (np.arange(len(D)), known))
    before = part.embedding_.copy()
    E = pairwise_distance(to_hyperboloid(whole.embedding_))[np.ix_(new, known)]
    again = np.abs(E / (whole.distance_scale_ * D_new) - 1).mean()
    assert misfits(part.transform(D_new), part, D_new).mean() < 1.2 * again
    assert np.array_equal(part.embedding_, before)


def test_no_point_of_the_disk_is_better_for_a_new_node():
    D = distances_of(nx.karate_club_graph())
    _, known, D_new = split(D, 10)
    part = DistortionEmbedding(2, **QUICK).fit(D[np.ix_(known, known)])
    z = np.tanh(np.linspace(0, 6, 60)[:, None] / 2) * np.exp(2j * np.pi * np.arange(180) / 180)
    grid = np.stack([z.real.ravel(), z.imag.ravel()], axis=1)
    best = [misfits(grid, part, row).min() for row in D_new]
    assert (misfits(part.transform(D_new), part, D_new) <= 1.01 * np.array(best)).all()


@pytest.mark.parametrize("embedding", [DistortionEmbedding(2, **QUICK), PoincareEmbedding(2, epochs=2, random_state=0)])
def test_new_nodes_have_the_coordinates_of_the_fit(embedding):
    tree = random_tree(12, random_state=0).parent
    new = [("new", 3)] if isinstance(embedding, PoincareEmbedding) else distances_of(tree)[:1] + 1
    fitted = embedding.fit(tree)
    before = fitted.transform(new)
    assert np.array_equal(fitted.set_params(model="lorentz", curvature=-4.0).transform(new), before)


@pytest.mark.parametrize("options", [{}, {"model": "lorentz"}, {"curvature": -4.0}])
def test_a_known_node_passed_as_new_gets_its_point_again(options):
    D = distances_of(balanced_tree(3, 3).parent)
    fitted = DistortionEmbedding(3, **QUICK, **options).fit(D)
    some = D[:5].copy()
    some[2, 10:20] = np.nan  # unknown distances are left out
    found = fitted.transform(some)
    assert found.shape == (5, fitted.embedding_.shape[1])
    assert np.allclose(found, fitted.embedding_[:5], atol=0.1 * np.abs(fitted.embedding_).max())


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.ones((2, 3)), r"a column for each of the 4 nodes of the fit, but has shape \(2, 3\)"),
        (-np.ones((1, 4)), "must not be negative, but row 0 has -1"),
        (np.full((1, 4), np.nan), "finite distance > 0, but row 0 has none"),
    ],
)
def test_rejects_invalid_distances(distances, message):
    fitted = DistortionEmbedding(2, **QUICK).fit([-1, 0, 0, 1])
    with pytest.raises(ValueError, match=message):
        fitted.transform(distances)


def test_new_leaves_of_a_hierarchy_are_near_their_parents():
    parent = balanced_tree(3, 3).parent
    edges = [(f"n{child}", f"n{p}") for child, p in enumerate(parent) if p >= 0]
    new = [f"n{k}" for k in range(13, 40, 3)]  # one leaf of each family
    known = [edge for edge in edges if edge[0] not in new]
    part = PoincareEmbedding(3, closure=True, epochs=100, learning_rate=0.1, random_state=0).fit(known)
    before = part.embedding_.copy()
    found = part.transform([edge for edge in edges if edge[0] in new])
    assert found.shape == (9, 3) and np.array_equal(part.embedding_, before)
    D = pairwise_distance(to_hyperboloid(found), to_hyperboloid(part.embedding_))
    above = [part.names_.index(dict(edges)[name]) for name in new]
    ranks = [(row < row[k]).sum() for row, k in zip(D, above, strict=True)]
    assert np.mean(ranks) <= 2  # 0 now; in a new fit of all nodes 1.4
    two_parents = [("new", "n14"), ("new", "n17")]  # a tree if it were reversed
    known = [("n4", "n1"), ("n5", "n1")]
    assert np.array_equal(part.transform(two_parents), part.transform([*two_parents, *known]))
    with pytest.raises(ValueError, match="'b' is joined to none"):
        part.transform([("a", "n0"), ("b", "c")])


def test_shortest_paths_of_scipy_are_symmetric_within_rounding():
    D = shortest_path(kneighbors_graph(make_hierarchy(random_state=0).points, 8, mode="distance"), directed=False)
    D[0, 1] *= 1 + 1e-13
    assert np.array_equal(as_graph(D).distances, as_graph(D).distances.T)
    sparse = csr_array(np.where(np.eye(len(D), k=1) + np.eye(len(D), k=-1) > 0, D, 0))
    assert as_graph(sparse).is_tree
    with pytest.raises(ValueError, match="one weight, but 0 - 1 has"):
        D[0, 1] *= 1.01
        as_graph(D)


def test_rejects_scales_out_of_range_and_accepts_any_unit():
    with pytest.raises(ValueError, match=r"scale must give the nodes a mean distance .* but is 1e-320"):
        DistortionEmbedding(scale=1e-320).fit([-1, 0, 0])
    for unit in (1e-100, 1e99):
        found = DistortionEmbedding(**QUICK).fit([(0, 1, unit), (1, 2, 2 * unit)])
        assert found.distortion_ < 1e-3 and found.distance_scale_ * unit > 1e-3


@pytest.mark.parametrize("key", ["distances", "connectivities"])
def test_cells_are_mapped_from_their_neighbour_graph(key):
    X = make_hierarchy(3, 3, random_state=0).points
    graph = kneighbors_graph(X, 8, mode="distance")
    if key == "connectivities":
        graph.data = np.exp(-graph.data)
    adata = SimpleNamespace(
        obsp={key: graph},
        obsm={},
        uns={},
        obs=pandas.DataFrame({"kind": ["a"] * len(X)}),
        obs_names=[f"c{i}" for i in range(len(X))],
    )
    page = anndata.map(adata, key, color="kind", largest_component=True, **QUICK)
    Y = adata.obsm["X_hyperbolic"]
    assert Y.shape == (len(X), 2) and "c0" in page.html and adata.uns["hyperbolic"]["params"]["basis"] == key
    with pytest.raises(ValueError, match=r"key must be an array of adata.obsp, but 'no' is not"):
        anndata.map(adata, "no")
    with pytest.raises(ValueError, match=r"color must be a column of adata.obs, but 'no' is not"):
        anndata.map(adata, key, color="no")
    adata.obsp["connectivities"] = csr_array([[0.0, 2.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match="similarities between 0 and 1, but they run from 2 to 2"):
        anndata.map(adata, "connectivities")
