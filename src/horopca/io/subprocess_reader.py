"""Read a file with a library in a separate process, which has limits on its memory and on its processor time.

HDF5, Arrow, torch and the readers of trees are large programs: a few damaged bytes can crash them, keep them busy or make
them allocate without end. In a separate process each of these becomes a `FormatError` that names the file.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .files import Budget, EdgeList, FormatError, Table, memory_limit

CPU_SECONDS, BYTES_PER_SECOND = 20.0, 1e6  # Any file may take 20 s, and one more per megabyte: far slower than any disk.
WAITING = 15  # Wall-clock time per second of processor time: a reader must not fail because the machine is busy.
COPIES = 3  # The content of a file is in memory at most three times: in the library, in NumPy and in the answer.
LIBRARY_BYTES = 1 << 28  # Bytes that a library may allocate in addition.
MAX_RECURSION = 100_000  # Python frames: parsers of trees recurse once per level, and a tree may be a chain.
DISTRIBUTIONS = {"Bio": "Biopython"}  # Libraries whose modules have another name.
RESULTS = {result.__name__: result for result in (Table, EdgeList)}
ERRORS = {error.__name__: error for error in (FormatError, ImportError, MemoryError)}  # that a reader raises for its caller

# `-I` keeps the working directory, the user's site-packages and PYTHONPATH off `sys.path`. The packages are added to
# `sys.modules` directly because their __init__ files would import much more than one reader needs.
COMMAND = (sys.executable, "-I", "-c")
CODE = """
import json, sys, types
request = json.loads(sys.argv[1])
sys.path += [folder for folder in request["path"] if folder not in sys.path]
for name, folder in request["packages"]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from horopca.io.subprocess_reader import answer
answer(request)
"""


def in_subprocess(module: str, function: str, library: str, kind: str, extra: str) -> Callable[..., Any]:
    """A function that calls one of this package in a separate process. Raises ImportError without the library."""

    def read(path: Path, *arguments: Any) -> Any:
        if find_spec(library) is None:
            name = DISTRIBUTIONS.get(library, library)
            raise ImportError(f"{path} is {kind}, which needs {name}: pip install 'horopca[{extra}]'.")
        return _read(path, {"call": [module, function, str(path), arguments], "library": library, "kind": kind})

    return read


def _read(path: Path, request: dict[str, Any]) -> Any:
    if not path.is_file():
        raise FormatError(f"{path} is a device or a pipe, but {request['kind']} must be a regular file.")
    budget, here = Budget(path), Path(__file__).resolve().parent
    seconds = CPU_SECONDS + budget.size / BYTES_PER_SECOND
    request |= {
        "path": _import_path(path),
        "packages": [("horopca", str(here.parent)), ("horopca.io", str(here))],
        "bytes": budget.limit,
        "seconds": seconds,
        "mark": secrets.token_hex(8),  # the key of arrays in the answer, which a file cannot guess
    }
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [*COMMAND, CODE, json.dumps(request)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=WAITING * seconds, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise FormatError(f"{path} is damaged: reading it took longer than {error.timeout:.0f} s.") from error
    if done.returncode == 1:  # Python's own status after an exception that `answer` did not expect
        raise RuntimeError(f"Reading {path} failed:\n{done.stderr.decode(errors='replace')[-2000:]}")
    if code := done.returncode:
        how = f"by signal {-code}" if code < 0 else f"with status {code:#x}"  # Windows has statuses only
        what = f"the process that read it ended {how}"
        if code == -getattr(signal, "SIGXCPU", 0):
            what = f"reading it took more than {seconds:.0f} s of processor time"
        raise FormatError(f"{path} is damaged or too large: {what}.")
    return _received(done.stdout, request["mark"], budget)


def _import_path(path: Path) -> list[str]:
    """The folders of `sys.path`, without those in which a file that came with the data could be imported as a module."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or "."
    unsafe = {folder.resolve() for folder in (Path.cwd(), path.parent, Path(main).parent)}
    return [folder for folder in sys.path if Path(folder).is_absolute() and Path(folder).resolve() not in unsafe]


def _received(content: bytes, mark: str, budget: Budget) -> Any:
    """The result that `answer` wrote. Raises the error that it reported."""
    line, _, rest = content.partition(b"\n")

    def restored(item: dict[str, Any]) -> Any:
        if mark not in item:
            return item
        start, dtype, shape = item[mark]
        return np.frombuffer(rest, dtype, math.prod(shape), start).reshape(shape).copy()

    head = json.loads(line, object_hook=restored)
    if head["type"] == "MemoryError":
        budget.claim(budget.limit + 1)
    if head["type"] == "FormatError":
        raise FormatError(head["message"], head["keys"])
    if head["type"] == "ImportError":
        raise ImportError(head["message"])
    return RESULTS[head["type"]](**head["fields"])


def answer(request: dict[str, Any]) -> None:
    """Read a file, in the separate process. Write a line of JSON to standard output, then the bytes of its arrays."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing a library prints is part of the result
    module, function, path, arguments = request["call"]
    import_module(request["library"])
    read = getattr(import_module(f".{module}", __package__), function)
    _limit(COPIES * request["bytes"] + LIBRARY_BYTES, request["seconds"])
    sys.setrecursionlimit(MAX_RECURSION)
    arrays: list[np.ndarray] = []
    try:
        with memory_limit(request["bytes"]):
            result = read(Path(path), *arguments)
            head = {"type": type(result).__name__, "fields": result._asdict()}
            line = json.dumps(head, default=partial(_plain, request["mark"], arrays))
            Budget(Path(path)).claim(len(line) + sum(array.nbytes for array in arrays))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # a library may raise anything; a panic of Rust is no Exception
        known = next((name for name, kind in ERRORS.items() if isinstance(error, kind)), None)
        what = f"{type(error).__name__}: {error}"[:200]
        message = str(error) if known else f"{path} is damaged, cut short, or not {request['kind']} ({what})."
        arrays, head = [], {"type": known or "FormatError", "message": message, "keys": getattr(error, "keys", [])}
        line = json.dumps(head)
    out.write(line.encode() + b"\n")
    out.writelines(array.data for array in arrays)
    out.flush()
    os._exit(0)  # a library that holds a damaged file may fail when it closes it


def _plain(mark: str, arrays: list[np.ndarray], value: Any) -> dict[str, Any]:
    """What JSON lacks: a mapping, or an array, which is appended to `arrays` and for which `mark` stands."""
    if not isinstance(value, np.ndarray):
        return dict(value)
    arrays.append(np.ascontiguousarray(value))
    return {mark: [sum(array.nbytes for array in arrays[:-1]), value.dtype.str, value.shape]}


def _limit(nbytes: int, seconds: float) -> None:
    """Limit the processor time that this process takes from now on and, on Linux, the memory that it allocates."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    whole = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (whole if most == resource.RLIM_INFINITY else min(whole, most), most))
    if sys.platform == "linux":  # other systems ignore the limit
        with open("/proc/self/statm") as status:
            used = int(status.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + nbytes, resource.RLIM_INFINITY))
