"""``horopca reduce``: what it writes, what it prints, and its errors."""

import json
import sys

import numpy as np
import pytest

from hierarchies import TREE
from horopca import TangentPCA, metrics
from horopca.geometry import MODELS, distance, from_hyperboloid, to_hyperboloid
from horopca.io import load, save, save_fitted
from horopca.metrics.comparison import make_reduction

from .running import PNG, refused, run

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
    stretched = make_reduction("horopca-stretch", 2, n_init=2, random_state=0).fit_transform(TREE.points)
    np.testing.assert_allclose(Y, stretched, atol=1e-9)  # pictures show the fit that keeps distances best


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
    printed = " ".join(run("reduce", path, *TPCA).stdout.split())
    assert "in a sample of 16,384 points" in printed and " ± 0.00" in printed
    assert run("reduce", path, *TPCA, "--quiet").output == ""


def test_a_plane_that_keeps_next_to_nothing_is_called_that(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 60)) / 100
    path = save(tmp_path / "flat.npy", X)
    for words in (("reduce", path, *TPCA), ("compare", path, "--methods", "tpca")):
        printed = " ".join(run(*words).output.split())
        assert "do not read neighbourhoods off" in printed and "UMAP" in printed
        assert ("--method tpca" in printed) == ("compare" in words)  # no advice to use what was used
    assert "neighbourhoods" not in run("reduce", path, *TPCA, "-k", 50).stderr


def test_float32_stays(tmp_path):
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


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, points, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for words in (("reduce", points), ("compare", points)):
        refused(run(*words, "--plot", tmp_path / "disk.png"), "pip install matplotlib")
