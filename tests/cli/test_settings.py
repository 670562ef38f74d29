"""``--set NAME=VALUE``: parameters of estimators, typed and checked."""

import json

import numpy as np
import pytest

from hierarchies import TREE
from horopca.embed import PoincareEmbedding
from horopca.io import load, save
from horopca.metrics.comparison import METHODS, make

from .running import refused, run


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("horopca", {"n_init": 2, "pairs": "all", "tol": 1e-4, "n_jobs": None}),
        ("horopca-distortion", {"n_init": 2, "strategy": "greedy"}),
        ("pga", {"objective": "residual", "strategy": "greedy", "n_init": 2}),
        ("bsa", {"strategy": "last", "base_point": "mean", "base_noise": 0.1, "n_init": "auto"}),
        ("halfspace", {"n_draws": 2}),
    ],
)
def test_parameters_reach_the_estimator(tmp_path, points, method, settings):
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={str(value).lower()}")]
    result = run("reduce", points, "--method", method, *words, "-o", tmp_path / "out.npy", "--json")
    assert result.exit_code == 0, result.output
    expected = make(method, 2, random_state=0, **settings).fit_transform(TREE.points)
    np.testing.assert_allclose(load(tmp_path / "out.npy").X, expected, atol=1e-12)
    assert settings.items() <= json.loads(result.stdout).items()


@pytest.mark.parametrize(
    ("method", "setting", "text"),
    [
        ("tpca", "spine=free", "--set spine: --method tpca has no such parameter; it has none."),
        ("halfspace", "spine=free", "--method halfspace has no such parameter; it has n_draws."),
        ("horopca-free", "spine=ideal", "--method horopca-free has no such parameter"),
        ("horopca", "stretch=1", "--set stretch must be true or false, but is '1'."),
        ("horopca", "max_iter", "--set must be NAME=VALUE, but is 'max_iter'."),
        ("horopca", "model=klein", "--method horopca has no such parameter"),  # it has an option
    ],
)
def test_errors_come_before_the_file_is_read(method, setting, text):
    refused(run("reduce", "absent.npy", "--method", method, "--set", setting), text, code=2)
    for name, what, value in (("bsa", "strategy", "joint"), ("horopca", "objective", "much"), ("pga", "max_iter", 1.5)):
        refused(run("reduce", "absent.npy", "--method", name, "--set", f"{what}={value}"), f"{what} must be")


def test_help_lists_the_parameters_of_every_method():
    elsewhere = {"n_components", "model", "curvature", "random_state", "metric", "verbose", "warm_start"}
    for method in METHODS:
        listed = run("reduce", "absent.npy", "--method", method, "--set", "help")
        assert listed.exit_code == 0
        assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} == {
            name for name in make(method, 2).get_params() if name not in {*elsewhere, *METHODS[method].options}
        }
    assert "--set help" in run("embed", "--help").stdout


def test_embeddings_take_parameters_too(tmp_path, tree):
    words = ("--method", "poincare", "--set", "closure=true", "--set", "epochs=20", "-d", 3)
    assert run("embed", tree, *words, "-o", tmp_path / "a.npy").exit_code == 0
    expected = PoincareEmbedding(3, closure=True, epochs=20, random_state=0).fit_transform(tree)
    assert np.array_equal(load(tmp_path / "a.npy").X, expected)
    refused(run("embed", tree, "-o", tmp_path / "b.npy", "--set", "epochs=3"), "--method distortion has no such", code=2)


def test_a_stretch_brings_the_spine_and_the_objective_that_it_needs(tmp_path):
    points, few = save(tmp_path / "points.npy", TREE.points[:15]), ("--set", "n_init=2", "--json")
    alone, named = (
        json.loads(run("reduce", points, *more, *few).stdout)
        for more in (("--set", "stretch=true"), ("--method", "horopca-stretch"))
    )
    assert alone["stretch"] and alone["distortion"] == named["distortion"]
    refused(run("reduce", points, "--set", "stretch=true", "--set", "spine=ideal"), "spine=free")
