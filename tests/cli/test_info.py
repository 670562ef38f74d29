"""``horopca info``: what a file holds."""

import json

import numpy as np
import pytest

from horopca.datasets import make_hierarchy
from horopca.geometry import radius, to_hyperboloid
from horopca.io import save

from .running import run

TREE = make_hierarchy(3, 3, 5, random_state=0)


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", TREE.points)


def test_info_in_words(points):
    result = run("info", points)
    assert result.exit_code == 0
    for words in ("40", "5, float64", "poincare, klein, tangent", "--model poincare", "on a clip"):
        assert words in result.stdout


def test_info_in_json(tmp_path):
    X = 2 * to_hyperboloid(TREE.points)
    X[7] = np.nan
    np.savez(tmp_path / "points.npz", X=X, labels=TREE.labels)
    found = json.loads(run("info", tmp_path / "points.npz", "--json").stdout)
    assert found["model"] == "lorentz" and found["curvature"] == pytest.approx(-0.25)
    assert found["n_rows"] == 40 and found["n_nonfinite"] == 1 and found["n_labels"] == 4
    assert found["radius"]["1.0"] == pytest.approx(2 * radius(to_hyperboloid(np.delete(TREE.points, 7, 0))).max())


def test_info_says_which_balls_could_hold_the_rows(tmp_path):
    result = run("info", save(tmp_path / "points.npy", 4 * TREE.points - 1))
    assert "as a ball" in result.stdout
