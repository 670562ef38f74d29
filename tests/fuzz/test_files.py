"""A few thousand damaged and valid files of every format, with defects only if there are any. `make fuzz` tries more."""

import re
import subprocess
import sys
import warnings
from operator import attrgetter
from random import Random

import numpy as np
import pytest

from forks import ENVIRONMENT, TESTS
from fuzz import valid
from fuzz.mutation import mutated
from fuzz.samples import MAKERS
from horopca import io
from horopca.io import READABLE
from horopca.io.graphs import TREES
from horopca.io.reading import PACKABLE


@pytest.mark.skipif(sys.platform != "linux", reason="the limits and the measure of memory are of Linux")
def test_files_are_read_or_raise_errors():
    """In a process of its own, because the fuzzer forks and limits its memory."""
    command = [sys.executable, "-m", "fuzz", "files", "--rounds", "40", "--seed", "0"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=TESTS, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    rows = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (\d+) \| 0 \|$", done.stdout.replace(",", ""), re.MULTILINE)
    *kinds, (name, tried, read, errors) = rows
    assert name == "all" and len(kinds) == len(MAKERS) + len(valid.VALID)
    assert int(tried) == int(read) + int(errors) and int(read) > 0.2 * int(tried)


def test_harness_finds_misread_files(tmp_path, monkeypatch):
    monkeypatch.setattr(valid, "VALID", {"wrong": valid.Valid(lambda folder, rng: [(np.zeros(2), np.zeros(2, np.float32))])})
    outcome, message = valid.tried("wrong", tmp_path, [0])
    assert outcome == "misread" and "was read as" in message


def test_every_format_has_a_sample():
    tried = {(sample.function, ending) for sample in (make() for make in MAKERS.values()) for ending in sample.endings}
    read = {("load", ending) for ending in (*READABLE, *(f"{ending}.gz" for ending in PACKABLE))}
    trees = {("load_edges", f"{ending}{packed}") for ending in (*TREES, ".edges") for packed in ("", ".gz")}
    others = {("load_labels", ".txt"), ("load_fitted", ".npz"), ("graphs.load_adjacency", ".npz")}
    assert tried == read | trees | others


def test_samples_are_valid(tmp_path):
    for make in MAKERS.values():
        sample = make()
        for ending in sample.endings[:1]:
            path = tmp_path / f"sample{ending}"
            path.write_bytes(sample.content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # notes on what is left out of a tree
                attrgetter(sample.function)(io)(path)
    assert mutated(sample, [sample], Random(0)) == mutated(sample, [sample], Random(0)) != sample.content
