"""``horopca demo``."""

import json

from .running import PNG, refused, run


def test_draws_and_compares_the_mammals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = json.loads(run("demo", "--methods", "tpca,pca", "--json").stdout)
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG) and found["drawn"] == "tpca"
    assert found["n_points"] == 1182 and [row["method"] for row in found["results"]] == ["tpca", "pca"]
    refused(run("demo"), "exists already")
    refused(run("demo", "-o", "no/demo.png"), "there is no folder")
