"""Counts of outcomes, and the table of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple


class Finding(NamedTuple):
    """A case with neither a result nor a clear error."""

    kind: str
    case: int
    outcome: str
    message: str


class Tally(NamedTuple):
    """The outcomes of the cases of one kind."""

    tried: int = 0
    read: int = 0
    errors: int = 0
    megabytes: int = 0  # the largest memory of a case

    def after(self, outcome: str, megabytes: int) -> Tally:
        """The tally with one case more."""
        read, errors = self.read + (outcome == "read"), self.errors + (outcome == "raised")
        return Tally(self.tried + 1, read, errors, max(self.megabytes, megabytes))


def counted(seconds: float | None, cases: int | None) -> Iterator[int]:
    """The numbers of rounds, until the time or the number is reached."""
    start, number = time.monotonic(), 0
    while (cases is None or number < cases) and (seconds is None or time.monotonic() - start < seconds):
        yield number
        number += 1


def as_table(heading: str, tallies: dict[str, Tally], findings: list[Finding]) -> str:
    """The tallies as a table in Markdown; `heading` is that of the first column. Memory is shown if it was measured."""
    found = {name: sum(finding.kind == name for finding in findings) for name in tallies}
    rows = [(name, tally.tried, tally.read, tally.errors, found[name]) for name, tally in tallies.items()]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, 5))))
    most = [tally.megabytes for tally in tallies.values()]
    memory = [f" {megabytes} MB |" for megabytes in (*most, max(most))] if any(most) else [""] * len(rows)
    lines = [f"| {heading} | tried | result | error | defect |", "|---|--:|--:|--:|--:|"]
    if any(most):
        lines = [f"{lines[0]} largest memory |", f"{lines[1]}--:|"]
    lines += [f"| {n} | {a:,} | {b:,} | {c:,} | {d:,} |{more}" for (n, a, b, c, d), more in zip(rows, memory, strict=True)]
    return "\n".join(lines)
