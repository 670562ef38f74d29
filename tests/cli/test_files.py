"""Outputs are written together or not at all; points on the rim can be moved inside."""

import numpy as np
import pytest

from hierarchies import TREE
from horopca import TangentPCA
from horopca.geometry import clip
from horopca.io import save

from .running import contents, refused, run, said

NAMES = [f"node {i}" for i in range(40)]


@pytest.mark.parametrize(
    ("failing", "named"), [("numpy.lib.format.write_array_header_1_0", "a.npy"), ("matplotlib.figure.Figure.savefig", "a.png")]
)
def test_outputs_are_written_all_or_none(folder, tree, monkeypatch, failing, named):
    save("x.npz", TREE.points, TREE.labels)
    before = contents(folder)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(failing, full)
    result = run("reduce", "x.npz", "--method", "tpca", "-o", "a.npy", "--plot", "a.png", "--save-fit", "a.npz")
    refused(result, f"Error: {named}: No space left on device.")
    if named == "a.png":
        refused(run("map", tree, "-d", 2, "--method", "sarkar"), "tree.png: No space left on device.")
    assert contents(folder) == before


def test_points_on_the_rim_are_moved_inside_by_clip(folder):
    X = TREE.points.astype(np.float32)
    X[3] = X[3] / np.linalg.norm(X[3]) * np.float32(1.0001)
    np.save("rim.npy", X)
    refused(run("reduce", "rim.npy", "--method", "tpca"), "outside it by at most 0.0001, probably by rounding")
    assert "--clip 1e-5 moves them inside" in " ".join(run("info", "rim.npy").stdout.split())
    result = run("reduce", "rim.npy", "--method", "tpca", "--clip", "1e-5", "-o", "a.npy")
    assert result.exit_code == 0
    assert "--clip moved 1 row of 40 in rim.npy inside: they were up to 0.0001 outside the ball" in said(result)
    assert np.array_equal(np.load("a.npy"), TangentPCA(2).fit_transform(clip(X, 1e-5)))
    save("x.npy", TREE.points)
    assert "Warning" not in run("reduce", "x.npy", "--method", "tpca", "--clip", "1e-5").stderr
    np.save("wide.npy", 2 * X)
    assert run("reduce", "wide.npy", "--method", "tpca", "--clip", "1e-5", "--curvature", "-0.25").exit_code == 0
