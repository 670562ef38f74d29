"""Read files in a separate process with limits of memory and time.

`python -m fuzz.limits` is that process: it reads requests as lines of JSON, and writes outcomes as lines of JSON.
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


class Request(NamedTuple):
    """A file, the function of `horopca.io` that reads it, and its options."""

    path: Path
    function: str = "load"
    options: Mapping[str, Any] = MappingProxyType({})


class Reader:
    """Reads files in a process that may take `megabytes` more than it does at its start, and `seconds` for each."""

    def __init__(self, megabytes: int = 1024, seconds: float = 120.0, budget: float | None = None, forks: bool = False) -> None:
        self.settings, self.seconds = {"megabytes": megabytes, "budget": budget, "forks": forks}, seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.output = b""  # of the process, not yet parsed

    def __call__(self, path: Path, function: str = "load", **options: Any) -> dict[str, Any]:
        """{"outcome": "read", "raised", "unexpected", "hang" or "crash", "message": ..., "megabytes": ...}."""
        return next(self.several([Request(path, function, options)]))

    def several(self, requests: Sequence[Request]) -> Iterator[dict[str, Any]]:
        """The same for several files, which the process reads one after another. If it ends, a new one continues."""
        left = list(requests)
        while left:
            process = self.process or self._started()
            lines = [json.dumps({"path": str(path), "function": f, "options": dict(o)}) for path, f, o in left]
            process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            process.stdin.flush()
            while left and self.process is not None:
                left = left[1:]
                yield self._answer(process)

    def _answer(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        while b"\n" not in self.output:
            ready, _, _ = select.select([process.stdout], [], [], self.seconds)
            more = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.close()
                outcome = "crash" if ready else "hang"
                return {"outcome": outcome, "message": f"ended with {process.returncode}", "megabytes": 0}
            self.output += more
        line, self.output = self.output.split(b"\n", 1)
        return json.loads(line)

    def _started(self) -> subprocess.Popen[str]:
        paths = [str(TESTS), str(TESTS.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "fuzz.limits", json.dumps(self.settings)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        self.output = b""
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

    for library in (  # the memory of libraries does not count
        "h5py",
        "pyarrow.parquet",
        "scipy.io",
        "torch",
        "Bio.Phylo",
        "pronto",
    ):
        import_module(library)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # for what libraries print
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), resource.RLIM_INFINITY))
    subprocess_reader.CPU_SECONDS = 2.0  # all files are small
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*(left out|set to|was read|joined under|numbered in)", UserWarning)  # notes on trees
    forked = Forks()
    if forks:  # a fork has loaded the libraries already
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
    """Replaces `subprocess.run` in `horopca.io.subprocess_reader`: processes are forks of this one."""

    kilobytes = 0  # the largest memory of a fork

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
    """The outcome: "read", "raised" (an error that names the file), or "unexpected", which is a defect."""
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
