"""Faults while a file is written: the process is killed at a random moment, or the disk is full at a random size.

A file is there already. Afterwards it is unchanged or replaced completely, the input is unchanged, and the same call completes
the output: the bytes are those that a call without a fault writes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from forks import Runner
from fuzz.rounds import Attempt

POINTS = np.random.default_rng(0).uniform(-0.3, 0.3, (3000, 5))
SMALL = "arrays.BLOCK_BYTES, streaming.LARGE = 1 << 13, 1000"  # a file of a few kilobytes is read in blocks
OLD = b"the file that was there before"
WRITERS = {
    "reduce_file .npy": "reduce_file(points, out, TangentPCA(2), force=True)",
    "reduce_file .csv": "reduce_file(points, out, TangentPCA(2), force=True)",
    "save .npy": "save(out, np.load(points), ['a'] * 3000, force=True)",
    "save .npz": "save(out, np.load(points), ['a'] * 3000, force=True)",
    "save .csv": "save(out, np.load(points), ['a'] * 3000, force=True)",
    "save_fitted .npz": "save_fitted(TangentPCA(2).fit(np.load(points)), out, force=True)",
}


def limited(size: int, code: str) -> str:
    """The code under RLIMIT_FSIZE: a write that goes beyond fails, as on a full disk."""
    # without bytecode: Python would leave truncated .pyc files
    return f"sys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n{code}"


@contextlib.contextmanager
def trying(seed: int) -> Iterator[tuple[dict[str, int], Attempt]]:
    """All writers with both faults, and the function that tries one."""
    runner = Runner(setup=SMALL)
    try:
        complete = {writer: _complete(runner, writer) for writer in WRITERS}

        def attempt(kind: str, number: int) -> tuple[str, str]:
            writer, fault = kind.split(", ")
            with tempfile.TemporaryDirectory() as folder:
                return tried(runner, Path(folder), writer, fault, *complete[writer], Random(f"{seed} {number} {kind}"))

        yield {f"{writer}, {fault}": 1 for writer in WRITERS for fault in ("killed", "full disk")}, attempt
    finally:
        runner.close()


def _complete(runner: Runner, writer: str) -> tuple[bytes, float]:
    """What a call without a fault writes, and the seconds that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        points, out = _files(Path(folder), writer)
        start = time.monotonic()
        assert runner.run(WRITERS[writer], points=points, out=out) == (0, "")
        return out.read_bytes(), time.monotonic() - start


def _files(folder: Path, writer: str) -> tuple[Path, Path]:
    """The input and the output, which exists."""
    points, out = folder / "points.npy", folder / f"out{writer.split()[1]}"
    np.save(points, POINTS)
    out.write_bytes(OLD)
    return points, out


def tried(
    runner: Runner, folder: Path, writer: str, fault: str, complete: bytes, seconds: float, random: Random
) -> tuple[str, str]:
    """Whether the output was written ("read") or not ("raised"), or "unexpected" and what was wrong."""
    points, out = _files(folder, writer)
    code, content = WRITERS[writer], points.read_bytes()
    if fault == "killed":
        child = runner.start(code, points=points, out=out)
        time.sleep(random.uniform(0, seconds))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status, message = runner.end()
    else:
        status, message = runner.run(limited(random.randrange(len(complete) + 1000), code), points=points, out=out)
        hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
        if (status != 0 and "File too large" not in message) or hidden:
            return "unexpected", f"status {status}: {message}; left over: {hidden}"
    found = out.read_bytes()
    if found not in (OLD, complete) or (status == 0 and found != complete):
        return "unexpected", f"status {status}, and the output has {len(found)} bytes"
    again = runner.run(code, points=points, out=out)
    if again != (0, "") or out.read_bytes() != complete or list(folder.glob("out*.partial*")):
        return "unexpected", f"the same call ended with {again}"
    if points.read_bytes() != content:
        return "unexpected", "the input has changed"
    return ("read" if found == complete else "raised"), ""
