"""Damaged files of every format, read in a separate process, and the outcomes."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.limits import Reader, Request
from fuzz.mutation import mutated
from fuzz.samples import MAKERS, Sample
from fuzz.tally import Finding, Tally, counted

BUDGET = 1 << 26  # bytes that a file may take while it is tried here
MEGABYTES = 400  # that the process may grow by: the budget, the copies made of it, and what libraries keep
SECONDS = 300.0  # for one file by the clock, on a machine that may be busy


def fuzz(
    folder: Path, *, seconds: float | None = None, cases: int | None = None, seed: int = 0, keep: bool = False
) -> tuple[dict[str, Tally], list[Finding]]:
    """Read damaged files of all formats in turn for some time, or a number of each. Returns tallies by format, and findings."""
    samples = {name: make() for name, make in MAKERS.items()}
    tallies, findings = dict.fromkeys(samples, Tally()), []
    with Reader(megabytes=MEGABYTES, seconds=SECONDS, budget=BUDGET, forks=True) as reader:
        for number in counted(seconds, cases):
            case = hash((seed, number)) & 0xFFFFFFFF
            some = {name: sample for name, sample in samples.items() if number % sample.every == 0}
            asked = [_damaged(folder, name, sample, list(samples.values()), case) for name, sample in some.items()]
            for name, (path, *_), answer in zip(some, asked, reader.several(asked), strict=True):
                outcome = answer["outcome"]
                tallies[name] = tallies[name].after(outcome, answer["megabytes"])
                if outcome not in ("read", "raised"):
                    findings.append(Finding(name, case, outcome, answer["message"]))
                    if keep:
                        path.replace(folder / f"{outcome}-{path.name.replace('case', str(case), 1)}")
                path.unlink(missing_ok=True)
    return tallies, findings


def _damaged(folder: Path, name: str, sample: Sample, samples: list[Sample], case: int) -> Request:
    """The damaged file of a case."""
    random = Random(f"{case} {name}")
    path = folder / f"case-{name.replace(', ', '-').replace(' ', '-')}{random.choice(sample.endings)}"
    path.write_bytes(mutated(sample, samples, random))
    return Request(path, sample.function)
