"""A few hundred damaged files of every format: each is read, or refused in a sentence that names it. `make fuzz` tries more."""

import sys
from random import Random

import pytest

from fuzz.files import fuzz
from fuzz.mutation import mutated
from fuzz.samples import MAKERS
from fuzz.tally import as_table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits and the measure of memory are of Linux")


def test_damaged_files_are_read_or_refused(tmp_path):
    tallies, findings = fuzz(tmp_path, cases=81, seed=0)
    assert not findings, "\n".join(map(str, findings))
    assert all(tally.tried == tally.read + tally.refused > 0 for tally in tallies.values())
    assert sum(tally.read for tally in tallies.values()) > 0.05 * sum(tally.tried for tally in tallies.values())
    assert max(tally.megabytes for tally in tallies.values()) < 200
    assert not list(tmp_path.iterdir())
    assert as_table("files", tallies, findings).count("\n") == len(MAKERS) + 2


def test_undamaged_samples_are_read_and_mutation_damages(tmp_path):
    from horopca import io

    for make in MAKERS.values():
        sample = make()
        path = tmp_path / f"sample{sample.suffix}"
        path.write_bytes(sample.content)
        getattr(io, sample.function)(path)
    assert mutated(sample, [sample], Random(0)) == mutated(sample, [sample], Random(0)) != sample.content
