"""``horopca plot``: pictures from files."""

import numpy as np
import pytest

from .running import PNG, done

rng = np.random.default_rng(0)
Y = rng.uniform(-0.65, 0.65, (40, 2))
EDGES = np.array([[i // 2, i] for i in range(1, 40)])


@pytest.fixture(autouse=True)
def files(folder):
    np.save("plane.npy", Y)
    np.save("ball.npy", rng.uniform(-0.5, 0.5, (40, 3)))
    (folder / "about.csv").write_text("name,value\n" + "".join(f"node {i},{i / 2}\n" for i in range(40)))
    (folder / "edges.tsv").write_text("\n".join(f"node {a}\tnode {b}" for a, b in EDGES))


@pytest.mark.parametrize(
    "arguments",
    [
        ["plane.npy", "--metadata", "about.csv", "--edges", "edges.tsv", "--centre", "node 5"],
        ["plane.npy", "--view", "klein", "--metadata", "about.csv", "--colour-by", "value", "--title", "half"],
        ["ball.npy", "--view", "ball"],
    ],
)
def test_plot_draws(folder, arguments):
    assert "picture.png" in done("plot", *arguments, "-o", "picture.png")
    assert (folder / "picture.png").read_bytes().startswith(PNG)
