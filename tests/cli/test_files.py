"""Nothing is lost: no output replaces what a command reads or writes beside it, and outputs come all or not at all."""

import json
import os

import dask.array as da
import numpy as np
import pytest

from horopca import TangentPCA
from horopca.cli.files import Output, check_files
from horopca.datasets import make_hierarchy
from horopca.geometry import clip
from horopca.io import load, save, save_fitted
from horopca.io.output import is_same
from horopca.io.stores import open_store, save_store

from .running import refused, run, said

TREE = make_hierarchy(3, 3, 5, random_state=0)
NAMES = [f"node {i}" for i in range(40)]
PLANE = TangentPCA(2).fit_transform(TREE.points)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files to be read, and other ways to some of them."""
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
        "reduce x.npy -o ./no/../x.npy",
        "reduce x.npy -o soft.npy",
        "reduce soft.npy -o x.npy",
        "reduce x.npy -o hard.npy",
        "reduce x.npz -o s.npz --save-fit s.npz",
        "reduce x.npz -o new.npy --save-fit x.npz",
        "reduce x.npy --labels labels.tsv -o labels.tsv",
        "reduce x.npy --names names.html --edges tree.csv -o tree.csv",
        "reduce x.npy --from-fit fit.npz -o fit.npz",
        "reduce x.npy --from-fit fit.npz -o a.npy --save-fit fit.npz",
        "reduce x.npy --names names.png --plot names.png",
        "compare x.npy --labels names.png --plot names.png",
        "plot plane.csv --names names.png -o names.png",
        "view plane.csv --names names.html -o names.html",
        "view plane.csv --original names.html -o names.html",
        "embed tree.csv -o tree.csv",
        "embed tree.csv -o new.npz --labels-out tree.csv",
        "embed tree.csv -o new.npz --labels-out new.npz",
        "map names.html -o names.html",
        "map tree.csv -o tree.html --plot names.png/../tree.html",
    ],
)
def test_no_output_is_an_input_or_another_output(folder, arguments):
    (folder / "no").mkdir()
    before = contents(folder)
    result = run(*arguments.split(), "--force")
    refused(result, "needs a file of its own", code=2)
    assert contents(folder) == before


def test_no_output_is_the_journal_of_another(folder, monkeypatch):
    monkeypatch.setattr("horopca.io.streaming.LARGE", 100)
    before = contents(folder)
    refused(run("reduce", "x.npy", "-o", "a.npy", "--save-fit", "a.npy.partial.npz"), "needs a file of its own", code=2)
    assert contents(folder) == before


def test_a_store_is_not_replaced_by_its_own_reduction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("horopca.cli.dask.cluster", lambda address: pytest.fail("the work was started"))
    save_store("s.zarr", da.from_array(TREE.points, chunks=(10, 5)))
    save_store("stack", da.from_array(TREE.points, chunks=(10, 5)))
    (tmp_path / "link.zarr").symlink_to("s.zarr")
    before = contents(tmp_path)
    for input, output in (
        ("s.zarr", "s.zarr"),
        ("s.zarr", "link.zarr"),
        ("link.zarr", "s.zarr"),
        ("stack", "stack"),
        ("stack", "stack/part.zarr"),
        ("stack/0.npy", "stack"),
    ):
        refused(run("reduce", "--dask", "local", input, "-o", output, "--force"), "needs a file of its own", code=2)
    refused(run("reduce", "--dask", "local", "s.zarr", "-o", "o.zarr", "--save-fit", "s.zarr/f.npz"), "of its own", code=2)
    assert contents(tmp_path) == before and open_store("s.zarr").shape == (40, 5)


def test_an_output_on_a_cluster_is_checked_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("horopca.cli.dask.cluster", lambda address: pytest.fail("the work was started"))
    save_store("s.zarr", da.from_array(TREE.points, chunks=(10, 5)))
    save_store("there.zarr", da.from_array(TREE.points, chunks=(10, 5)))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letters.txt").write_text("dear")
    at = ("reduce", "--dask", "local", "s.zarr", "-o")
    refused(run(*at, "there.zarr"), "exists already")
    refused(run(*at, "precious", "--force"), "neither a Zarr store nor a folder of .npy files")
    refused(run(*at, "no/out.zarr"), "there is no folder")
    refused(run(*at, "out.csv"), "must end in .zarr")


def test_places_are_compared_through_links_and_stores(tmp_path):
    a = tmp_path / "a"
    a.mkdir()
    (tmp_path / "b").symlink_to(a)
    assert is_same(a, tmp_path / "b") and is_same(a / "0.npy", tmp_path / "b") and is_same(tmp_path / "b" / "x" / "y", a)
    assert not is_same(a / "0.npy", a / "1.npy") and not is_same(a, tmp_path / "ab")
    check_files({"input": a / "0.npy", "labels": None}, [Output("-o", tmp_path / "out.npy", (".npy",))], force=False)


# ---------------------------------------------------------------- all or nothing


@pytest.mark.parametrize("failing", ["numpy.save", "matplotlib.figure.Figure.savefig", "horopca.cli.reduce.save_fitted"])
def test_outputs_come_all_or_none(folder, monkeypatch, failing):
    before = contents(folder)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failing, full)
    result = run("reduce", "x.npz", "--method", "tpca", "-o", "a.npy", "--plot", "a.png", "--save-fit", "a.npz")
    named = {"numpy.save": "a.npy", "horopca.cli.reduce.save_fitted": "a.npz"}.get(failing, "a.png")
    refused(result, f"Error: {named}: No space left on device.")
    assert contents(folder) == before


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("field", "value"), [("total_variance_", "much"), ("explained_variance_ratio_", ["a", 2])])
def test_a_fit_with_a_damaged_field_writes_nothing(folder, monkeypatch, large, field, value):
    fit = TangentPCA(2).fit(TREE.points)
    setattr(fit, field, value)
    save_fitted(fit, "fit.npz", force=True)
    monkeypatch.setattr("horopca.io.streaming.LARGE", 100 if large else 1 << 30)
    before = contents(folder)
    refused(run("reduce", "x.npy", "--from-fit", "fit.npz", "-o", "out.npy", "--plot", "a.png"), "fit.npz is damaged")
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.h5ad"])
def test_names_and_labels_are_written_in_every_format(folder, name):
    assert run("reduce", "x.npz", "--method", "tpca", "--names", "names.png", "-o", name).exit_code == 0
    assert load(name).labels == TREE.labels and load(name).row_names == NAMES


def test_another_programs_json_is_not_replaced(folder):
    (folder / "d.npy.json").write_text("precious")
    refused(run("reduce", "x.npz", "--method", "tpca", "-o", "d.npy", "--force"), "d.npy.json exists already")
    assert not (folder / "d.npy").exists()


def test_points_on_the_rim_are_moved_inside_if_asked_for(folder):
    X = TREE.points.astype(np.float32)
    X[3] = X[3] / np.linalg.norm(X[3]) * np.float32(1.0001)
    np.save("rim.npy", X)
    refused(run("reduce", "rim.npy", "--method", "tpca"), "outside it by at most 0.0001, probably by rounding")
    assert "--clip 1e-5 moves them inside" in " ".join(run("info", "rim.npy").stdout.split())
    result = run("reduce", "rim.npy", "--method", "tpca", "--clip", "1e-5", "-o", "a.npy")
    assert result.exit_code == 0 and "1 of 40 rows of rim.npy, beyond the rim by up to 0.0001, were moved inside" in said(
        result
    )
    assert np.array_equal(np.load("a.npy"), TangentPCA(2).fit_transform(clip(X, 1e-5)))
    assert "Warning" not in run("reduce", "x.npy", "--method", "tpca", "--clip", "1e-5").stderr
    np.save("wide.npy", 2 * X)
    assert run("reduce", "wide.npy", "--method", "tpca", "--clip", "1e-5", "--curvature", "-0.25").exit_code == 0
    refused(run("plot", "rim.npy", "--clip", "1e-5", "--model", "lorentz"), "--clip is for points of a ball", code=2)


def test_columns_are_told_on_the_command_line(folder):
    rows = [f"{name},{x[0]},{x[1]},{1900 + i},{i % 2}" for i, (name, x) in enumerate(zip(NAMES, TREE.points, strict=True))]
    (folder / "told.csv").write_text("\n".join(["word,a,b,year,kind", *rows]))
    told = ("--name-column", "word", "--label-column", "kind", "--value-column", "year")
    found = json.loads(run("info", "told.csv", *told, "--json").stdout)
    assert found["n_columns"] == 2 and found["n_labels"] == 2 and found["values"] == ["year", "kind"]
    assert run("reduce", "told.csv", *told, "--method", "tpca", "-o", "out.csv").exit_code == 0
    assert load("out.csv").row_names == NAMES and set(load("out.csv").labels) == {"0", "1"}
    assert run("plot", "told.csv", *told, "-o", "a.png").exit_code == 0
    assert run("view", "told.csv", *told, "-o", "a.html").exit_code == 0
    refused(run("classify", "told.csv", "--label-column", "class"), "no column 'class'; it has a, b, year, kind, word")


@pytest.mark.parametrize("command", ["info", "plot", "reduce", "view", "compare"])
def test_files_of_another_kind_are_called_what_they_are(tmp_path, command):
    (tmp_path / "t.nwk").write_text("((a,b),c);")
    fit = save_fitted(TangentPCA(2).fit(TREE.points), tmp_path / "fit.npz")
    out = ("-o", tmp_path / "out.html") if command == "view" else ()
    refused(run(command, tmp_path / "t.nwk", *out), "t.nwk holds a graph, not points: embed it with horopca.embed")
    refused(run(command, fit, *out), "fit.npz contains a saved estimator, not points: read it with horopca.io.load_fitted")


def test_a_graph_is_no_file_of_points_and_a_picture_neither(tmp_path):
    points = save(tmp_path / "p.npy", TREE.points)
    refused(run("embed", points, "-o", tmp_path / "out.npz"), "p.npy is a file of points, but a graph was expected")
    refused(run("embed", tmp_path / "absent.npy", "-o", tmp_path / "out.npz"), "There is no file")
    refused(run("plot", tmp_path / "a.png"), "is a picture.", code=2)
