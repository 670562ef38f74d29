"""Code that runs in forks of a process which has already imported the package, to be killed or limited."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), *sys.path]), "OMP_NUM_THREADS": "1"}
SETUP = """
import json, os, resource, signal, subprocess, sys, time
import numpy as np
from horopca import TangentPCA
from horopca.io import arrays, load_fitted, reduce_file, save, save_fitted, streaming
print("ready", flush=True)
for line in sys.stdin:
    code, names = json.loads(line)
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)  # printed by the child itself, before anything else that it prints
        try:
            exec(code, {**globals(), **names})
        except OSError as error:
            message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            print(message, *getattr(error, "__notes__", ()), flush=True)
            os._exit(1)
        except ValueError as error:
            print(error, flush=True)
            os._exit(1)
        os._exit(0)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
# Prepended to code, kills the process at one of its calls of a function of `os`; `calls` of them are made before.
KILL = """
real, count = getattr(os, call), int(calls)
def deadly(*arguments, **options):
    global count
    count -= 1
    if count < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
setattr(os, call, deadly)
"""


class Runner:
    """Runs code in forks of one process. A new process would need seconds for its imports."""

    def __init__(self, setup: str = "") -> None:
        pipe, command = subprocess.PIPE, [sys.executable, "-c", SETUP.replace("print(", f"{setup}\nprint(", 1)]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        assert self.process.stdout.readline() == "ready\n"

    def start(self, code: str, **names: Any) -> int:
        """Start a child and return its process id."""
        self.process.stdin.write(json.dumps([code, {name: str(value) for name, value in names.items()}]) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self) -> tuple[int, str]:
        """The exit status of the child, and its output."""
        output = []
        while not (line := self.process.stdout.readline()).startswith("ended"):
            assert line, "the process has ended"
            output.append(line)
        return int(line.split()[1]), "".join(output).strip()

    def run(self, code: str, **names: Any) -> tuple[int, str]:
        self.start(code, **names)
        return self.end()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
