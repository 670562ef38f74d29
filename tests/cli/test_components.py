"""``horopca components``: how many dimensions to reduce points to."""

import json

import numpy as np
import pytest

from horopca import TangentPCA
from horopca.io import save
from horopca.metrics import component_curve

from .running import PNG, refused, run

QUICK = ("--folds", 2, "--copies", 3, "-k", 2, "--method", "tpca")


@pytest.fixture
def points(tmp_path):
    rng = np.random.default_rng(0)
    return save(tmp_path / "points.npy", np.tanh(rng.standard_normal((40, 3)) * [0.6, 0.5, 0.05]) / 2)


def test_a_table_a_picture_and_a_sentence(points, tmp_path):
    result = run("components", points, *QUICK, "--plot", tmp_path / "curve.png")
    assert result.exit_code == 0, result.output
    words = ("40 points, 2 folds", "distortion", "variance kept", "neighbours kept", "by chance", "±", "more to the variance")
    for word in words:
        assert word in result.stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG) and result.stderr == ""
    refused(run("components", points, *QUICK, "--plot", tmp_path / "curve.png"), "exists")


def test_json_is_the_library_s(points):
    found = json.loads(run("components", points, *QUICK, "--seed", 3, "--json").stdout)
    expected = component_curve(np.load(points), 2, estimator=TangentPCA(), cv=2, copies=3, random_state=3)
    assert (
        found["chosen"] == expected.chosen and found["sentence"] == expected.sentence and found["choices"] == expected.choices
    )
    for k, row in enumerate(found["curve"]):
        assert row["distortion"] == pytest.approx(expected.distortion.mean[k]) and row["n_components"] == k + 1
        assert row["variance_error"] == pytest.approx(expected.variance.error[k])
        assert row["neighbours_across"] == pytest.approx(expected.neighbours.across[:, k].mean())
    assert found["curve"][0]["p_value"] == pytest.approx(expected.p_values[0])


def test_groups_and_a_method(points, tmp_path):
    groups = tmp_path / "groups.txt"
    groups.write_text("\n".join(str(k // 4) for k in range(40)) + "\n")
    more = ("--copies", 2, "--folds", 2, "-k", 1, "--groups", groups)
    expected = component_curve(np.load(points), 1, estimator=TangentPCA(), cv=2, copies=2, groups=[k // 4 for k in range(40)])
    found = json.loads(run("components", points, *more, "--method", "tpca", "--json").stdout)
    assert found["curve"][0]["neighbours"] == pytest.approx(expected.neighbours.mean[0])


def test_advice_names_options_of_the_command(tmp_path):
    rng = np.random.default_rng(0)
    path = save(tmp_path / "points.npy", np.tanh(rng.standard_normal((60, 5)) * [0.9, 0.8, 0.7, 0.05, 0.05]) / 3)
    result = run("components", path, "--folds", 2, "--copies", 3, "-k", 2, "--set", "n_init=2")
    assert "raise --components" in " ".join(result.stdout.split()), result.output


def test_errors_name_the_options(points, tmp_path):
    refused(run("components", points, "--folds", 41), "--folds must be at most the number of different rows, 40, but is 41")
    refused(run("components", points, "-k", 4), "must be a whole number from 1 to 3")
    refused(run("components", points, "--copies", 0), "--copies", code=2)
    refused(run("components", points, "--method", "tpca", "--set", "spine=free"), "has no such parameter", code=2)
    (tmp_path / "groups.txt").write_text("a\nb\n")
    refused(run("components", points, "--groups", tmp_path / "groups.txt"), "must hold one group for each of the 40 rows")
