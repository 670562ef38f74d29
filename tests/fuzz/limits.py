"""A process apart in which files are read, with an end to its memory and to its time.

`python -m fuzz.limits` is that process: a line of JSON in, what to read; a line of JSON out, what came of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]


class Reader:
    """Reads files in a process that may take `megabytes` more than it does at its start, and `seconds` for each."""

    def __init__(self, megabytes: int = 1024, seconds: float = 30.0, budget: float | None = None) -> None:
        self.settings, self.seconds = {"megabytes": megabytes, "budget": budget}, seconds
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, path: Path, function: str = "load", **options: Any) -> dict[str, Any]:
        """{"outcome": "read", "refused", "error", "hang" or "crash", "message": ..., "megabytes": ...}."""
        process = self.process or self._started()
        process.stdin.write(json.dumps({"path": str(path), "function": function, "options": options}) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.seconds)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.close()
        return {"outcome": "crash" if ready else "hang", "message": f"ended with {process.returncode}", "megabytes": 0}

    def _started(self) -> subprocess.Popen[str]:
        paths = [str(TESTS), str(TESTS.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "fuzz.limits", json.dumps(self.settings)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment)
        assert self.process.stdout.readline() == "ready\n"
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


def _serve(megabytes: int, budget: float | None) -> None:
    from horopca import io

    for library in ("h5py", "pyarrow.parquet", "pyarrow.feather"):  # what the readers load takes no part in the limit
        import_module(library)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), resource.RLIM_INFINITY))
    warnings.simplefilter("error")
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak begins anew
        before = _status("VmRSS")
        with contextlib.nullcontext() if budget is None else io.memory_limit(budget):
            answer = _tried(getattr(io, asked["function"]), asked["path"], asked["options"])
        answer["megabytes"] = (_status("VmHWM") - before) >> 10
        print(json.dumps(answer), file=answers, flush=True)


def _status(name: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


def _tried(function: Any, path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read, or a sentence that names the file; anything else is an error of ours."""
    try:
        found = function(path, **options)
    except (ValueError, OSError) as error:
        sentence = path in str(error) and str(error).endswith((".", "?"))
        return {"outcome": "refused" if sentence else "error", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    except Exception as error:  # the harness reports whatever there is
        return {"outcome": "error", "message": f"{type(error).__name__}: {str(error)[:600]}"}
    shape = list(getattr(getattr(found, "X", None), "shape", ()))
    return {"outcome": "read", "message": "", "shape": shape}


if __name__ == "__main__":
    _serve(**json.loads(sys.argv[1]))
