"""Counts of outcomes, and the table of them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Finding(NamedTuple):
    """A case with neither a correct result nor a clear error."""

    kind: str
    case: int
    outcome: str
    message: str


class Tally(NamedTuple):
    """The outcomes of the cases of one kind."""

    tried: int = 0
    read: int = 0
    errors: int = 0

    def after(self, outcome: str) -> Tally:
        """The tally with one case more."""
        return Tally(self.tried + 1, self.read + (outcome == "read"), self.errors + (outcome == "raised"))


Outcomes = tuple[dict[str, Tally], list[Finding]]
Report = Callable[[Finding], Finding]


def quiet(finding: Finding) -> Finding:
    return finding


def counted(seconds: float | None, cases: int | None) -> Iterator[int]:
    """The numbers of rounds, until the time or the number is reached, or until an interruption: the round is completed."""
    stopped, start, number = False, time.monotonic(), 0

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not stopped and (cases is None or number < cases) and (seconds is None or time.monotonic() - start < seconds):
            yield number
            number += 1
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def as_table(heading: str, tallies: dict[str, Tally], findings: list[Finding]) -> str:
    """The tallies as a table in Markdown; `heading` is that of the first column."""
    found = {name: sum(finding.kind == name for finding in findings) for name in tallies}
    rows = [(name, tally.tried, tally.read, tally.errors, found[name]) for name, tally in tallies.items()]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, 5))))
    lines = [f"| {heading} | tried | result | error | defect |", "|---|--:|--:|--:|--:|"]
    return "\n".join([*lines, *(f"| {n} | {a:,} | {b:,} | {c:,} | {d:,} |" for n, a, b, c, d in rows)])
