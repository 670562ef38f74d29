"""Arrays of every kind: each has finite results or raises a clear error. `make fuzz` tries more."""

import os
import signal
import warnings

import numpy as np
import pytest

from fuzz.arrays import SUBJECTS, Subject, fuzz, strict, tried
from fuzz.tally import as_table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the limit of time is of POSIX")


def test_arrays_have_results_or_raise_errors():
    tallies, findings = fuzz(cases=65, seed=0)
    assert not findings, "\n".join(map(str, findings))
    assert all(tally.tried == tally.read + tally.errors > 0 for tally in tallies.values())
    assert sum(tally.read for tally in tallies.values()) > 0.3 * sum(tally.tried for tally in tallies.values())


def test_harness_finds_defects(monkeypatch):
    def go(case):
        what = case.rng.integers(5)
        if what == 0:
            warnings.warn("beware", stacklevel=1)
        elif what == 1:
            raise ValueError("no message")
        elif what == 2:
            raise KeyError("key")
        elif what == 3:
            signal.raise_signal(signal.SIGPROF)  # as when the time is over
        return [np.nan]

    monkeypatch.setattr("fuzz.arrays.SUBJECTS", {"all wrong": Subject(go)})
    tallies, findings = fuzz(cases=40, seed=0)
    assert tallies["all wrong"].tried == len(findings) == 40
    assert {finding.outcome for finding in findings} == {"unexpected", "not finite", "hang"}
    assert "| all wrong | 40 | 0 | 0 | 40 |\n" in as_table("arrays", tallies, findings)


@pytest.mark.parametrize(
    ("name", "seed", "numbers", "outcome"),
    [
        ("describe", 4123934591, [8287, 8777, 11175], "read"),  # it warned of numbers whose squares overflow
        ("exp and log", 27, [1271, 2706, 8776, 13936], "raised"),  # the result had five digits without an error
    ],
)
def test_earlier_failures(name, seed, numbers, outcome):
    with strict():
        assert {tried(SUBJECTS[name], [seed, number, *name.encode()]) for number in numbers} == {(outcome, "")}
