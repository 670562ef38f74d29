"""Damaged and valid files of every format, read by forks of this process, and the outcomes."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random

from fuzz import valid
from fuzz.limits import Inside, Reader, load_libraries, restrict, tried
from fuzz.mutation import mutated
from fuzz.samples import MAKERS, Sample
from fuzz.tally import Finding, Outcomes, Report, Tally, counted, quiet
from fuzz.valid import VALID
from horopca import io
from horopca.io import subprocess_reader

BUDGET = 1 << 26  # bytes that a file may take while it is tried here
MEGABYTES = 400  # that a process may grow by: the budget, the copies made of it, and what libraries keep
SECONDS = 20.0  # for one file by the clock, before it is tried again with the limits of the separate process
ROUNDS = 40  # that a process reads, because libraries keep some memory of each file; a fork costs as much as 50 files
CLEAR = ("read", "raised")
Case = tuple[int, str]  # the number of the round, and the kind


def fuzz(
    *,
    seconds: float | None = None,
    cases: int | None = None,
    seed: int = 0,
    keep: Path | None = None,
    report: Report = quiet,
) -> Outcomes:
    """Read files of all kinds in turn for some time, or a number of rounds. Returns tallies by kind, and findings.

    One process reads many files, without processes of their own for those that libraries read. A damaged file that ends it,
    or that neither is read nor raises a clear error, is tried again as the package reads it.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # the libraries that write must not have threads here
        samples = pool.submit(_samples).result()
    every = {name: sample.every for name, sample in samples.items()} | {f"valid: {name}": k.every for name, k in VALID.items()}
    tallies, findings = dict.fromkeys(every, Tally()), []
    load_libraries()
    gc.freeze()  # the garbage collector of a fork must not copy all pages
    memory = Path("/dev/shm")  # folders are slow on a disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name, Reader(budget=BUDGET) as careful:
        folder = Path(name)
        (folder / "valid").mkdir()
        for chunk in counted(seconds, cases if cases is None else -(-cases // ROUNDS)):
            work = [(n, kind) for n in range(chunk * ROUNDS, (chunk + 1) * ROUNDS) for kind, k in every.items() if not n % k]
            for (number, kind), (outcome, message) in zip(work, _outcomes(work, samples, folder, seed), strict=True):
                if outcome not in CLEAR and kind in samples:
                    path = _damaged(folder, kind, samples, f"{seed} {number} {kind}")
                    answer = careful(path, samples[kind].function)
                    outcome, message = answer["outcome"], answer["message"]
                    if outcome not in CLEAR and keep is not None:
                        (keep / f"{outcome}-{number}-{path.name}").write_bytes(path.read_bytes())
                tallies[kind] = tallies[kind].after(outcome)
                if outcome not in CLEAR:
                    findings.append(report(Finding(kind, number, outcome, message)))
    return tallies, findings


def _samples() -> dict[str, Sample]:
    return {name: make() for name, make in MAKERS.items()}


def _outcomes(work: list[Case], samples: dict[str, Sample], folder: Path, seed: int) -> Iterator[tuple[str, str]]:
    """The outcomes of the cases, from a process that tries them; where it ends, a new one goes on with the next case."""
    while work:
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            _try_all(work, samples, folder, seed, sender)
        os.close(sender)
        with open(receiver, "rb", buffering=0) as answers:
            received = b""
            while work:
                while (
                    b"\n" not in received and select.select([answers], [], [], SECONDS)[0] and (more := answers.read(1 << 16))
                ):
                    received += more
                line, found, received = received.partition(b"\n")
                work = work[1:]
                if not found:
                    os.kill(child, signal.SIGKILL)
                    yield "crash", "the process ended, or had to be ended"
                    break
                yield tuple(json.loads(line))
        os.waitpid(child, 0)


def _try_all(work: list[Case], samples: dict[str, Sample], folder: Path, seed: int, sender: int) -> None:
    """Write the outcomes of all cases to a pipe, and end this process."""
    try:
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)  # the parent ends after the round
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # for what libraries print
        restrict(MEGABYTES)
        subprocess_reader.subprocess.run = Inside()
        with io.memory_limit(BUDGET):
            for number, kind in work:
                if kind in samples:
                    path = _damaged(folder, kind, samples, f"{seed} {number} {kind}")
                    answer = tried(str(path), samples[kind].function, {})
                    path.unlink()
                    outcome = answer["outcome"], answer["message"]
                else:
                    name = kind.removeprefix("valid: ")
                    outcome = valid.tried(name, folder / "valid", [seed, number, *name.encode()])
                os.write(sender, json.dumps(outcome).encode() + b"\n")
    finally:
        os._exit(0)


def _damaged(folder: Path, kind: str, samples: dict[str, Sample], case: str) -> Path:
    """The damaged file of a case."""
    random, sample = Random(case), samples[kind]
    path = folder / f"case-{kind.replace(', ', '-').replace(' ', '-')}{random.choice(sample.endings)}"
    path.write_bytes(mutated(sample, list(samples.values()), random))
    return path
