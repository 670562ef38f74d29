"""New nodes in a fitted embedding, and single cells from their neighbour graph."""

from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import kneighbors_graph

from horopca import anndata
from horopca.datasets import balanced_tree, make_hierarchy, random_tree
from horopca.embed import DistortionEmbedding, PoincareEmbedding
from horopca.embed.graphs import as_graph
from horopca.geometry import pairwise_distance, to_hyperboloid


def distances_of(parent):
    return shortest_path(as_graph(parent).adjacency, directed=False)


def distortion(D, E, scale):
    return np.abs(E / (scale * D) - 1).mean()


def test_held_out_leaves_are_embedded_nearly_as_well_as_by_a_new_fit():
    tree = random_tree(150, kind="recursive", random_state=0)
    leaves = np.setdiff1d(np.arange(150), tree.parent)
    new = leaves[::4]
    known = np.setdiff1d(np.arange(150), new)
    D = distances_of(tree.parent)
    edges = [(child, parent) for child, parent in enumerate(tree.parent.tolist()) if parent >= 0]
    refitted = DistortionEmbedding(2, n_init=1, random_state=0).fit(edges)
    row = [refitted.names_.index(name) for name in range(150)]
    E = pairwise_distance(to_hyperboloid(refitted.embedding_[row]))
    part = DistortionEmbedding(2, n_init=1, random_state=0).fit([edge for edge in edges if edge[0] not in new])
    D_new = D[np.ix_(new, part.names_)]
    before = part.embedding_.copy()
    found = part.transform(D_new)
    F = pairwise_distance(to_hyperboloid(found), to_hyperboloid(part.embedding_))
    again = distortion(D[np.ix_(new, known)], E[np.ix_(new, known)], refitted.distance_scale_)
    assert distortion(D_new, F, part.distance_scale_) < 1.2 * again
    assert np.array_equal(part.embedding_, before)


@pytest.mark.parametrize("options", [{}, {"model": "lorentz"}, {"curvature": -4.0}])
def test_a_known_node_given_as_new_is_found_again(options, short_descents):
    D = distances_of(balanced_tree(3, 3).parent)
    fitted = DistortionEmbedding(3, n_init=0, random_state=0, **options).fit(D)
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
        (np.full((1, 4), np.nan), "finite one > 0 in every row, but row 0 has none"),
    ],
)
def test_impossible_distances_raise(distances, message, short_descents):
    fitted = DistortionEmbedding(2, n_init=0, random_state=0).fit([-1, 0, 0, 1])
    with pytest.raises(ValueError, match=message):
        fitted.transform(distances)


def test_new_words_are_near_what_they_are():
    parent = balanced_tree(3, 3).parent
    edges = [(f"n{child}", f"n{p}") for child, p in enumerate(parent) if p >= 0]
    new = [f"n{k}" for k in range(13, 40, 3)]  # one leaf of each family
    known = [edge for edge in edges if edge[0] not in new]
    options = {"closure": True, "epochs": 100, "learning_rate": 0.1, "random_state": 0}
    refitted = PoincareEmbedding(3, **options).fit(edges)
    part = PoincareEmbedding(3, **options).fit(known)
    before = part.embedding_.copy()
    found = part.transform([edge for edge in edges if edge[0] in new])
    assert found.shape == (9, 3) and np.array_equal(part.embedding_, before)
    D = pairwise_distance(to_hyperboloid(found), to_hyperboloid(part.embedding_))
    above = [part.names_.index(dict(edges)[name]) for name in new]
    ranks = [(row < row[k]).sum() for row, k in zip(D, above, strict=True)]
    E = pairwise_distance(to_hyperboloid(refitted.embedding_))
    again = [
        (E[i] < E[i, refitted.names_.index(dict(edges)[name])]).sum() - 1
        for name, i in ((name, refitted.names_.index(name)) for name in new)
    ]
    assert np.mean(ranks) <= 1.2 * np.mean(again) + 1
    with pytest.raises(ValueError, match="'b' is joined to none"):
        part.transform([("a", "n0"), ("b", "c")])


def test_shortest_paths_of_scipy_are_symmetric_within_rounding():
    D = shortest_path(kneighbors_graph(make_hierarchy(random_state=0).points, 8, mode="distance"), directed=False)
    D[0, 1] *= 1 + 1e-13
    assert np.array_equal(as_graph(D).distances, as_graph(D).distances.T)
    sparse = csr_array(np.where(np.eye(len(D), k=1) + np.eye(len(D), k=-1) > 0, D, 0))
    assert as_graph(sparse).is_tree
    with pytest.raises(ValueError, match="one weight, but 0 - 1 comes with"):
        D[0, 1] *= 1.01
        as_graph(D)


def test_a_scale_out_of_range_raises_and_any_unit_is_fine():
    with pytest.raises(ValueError, match=r"scale must give the nodes a mean distance .* but is 1e-320"):
        DistortionEmbedding(scale=1e-320).fit([-1, 0, 0])
    for unit in (1e-100, 1e99):
        found = DistortionEmbedding(n_init=1, random_state=0).fit([(0, 1, unit), (1, 2, 2 * unit)])
        assert found.distortion_ < 1e-3 and found.distance_scale_ * unit > 1e-3


@pytest.mark.parametrize("key", ["distances", "connectivities"])
def test_cells_are_mapped_from_their_neighbour_graph(key, short_descents):
    X = make_hierarchy(random_state=0).points
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
    page = anndata.map(adata, key, color="kind", random_state=0, n_init=0, largest_component=True)
    Y = adata.obsm["X_hyperbolic"]
    assert Y.shape == (len(X), 2) and "c0" in page.html and adata.uns["hyperbolic"]["params"]["basis"] == key
    with pytest.raises(ValueError, match=r"key must be an array of adata.obsp, but 'no' is not"):
        anndata.map(adata, "no")
    with pytest.raises(ValueError, match=r"color must be a column of adata.obs, but 'no' is not"):
        anndata.map(adata, key, color="no")


def test_similarities_are_between_0_and_1():
    adata = SimpleNamespace(obsp={"connectivities": csr_array([[0.0, 2.0], [2.0, 0.0]])})
    with pytest.raises(ValueError, match="similarities between 0 and 1, but they run from 2 to 2"):
        anndata.map(adata, "connectivities")
