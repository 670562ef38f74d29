"""``horopca map``: from a tree to a page and a picture."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from horopca.cli.clades import clades
from horopca.datasets import random_tree
from horopca.geometry import radius, to_hyperboloid
from horopca.statistics import frechet_mean

from .running import PNG, done, files, summary

pytestmark = pytest.mark.usefixtures("folder", "tree")
SARKAR = ("-d", 2, "--method", "sarkar")
FEW = ("--set", "n_init=0", "--set", "max_iter=10", "--set", "tol=0.5")


def test_a_reduction_becomes_a_page_and_a_picture(folder):
    printed = done("map", "tree.edges", "-d", 3, *FEW)
    assert files(folder) == ["tree.edges", "tree.html", "tree.png"]
    assert (folder / "tree.png").read_bytes().startswith(PNG) and "<title>tree</title>" in (folder / "tree.html").read_text()
    assert all(words in printed for words in ("nodes 5", "distortion, then horopca-stretch", "embedding distortion"))
    assert "refits" not in printed  # too few points to state what is stable


def test_the_plane_needs_no_reduction(folder):
    found = summary("map", "tree.edges", *SARKAR, "-o", "a.html", "--plot", "b.pdf", "--title", "Beasts")
    assert found["distortion"] == pytest.approx(found["embedding_distortion"], rel=0.01)
    assert found["embedding_distortion"] < 0.2 and found["n_nodes"] == 5
    assert "<title>Beasts</title>" in (folder / "a.html").read_text() and files(folder) == ["a.html", "b.pdf", "tree.edges"]


def test_states_what_is_stable_with_the_clades_as_groups(folder):
    (folder / "wide.edges").write_text("".join(f"{k}\t{max(0, (k - 11) // 2)}\n" for k in range(1, 37)))  # 12 clades
    found = summary("map", "wide.edges", "-d", 3, "--method", "distortion", *FEW)["stability"]
    assert found.startswith("Changes in refits to random halves of the clades. ") and "positions (" in found


def test_a_tree_is_laid_out_without_crossings_and_without_invented_names(folder):
    (folder / "tree.treefile").write_text("((A_1:1,B:1):1,(C:1,(D:1,E:1)DE:1):1);")  # known by its content
    assert summary("map", "tree.treefile", "--plot", "a.svg")["method"] == "tree"
    drawn = (folder / "a.svg").read_text()
    assert all(f">{name}<" in drawn for name in ("A_1", "B", "C", "D", "E", "DE")) and "inner" not in drawn
    assert "nodes 5" in done("map", "-", "-o", "b.html", stdin="((A,B),C);")


def test_a_graph_without_a_root_is_embedded_by_its_distances_and_centred_on_its_mean(folder, monkeypatch):
    figures, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *path, **options: (figures.append(self), save(self, *path, **options)))
    (folder / "ring.edges").write_text("a b\nb c\nc d\nd a\na e\n")
    assert summary("map", "ring.edges", "-d", 2, *FEW, "--names", "none")["method"] == "distortion"
    drawn = to_hyperboloid(figures[0].axes[0].collections[-1].get_offsets().data)
    assert radius(frechet_mean(drawn).point) < 1e-6 < 0.01 < radius(drawn).max()


def test_a_matrix_of_distances_is_drawn_without_edges(folder):
    np.savetxt("distances.csv", np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))), delimiter=",")
    found = summary("map", "distances.csv", "-d", 2, "--set", "n_init=0", "--set", "tol=0.5", "--plot", "a.svg")
    assert found["n_nodes"] == 5 and found["distortion"] == pytest.approx(found["embedding_distortion"], abs=0.01)
    assert "LineCollection" not in (folder / "a.svg").read_text()


@pytest.mark.parametrize(("names", "more"), [("none", ()), ("leaves", ("--no-edges",)), ("all", ())])
def test_names_and_edges_of_the_picture(folder, names, more):
    done("map", "tree.edges", *SARKAR, "--plot", "a.svg", "--names", names, *more)
    drawn, leaves = (folder / "a.svg").read_text(), {"cat", "lion", "sea cow"}
    written = {name for name in leaves | {"feline", "mammal"} if f">{name}<" in drawn}
    assert written == {"none": set(), "leaves": leaves, "all": leaves | {"feline", "mammal"}}[names]
    assert ("LineCollection" in drawn) == (not more)


def parents(*parent):
    """Edges from parents to the nodes 1, 2, ..."""
    return np.stack([parent, np.arange(1, len(parent) + 1)], axis=1)


def comb(n):
    """A ladder of n leaves: the worst case for clades of one size."""
    inner = [0, *range(1, 2 * n - 3, 2)]
    return parents(*(node for node in inner for _ in range(2)))


@pytest.mark.parametrize("edges", [random_tree(500, kind="recursive", random_state=0).edges, comb(200)])
def test_clades_are_balanced_and_nested(edges):
    n = len(edges) + 1
    found = clades(edges, [f"n{i}" for i in range(n)])
    sizes = [found.count(name) for name in {*found} - {None}]
    assert 5 <= len(sizes) <= 20 and max(sizes) < n / 3 and found.count(None) < n / 3
    above = dict(edges[:, ::-1].tolist())
    for node, clade in enumerate(found):  # a node has the clade of its parent, or begins its own
        assert clade in (f"n{node}", found[above[node]] if node in above else None)


def test_clades_without_a_name_are_called_by_their_first_and_last_leaf():
    names = ["", "", "dogs", "lion", "tiger", "wolf", "fox"]
    assert clades(parents(0, 0, 1, 1, 2, 2), names) == [None, *["lion – tiger", "dogs"], *["lion – tiger"] * 2, *["dogs"] * 2]


def test_graphs_that_are_no_hierarchies_have_no_clades():
    for other in ([[0, 1], [2, 3]], [[0, 1], [1, 2], [2, 0]], np.empty((0, 2), dtype=int)):
        assert clades(np.array(other), list("abcd")) is None
    dag = np.concatenate([parents(0, 0, 1, 1, 2, 2, 2), [[1, 5]]])  # a term with two parents
    assert clades(dag, list("rabcdefg")) == [None, *"abaaabb"]
