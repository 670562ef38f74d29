"""``horopca demo``."""

import json
import re

from horopca import TangentPCA
from horopca.datasets import load_mammals
from horopca.metrics.stability import stability_note

from .running import PNG, refused, run

X, CLASSES = load_mammals().points, load_mammals().labels


def test_draws_and_compares_the_mammals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = json.loads(run("demo", "--methods", "tpca,pca", "--json").stdout)
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG) and found["drawn"] == "tpca"
    assert found["n_points"] == 1182 and [row["method"] for row in found["results"]] == ["tpca", "pca"]
    assert found["stability"].startswith("Changes in refits to random halves of the groups.")
    refused(run("demo"), "exists already")
    refused(run("demo", "-o", "no/demo.png"), "there is no folder")


def test_picture_and_table_state_what_is_stable(tmp_path):
    note = stability_note(TangentPCA(2).fit(X), X, CLASSES, groups=CLASSES)
    result = run("demo", "--methods", "tpca", "-o", tmp_path / "demo.svg")
    assert note in " ".join(result.stdout.split()), result.output
    drawn = " ".join(re.findall(r">([^<]+)</(?:text|tspan)>", (tmp_path / "demo.svg").read_text()))
    assert note in " ".join(drawn.split())
