"""``horopca stability``: how far to believe a reduction."""

import numpy as np
import pytest

from horopca import TangentPCA
from horopca.datasets import make_hierarchy
from horopca.io import save
from horopca.metrics import bootstrap

from .running import PNG, done, summary

X = make_hierarchy(3, 2, 3, random_state=0).points
QUICK = ("--method", "tpca", "--resamples", 10)


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", X)


def test_it_reports_what_the_library_finds(points):
    found = bootstrap(TangentPCA(2).fit(X), X, n_resamples=10)
    result = summary("stability", points, *QUICK)
    assert result["stability"] == found.stability and result["conclusion"] == found.conclusion
    assert result["n_points"] == len(X) and result["angle_bounds"] == [] and result["merged"] is None
    assert [one["row"] for one in result["least_sure"]] == list(np.argsort(-found.spread, kind="stable")[:10])


def test_groups_and_a_picture(points, tmp_path):
    groups, picture = tmp_path / "groups.txt", tmp_path / "regions.png"
    groups.write_text("".join(f"clade {i // 3}\n" for i in range(len(X))))
    printed = done("stability", points, *QUICK, "--groups", groups, "--plot", picture)
    assert "groups of" in printed and "largest spread" in printed and picture.read_bytes().startswith(PNG)


def test_says_when_rows_look_dependent(tmp_path):
    rng = np.random.default_rng(0)
    families = np.repeat(rng.normal(size=(16, 3)) / 5, 5, axis=0) + rng.normal(size=(80, 3)) / 100
    path = save(tmp_path / "families.npy", families)
    (tmp_path / "groups.txt").write_text("".join(f"family {i // 5}\n" for i in range(80)))
    few = {"stability": QUICK, "components": ("--method", "tpca", "-k", 1, "--folds", 2, "--copies", 2)}
    for command, words in few.items():
        advice = "pass --groups (the family or subtree of each row)"
        assert advice in done(command, path, *words)
        assert "pass --groups" not in done(command, path, *words, "--groups", tmp_path / "groups.txt")
