"""``--set NAME=VALUE``: parameters of estimators, typed and checked."""

import json

import numpy as np
import pytest

from hierarchies import TREE
from horopca.io import load, save
from horopca.metrics.comparison import METHODS, make_reduction

from .running import run


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("horopca", {"n_init": 2, "pairs": "all", "tol": 1e-4, "n_jobs": None}),
        ("horopca-distortion", {"n_init": 2, "strategy": "greedy"}),
        ("pga", {"objective": "residual", "strategy": "greedy", "n_init": 2}),
        ("bsa", {"strategy": "last", "base_point": "mean", "n_init": "auto"}),
    ],
)
def test_parameters_and_the_seed_reach_the_estimator(tmp_path, points, method, settings):
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={str(value).lower()}")]
    result = run("reduce", points, "--method", method, *words, "--seed", 4, "-o", tmp_path / "out.npy", "--json")
    assert result.exit_code == 0, result.output
    expected = make_reduction(method, 2, random_state=4, **settings).fit_transform(TREE.points)
    np.testing.assert_allclose(load(tmp_path / "out.npy").X, expected, atol=1e-12)
    assert settings.items() <= json.loads(result.stdout).items()


def test_help_lists_the_parameters_of_every_method():
    elsewhere = {"n_components", "model", "curvature", "random_state", "metric", "verbose", "warm_start"}
    for method in METHODS:
        listed = run("reduce", "absent.npy", "--method", method, "--set", "help")
        assert listed.exit_code == 0
        assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} == {
            name for name in make_reduction(method, 2).get_params() if name not in {*elsewhere, *METHODS[method].options}
        }
    assert "--set help" in run("embed", "--help").stdout


def test_a_stretch_brings_the_spine_and_the_objective_that_it_needs(tmp_path):
    points, few = save(tmp_path / "points.npy", TREE.points[:15]), ("--set", "n_init=1", "--set", "tol=1e-3", "--json")
    alone, named = (
        json.loads(run("reduce", points, *more, *few).stdout)
        for more in (("--set", "stretch=true"), ("--method", "horopca-stretch"))
    )
    assert alone["stretch"] and alone["distortion"] == named["distortion"]
