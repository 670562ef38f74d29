"""``horopca nearest``: the neighbours of a point."""

import numpy as np
import pytest

from hierarchies import TREE
from horopca.geometry import from_hyperboloid, pairwise_distance, to_hyperboloid
from horopca.io import save

from .running import done, summary

NAMES = [f"term {i} (E{i:02d})" for i in range(39)] + ["inner 1"]


@pytest.fixture
def named(tmp_path):
    curved = 2 * from_hyperboloid(to_hyperboloid(TREE.points), "lorentz")
    return save(tmp_path / "points.npz", curved, names=NAMES, model="lorentz", curvature=-0.25)


@pytest.mark.parametrize(("name", "row"), [("term 7 (E07)", 7), ("E31", 31), ("TERM 12", 12), ("inner 1", 39)])
def test_finds_a_point_by_name_code_or_part(named, name, row):
    found = summary("nearest", named, name, "-n", 5)
    d = 2 * np.asarray(pairwise_distance(to_hyperboloid(TREE.points)))[row]
    d[[row, 39]] = np.inf  # a node without a name in its file is not listed
    assert [one["distance"] for one in found["nearest"]] == pytest.approx(np.sort(d)[:5])
    assert all(d[one["row"]] == pytest.approx(one["distance"]) and one["name"] == NAMES[one["row"]] for one in found["nearest"])


def test_points_are_called_by_name_or_row(named, points, tmp_path):
    numbered = save(tmp_path / "numbered.npz", TREE.points, names=[f"gene{i + 1}" for i in range(40)])
    for path, name, called in ((named, "E07", "term 7 (E07)"), (points, 3, "3"), (numbered, 39, "gene40")):
        assert f"Nearest to {called}" in done("nearest", path, name)
    assert "Nearest to term 3 (E03)" in done("nearest", named, "term 3")  # although it is a part of "term 30 (E30)"
