"""Arrays of every kind: each has finite results or raises a clear error. `make fuzz` tries more."""

import pytest

from fuzz.arrays import SUBJECTS, trying
from fuzz.rounds import CLEAR, fuzz


def test_arrays_have_results_or_raise_errors():
    with trying(seed=0) as (kinds, attempt):
        counts, findings = fuzz(kinds, attempt, rounds=65)
    assert not findings, "\n".join(findings)
    assert {kind for kind, _ in counts} == set(SUBJECTS) and {outcome for _, outcome in counts} == set(CLEAR)
    assert sum(count for (_, outcome), count in counts.items() if outcome == "read") > 0.3 * counts.total()


@pytest.mark.parametrize(
    ("name", "seed", "numbers", "outcome"),
    [
        ("describe", 4123934591, [8287, 8777, 11175], "read"),  # it warned of numbers whose squares overflow
        ("exp and log", 27, [1271, 2706, 8776, 13936], "raised"),  # the result had five digits without an error
    ],
)
def test_earlier_failures(name, seed, numbers, outcome):
    with trying(seed) as (_, attempt):
        assert {attempt(name, number) for number in numbers} == {(outcome, "")}
