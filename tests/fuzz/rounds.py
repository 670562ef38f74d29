"""Rounds of cases, with counts of their outcomes, and the table of these."""

import contextlib
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable

CLEAR = ("read", "raised")  # the outcomes that are no defects: a correct result, or a clear error
Attempt = Callable[[str, int], tuple[str, str]]  # tries the case of a kind and a number: its outcome, and a message
Outcomes = tuple[Counter[tuple[str, str]], list[str]]  # the number of cases by kind and outcome, and the defects


def only_notes() -> None:
    """Make warnings errors, except those on what of a tree was left out or replaced."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*(left out|set to|was read|numbered in|top terms are joined)", UserWarning)


def fuzz(kinds: dict[str, int], attempt: Attempt, *, seconds: float | None = None, rounds: int | None = None) -> Outcomes:
    """Try all kinds in rounds, some of them only in every so many, until the time or the number is reached or Ctrl-C."""
    counts, findings, number, start = Counter[tuple[str, str]](), list[str](), 0, time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        while number != rounds and (seconds is None or time.monotonic() - start < seconds):
            for kind, every in kinds.items():
                if number % every == 0:
                    outcome, message = attempt(kind, number)
                    counts[kind, outcome] += 1
                    if outcome not in CLEAR:
                        findings.append(f"{kind}, case {number}: {outcome}: {message}")
                        print(findings[-1], file=sys.stderr, flush=True)  # at once: a run may take hours
            number += 1
    return counts, findings


def as_table(heading: str, counts: Counter[tuple[str, str]]) -> str:
    """The counts as a table in Markdown; `heading` is that of the first column."""
    lines = [f"| {heading} | tried | result | error | defect |", "|---|--:|--:|--:|--:|"]
    for kind in [*dict.fromkeys(kind for kind, _ in counts), "all"]:
        found = {outcome: 0 for outcome in CLEAR} | {"defect": 0}
        for (other, outcome), count in counts.items():
            if kind in (other, "all"):
                found[outcome if outcome in CLEAR else "defect"] += count
        lines.append(f"| {kind} | {' | '.join(f'{count:,}' for count in (sum(found.values()), *found.values()))} |")
    return "\n".join(lines)
