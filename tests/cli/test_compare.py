"""``horopca compare``: every reduction on the same points, in one table."""

import re

import pandas as pd
import pytest

from hierarchies import TREE
from horopca import compare, metrics
from horopca.geometry import to_hyperboloid

from .running import done, run, summary

FAST = ["tpca", "pca", "hmds"]  # closed forms


def test_the_table_has_the_best_in_bold(points, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    result = run("compare", points, "--methods", ",".join(FAST))
    assert result.exit_code == 0, result.output
    printed = re.sub(r"\x1b\[[\d;]*m", "", result.stdout).split("\n")
    assert printed[0] == f"40 points, 5 columns, Fréchet variance {metrics.frechet_variance(TREE.points):.2f}"
    assert all(word in " ".join(printed[1:4]) for word in ("distortion", "Fréchet", "pair", "near", "trust", "seconds"))
    best, *others = sorted(f"{row['distortion']:.4f}" for row in compare(TREE.points, 2, FAST).to_dict("records"))
    bold = re.findall(r"\x1b\[1m *([\d.]+)\x1b\[0m", result.stdout)
    assert best in bold and not set(others) & set(bold)


def test_json_holds_the_records_of_the_library_in_the_order_of_the_options(points):
    found = summary("compare", points, "-k", "2, 1", "--methods", "hmds,tpca,hmds", "--seed", 4)
    assert found["n_points"] == 40 and found["seed"] == 4 and found["input"] == str(points)
    expected = compare(TREE.points, [2, 1], ["hmds", "tpca"], random_state=4).to_dict("records")
    assert [row | {"seconds": 0} for row in found["results"]] == [pytest.approx(row | {"seconds": 0}) for row in expected]


def test_a_picture_of_points_in_another_model_and_curvature(tmp_path):
    path, plot = tmp_path / "points.csv", tmp_path / "panels.svg"
    pd.DataFrame(2 * to_hyperboloid(TREE.points)).assign(label=TREE.labels).to_csv(path, index=False)
    for view, numbers in (("disk", False), ("equidistant", True)):
        words = ("--model", "lorentz", "--curvature", -0.25, "--methods", "tpca", "--view", view, "--plot", plot, "--force")
        done("compare", path, *words)
        assert (">2<" in plot.read_text()) == numbers  # of the rings
