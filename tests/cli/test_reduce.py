"""``horopca reduce``: what it writes and what it prints."""

import sys

import numpy as np
import pytest

from hierarchies import TREE
from horopca import TangentPCA, metrics
from horopca.geometry import MODELS, distance, from_hyperboloid, to_hyperboloid
from horopca.io import load, save
from horopca.metrics.comparison import METHODS, make_reduction

from .running import PNG, done, refused, run, summary

TPCA = ("--method", "tpca")


def test_points_and_picture_are_written_and_summarised(folder, points):
    printed = done("reduce", points, "--set", "n_init=2", "-o", "out.npy", "--plot", "disk.png")
    stretched = make_reduction("horopca-stretch", 2, n_init=2, random_state=0).fit_transform(TREE.points)
    np.testing.assert_allclose(load("out.npy").X, stretched, atol=1e-9)  # pictures show the fit that keeps distances best
    assert (folder / "disk.png").read_bytes().startswith(PNG) and len(list(folder.iterdir())) == 4  # with its metadata
    for word in ("distortion 0.", "variance kept 0.", "seconds", "dimensions 5 components 2", "method horopca-stretch"):
        assert word in printed


@pytest.mark.parametrize("model", [model for model in MODELS if model != "poincare"])
def test_model_and_curvature_of_the_points(folder, model):
    scale = 1 if model == "halfspace" else 2  # curvature -1/4 doubles lengths, except in the half-space
    save("points.npy", scale * from_hyperboloid(to_hyperboloid(TREE.points), model))
    done("reduce", "points.npy", *TPCA, "--model", model, "--curvature", -0.25, "-o", "out.npz")
    found = load("out.npz")
    assert (found.model, found.curvature) == (model, -0.25)
    Y = to_hyperboloid(found.X / scale, model)
    expected = to_hyperboloid(TangentPCA(2).fit_transform(TREE.points))
    np.testing.assert_allclose(distance(Y[:, None], Y), distance(expected[:, None], expected), atol=1e-5)


def test_auto_finds_the_only_model_that_fits(folder):
    save("timed.npy", np.roll(to_hyperboloid(TREE.points), -1, axis=1))
    assert summary("reduce", "timed.npy", "--model", "auto", *TPCA)["model"] == "lorentz-time-last"


def test_components_can_be_a_fraction_or_all(points):
    found = summary("reduce", points, *TPCA, "-k", 0.7)
    less = summary("reduce", points, *TPCA, "-k", found["n_components"] - 1)
    assert less["variance_kept"] < 0.7 <= found["variance_kept"]
    assert summary("reduce", points, "-k", "all", *TPCA)["n_components"] == 5


def test_neighbours_that_are_kept(folder, points):
    found = summary("reduce", points, *TPCA, "-o", "out.npy")
    for name in ("neighbours_kept", "trustworthiness", "continuity"):
        assert found[name] == pytest.approx(getattr(metrics, name)(TREE.points, load("out.npy").X))
    assert f"neighbors 10 neighbours kept {found['neighbours_kept']:.4g} trust" in done("reduce", points, *TPCA)
    assert "neighbors 4 " in done("reduce", save("few.npy", TREE.points[:15]), *TPCA)  # a third of the others
    assert "neighbours" not in done("reduce", save("fewest.npy", TREE.points[:3]), *TPCA)


def test_figures_of_many_points_are_those_of_a_sample(folder):
    save("many.npz", np.random.default_rng(0).normal(size=(20_000, 3)) / 10)
    printed = done("reduce", "many.npz", *TPCA)
    assert "measured 16,384 " in printed and "distortion error 0.00" in printed
    assert done("reduce", "many.npz", *TPCA, "--quiet") == ""


def test_a_plane_that_keeps_next_to_nothing_is_called_that(folder):
    path = save("flat.npy", np.random.default_rng(0).normal(size=(400, 60)) / 100)
    for words in (("reduce", path, *TPCA), ("compare", path, "--methods", "tpca")):
        printed = done(*words)
        assert "do not read neighbourhoods off" in printed and "UMAP" in printed
        assert ("--method tpca" in printed) == ("compare" in words)  # no advice to use what was used
    assert "neighbourhoods" not in done("reduce", path, *TPCA, "-k", 50)


def test_without_matplotlib_the_error_says_what_to_install(points, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for command in ("reduce", "compare"):
        refused(run(command, points, "--plot", "disk.png"), "pip install matplotlib")


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("horopca", {"n_init": 2, "pairs": "all", "tol": 1e-4, "n_jobs": None}),
        ("horopca-distortion", {"n_init": 2, "strategy": "greedy"}),
        ("pga", {"objective": "residual", "strategy": "greedy", "n_init": 2}),
        ("bsa", {"strategy": "last", "base_point": "mean", "n_init": "auto"}),
    ],
)
def test_parameters_and_the_seed_reach_the_estimator(folder, points, method, settings):
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={str(value).lower()}")]
    found = summary("reduce", points, "--method", method, *words, "--seed", 4, "-o", "out.npy")
    expected = make_reduction(method, 2, random_state=4, **settings).fit_transform(TREE.points)
    np.testing.assert_allclose(load("out.npy").X, expected, atol=1e-12)
    assert settings.items() <= found["parameters"].items()


def test_help_lists_the_parameters_of_every_method():
    elsewhere = {"n_components", "model", "curvature", "random_state", "metric", "verbose", "warm_start"}
    for method in METHODS:
        listed = run("reduce", "absent.npy", "--method", method, "--set", "help")
        assert listed.exit_code == 0
        assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} == {
            name for name in make_reduction(method, 2).get_params() if name not in {*elsewhere, *METHODS[method].options}
        }
    assert "--set help" in run("embed", "--help").stdout
