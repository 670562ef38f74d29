"""``horopca plot``: pictures from files."""

import matplotlib
import numpy as np
import pytest

from .running import refused, run

matplotlib.use("Agg")
rng = np.random.default_rng(0)
Y = rng.uniform(-0.65, 0.65, (40, 2))
EDGES = np.array([[i // 2, i] for i in range(1, 40)])


def plot(*arguments):
    return run("plot", *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("plane.npy", Y)
    np.save("ball.npy", rng.uniform(-0.5, 0.5, (40, 3)))
    np.save("values.npy", np.arange(40.0)[:, None])
    (tmp_path / "names.txt").write_text("\n".join(f"node {i}" for i in range(40)))
    (tmp_path / "edges.tsv").write_text("\n".join(f"node {a}\tnode {b}" for a, b in EDGES))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["plane.npy"],
        ["plane.npy", "--names", "names.txt", "--edges", "edges.tsv", "--centre", "node 5", "--grid", "polar"],
        ["plane.npy", "--view", "klein", "--values", "values.npy"],
        ["plane.npy", "--view", "halfplane", "--title", "half"],
        ["ball.npy", "--view", "ball"],
    ],
)
def test_plot_draws(folder, arguments):
    result = plot(*arguments, "-o", "picture.png")
    assert result.exit_code == 0 and "picture.png" in result.stdout, result.output
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ball.npy"], "HoroPCA(n_components=2), or horopca reduce"),
        (["plane.npy", "--view", "ball"], "points of the ball"),
        (["plane.npy", "-o", "picture.gif"], "must end in .png"),
        (["plane.npy", "--centre", "cat"], "--centre must be the name or the row number"),
        (["plane.npy", "--centre", "77"], "centre must be a row of Y"),
        (["absent.npy"], "There is no file"),
    ],
)
def test_wrong_requests_end_in_a_sentence(folder, arguments, sentence):
    before = sorted(folder.iterdir())
    refused(plot(*arguments), sentence)
    assert sorted(folder.iterdir()) == before


def test_what_a_ball_has_not_is_refused(folder):
    refused(plot("ball.npy", "--view", "ball", "--grid", "polar"), "are of the plane", code=2)


def test_plot_overwrites_only_when_told(folder):
    assert plot("plane.npy").exit_code == 0 and (folder / "plane.png").exists()
    assert "exists already" in plot("plane.npy").stderr
    assert plot("plane.npy", "--force").exit_code == 0


def test_companions_come_with_their_names(folder, monkeypatch):
    drawn = {}
    monkeypatch.setattr("horopca.plots.plot_plane", lambda Y, **options: drawn.update(options))
    (folder / "anchors.csv").write_text("name,x,y\nroot,0,0\nleaf,0.5,0.25\n")
    assert plot("plane.npy", "--companions", "anchors.csv").exit_code == 0
    assert {name: list(point) for name, point in drawn["companions"].items()} == {"root": [0, 0], "leaf": [0.5, 0.25]}
    assert plot("plane.npy", "--companions", "plane.npy", "--force").exit_code == 0
    np.testing.assert_array_equal(drawn["companions"], Y)
