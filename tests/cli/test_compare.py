"""``horopca compare``: every reduction on the same points, in one table."""

import json
import re

import pandas as pd
import pytest

from hierarchies import TREE
from horopca import compare, metrics
from horopca.geometry import to_hyperboloid

from .running import refused, run

FAST = ["tpca", "pca", "hmds"]  # closed forms


def compared(*arguments):
    return run("compare", *arguments)


def test_the_table(points):
    result = compared(points, "-k", "1,2", "--methods", ",".join(FAST))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].strip() == f"40 points, 5 columns, Fréchet variance {metrics.frechet_variance(TREE.points):.2f}"
    heading = " ".join(lines[1:3])
    assert all(word in heading for word in ("method", "distortion", "Fréchet", "near", "trust", "contin-", "seconds"))
    assert [re.search(r" ([12]) ", line)[1] for line in lines[3:]] == ["1"] * 3 + ["2"] * 3
    assert sum("Tangent PCA" in line for line in lines) == 2
    assert result.stderr == ""


def test_the_best_is_bold(points, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    best, *others = sorted(f"{row['distortion']:.4f}" for row in compare(TREE.points, 2, FAST).to_dict("records"))
    bold = re.findall(r"\x1b\[1m *([\d.]+)\x1b\[0m", compared(points, "--methods", ",".join(FAST)).stdout)
    assert best in bold and not set(others) & set(bold)


def test_json_holds_the_records_of_the_library_in_the_order_of_the_options(points):
    found = json.loads(compared(points, "-k", "2, 1", "--methods", "hmds,tpca,hmds", "--json", "--seed", 4).stdout)
    assert found["n_points"] == 40 and found["seed"] == 4 and found["input"] == str(points)
    expected = compare(TREE.points, [2, 1], ["hmds", "tpca"], random_state=4).to_dict("records")
    assert [row | {"seconds": 0} for row in found["results"]] == [pytest.approx(row | {"seconds": 0}) for row in expected]


def test_model_and_curvature_and_files_with_classes(tmp_path):
    path = tmp_path / "points.csv"
    pd.DataFrame(2 * to_hyperboloid(TREE.points)).assign(label=TREE.labels).to_csv(path, index=False)
    words = ("--model", "lorentz", "--curvature", -0.25, "--methods", "tpca", "--force", "--plot", tmp_path / "panels.svg")
    for view, numbers in (("disk", False), ("equidistant", True)):
        result = compared(path, *words, "--view", view)
        assert result.exit_code == 0, result.output
        assert (">2<" in (tmp_path / "panels.svg").read_text()) == numbers  # of the rings


def test_wrong_options_are_errors(points, tmp_path):
    (tmp_path / "there.png").write_text("precious")
    refused(compared(points, "-k", 3, "--plot", tmp_path / "disks.png"), "needs 2 in -k, but -k is 3", code=2)
    refused(compared(points, "--methods", "magic"), "magic", code=2)
    for k in ("0", "-1", "1.5", "abc", ""):
        refused(compared(points, "-k", f"2,{k}"), "is not a positive integer.", code=2)
    refused(compared(points, "--plot", tmp_path / "there.png"), "exists already")
    refused(compared(points, "-k", "2,9", "--methods", "tpca"), "but is 9")
    refused(compared(tmp_path / "absent.npy"), "There is no file")
    assert (tmp_path / "there.png").read_text() == "precious"
