"""Damaged files of every format, read in a process apart; what was tried and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from fuzz.limits import Reader
from fuzz.mutation import mutated
from fuzz.samples import MAKERS

BUDGET = 1 << 26  # bytes that a file may take while it is tried here
MEGABYTES = 400  # that the process may grow by: the budget, the copies made of it, and what libraries keep
SECONDS = 60.0  # for one file; all of them are small


class Finding(NamedTuple):
    """A file that was neither read nor refused in a sentence."""

    format: str
    seed: int
    outcome: str
    message: str


class Tally(NamedTuple):
    """What came of the files of one format."""

    tried: int = 0
    read: int = 0
    refused: int = 0
    megabytes: int = 0  # the most that one took


def fuzz(
    folder: Path, *, seconds: float | None = None, cases: int | None = None, seed: int = 0, keep: bool = False
) -> tuple[dict[str, Tally], list[Finding]]:
    """Try files of all formats in turn for so long, or so many of each; tallies by format, and findings."""
    samples = {name: make() for name, make in MAKERS.items()}
    tallies, findings = dict.fromkeys(samples, Tally()), []
    with Reader(megabytes=MEGABYTES, seconds=SECONDS, budget=BUDGET) as reader:
        for number in _counted(seconds, cases):
            for name, sample in samples.items():
                if number % sample.every:
                    continue
                case = hash((seed, number)) & 0xFFFFFFFF
                path = folder / f"case{sample.suffix}"
                path.write_bytes(mutated(sample, list(samples.values()), Random(f"{case} {name}")))
                answer = reader(path, sample.function)
                outcome = answer["outcome"]
                tally = tallies[name]
                tallies[name] = Tally(
                    tally.tried + 1,
                    tally.read + (outcome == "read"),
                    tally.refused + (outcome == "refused"),
                    max(tally.megabytes, answer["megabytes"]),
                )
                if outcome not in ("read", "refused"):
                    findings.append(Finding(name, case, outcome, answer["message"]))
                    if keep:
                        path.replace(folder / f"{outcome}-{case}{sample.suffix}")
                path.unlink(missing_ok=True)
    return tallies, findings


def _counted(seconds: float | None, cases: int | None) -> Iterator[int]:
    start, number = time.monotonic(), 0
    while (cases is None or number < cases) and (seconds is None or time.monotonic() - start < seconds):
        yield number
        number += 1


def as_table(tallies: dict[str, Tally], findings: list[Finding]) -> str:
    """The tallies as a table for a page."""
    lines = ["| format | files | read | refused | found | most memory |", "|---|--:|--:|--:|--:|--:|"]
    found = {name: sum(finding.format == name for finding in findings) for name in tallies}
    rows = [(name, tally.tried, tally.read, tally.refused, found[name], tally.megabytes) for name, tally in tallies.items()]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, 5)), max((row[5] for row in rows), default=0)))
    return "\n".join(lines + [f"| {n} | {a:,} | {b:,} | {c:,} | {d:,} | {m} MB |" for n, a, b, c, d, m in rows])
