"""A few hundred damaged files of every format: each is read or raises an error that names it. `make fuzz` tries more."""

import sys
import warnings
from operator import attrgetter
from random import Random

import pytest

from fuzz.files import fuzz
from fuzz.mutation import mutated
from fuzz.samples import MAKERS
from fuzz.tally import as_table
from horopca import io
from horopca.io import READABLE
from horopca.io.graphs import TREES
from horopca.io.reading import PACKABLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits and the measure of memory are of Linux")


def test_damaged_files_are_read_or_raise_errors(tmp_path):
    tallies, findings = fuzz(tmp_path, cases=27, seed=0)
    assert not findings, "\n".join(map(str, findings))
    assert all(tally.tried == tally.read + tally.errors > 0 for tally in tallies.values())
    assert sum(tally.read for tally in tallies.values()) > 0.05 * sum(tally.tried for tally in tallies.values())
    assert max(tally.megabytes for tally in tallies.values()) < 200
    assert not list(tmp_path.iterdir())
    assert as_table("files", tallies, findings).count("\n") == len(MAKERS) + 2


def test_every_format_has_a_sample():
    tried = {(sample.function, ending) for sample in (make() for make in MAKERS.values()) for ending in sample.endings}
    read = {("load", ending) for ending in (*READABLE, *(f"{ending}.gz" for ending in PACKABLE))}
    trees = {("load_edges", f"{ending}{packed}") for ending in (*TREES, ".edges") for packed in ("", ".gz")}
    others = {("load_labels", ".txt"), ("load_fitted", ".npz"), ("graphs.load_adjacency", ".npz")}
    assert tried == read | trees | others


def test_samples_are_valid(tmp_path):
    for make in MAKERS.values():
        sample = make()
        for ending in sample.endings:
            path = tmp_path / f"sample{ending}"
            path.write_bytes(sample.content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # notes on what is left out of a tree
                attrgetter(sample.function)(io)(path)
    assert mutated(sample, [sample], Random(0)) == mutated(sample, [sample], Random(0)) != sample.content
