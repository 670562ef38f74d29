"""``horopca map``: from a tree to a page and a picture."""

import json

import numpy as np
import pytest

from horopca.cli import map as command
from horopca.cli.map import branches
from horopca.geometry import radius, to_hyperboloid

from .running import PNG, refused, run

NAMES = ["cat", "feline", "lion", "sea cow", "mammal"]


@pytest.fixture
def folder(tmp_path, monkeypatch, quick_search, short_descents):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.edges").write_text("cat\tfeline\nlion\tfeline\nsea cow\tmammal\nfeline\tmammal\n")
    return tmp_path


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_tree_becomes_a_page_and_a_picture(folder, monkeypatch):
    asked, explore = [], command.explore
    monkeypatch.setattr(command, "explore", lambda Y, **options: (asked.append((Y, options)), explore(Y, **options))[1])
    result = run("map", "tree.edges", "-d", 3)
    assert result.exit_code == 0 and result.stderr == "", result.output
    assert files(folder) == ["tree.edges", "tree.html", "tree.png"]
    assert (folder / "tree.png").read_bytes().startswith(PNG) and "<title>tree</title>" in (folder / "tree.html").read_text()
    ((Y, options),) = asked
    assert Y.shape == (5, 2) and options["original"].nnz == 4 and options["names"] == NAMES  # the graph, not its embedding
    above = {(NAMES[a], NAMES[b]) for a, b in options["edges"].tolist()}
    assert above == {("feline", "cat"), ("feline", "lion"), ("mammal", "sea cow"), ("mammal", "feline")}  # parents first
    for words in ("5", "embedding, distortion", "reduction, distortion", "graph to plane, distortion", "tree.html", "tree.png"):
        assert words in result.stdout


def test_the_plane_needs_no_reduction(folder):
    options = ("-d", 2, "--method", "sarkar", "-o", "a.html", "--plot", "b.pdf", "--title", "Beasts", "--json")
    found = json.loads(run("map", "tree.edges", *options).stdout)
    assert found["distortion"] == pytest.approx(found["embedding_distortion"], rel=0.01)
    assert found["reduction_distortion"] == 0 and found["embedding_distortion"] < 0.2 and found["n_nodes"] == 5
    assert "<title>Beasts</title>" in (folder / "a.html").read_text() and files(folder) == ["a.html", "b.pdf", "tree.edges"]


def test_points_stay_where_a_disk_shows_them_unless_told_otherwise(folder, monkeypatch):
    asked, explore = [], command.explore
    monkeypatch.setattr(command, "explore", lambda Y, **options: (asked.append(Y), explore(Y, **options))[1])
    for more in ((), ("--max-radius", 12), ("--max-radius", "none")):
        assert run("map", "tree.edges", "-d", 2, "--method", "sarkar", "--force", *more).exit_code == 0
    near, far, farthest = (float(radius(to_hyperboloid(Y)).max()) for Y in asked)
    assert near <= 6 < far <= 12 < farthest


def test_refusals_come_before_the_work(folder, monkeypatch):
    monkeypatch.setattr("horopca.embed.DistortionEmbedding.fit", lambda *_: pytest.fail("the fit was started"))
    (folder / "tree.png").write_text("precious")
    refused(run("map", "tree.edges"), "tree.png exists already")
    refused(run("map", "tree.edges", "-o", "a.pdf"), "must end in .html")
    refused(run("map", "tree.edges", "-o", "a.html", "--epochs", 3), "--epochs is not an option of --method distortion", code=2)
    assert files(folder) == ["tree.edges", "tree.png"] and (folder / "tree.png").read_text() == "precious"


def test_page_and_picture_are_written_both_or_neither(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    refused(run("map", "tree.edges", "-d", 2, "--method", "sarkar"), "tree.png: No space left on device.")
    assert files(folder) == ["tree.edges"]


def test_only_the_largest_component_is_drawn(folder):
    (folder / "two.edges").write_text("a b\nx y\ny z\n")
    result = run("map", "two.edges", "-d", 2, "--method", "sarkar", "--largest-component")
    assert result.exit_code == 0, result.output
    refused(run("map", "two.edges", "-d", 2, "-o", "b.html"), "pass --largest-component.")


def test_a_tree_is_coloured_by_its_branches():
    #  0 is the root; 1 and 2 its children; 1 has 3 to 8, 2 has 9 and 10
    parent = [0, 0, 1, 1, 1, 1, 1, 1, 2, 2]
    edges = np.stack([parent, np.arange(1, 11)], axis=1)
    names = ["root", "inner 1", "two", *(f"leaf {k}" for k in range(3, 11))]
    found = branches(edges, names)
    assert found == [None, None, None, *names[3:]]  # divided until there are eight, here leaves
    wide = branches(np.stack([np.zeros(30, dtype=int), np.arange(1, 31)], axis=1), [str(k) for k in range(31)])
    assert sum(label is not None for label in wide) == 20
    twins = branches(np.array([[0, 1], [0, 2], [1, 3]]), ["r", "inner 1", "b", "x"])
    assert twins == [None, None, "b", "x"]
    for other in ([[0, 1], [2, 3]], [[0, 1], [0, 2], [1, 2]], [[0, 1], [1, 2], [2, 0]]):
        assert branches(np.array(other), list("abcd")) is None


def test_a_branch_without_a_name_is_called_by_a_leaf():
    edges = np.array([(0, k) for k in range(1, 10)] + [(1, 10), (1, 11)])
    names = ["root", "inner 1", *(f"b{k}" for k in range(2, 10)), "cat", "lion"]
    found = branches(edges, names)
    assert found[1] == found[10] == found[11] == "cat …" and found[2] == "b2"
