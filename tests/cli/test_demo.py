"""``horopca demo``."""

import json

from .running import PNG, refused, run

FAST = ("--methods", "tpca,hmds")


def test_it_draws_a_picture_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", *FAST)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG)
    assert "drawn in horopca-demo.png" in result.stdout and "Tangent PCA" in result.stdout
    refused(run("demo", *FAST), "exists already")
    refused(run("demo", "-o", "no/demo.png"), "there is no folder")
    found = json.loads(run("demo", *FAST, "-o", "a.pdf", "--json").stdout)
    assert found["n_points"] == 1182 and found["n_columns"] == 10 and found["drawn"] == "tpca"
    assert [row["method"] for row in found["results"]] == ["tpca", "hmds"] and (tmp_path / "a.pdf").exists()
