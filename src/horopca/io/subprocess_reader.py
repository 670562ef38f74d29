"""Files whose libraries can crash or hang at damage are read in a process apart, with an end to its memory and its time.

HDF5 and Arrow are large programs in C and C++: a few damaged bytes can end the whole process or keep it busy for ever. Here
that is a sentence about the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .budget import Budget, memory_limit
from .files import FormatError, Table

START, SPEED = 20.0, 1e6  # Any file may take so many seconds, and one more for so many bytes: far below what a disk gives.
COPIES = 3  # What a file holds is there so many times as it goes from its library through NumPy.
OVERHEAD = 1 << 28  # A library takes so many bytes for itself.

# Without what the __init__ files of the package import, a process that reads one file starts as fast as its library.
_CHILD = """
import json, sys, types
asked = json.loads(sys.argv[1])
sys.path[:] = asked["sys.path"]
for name, place in asked["packages"]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [place]
from horopca.io.subprocess_reader import answer
answer(asked)
"""


def in_subprocess(module: str, function: str, library: str, kind: str) -> Callable[[Path, str | None], Table]:
    """The reader `function` of a module of this room, which needs a library, for files of a kind; called in a process apart."""

    def read(path: Path, key: str | None) -> Table:
        if find_spec(library) is None:
            raise ImportError(f"{path} is {kind}, which needs {library}: pip install {library}.")
        return _read(path, key, module, function)

    return read


def _read(path: Path, key: str | None, module: str, function: str) -> Table:
    budget, here = Budget(path), Path(__file__).resolve().parent
    asked = {
        "sys.path": sys.path,
        "packages": [("horopca", str(here.parent)), ("horopca.io", str(here))],
        "call": [module, function, str(path), key],
        "limit": budget.limit,
    }
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    seconds = START + budget.size / SPEED
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, json.dumps(asked)],
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FormatError(f"{path} took longer than {seconds:.0f} s to read: it is damaged.") from error
    if done.returncode:
        if b"MemoryError" in done.stderr or b"bad_alloc" in done.stderr:
            budget.claim(budget.limit + 1)
        if done.returncode == 1:  # Python's, after an error of ours, which is nobody else's fault
            raise RuntimeError(f"Reading {path} failed:\n{done.stderr.decode(errors='replace')[-2000:]}")
        how = f"by signal {-done.returncode}" if done.returncode < 0 else f"with status {done.returncode:#x}"  # as on Windows
        raise FormatError(f"{path} is damaged: the library that reads such files ended at it ({how}).")
    return _received(done.stdout)


def _received(content: bytes) -> Table:
    """The table in what `answer` has written, or the sentence."""
    line, _, rest = content.partition(b"\n")
    head = json.loads(line)
    if "refusal" in head:
        raise FormatError(head["refusal"])
    X = np.frombuffer(rest, head.pop("dtype")).reshape(head.pop("shape"))
    values = {name: np.array(column) for name, column in head.pop("values").items()}
    return Table(X.copy(), **head, values=values)


# ---------------------------------------------------------------- in the process apart


def answer(asked: dict[str, Any]) -> None:
    """Read a file as asked for, and write on standard output what `_received` takes."""
    module, function, path, key = asked["call"]
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints
    read = getattr(import_module(f".{module}", __package__), function)
    _limit_memory(COPIES * asked["limit"] + OVERHEAD)
    try:
        with memory_limit(asked["limit"]):
            _write(read(Path(path), key), out)
    except (ValueError, OSError) as error:
        out.write(json.dumps({"refusal": str(error)}).encode())
    out.flush()
    os._exit(0)  # a library that holds a damaged file may fail at closing it


def _write(table: Table, out: BinaryIO) -> None:
    X = np.ascontiguousarray(table.X)
    values = {name: column.tolist() for name, column in table.values.items()}
    head = {**table._asdict(), "words": dict(table.words), "values": values, "dtype": X.dtype.str, "shape": X.shape}
    del head["X"]
    out.write(json.dumps(head).encode() + b"\n")
    out.write(X.data)


def _limit_memory(more: int) -> None:
    """Let this process take no more than so many bytes beyond what it has, where the system can do that."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm") as status:
        used = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
