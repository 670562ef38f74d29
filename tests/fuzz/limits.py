"""Read files in a separate process with limits of memory and time.

`python -m fuzz.limits` is that process: it reads requests as lines of JSON, and writes outcomes as lines of JSON.
"""

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
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from forks import ENVIRONMENT, TESTS
from fuzz.rounds import only_notes
from horopca import io
from horopca.io import subprocess_reader

MEGABYTES = 1024  # that the process may take beyond what it has at its start
SECONDS = 1200.0  # that it may take for a file, on a busy machine


class Reader:
    """Reads files in a process with limits. Formats of libraries are read by forks of it, which has loaded the libraries."""

    def __init__(self, budget: float | None = None) -> None:
        self.budget = budget
        self.process: subprocess.Popen[bytes] | None = None

    def __call__(self, path: Path, function: str = "load") -> dict[str, Any]:
        """{"outcome": "read", "raised", "unexpected", "hang" or "crash", "message": ..., "megabytes": ..., "seconds": ...}."""
        process = self.process or self._started()
        process.stdin.write(json.dumps({"path": str(path), "function": function}).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        if answer := process.stdout.readline() if ready else b"":
            return json.loads(answer)
        self.close()
        outcome = "crash" if ready else "hang"
        return {"outcome": outcome, "message": f"ended with {process.returncode}", "megabytes": 0, "seconds": SECONDS}

    def _started(self) -> subprocess.Popen[bytes]:
        command, pipe = [sys.executable, "-m", "fuzz.limits", json.dumps(self.budget)], subprocess.PIPE
        options = {"stderr": subprocess.DEVNULL, "env": ENVIRONMENT, "cwd": TESTS, "start_new_session": True}  # not by Ctrl-C
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, **options)
        assert self.process.stdout.readline() == b"ready\n"
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(budget: float | None) -> None:
    for library in ("h5py", "pyarrow.parquet", "scipy.io", "torch", "Bio.Phylo", "pronto"):  # their memory does not count
        import_module(library)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # for what libraries print
    resource.setrlimit(resource.RLIMIT_AS, ((_status("VmSize") << 10) + (MEGABYTES << 20), resource.RLIM_INFINITY))
    only_notes()
    subprocess_reader.CPU_SECONDS, subprocess_reader.WAITING = 2.0, 600  # all files are small; the machine may be busy
    subprocess_reader.subprocess.run = forks = Forks()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        before, start = forks.memory(), time.process_time()
        with contextlib.nullcontext() if budget is None else io.memory_limit(budget):
            outcome, message = tried(**asked)
        seconds, kilobytes = time.process_time() - start, forks.memory(peak=True) - before
        answer = {"outcome": outcome, "message": message, "seconds": seconds, "megabytes": kilobytes >> 10}
        print(json.dumps(answer), file=answers, flush=True)


def tried(path: str, function: str) -> tuple[str, str]:
    """The outcome: "read", "raised" (an error that names the file), or "unexpected", which is a defect."""
    try:
        attrgetter(function)(io)(path)
    except Exception as error:  # the harness reports whatever there is
        clear = isinstance(error, ValueError | OSError) and path in str(error) and str(error).endswith((".", "?"))
        return "raised" if clear else "unexpected", f"{type(error).__name__}: {str(error)[:600]}"
    return "read", ""


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
    _serve(json.loads(sys.argv[1]))
