"""``horopca reduce``: what it writes, what it prints, and its errors."""

import json
import sys

import numpy as np
import pytest

from hierarchies import TREE
from horopca import HoroPCA, TangentPCA, metrics
from horopca.geometry import MODELS, distance, from_hyperboloid, to_hyperboloid
from horopca.io import load, save, save_fitted
from horopca.metrics.comparison import METHODS, make

from .running import PNG, refused, run, said

TPCA = ("--method", "tpca")
FEW = ("--set", "n_init=2")


def summary(*arguments):
    result = run("reduce", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# ---------------------------------------------------------------- results


def test_points_and_picture_are_written_and_summarised(tmp_path, points):
    result = run("reduce", points, *FEW, "-o", tmp_path / "out.npy", "--plot", tmp_path / "disk.png")
    assert result.exit_code == 0 and result.stderr == "", result.output
    Y = load(tmp_path / "out.npy").X
    assert Y.shape == (40, 2) and (np.linalg.norm(Y, axis=1) < 1).all()
    assert (tmp_path / "disk.png").read_bytes().startswith(PNG) and len(list(tmp_path.iterdir())) == 4  # with its metadata
    for word in ("distortion", "variance kept", "time", "5 → 2", "HoroPCA, stretched"):
        assert word in result.stdout
    stretched = make("horopca-stretch", 2, n_init=2, random_state=0).fit_transform(TREE.points)
    np.testing.assert_allclose(Y, stretched, atol=1e-9)  # pictures show the fit that keeps distances best


def test_without_outputs_it_says_so(points):
    result = run("reduce", points, *TPCA)
    assert result.exit_code == 0 and "distortion" in result.stdout and "Nothing was written" in result.stderr


def test_the_summary_as_json(tmp_path, points):
    found = summary(points, *FEW, "--seed", 3, "-k", 3, "-o", tmp_path / "out.csv", "--set", "spine=free")
    assert (
        found["n_points"] == 40 and found["n_dimensions"] == 5 and found["n_components"] == 3 and found["method"] == "horopca"
    )
    assert found["seed"] == 3 and found["spine"] == "free" and found["plot"] is None
    assert 0 < found["distortion"] < 1 and found["distortion_error"] == 0
    assert 0 < found["variance_kept"] <= 1 and found["seconds"] > 0


def test_what_is_written_is_what_the_library_returns(tmp_path, points):
    assert run("reduce", points, "-o", tmp_path / "out.npy", "--seed", 4, "--set", "strategy=greedy").exit_code == 0
    Y = HoroPCA(2, strategy="greedy", random_state=4).fit_transform(TREE.points)
    assert np.array_equal(load(tmp_path / "out.npy").X, Y)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_reduces(tmp_path, points, method):
    few = FEW if METHODS[method].estimator == "HoroPCA" else ()
    found = summary(points, "--method", method, *few, "-o", tmp_path / "out.npy")
    assert found["estimator"] == METHODS[method].estimator
    expected = make(method, 2, random_state=0, **({"n_init": 2} if few else {})).fit_transform(TREE.points)
    np.testing.assert_allclose(load(tmp_path / "out.npy").X, expected, atol=1e-9)


@pytest.mark.parametrize("model", [model for model in MODELS if model != "poincare"])
def test_model_and_curvature_of_the_points(tmp_path, model):
    scale = 1 if model == "halfspace" else 2  # curvature -1/4 doubles lengths, except in the half-space
    path = save(tmp_path / "points.npy", scale * from_hyperboloid(to_hyperboloid(TREE.points), model))
    result = run("reduce", path, *TPCA, "--model", model, "--curvature", -0.25, "-o", tmp_path / "out.npz")
    assert result.exit_code == 0, result.output
    found = load(tmp_path / "out.npz")
    assert (found.model, found.curvature) == (model, -0.25)
    Y = to_hyperboloid(found.X / scale, model)
    expected = to_hyperboloid(TangentPCA(2).fit_transform(TREE.points))
    np.testing.assert_allclose(distance(Y[:, None], Y), distance(expected[:, None], expected), atol=1e-5)


def test_auto_finds_the_only_model_that_fits(tmp_path):
    x = to_hyperboloid(TREE.points)
    timed = save(tmp_path / "timed.npy", np.roll(x, -1, axis=1))
    assert summary(timed, "--model", "auto", *TPCA)["model"] == "lorentz-time-last"
    bare = save(tmp_path / "bare.npy", x[:, 1:])
    refused(run("reduce", bare, "--model", "auto"), "could be 'lorentz-space' or 'tangent' (norms")
    out = ("-o", tmp_path / "o.npy")
    refused(run("embed", bare, "--model", "auto", *out), "--model auto needs the points in memory", code=2)


def test_components_can_be_a_fraction_or_all(points):
    found = summary(points, *TPCA, "-k", 0.7)
    less = summary(points, *TPCA, "-k", found["n_components"] - 1)
    assert less["variance_kept"] < 0.7 <= found["variance_kept"]
    assert summary(points, "-k", "all", *TPCA)["n_components"] == 5


def test_neighbours_that_are_kept(tmp_path, points):
    found = summary(points, *TPCA, "-o", tmp_path / "out.npy")
    Y = load(tmp_path / "out.npy").X
    for name in ("neighbours_kept", "trustworthiness", "continuity"):
        assert found[name] == pytest.approx(getattr(metrics, name)(TREE.points, Y))
    printed = run("reduce", points, *TPCA).stdout
    assert f"{found['neighbours_kept']:.1%} of 10 kept" in printed and f"continuity {found['continuity']:.3f}" in printed
    few, fewest = save(tmp_path / "few.npy", TREE.points[:15]), save(tmp_path / "fewest.npy", TREE.points[:3])
    assert "of 4 kept" in run("reduce", few, *TPCA).stdout  # a third of the others
    assert "neighbours" not in run("reduce", fewest, *TPCA).stdout


def test_figures_of_many_points_are_those_of_a_sample(tmp_path):
    path = save(tmp_path / "many.npz", np.random.default_rng(0).normal(size=(20_000, 3)) / 10)
    found = summary(path, *TPCA)
    assert found["n_measured"] == 1 << 14 < found["n_points"] and 0 < found["distortion_error"] < 0.01
    assert "in a sample of 16,384 points" in " ".join(run("reduce", path, *TPCA).stdout.split())
    assert run("reduce", path, *TPCA, "--quiet").output == ""


def test_a_plane_that_keeps_next_to_nothing_is_called_that(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 60)) / 100
    path = save(tmp_path / "flat.npy", X)
    for words in (("reduce", path, *TPCA), ("compare", path, "--methods", "tpca")):
        assert "do not read neighbourhoods off" in said(result := run(*words)) and "UMAP" in said(result)
    assert "neighbourhoods" not in run("reduce", path, *TPCA, "-k", 50).stderr


def test_float32_and_classes_stay(tmp_path):
    path = save(tmp_path / "points.csv", TREE.points, TREE.labels)
    assert run("reduce", path, *TPCA, "-o", tmp_path / "a.tsv").exit_code == 0
    assert load(tmp_path / "a.tsv").labels == TREE.labels
    path = save(tmp_path / "points.npy", TREE.points.astype(np.float32))
    assert run("reduce", path, *TPCA, "-o", tmp_path / "out.npy").exit_code == 0
    assert load(tmp_path / "out.npy").X.dtype == np.float32


def test_a_saved_fit_knows_the_model_that_it_found(tmp_path):
    X = from_hyperboloid(to_hyperboloid(TREE.points), "lorentz")
    fit = TangentPCA(2, model="auto").fit(X)
    save_fitted(fit, tmp_path / "fit.npz")
    found = summary(save(tmp_path / "more.npy", X[:20]), "--from-fit", tmp_path / "fit.npz", "-o", tmp_path / "out.npy")
    assert found["model"] == "lorentz" and np.array_equal(load(tmp_path / "out.npy").X, fit.transform(X[:20]))


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        (("--metadata", "labels.txt"), "one line for each of the 40 points, but holds 2", 1),
        (("--plot", "there.png"), "exists already", 1),
        (("--plot", "disk.bmp"), "must end in .png", 1),
        (("-o", "out.mat"), "must end in .npy", 1),
        (("-o", "no/out.npy"), "there is no folder", 1),
        (("--key", "X"), "is not one", 1),
        (("-k", 3, "--plot", "disk.png"), "needs -k 2", 2),
        (("-k", "all", "--plot", "a.png"), "needs -k 2, but -k is all.", 2),
        (("-k", 10**20), "but is 1" + "0" * 20, 1),
        (("--model", "sphere"), "--model", 2),
        (("--method", "magic"), "'magic' is not one of", 2),
        (("--edges", "edges.tsv"), "so the points need names", 1),
        *(
            (("-k", k), "is not a positive integer, a fraction of the variance", 2)
            for k in ("0", "-1", "1.5", "nan", "inf", "")
        ),
    ],
)
def test_a_wrong_option_is_an_error_and_nothing_is_written(tmp_path, points, monkeypatch, words, text, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("one\ntwo\n")
    (tmp_path / "there.png").write_text("precious")
    (tmp_path / "edges.tsv").write_text("a\tb\n")
    refused(run("reduce", points, *TPCA, *words) if "--method" not in words else run("reduce", points, *words), text, code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.tsv", "labels.txt", "points.npy", "there.png"]
    assert (tmp_path / "there.png").read_text() == "precious"


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[0.1, 0.2], [0.9, 0.9], [0.0, 0.1]], (), "1.27"),
        ([[0.1, 0.2], [0.1, np.nan], [0.0, 0.1]], (), "row 1"),
        ([[0.1, 0.2]], (), "1"),
        (TREE.points, ("-k", 9), "9"),
        (TREE.points, ("--curvature", 1), "curvature"),
        (TREE.points, ("--model", "lorentz"), "hyperboloid"),
    ],
)
def test_wrong_points_are_an_error(tmp_path, X, options, words):
    np.save(tmp_path / "points.npy", np.array(X))
    refused(run("reduce", tmp_path / "points.npy", "-o", tmp_path / "out.npy", *options), words)
    assert not (tmp_path / "out.npy").exists()


def test_paths_that_are_no_files(tmp_path):
    refused(run("reduce", tmp_path / "absent.npy"), "There is no file")
    refused(run("reduce", tmp_path), "is a folder")
    refused(run("reduce"), "INPUT", code=2)


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, points, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for words in (("reduce", points), ("compare", points)):
        refused(run(*words, "--plot", tmp_path / "disk.png"), "pip install matplotlib")


def test_existing_files_need_force(tmp_path, points):
    out = tmp_path / "out.npy"
    out.write_text("precious")
    result = run("reduce", points, *TPCA, "-o", out)
    assert result.exit_code == 1 and "--force" in result.stderr and out.read_text() == "precious"
    assert run("reduce", points, *TPCA, "-o", out, "--force").exit_code == 0 and load(out).X.shape == (40, 2)
