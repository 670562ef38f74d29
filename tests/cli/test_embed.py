"""``horopca embed``: names and order are kept, and a wrong graph is an error that leaves nothing."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, save_npz

from horopca.embed import SarkarEmbedding
from horopca.io import load

from .running import refused, run

NAMES = ["cat", "feline", "lion", "sea cow", "mammal"]
QUICK = {"distortion": ("max_iter=100", "tol=0.5", "n_init=0"), "sarkar": (), "poincare": ("epochs=30",)}


def quick(method):
    return ("--method", method, *(word for setting in QUICK[method] for word in ("--set", setting)))


@pytest.mark.parametrize("method", QUICK)
def test_every_method_writes_points_and_names_in_order(tmp_path, tree, method):
    more = ("--set", "closure=true") if method == "poincare" else ()
    result = run("embed", tree, "-d", 3, *quick(method), *more, "-o", tmp_path / "points.npz", "--json")
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "points.npz").X.shape == (5, 3) and load(tmp_path / "points.npz").row_names == NAMES
    found = json.loads(result.stdout)
    assert (found["n_nodes"], found["n_columns"], found["method"]) == (5, 3, method)
    assert method != "poincare" or (found["mean_rank"] >= 1 and 0 < found["mean_average_precision"] <= 1)


def test_what_is_written_is_what_the_library_returns(tmp_path, tree):
    out = tmp_path / "points.npy"
    run("embed", tree, "-d", 2, "--method", "sarkar", "--model", "lorentz", "--curvature", -0.5, "-o", out)
    assert np.array_equal(load(out).X, SarkarEmbedding(2, model="lorentz", curvature=-0.5, random_state=0).fit_transform(tree))
    assert load(out).row_names == NAMES and load(out).model == "lorentz" and load(out).curvature == -0.5


def test_a_scale_and_a_radius_that_the_model_cannot_hold(tmp_path):
    (path := tmp_path / "path.edges").write_text("".join(f"{i} {i + 1}\n" for i in range(40)))
    options = ("--method", "sarkar", "-d", 2, "-o", tmp_path / "a.npz", "--json")
    refused(run("embed", path, *options, "--set", "scale=2"), "max_radius is 12 in the model")
    refused(run("embed", path, *options, "--set", "scale=wide"), "scale must be 'auto' or a positive number, but is 'wide'")
    found = run("embed", path, *options, "--set", "max_radius=30", "--set", "scale=0.5")
    assert json.loads(found.stdout)["edge_length"] == 0.5


def test_a_sparse_adjacency_is_read(tmp_path):
    save_npz(tmp_path / "graph.npz", csr_array(np.array([[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]])))
    result = run("embed", tmp_path / "graph.npz", "-d", 2, "--method", "sarkar", "-o", tmp_path / "out.tsv")
    assert result.exit_code == 0 and load(tmp_path / "out.tsv").row_names == ["0", "1", "2"]


@pytest.mark.parametrize("name", ["d.npy", "d.txt", "named.csv"])
def test_a_matrix_of_distances_is_read(tmp_path, name):
    names = [f"s{i}" for i in range(6)]
    d = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))) + 1e-13 * np.triu(np.ones((6, 6)), 1)  # as from rounding
    np.save(tmp_path / "d.npy", d)
    np.savetxt(tmp_path / "d.txt", d)
    pd.DataFrame(d, names, names).to_csv(tmp_path / "named.csv")
    result = run("embed", tmp_path / name, "-d", 2, *quick("distortion"), "-o", tmp_path / "out.npz", "--json")
    assert json.loads(result.stdout)["distortion"] < 0.1, result.output
    assert load(tmp_path / "out.npz").row_names == (names if name == "named.csv" else [str(i) for i in range(6)])


@pytest.mark.parametrize(
    ("text", "words", "message", "code"),
    [
        ("", (), "holds no edges", 1),
        ("a b\nc d\n", (), "--set largest_component=True", 1),
        ("a b\n", ("--curvature", "c"), "--curvature must be a number, but is 'c'", 2),
        ("a b 1\nb c -1\n", (), "graph.edges, line 2: a weight is a length", 1),
        ("a b\nb\n", (), "graph.edges, line 2: expected two names", 1),
        ("a b\n" + "x" * (1 << 23), (), "line 2: a line of over", 1),
        ("a b\nb c\nc a\n", ("--method", "poincare", "--set", "closure=true"), "no cycles", 1),
        ("a b\n", ("-o", "there.npy"), "exists already", 1),
        ("a b\n", ("-o", "a.mat"), "must end in .npy", 1),
        ("a b\n", ("-d", 1), "-d", 2),
        ("a b\n", ("-o", "-", "--json"), "both write to standard output", 2),
    ],
)
def test_wrong_graphs_and_options_leave_nothing(tmp_path, monkeypatch, text, words, message, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.edges").write_text(text)
    (tmp_path / "there.npy").write_text("precious")
    refused(run("embed", "graph.edges", *(() if "-o" in words else ("-o", "out.npz")), *words), message, code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.edges", "there.npy"]


def test_a_list_of_edges_in_which_nodes_have_several_parents_has_clades_below_a_root_only(tmp_path):
    path, out = tmp_path / "grid.edges", tmp_path / "grid.npz"  # 6 rows of 5 nodes; every edge leads to the larger number
    edges = [(k, k + 5) for k in range(25)] + [(k, k + 1) for k in range(30) if k % 5 < 4]
    path.write_text("".join(f"{a} {b} {{}}\n" for a, b in edges))
    for root, has_clades in ((), False), (("--root", "29"), True):
        assert run("embed", path, "-d", 2, "--method", "sarkar", "-o", out, "--force", *root).exit_code == 0
        table = load(out)
        assert len(table.X) == 30 and (len(set(table.labels)) < 30) == has_clades


def test_clades_are_classes_that_stability_takes_as_groups(tmp_path):
    path = tmp_path / "tree.nwk"
    leaf = lambda k: f"(a{k}:1,b{k}:1.1)c{k}:1"
    path.write_text("(" + ",".join(f"({leaf(2 * k)},{leaf(2 * k + 1)})d{k}:1" for k in range(4)) + ");")
    assert run("embed", path, "-d", 3, *quick("distortion"), "-o", tmp_path / "t.npz").exit_code == 0
    assert len(set(load(tmp_path / "t.npz").labels)) >= 4
    words = ("--groups", "class", "--method", "tpca", "--resamples", 10, "-k", 1)
    result = run("stability", tmp_path / "t.npz", *words)
    assert result.exit_code == 0 and "groups" in result.stdout, result.output
