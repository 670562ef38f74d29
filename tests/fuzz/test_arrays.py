"""Arrays of every kind: what is saved comes back bit for bit, and what a reduction takes it maps to finite points."""

import os
import signal
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from fuzz.arrays import SUBJECTS, Subject, fuzz, strict, tried
from fuzz.tally import as_table
from horopca.io import load, save

FLOATS = st.sampled_from([np.float32, np.float64])
ANY = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from("\r\n\t ,\"'"), max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arrays")


@given(
    X=FLOATS.flatmap(lambda dtype: arrays(dtype, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=ANY)),
    data=st.data(),
)
def test_save_and_load(folder, X, data):
    suffix = data.draw(st.sampled_from([".npy", ".npz", ".csv", ".tsv"]))
    labels = data.draw(st.none() | st.lists(WORDS, min_size=len(X), max_size=len(X)))
    table = load(save(folder / f"points{suffix}", X, labels, force=True))
    assert np.array_equal(table.X.astype(X.dtype), X)
    assert table.labels == labels


@pytest.mark.skipif(os.name == "nt", reason="the limit of time is of POSIX")
def test_arrays_have_results_or_raise_errors():
    tallies, findings = fuzz(cases=20, seed=0)
    assert not findings, "\n".join(map(str, findings))
    assert all(tally.tried == tally.read + tally.errors > 0 for tally in tallies.values())
    assert sum(tally.read for tally in tallies.values()) > 0.3 * sum(tally.tried for tally in tallies.values())


@pytest.mark.skipif(os.name == "nt", reason="the limit of time is of POSIX")
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


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("number", [8287, 8777, 11175])
def test_earlier_failures(number):
    """Rows with numbers whose squares overflow, at which `describe` warned."""
    with strict():
        assert tried(SUBJECTS["describe"], [4123934591, number, *b"describe"]) == ("read", "")
