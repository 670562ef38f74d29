"""``horopca demo``."""

import json

import pytest

from horopca.datasets.mammals import Mammals, load_mammals

from .running import PNG, refused, run

FEW = 100


@pytest.fixture(autouse=True)
def two_methods(monkeypatch, quick_search):
    """Two starts, two methods and a hundred of the mammals: this is about files and words."""
    monkeypatch.setattr("horopca.cli.demo.default_methods", lambda: ["horopca", "tpca"])
    m = load_mammals()
    few = Mammals(m.points[:FEW], m.names[:FEW], m.synsets[:FEW], m.edges[m.edges.max(axis=1) < FEW], m.labels[:FEW])
    monkeypatch.setattr("horopca.cli.demo.load_mammals", lambda: few)


def test_it_draws_a_picture_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG)
    assert "Drawn in horopca-demo.png." in result.stdout and "Tangent PCA" in result.stdout
    refused(run("demo"), "exists already")
    refused(run("demo", "-o", "no/demo.png"), "there is no folder")
    found = json.loads(run("demo", "-o", "a.pdf", "--json").stdout)
    assert found["n_points"] == FEW and found["n_columns"] == 10
    assert [row["method"] for row in found["results"]] == ["horopca", "tpca"] and (tmp_path / "a.pdf").exists()
