"""A few thousand damaged and valid files of every format, with defects only if there are any. `make fuzz` tries more."""

import re
import sys

import pytest

from fuzz import valid
from fuzz.samples import KINDS, make
from horopca.io import READABLE
from horopca.io.graphs import TREES
from horopca.io.reading import COMPRESSIBLE


@pytest.mark.skipif(sys.platform != "linux", reason="the limits and the measure of memory are of Linux")
def test_files_are_read_or_raise_errors(capsys, monkeypatch):
    from fuzz.__main__ import main

    monkeypatch.setattr(sys, "argv", ["fuzz", "files", "--rounds", "20", "--seed", "0"])
    status, (out, err) = main(), capsys.readouterr()
    assert (status, err) == (0, ""), err
    rows = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (\d+) \| 0 \|$", out.replace(",", ""), re.MULTILINE)
    *kinds, (name, tried, read, errors) = rows
    assert name == "all" and len(kinds) == len(KINDS) + len(valid.VALID)
    assert int(tried) == int(read) + int(errors) and int(read) > 0.2 * int(tried)


def test_every_format_has_a_sample():
    tried = {(sample.function, ending) for sample in map(make, KINDS) for ending in sample.endings}
    read = {("load", ending) for ending in (*READABLE, *(f"{ending}.gz" for ending in COMPRESSIBLE))}
    trees = {("load_edges", f"{ending}{packed}") for ending in (*TREES, ".edges") for packed in ("", ".gz")}
    others = {("load_labels", ".txt"), ("load_fitted", ".npz"), ("graphs.load_adjacency", ".npz")}
    assert tried == read | trees | others
