"""``horopca components``: how many dimensions to reduce points to."""

import json

import numpy as np
import pytest

from horopca import TangentPCA
from horopca.io import save
from horopca.metrics import component_curve

from .running import PNG, refused, run

QUICK = ("--folds", 2, "--copies", 3, "-k", 2)
TPCA = (*QUICK, "--method", "tpca")


@pytest.fixture
def points(tmp_path):
    rng = np.random.default_rng(0)
    return save(tmp_path / "points.npy", np.tanh(rng.standard_normal((40, 3)) * [0.6, 0.5, 0.05]) / 2)


def test_a_table_a_picture_and_advice_that_names_options_of_the_command(tmp_path):
    rng = np.random.default_rng(0)
    path = save(tmp_path / "points.npy", np.tanh(rng.standard_normal((60, 5)) * [0.9, 0.8, 0.7, 0.05, 0.05]) / 3)
    result = run("components", path, *QUICK, "--set", "n_init=2", "--plot", tmp_path / "curve.png")
    assert result.exit_code == 0 and result.stderr == "", result.output
    for word in ("60 points, 2 folds", "distortion", "variance kept", "neighbours kept", "by chance", "±"):
        assert word in result.stdout
    assert "raise --components" in " ".join(result.stdout.split())
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("grouped", [False, True])
def test_json_is_the_library_s(points, tmp_path, grouped):
    groups = [str(k // 4) for k in range(40)]
    (tmp_path / "groups.txt").write_text("\n".join(groups) + "\n")
    more = ("--groups", tmp_path / "groups.txt") if grouped else ()
    found = json.loads(run("components", points, *TPCA, *more, "--seed", 3, "--json").stdout)
    options = {"cv": 2, "copies": 3, "random_state": 3, "groups": groups if grouped else None}
    expected = component_curve(np.load(points), 2, estimator=TangentPCA(), **options)
    assert all(found[name] == getattr(expected, name) for name in ("chosen", "sentence", "choices"))
    for k, row in enumerate(found["curve"]):
        assert row["distortion"] == pytest.approx(expected.distortion.mean[k]) and row["n_components"] == k + 1
        assert row["variance_error"] == pytest.approx(expected.variance.error[k])
        assert row["neighbours_across"] == pytest.approx(expected.neighbours.across[:, k].mean())
    assert found["curve"][0]["p_value"] == pytest.approx(expected.p_values[0])


def test_errors_name_the_options(points, tmp_path):
    (tmp_path / "groups.txt").write_text("a\nb\n")
    refused(run("components", points, "--groups", tmp_path / "groups.txt"), "must hold one group for each of the 40 rows")
    refused(run("components", points, "--folds", 41), "--folds must be a whole number from 2 to 40 (the number of")
    refused(run("components", points, "-k", 4), "must be a whole number from 1 to 3")
    refused(run("components", points, "--copies", 0), "--copies", code=2)
