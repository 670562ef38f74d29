"""No output replaces an input or another output, and outputs are written together or not at all."""

import os

import dask.array as da
import numpy as np
import pytest

from horopca import TangentPCA
from horopca.datasets import make_hierarchy
from horopca.geometry import clip
from horopca.io import load, save, save_fitted
from horopca.io.stores import open_store, save_store

from .running import refused, run, said

TREE = make_hierarchy(3, 3, 5, random_state=0)
NAMES = [f"node {i}" for i in range(40)]
PLANE = TangentPCA(2).fit_transform(TREE.points)
SAME = "is the same file as"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files to read, and other paths to some of them."""
    monkeypatch.chdir(tmp_path)
    save("x.npy", TREE.points)
    save("x.npz", TREE.points, TREE.labels)
    save("plane.csv", PLANE)
    save_fitted(TangentPCA(2).fit(TREE.points), "fit.npz")
    (tmp_path / "labels.tsv").write_text("\n".join(TREE.labels))
    (tmp_path / "names.html").write_text("\n".join(NAMES))
    (tmp_path / "names.png").write_text("\n".join(NAMES))
    (tmp_path / "tree.csv").write_text("a,b\nb,c\n")
    (tmp_path / "soft.npy").symlink_to("x.npy")
    os.link("x.npy", "hard.npy")
    return tmp_path


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        "reduce x.npy -o x.npy",
        "reduce x.npy -o soft.npy",
        "reduce x.npy -o hard.npy",
        "reduce x.npz -o s.npz --save-fit s.npz",
        "reduce x.npy --metadata labels.tsv -o labels.tsv",
        "reduce x.npy --edges tree.csv -o tree.csv",
        "reduce x.npy --from-fit fit.npz -o fit.npz",
        "reduce x.npy --metadata names.png --plot names.png",
        "plot plane.csv --metadata names.png -o names.png",
        "view plane.csv --metadata names.html -o names.html",
        "view plane.csv --original names.html -o names.html",
        "embed tree.csv -o tree.csv",
        "map names.html -o names.html",
        "map tree.csv -o tree.html --plot names.png/../tree.html",
    ],
)
def test_no_output_is_an_input_or_another_output(folder, arguments):
    (folder / "no").mkdir()
    before = contents(folder)
    refused(run(*arguments.split(), "--force"), SAME, code=2)
    assert contents(folder) == before


def test_a_store_is_not_replaced_by_its_own_reduction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("s.zarr", "there.zarr"):
        save_store(name, da.from_array(TREE.points, chunks=(10, 5)))
    (tmp_path / "link.zarr").symlink_to("s.zarr")
    (tmp_path / "precious.zarr").mkdir()
    (tmp_path / "precious.zarr" / "letters.txt").write_text("dear")
    before, dask = contents(tmp_path), ("reduce", "--dask", "local")
    for words in (
        "s.zarr -o s.zarr",
        "s.zarr -o link.zarr",
        "link.zarr -o s.zarr",
        "s.zarr -o s.zarr/part.zarr",
        "s.zarr -o o.zarr --save-fit s.zarr/f.npz",
    ):
        refused(run(*dask, *words.split(), "--force"), SAME, code=2)
    for output, text in (
        ("there.zarr", "exists already"),
        ("no/out.zarr", "there is no folder"),
        ("a.csv", "must end in .zarr"),
    ):
        refused(run(*dask, "s.zarr", "-o", output), text)
    refused(run(*dask, "s.zarr", "-o", "precious.zarr", "--force"), "is not a Zarr store")
    assert contents(tmp_path) == before and open_store("s.zarr").shape == (40, 5)


# ---------------------------------------------------------------- all or nothing


@pytest.mark.parametrize(
    ("failing", "named"), [("numpy.lib.format.write_array_header_1_0", "a.npy"), ("matplotlib.figure.Figure.savefig", "a.png")]
)
def test_outputs_are_written_all_or_none(folder, monkeypatch, failing, named):
    before = contents(folder)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failing, full)
    result = run("reduce", "x.npz", "--method", "tpca", "-o", "a.npy", "--plot", "a.png", "--save-fit", "a.npz")
    refused(result, f"Error: {named}: No space left on device.")
    if named == "a.png":
        refused(run("map", "tree.csv", "-d", 2, "--method", "sarkar"), "tree.png: No space left on device.")
    assert contents(folder) == before


def test_a_fit_with_a_damaged_field_writes_nothing(folder):
    fit = TangentPCA(2).fit(TREE.points)
    fit.explained_variance_ratio_ = ["a", 2]
    save_fitted(fit, "fit.npz", force=True)
    before = contents(folder)
    refused(run("reduce", "x.npy", "--from-fit", "fit.npz", "-o", "out.npy", "--plot", "a.png"), "fit.npz is damaged")
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.h5ad"])
def test_names_and_classes_are_written_in_every_format(folder, name):
    assert run("reduce", "x.npz", "--method", "tpca", "--metadata", "names.png", "-o", name).exit_code == 0
    assert load(name).labels == TREE.labels and load(name).row_names == NAMES


def test_another_programs_json_is_not_replaced(folder):
    (folder / "d.npy.json").write_text("precious")
    refused(run("reduce", "x.npz", "--method", "tpca", "-o", "d.npy", "--force"), "d.npy.json exists already")
    assert not (folder / "d.npy").exists()


# ---------------------------------------------------------------- reading


def test_points_on_the_rim_are_moved_inside_by_clip(folder):
    X = TREE.points.astype(np.float32)
    X[3] = X[3] / np.linalg.norm(X[3]) * np.float32(1.0001)
    np.save("rim.npy", X)
    refused(run("reduce", "rim.npy", "--method", "tpca"), "outside it by at most 0.0001, probably by rounding")
    assert "--clip 1e-5 moves them inside" in " ".join(run("info", "rim.npy").stdout.split())
    result = run("reduce", "rim.npy", "--method", "tpca", "--clip", "1e-5", "-o", "a.npy")
    assert result.exit_code == 0
    assert "--clip moved 1 row of 40 in rim.npy inside: they were up to 0.0001 outside the ball" in said(result)
    assert np.array_equal(np.load("a.npy"), TangentPCA(2).fit_transform(clip(X, 1e-5)))
    assert "Warning" not in run("reduce", "x.npy", "--method", "tpca", "--clip", "1e-5").stderr
    np.save("wide.npy", 2 * X)
    assert run("reduce", "wide.npy", "--method", "tpca", "--clip", "1e-5", "--curvature", "-0.25").exit_code == 0
    refused(run("plot", "rim.npy", "--clip", "1e-5", "--model", "lorentz"), "--clip is for points of a ball", code=2)


def test_files_of_another_kind_are_called_what_they_are(folder):
    (folder / "t.nwk").write_text("((a,b),c);")
    for command in ("info", "reduce"):
        refused(run(command, "t.nwk"), "t.nwk holds a graph")
        refused(run(command, "fit.npz"), "horopca.io.load_fitted")


@pytest.mark.parametrize("X", [TREE.points, [[0, 1], [1, 2]], [[0, 1.0], [2.0, 0]]])
def test_a_graph_is_not_a_file_of_points(tmp_path, X):
    points = save(tmp_path / "p.npy", X)
    refused(run("embed", points, "-o", tmp_path / "out.npz"), "p.npy must hold a graph")


@pytest.mark.parametrize("output", [".", "/"])
def test_an_output_that_contains_the_input_is_an_error(folder, output):
    refused(run("reduce", "x.npy", "-o", output), f"-o {output} contains INPUT x.npy", code=2)
