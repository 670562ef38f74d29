"""docs/networks.md runs from top to bottom."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    pytest.importorskip("geoopt")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[1] / "docs" / "networks.md").read_text(encoding="utf-8")
    names: dict = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)), names)
    assert (tmp_path / "mammals.gif").stat().st_size > 0 and (tmp_path / "anchors.png").stat().st_size > 0
    assert "<title>Mammals in training</title>" in (tmp_path / "mammals.html").read_text(encoding="utf-8")
    for picture in names["frames"]:
        np.testing.assert_allclose(picture[names["root"]], 0, atol=1e-6)
    # the layer, from a random spine, has come to where the search ends, or nearly so
    assert names["loss"].item() < -names["best"].score(names["X"]) + 0.03
