"""A process apart in which files are read, with an end to its memory and to its time.

`python -m fuzz.limits` is that process: a line of JSON in, what to read; a line of JSON out, what came of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]


class Asked(NamedTuple):
    """A file, the function of `horopca.io` that is to read it, and its options."""

    path: Path
    function: str = "load"
    options: Mapping[str, Any] = MappingProxyType({})


class Reader:
    """Reads files in a process that may take `megabytes` more than it does at its start, and `seconds` for each."""

    def __init__(self, megabytes: int = 1024, seconds: float = 30.0, budget: float | None = None, forks: bool = False) -> None:
        self.settings, self.seconds = {"megabytes": megabytes, "budget": budget, "forks": forks}, seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.said = b""  # by the process, and not yet heard

    def __call__(self, path: Path, function: str = "load", **options: Any) -> dict[str, Any]:
        """{"outcome": "read", "raised", "unexpected", "hang" or "crash", "message": ..., "megabytes": ...}."""
        return next(self.several([Asked(path, function, options)]))

    def several(self, asked: Sequence[Asked]) -> Iterator[dict[str, Any]]:
        """The same for several files, which the process reads one after another; where it ends, another one goes on."""
        left = list(asked)
        while left:
            process = self.process or self._started()
            lines = [json.dumps({"path": str(path), "function": f, "options": dict(o)}) for path, f, o in left]
            process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            process.stdin.flush()
            while left and self.process is not None:
                left = left[1:]
                yield self._answer(process)

    def _answer(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        while b"\n" not in self.said:
            ready, _, _ = select.select([process.stdout], [], [], self.seconds)
            more = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.close()
                outcome = "crash" if ready else "hang"
                return {"outcome": outcome, "message": f"ended with {process.returncode}", "megabytes": 0}
            self.said += more
        line, self.said = self.said.split(b"\n", 1)
        return json.loads(line)

    def _started(self) -> subprocess.Popen[str]:
        paths = [str(TESTS), str(TESTS.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "fuzz.limits", json.dumps(self.settings)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        self.said = b""
        assert self.process.stdout.readline() == b"ready\n"
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(megabytes: int, budget: float | None, forks: bool) -> None:
    from horopca import io
    from horopca.io import subprocess_reader

    for library in (
        "h5py",
        "pyarrow.parquet",
        "pyarrow.feather",
        "scipy.io",
        "torch",
        "Bio.Phylo",
        "pronto",
    ):  # what the readers load takes no part in the limit
        import_module(library)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), resource.RLIM_INFINITY))
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*(left out|set to|was read|joined under|numbered in)", UserWarning)  # notes on trees
    forked = Forks()
    if forks:  # a process that is a copy of this one reads what a new one would, and need not load the libraries again
        subprocess_reader.subprocess.run = forked.run
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak begins anew
        before, forked.kilobytes, start = _status("VmRSS"), 0, time.process_time()
        with contextlib.nullcontext() if budget is None else io.memory_limit(budget):
            answer = _tried(attrgetter(asked["function"])(io), asked["path"], asked["options"])
        answer["seconds"] = time.process_time() - start
        answer["megabytes"] = max(_status("VmHWM"), forked.kilobytes) - before >> 10
        print(json.dumps(answer), file=answers, flush=True)


class Forks:
    """What `horopca.io.subprocess_reader` starts processes with, as copies of this one."""

    kilobytes = 0  # the most that one has taken

    def run(self, command: list[str], timeout: float, **_: Any) -> subprocess.CompletedProcess[bytes]:
        from horopca.io.subprocess_reader import answer

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if not child:
                os.dup2(out.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                signal.alarm(int(timeout))
                try:
                    answer(json.loads(command[-1]))
                except BaseException:
                    os.write(2, traceback.format_exc().encode())
                    os._exit(1)
            _, status, usage = os.wait4(child, 0)
            self.kilobytes = max(self.kilobytes, usage.ru_maxrss)
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGALRM:
                raise subprocess.TimeoutExpired(command, timeout)
            out.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(command, code, out.read(), errors.read())


def _status(name: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


def _tried(function: Any, path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read, or a message that names the file; anything else is an error of ours."""
    try:
        found = function(path, **options)
    except (ValueError, OSError) as error:
        clear = path in str(error) and str(error).endswith((".", "?"))
        return {"outcome": "raised" if clear else "unexpected", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    except Exception as error:  # the harness reports whatever there is
        return {"outcome": "unexpected", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    shape = list(getattr(getattr(found, "X", None), "shape", ()))
    return {"outcome": "read", "message": "", "shape": shape}


if __name__ == "__main__":
    _serve(**json.loads(sys.argv[1]))
