"""docs/networks.md runs from top to bottom, with fewer epochs."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

FEWER = {"epoch(steps=40)": "epoch(steps=10)", "in range(6)": "in range(2)", "range(1, 7)": "range(1, 3)"}


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    pytest.importorskip("geoopt")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[1] / "docs" / "networks.md").read_text(encoding="utf-8")
    code, names = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)), {}
    for as_there, here in FEWER.items():
        assert code.count(as_there) == 1
        code = code.replace(as_there, here)
    exec(code, names)
    assert (tmp_path / "mammals.gif").stat().st_size > 0 and (tmp_path / "anchors.png").stat().st_size > 0
    assert "<title>Mammals in training</title>" in (tmp_path / "mammals.html").read_text(encoding="utf-8")
    for picture in names["frames"]:
        np.testing.assert_allclose(picture[names["root"]], 0, atol=1e-6)
    # the layer, from a random spine, has come to where the search ends, or nearly so
    assert names["loss"].item() < -names["best"].score(names["X"]) + 0.03
