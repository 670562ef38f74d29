"""``horopca demo``."""

import re

from horopca import TangentPCA
from horopca.datasets import load_mammals
from horopca.metrics.stability import stability_note

from .running import refused, run, summary

X, CLASSES = load_mammals().points, load_mammals().labels


def test_compares_and_draws_the_mammals_and_states_what_is_stable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    note = stability_note(TangentPCA(2).fit(X), X, CLASSES, groups=CLASSES, called="classes")
    found = summary("demo", "--methods", "tpca,pca", "-o", "demo.svg")
    assert found["drawn"] == "tpca" and found["stability"] == note
    assert found["n_points"] == 1182 and [row["method"] for row in found["results"]] == ["tpca", "pca"]
    drawn = " ".join(re.findall(r">([^<]+)</(?:text|tspan)>", (tmp_path / "demo.svg").read_text()))
    assert note in " ".join(drawn.split())
    (tmp_path / "horopca-demo.png").touch()
    refused(run("demo"), "horopca-demo.png exists already")
