"""``horopca embed``: names and order are kept, and bad graphs end in one sentence with nothing written."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from horopca.embed import SarkarEmbedding
from horopca.io import load, load_labels

from .running import run, said

NAMES = ["cat", "feline", "lion", "sea cow", "mammal"]


@pytest.mark.parametrize("method", ["distortion", "sarkar", "poincare"])
def test_every_method_writes_points_and_names_in_order(tmp_path, tree, method, short_descents):
    out, names = tmp_path / "points.npz", tmp_path / "names.txt"
    result = run("embed", tree, "-d", 3, "--method", method, "-o", out, "--labels-out", names)
    assert result.exit_code == 0, result.output
    table = load(out)
    assert table.X.shape == (5, 3) and table.labels == NAMES == load_labels(names)
    assert "nodes" in result.stdout and "5" in result.stdout and result.stderr == ""


def test_what_is_written_is_what_the_library_returns(tmp_path, tree):
    out = tmp_path / "points.npy"
    run("embed", tree, "-d", 2, "--method", "sarkar", "--model", "lorentz", "--curvature", -0.5, "-o", out)
    assert np.array_equal(load(out).X, SarkarEmbedding(2, model="lorentz", curvature=-0.5, random_state=0).fit_transform(tree))
    assert load(out).row_names == NAMES


def test_points_and_names_are_written_both_or_neither(tmp_path, tree, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    options = ("-d", 2, "--method", "sarkar", "-o", tmp_path / "a.npz", "--labels-out", tmp_path / "names.txt")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_text", full)
        refused(run("embed", tree, *options), "No space left", tmp_path, left=["tree.edges"])
    with monkeypatch.context() as patch:
        patch.setattr("numpy.savez", full)
        refused(run("embed", tree, *options), "No space left", tmp_path, left=["tree.edges"])


def test_a_scale_can_be_given_and_what_the_model_cannot_hold_is_said(tmp_path):
    path = tmp_path / "path.edges"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(40)))
    options = ("--method", "sarkar", "-d", 2, "-o", tmp_path / "a.npz")
    refused(run("embed", path, *options, "--scale", 2), "max_radius is 12 in the model", tmp_path, left=["path.edges"])
    refused(run("embed", path, *options, "--scale", "wide"), "wide", tmp_path, left=["path.edges"], code=2)
    options = (*options, "--max-radius", 30)
    for scale in ("0.5", "auto"):
        result = run("embed", path, *options, "--scale", scale, "--force", "--json")
        assert json.loads(result.stdout)["edge_length"] > 0 and result.stderr == ""
        assert json.loads(result.stdout)["of_it_for_max_radius"] >= 0
    assert json.loads(run("embed", path, *options, "--scale", 0.5, "--force", "--json").stdout)["edge_length"] == 0.5


def test_progress_is_told_on_stderr_when_asked_for(tmp_path, tree):
    result = run("embed", tree, "--method", "poincare", "--epochs", 20, "--verbose", "--json", "-o", tmp_path / "a.csv")
    assert "PoincareEmbedding: epoch 20: mean loss" in result.stderr and json.loads(result.stdout)["n_nodes"] == 5


def test_json_is_all_there_is_on_stdout(tmp_path, tree):
    result = run("embed", tree, "--method", "poincare", "--closure", "--epochs", 30, "--json", "-o", tmp_path / "a.csv")
    found = json.loads(result.stdout)
    assert found["n_nodes"] == 5 and found["n_columns"] == 10 and found["method"] == "poincare"
    assert found["mean_rank"] >= 1 and 0 < found["mean_average_precision"] <= 1 and result.stderr == ""


def test_a_sparse_adjacency_is_read(tmp_path):
    save_npz(tmp_path / "graph.npz", csr_array(np.array([[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]])))
    result = run("embed", tmp_path / "graph.npz", "-d", 2, "--method", "sarkar", "-o", tmp_path / "out.tsv")
    assert result.exit_code == 0 and load(tmp_path / "out.tsv").labels == ["0", "1", "2"]


def refused(result, sentence, folder, *, left, code=1):
    assert result.exit_code == code, result.output
    assert sentence in said(result) and result.stdout == "" and "Traceback" not in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == left


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no edges"),
        ("a b\nc d\n", "--largest-component"),
        ("a b 1\nb c -1\n", "graph.edges, line 2: a weight is a length"),
        ("a b\nb\n", "graph.edges, line 2: expected two names"),
        ("a b\n" + "x" * (1 << 23), "line 2: a line of over"),
    ],
)
def test_bad_graphs_end_in_a_sentence_and_leave_nothing(tmp_path, text, sentence):
    (tmp_path / "graph.edges").write_text(text)
    options = ("-o", tmp_path / "out.npz", "--labels-out", tmp_path / "names.txt")
    refused(run("embed", tmp_path / "graph.edges", *options), sentence, tmp_path, left=["graph.edges"])


def test_circles_are_refused_where_a_closure_needs_none(tmp_path):
    (tmp_path / "graph.edges").write_text("a b\nb c\nc a\n")
    options = ("--method", "poincare", "--closure", "-o", tmp_path / "out.npz")
    refused(run("embed", tmp_path / "graph.edges", *options), "without circles", tmp_path, left=["graph.edges"])


def test_bad_requests_are_refused_before_the_work(tmp_path, tree, monkeypatch):
    monkeypatch.setattr("horopca.embed.DistortionEmbedding.fit", lambda *_: pytest.fail("the fit was started"))
    (tmp_path / "there.npy").write_text("precious")
    out = tmp_path / "a.npy"
    for arguments, sentence, code in [
        ((), "-o FILE", 2),
        (("-o", tmp_path / "there.npy"), "exists already", 1),
        (("-o", tmp_path / "a.mat"), "must end in .npy", 1),
        (("-o", out, "--labels-out", out), "needs a file of its own", 2),
        (("-o", out, "--epochs", 3), "--epochs is not an option", 2),
        (("-o", out, "-d", 1), "-d", 2),
    ]:
        refused(run("embed", tree, *arguments), sentence, tmp_path, left=["there.npy", "tree.edges"], code=code)
    absent = run("embed", tmp_path / "no.edges", "-o", out, "--method", "sarkar")
    refused(absent, "There is no file", tmp_path, left=["there.npy", "tree.edges"])


def test_the_largest_component_can_be_asked_for(tmp_path):
    (tmp_path / "graph.edges").write_text("a b\nx y\ny z\n")
    result = run("embed", tmp_path / "graph.edges", "--method", "sarkar", "--largest-component", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0 and load(tmp_path / "out.csv").labels == ["x", "y", "z"]


def test_help_has_examples():
    result = run("embed", "--help")
    assert result.exit_code == 0 and "horopca embed tree.edges" in result.stdout


def test_a_lorentz_checkpoint_is_recognised_by_reduce(tmp_path, quick_search):
    torch = pytest.importorskip("torch")
    points = SarkarEmbedding(4, model="lorentz").fit_transform([-1, 0, 0, 1, 1, 2, 2])
    torch.save({"embeddings": torch.tensor(points), "conf": {"manifold": "lorentz"}}, tmp_path / "model.pth")
    result = run("reduce", tmp_path / "model.pth", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == "lorentz"
