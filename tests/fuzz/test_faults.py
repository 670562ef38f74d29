"""Faults: killed at any moment, a full disk, folders that cannot be written, closed pipes, two writers at once.

Whatever happens, the output is complete or absent, the input is as it was, and a resumed job writes the same bits.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fuzz.limits import TESTS
from horopca import TangentPCA
from horopca.io import reduce_file, save, save_fitted

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are of POSIX")
POINTS = np.random.default_rng(0).uniform(-0.3, 0.3, (3000, 5))
SETUP = """
import json, os, resource, sys, time
import numpy as np
from horopca import TangentPCA
from horopca.io import load_fitted, reduce_file, save, save_fitted, streaming
streaming.BLOCK_BYTES, streaming.LARGE = 1 << 13, 1000
print("ready", flush=True)
for line in sys.stdin:
    code, names = json.loads(line)
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)  # by the child itself: what it says afterwards can only come later
        try:
            exec(code, {**globals(), **names})
        except OSError as error:
            print(f"{error.filename}: {error.strerror}" if error.filename else error, flush=True)
            os._exit(1)
        os._exit(0)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
STREAM = "reduce_file(points, out, TangentPCA(2), progress=lambda *_: time.sleep(0.01))"
WRITERS = {
    ".npy": "save(out, np.load(points), force=True)",
    ".npz": "save(out, np.load(points), ['a'] * 3000, force=True)",
    ".csv": "save(out, np.load(points), ['a'] * 3000, force=True)",
}
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), *sys.path]), "OMP_NUM_THREADS": "1"}


class Runner:
    """A process that has imported what there is to import, and from which children are forked."""

    def __init__(self, **options):
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", SETUP]
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT, **options
        )
        self.ready = self.process.stdout.readline() == "ready\n"

    def start(self, code, **names):
        """Begin a child, and return its number."""
        self.process.stdin.write(json.dumps([code, {name: str(value) for name, value in names.items()}]) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        """The exit status of the child, and what it said."""
        said = []
        while not (line := self.process.stdout.readline()).startswith("ended"):
            said.append(line)
        return int(line.split()[1]), "".join(said).strip()

    def run(self, code, **names):
        self.start(code, **names)
        return self.end()

    def close(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def runner():
    runner = Runner()
    yield runner
    runner.close()


def limited(size, code):
    """RLIMIT_FSIZE: a write that goes beyond fails, as on a full disk."""
    return f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n{code}"


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


@pytest.fixture
def whole(tmp_path, points, monkeypatch):
    """What an undisturbed job writes."""
    monkeypatch.setattr("horopca.io.streaming.BLOCK_BYTES", 1 << 13)
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    return (tmp_path / "whole.npy").read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment(tmp_path, points, whole, runner, seed):
    out, draw, content = tmp_path / "out.npy", random.Random(seed), points.read_bytes()
    for _ in range(12):
        child = runner.start(STREAM, points=points, out=out)
        time.sleep(draw.uniform(0.0, 0.2))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        runner.end()
        assert points.read_bytes() == content
        assert not out.exists() or out.read_bytes() == whole
    assert runner.run(STREAM + " if not os.path.exists(out) else None", points=points, out=out) == (0, "")
    assert out.read_bytes() == whole
    assert not list(tmp_path.glob("out.npy.*"))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("size", [0, 100, 20_000])
def test_a_full_disk_leaves_what_was_there(tmp_path, points, runner, suffix, size):
    out = tmp_path / f"out{suffix}"
    out.write_text("precious")
    assert runner.run(limited(size, WRITERS[suffix]), points=points, out=out) == (1, f"{out}: File too large")
    assert out.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, "points.npy"])


def test_a_disk_that_fills_up_and_is_emptied_again(tmp_path, points, whole, runner):
    out = tmp_path / "out.npy"
    for size in (9_000, 15_000, 30_000, 100_000):
        status, said = runner.run(limited(size, STREAM), points=points, out=out)
        assert (status == 0) == out.exists() == (size == 100_000), said
        assert status == 0 or "File too large" in said
    assert out.read_bytes() == whole
    assert not list(tmp_path.glob("out.npy.*"))


def test_a_folder_that_cannot_be_written(tmp_path, points):
    folder = tmp_path / "closed"
    folder.mkdir()
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    folder.chmod(0o555)
    try:
        runner = Runner(**({"user": 65534} if os.geteuid() == 0 else {}))  # root may write everywhere
    except PermissionError:
        pytest.skip("another user cannot run this interpreter")
    try:
        if not runner.ready:
            pytest.skip("another user cannot import what this one can")
        for suffix, code in (*WRITERS.items(), (".npy", STREAM)):
            status, said = runner.run(code, points=points, out=folder / f"out{suffix}")
            assert status == 1 and str(folder) in said and "Permission denied" in said
    finally:
        runner.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("command", [["--help"], ["info", "POINTS"]])
def test_a_pipe_that_is_closed_is_no_traceback(points, command):
    arguments = [str(points) if word == "POINTS" else word for word in command]
    code = f"import sys; from horopca.cli import main; sys.argv[1:] = {arguments!r}; main()"
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    os.close(write)
    assert "Traceback" not in process.communicate(timeout=120)[1]


def test_two_writers_and_one_of_them_killed(tmp_path, points, whole, runner):
    out, second = tmp_path / "out.npy", Runner()
    try:
        child = runner.start(STREAM, points=points, out=out)
        second.start(STREAM, points=points, out=out)
        time.sleep(0.1)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        runner.end()
        status, said = second.end()
        assert status == 0 or "is being written by another process" in said
    finally:
        second.close()
    if not out.exists():
        reduce_file(points, out, TangentPCA(2))
    assert out.read_bytes() == whole


def test_a_fit_is_kept_whole_or_not_at_all(tmp_path, runner):
    fit = save_fitted(TangentPCA(2).fit(POINTS), tmp_path / "fit.npz")
    content = fit.read_bytes()
    for size in (0, 500, len(content) - 1):
        code = "fit = load_fitted(out)\n" + limited(size, "save_fitted(fit, out, force=True)")
        assert runner.run(code, out=fit) == (1, f"{fit}: File too large")
        assert fit.read_bytes() == content and [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
