"""``horopca nearest``: the neighbours of a point."""

import json

import numpy as np
import pytest

from hierarchies import TREE
from horopca.geometry import from_hyperboloid, pairwise_distance, to_hyperboloid
from horopca.io import save

from .running import refused, run

NAMES = [f"E{i:02d}" for i in range(40)]


@pytest.mark.parametrize(("name", "row"), [("E07", 7), ("e31", 31), ("4", None), ("7", None)])
def test_the_nearest_points_and_their_distances(tmp_path, name, row):
    curved = 2 * from_hyperboloid(to_hyperboloid(TREE.points), "lorentz")
    path = save(tmp_path / "points.npz", curved, names=NAMES, model="lorentz", curvature=-0.25)
    if row is None:  # a part of several names
        return refused(run("nearest", path, name), f"names of {path} contain '{name}'")
    found = json.loads(run("nearest", path, name, "-n", 5, "--json").stdout)
    d = 2 * np.asarray(pairwise_distance(to_hyperboloid(TREE.points)))[row]
    d[row] = np.inf
    assert [one["distance"] for one in found["nearest"]] == pytest.approx(np.sort(d)[:5])
    assert all(d[one["row"]] == pytest.approx(one["distance"]) and one["name"] == NAMES[one["row"]] for one in found["nearest"])
    printed = run("nearest", path, name, "-n", 5).stdout
    assert f"Nearest to {NAMES[row]}" in printed and found["nearest"][0]["name"] in printed


def test_points_without_names_are_called_by_their_rows(points):
    assert "Nearest to 3" in run("nearest", points, 3).stdout
    refused(run("nearest", points, "cat"), "has no point called 'cat', because its points have no names")
    refused(run("nearest", points, 40), "has no point called '40'")
