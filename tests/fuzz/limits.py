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
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from horopca import io
from horopca.io import subprocess_reader

TESTS = Path(__file__).resolve().parents[1]
NOTES = ".*(left out|set to|was read|joined under|numbered in|top terms are joined)"  # warnings on what a tree was read as


class Reader:
    """Reads files in a process that may take `megabytes` more than it does at its start, and `seconds` for each.

    Formats of libraries are read by forks of the process, which has loaded the libraries.
    """

    def __init__(self, megabytes: int = 1024, seconds: float = 120.0, budget: float | None = None) -> None:
        self.settings, self.seconds = {"megabytes": megabytes, "budget": budget}, seconds
        self.process: subprocess.Popen[bytes] | None = None

    def __call__(self, path: Path, function: str = "load", **options: Any) -> dict[str, Any]:
        """{"outcome": "read", "raised", "unexpected", "hang" or "crash", "message": ..., "megabytes": ..., "seconds": ...}."""
        process = self.process or self._started()
        line = json.dumps({"path": str(path), "function": function, "options": options})
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.seconds)
        if answer := process.stdout.readline() if ready else b"":
            return json.loads(answer)
        self.close()
        outcome = "crash" if ready else "hang"
        return {"outcome": outcome, "message": f"ended with {process.returncode}", "megabytes": 0, "seconds": self.seconds}

    def _started(self) -> subprocess.Popen[bytes]:
        paths = [str(TESTS), str(TESTS.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "fuzz.limits", json.dumps(self.settings)]
        pipe = subprocess.PIPE
        options = {"stderr": subprocess.DEVNULL, "env": environment, "start_new_session": True}  # Ctrl-C is for the parent
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, **options)
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


def load_libraries() -> None:
    """Import the libraries that read files: their memory does not count."""
    for library in ("h5py", "pyarrow.parquet", "scipy.io", "torch", "Bio.Phylo", "pronto"):
        import_module(library)


def restrict(megabytes: int) -> None:
    """Limit the memory of this process to so much more than it has, and make warnings errors."""
    resource.setrlimit(resource.RLIMIT_AS, ((_status("VmSize") << 10) + (megabytes << 20), resource.RLIM_INFINITY))
    subprocess_reader.CPU_SECONDS = 2.0  # all files are small
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", NOTES, UserWarning)


def _serve(megabytes: int, budget: float | None) -> None:
    load_libraries()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # for what libraries print
    restrict(megabytes)
    subprocess_reader.subprocess.run = forks = Forks()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        before, start = forks.memory(), time.process_time()
        with contextlib.nullcontext() if budget is None else io.memory_limit(budget):
            answer = tried(asked["path"], asked["function"], asked["options"])
        answer["seconds"] = time.process_time() - start
        answer["megabytes"] = forks.memory(peak=True) - before >> 10
        print(json.dumps(answer), file=answers, flush=True)


def tried(path: str, function: str, options: dict[str, Any]) -> dict[str, Any]:
    """The outcome: "read", "raised" (an error that names the file), or "unexpected", which is a defect."""
    try:
        found = attrgetter(function)(io)(path, **options)
    except (ValueError, OSError) as error:
        clear = path in str(error) and str(error).endswith((".", "?"))
        return {"outcome": "raised" if clear else "unexpected", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    except Exception as error:  # the harness reports whatever there is
        return {"outcome": "unexpected", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    shape = list(getattr(getattr(found, "X", None), "shape", ()))
    return {"outcome": "read", "message": "", "shape": shape}


class Inside:
    """Replaces `subprocess.run` in `horopca.io.subprocess_reader`: libraries read files in this process, in limited time."""

    def __init__(self) -> None:
        signal.signal(signal.SIGPROF, _time_is_over)
        sys.setrecursionlimit(subprocess_reader.DEEPEST)

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        signal.setitimer(signal.ITIMER_PROF, subprocess_reader.CPU_SECONDS)
        try:
            content = b"".join(subprocess_reader.answered(json.loads(command[-1])))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return subprocess.CompletedProcess(command, 0, content, b"")


def _time_is_over(*_: object) -> None:
    raise TimeoutError("The time is over.")


class Forks:
    """Replaces `subprocess.run` in `horopca.io.subprocess_reader`: processes are forks of this one."""

    kilobytes = 0  # the largest memory of a fork

    def memory(self, peak: bool = False) -> int:
        """Kilobytes: now, or the largest since then, of this process and its forks."""
        if peak:
            return max(_status("VmHWM"), self.kilobytes)
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak begins anew
        self.kilobytes = 0
        return _status("VmRSS")

    def __call__(self, command: list[str], timeout: float, **_: Any) -> subprocess.CompletedProcess[bytes]:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if not child:
                os.dup2(out.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                signal.alarm(int(timeout))
                try:
                    subprocess_reader.answer(json.loads(command[-1]))
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
    """A number of kilobytes from the system's report on this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


if __name__ == "__main__":
    _serve(**json.loads(sys.argv[1]))
