"""``horopca demo``."""

import json

import pytest

from .running import PNG, refused, run


@pytest.fixture(autouse=True)
def two_methods(monkeypatch, quick_search):
    """Two starts and two methods: this is about files and words."""
    monkeypatch.setattr("horopca.cli.demo.default_methods", lambda: ["horopca", "tpca"])


def test_it_draws_a_picture_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG)
    assert "Drawn in horopca-demo.png." in result.stdout and "Tangent PCA" in result.stdout
    refused(run("demo"), "exists already")
    refused(run("demo", "-o", "no/demo.png"), "there is no folder")
    found = json.loads(run("demo", "-o", "a.pdf", "--json").stdout)
    assert [row["method"] for row in found["results"]] == ["horopca", "tpca"] and (tmp_path / "a.pdf").exists()
