"""``horopca info``: what a file holds."""

import tracemalloc

import numpy as np
import pytest

from hierarchies import TREE
from horopca.geometry import radius, to_hyperboloid
from horopca.io import load, save

from .running import done, refused, run, said, summary

pytestmark = pytest.mark.usefixtures("folder")


def test_info_in_json():
    X = 2 * to_hyperboloid(TREE.points)
    X[7] = np.nan
    np.savez("points.npz", X=X, labels=TREE.labels)
    found = summary("info", "points.npz")
    assert found["model"] == "lorentz" and found["curvature"] == pytest.approx(-0.25)
    assert found["n_rows"] == 40 and found["n_nonfinite"] == 1 and found["n_labels"] == 4
    assert found["radius"]["lorentz"]["1.0"] == pytest.approx(2 * radius(to_hyperboloid(np.delete(TREE.points, 7, 0))).max())


def test_columns_of_a_table_are_named(folder):
    (folder / "words.csv").write_text("word,x1,x2,count,topic\na,0.1,0.2,17,b\nc,0.3,0.1,4,b\nd,0.2,0.1,3,e\n")
    printed = done("info", "words.csv")
    assert "columns 2, float64: x1, x2 names yes classes 2 other columns count" in printed
    assert "count is not a coordinate, because x1 to x2 are. To use other columns, pass --key." in printed
    printed = done("info", "words.csv", "--key", "x*,count")
    assert "columns 3, float64: x1, x2, count" in printed and "Warning" not in printed
    printed = done("reduce", "words.csv", "-k", 1, "--method", "tpca", "--colour-by", "count")
    assert "dimensions 2 " in printed and "Warning" not in printed
    refused(run("info", "words.csv", "--key", "y*"), "no column of numbers 'y*'; it has x1, x2, count")


def test_a_curvature_that_the_file_holds():
    np.savez("net.npz", X=0.5 * TREE.points, c=2.0, log=np.log([0.5]), bias=np.zeros((3, 4, 5)))
    assert "X 40×5, c = 2, log = -0.693147, bias 3×4×5" in done("info", "net.npz")
    for key, curvature in (("c", -2.0), ("log:log", -0.5)):
        assert summary("info", "net.npz", "--curvature", key)["states"]["curvature"] == pytest.approx(curvature)
        done("reduce", "net.npz", "--method", "tpca", "--curvature", key, "-o", "out.npz", "--force")
        assert load("out.npz").curvature == pytest.approx(curvature)
    refused(run("info", "net.npz", "--curvature", "bias"), "the name of one in")


def test_arrays_to_choose_from_are_listed():
    np.savez("net.npz", text=TREE.points, image=TREE.points, c=0.5)
    assert "arrays text 40×5, image 40×5, c = 0.5 points in one of text, image: pass --key" in done("info", "net.npz")
    assert summary("info", "net.npz")["keys"] == ["text", "image"]
    refused(run("info", "net.npz", "--key", "words"), "has no array 'words'")
    refused(run("reduce", "net.npz"), "choose the array to read with --key")


@pytest.mark.parametrize(
    ("name", "X", "text"),
    [
        ("flat.npy", 0.01 * TREE.points, "nearly flat, tangent PCA"),
        ("curved.tsv", TREE.points, "curved, HoroPCA"),
        ("plain.npy", TREE.points, "rows 40 columns 5, float64"),
        ("plain.npy", TREE.points, "fits poincare, klein, lorentz-space, tangent"),
        ("beyond.npy", 1e200 * (TREE.points - 1), "fits no model at curvature -1"),
        ("words.npy", 100 * (TREE.points - 0.5), "model none: these look like Euclidean vectors"),
    ],
)
def test_info_says_what_the_rows_could_be(name, X, text):
    assert text in done("info", save(name, X))


@pytest.mark.parametrize("name", ["words.txt", "words.bin", "words.kv"])
def test_short_word_vectors_may_be_euclidean(name):
    words = pytest.importorskip("gensim.models").KeyedVectors(5)
    words.add_vectors([f"word{k}" for k in range(40)], 0.5 * TREE.points.astype(np.float32))
    words.save(name) if name == "words.kv" else words.save_word2vec_format(name, binary=name == "words.bin")
    for command in (("info",), ("reduce", "--method", "tpca")):
        assert "looks like Euclidean word vectors" in said(run(*command, name))
        assert "Euclidean" not in said(run(*command, name, "--model", "poincare"))


@pytest.mark.parametrize("as_points", [lambda X: X, to_hyperboloid, lambda X: 3 * X.astype(np.float32), lambda X: X + 2])
def test_a_file_of_several_blocks_is_described_as_a_whole(as_points):
    X = np.random.default_rng(0).uniform(-0.2, 0.2, (90_000, 12))
    X[80_000:80_007], X[85_000:85_002], X[-1] = X[:7], 0.25, np.nan
    found = summary("info", save("x.npy", as_points(X)))
    assert (found["n_rows"], found["n_duplicates"], found["n_nonfinite"]) == (90_000, 8, 1)


def test_a_file_is_never_in_memory_as_a_whole(folder):
    """80 MB of points, of which a block and some 30 bytes for each of the 100,000 rows stay."""
    np.save("x.npy", np.random.default_rng(0).uniform(-0.09, 0.09, (100_000, 100)))
    tracemalloc.start()
    try:
        assert summary("info", "x.npy")["n_rows"] == 100_000 and tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    (folder / "x.npy").unlink()


@pytest.mark.parametrize("name", ["points.npz", "points.npy"])
def test_a_model_that_the_file_or_an_option_states_is_used(name):
    save(name, TREE.points / 2, model="klein", curvature=-4.0)
    found = summary("info", name)
    assert (found["model"], found["curvature"]) == ("klein", -4) and list(found["radius"]) == ["klein"]
    assert found["radius"]["klein"]["1.0"] == pytest.approx(radius(to_hyperboloid(TREE.points, "klein")).max() / 2)
    printed = done("info", name)
    assert "--model klein --curvature -4" in printed and "evidence" not in printed
    refused(run("info", name, "--model", "poincare"), "--model poincare contradicts the file")
    assert summary("info", save("bare.csv", TREE.points), "--model", "tangent")["model"] == "tangent"
