"""``horopca embed``: names and order are kept."""

import numpy as np
import pandas as pd
import pytest

from horopca.embed import SarkarEmbedding
from horopca.io import load

from .running import done, summary

pytestmark = pytest.mark.usefixtures("folder")
NAMES = ["cat", "feline", "lion", "sea cow", "mammal"]
QUICK = {"distortion": ("max_iter=100", "tol=0.5", "n_init=0"), "sarkar": (), "poincare": ("epochs=30",)}
SARKAR = ("-d", 2, "--method", "sarkar")


def quick(method):
    return ("--method", method, *(word for setting in QUICK[method] for word in ("--set", setting)))


@pytest.mark.parametrize("method", QUICK)
def test_every_method_writes_points_and_names_in_order(tree, method):
    more = ("--set", "closure=true") if method == "poincare" else ()
    found, table = summary("embed", tree, "-d", 3, *quick(method), *more, "-o", "points.npz"), load("points.npz")
    assert table.X.shape == (5, 3) and table.row_names == NAMES
    assert (found["n_nodes"], found["n_columns"], found["method"]) == (5, 3, method)
    assert method != "poincare" or (found["mean_rank"] >= 1 and 0 < found["mean_average_precision"] <= 1)


def test_what_is_written_is_what_the_library_returns(tree):
    done("embed", tree, *SARKAR, "--model", "lorentz", "--curvature", -0.5, "-o", "points.npy")
    table, expected = load("points.npy"), SarkarEmbedding(2, model="lorentz", curvature=-0.5, random_state=0)
    assert np.array_equal(table.X, expected.fit_transform(tree))
    assert table.row_names == NAMES and table.model == "lorentz" and table.curvature == -0.5


@pytest.mark.parametrize("name", ["d.npy", "d.txt", "named.csv"])
def test_a_matrix_of_distances_is_read(name):
    names = [f"s{i}" for i in range(6)]
    d = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))) + 1e-13 * np.triu(np.ones((6, 6)), 1)  # as from rounding
    np.save("d.npy", d)
    np.savetxt("d.txt", d)
    pd.DataFrame(d, names, names).to_csv("named.csv")
    assert summary("embed", name, "-d", 2, *quick("distortion"), "-o", "out.npz")["distortion"] < 0.1
    assert load("out.npz").row_names == (names if name == "named.csv" else [str(i) for i in range(6)])


def test_a_list_of_edges_in_which_nodes_have_several_parents_has_clades_below_a_root_only(folder):
    edges = [(k, k + 5) for k in range(25)] + [(k, k + 1) for k in range(30) if k % 5 < 4]  # a grid of 6 rows of 5 nodes
    (folder / "grid.edges").write_text("".join(f"{a} {b} {{}}\n" for a, b in edges))
    for root, has_clades in ((), False), (("--root", "29"), True):
        done("embed", "grid.edges", *SARKAR, "-o", "grid.npz", "--force", *root)
        table = load("grid.npz")
        assert len(table.X) == 30 and (len(set(table.labels)) < 30) == has_clades


def test_clades_are_classes_that_stability_takes_as_groups(folder):
    leaf = lambda k: f"(a{k}:1,b{k}:1.1)c{k}:1"
    (folder / "tree.nwk").write_text("(" + ",".join(f"({leaf(2 * k)},{leaf(2 * k + 1)})d{k}:1" for k in range(4)) + ");")
    done("embed", "tree.nwk", "-d", 3, *quick("distortion"), "-o", "t.npz")
    assert len(set(load("t.npz").labels)) >= 4
    assert "groups" in done("stability", "t.npz", "--groups", "class", "--method", "tpca", "--resamples", 10, "-k", 1)
