"""Faults: killed at any moment, a full disk, folders that cannot be written, closed pipes, two writers at once.

Whatever happens, the output is complete or absent, the input is as it was, and a resumed job writes the same bits.
"""

import contextlib
import json
import os
import random
import shutil
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
import json, os, resource, subprocess, sys, time
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

    def __init__(self, *before, **options):
        pipe = subprocess.PIPE
        command = [*before, sys.executable, "-c", SETUP]
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
    # once more in any case: a job that was killed behind its last step has left its journal
    assert runner.run(STREAM.replace("progress", "force=True, progress"), points=points, out=out) == (0, "")
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


@pytest.fixture
def small_disk(tmp_path):
    """A folder, and a runner for which a file system of 80 KB is mounted there; nobody else sees it."""
    folder = tmp_path / "small"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root mounts file systems, and only Linux has them for one process")
    small = Runner("unshare", "--mount")
    try:
        mount = "subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=80k', 'tmpfs', folder], check=True)"
        if not small.ready or small.run(mount, folder=folder)[0] != 0:
            pytest.skip("a file system cannot be mounted here")
        yield folder, small
    finally:
        small.close()


def test_a_disk_of_eighty_kilobytes(tmp_path, points, small_disk):
    folder, small = small_disk
    for suffix, code in WRITERS.items():  # each more than 100 KB
        out = folder / f"out{suffix}"
        assert small.run("open(out, 'w').write('precious')", out=out)[0] == 0
        assert small.run(code, points=points, out=out) == (1, f"{out}: No space left on device")
        assert small.run("print(os.listdir(folder), open(out).read())", folder=folder, out=out) == (
            0,
            f"['{out.name}'] precious",
        )
        assert small.run("os.unlink(out)", out=out)[0] == 0


def test_a_job_on_a_disk_that_fills_up_and_is_made_larger(tmp_path, points, small_disk, monkeypatch):
    monkeypatch.setattr("horopca.io.streaming.BLOCK_BYTES", 1 << 13)
    whole = tmp_path / "whole.csv"
    reduce_file(points, whole, TangentPCA(2))
    folder, small = small_disk
    out, again = folder / "out.csv", tmp_path / "again.csv"
    status, said = small.run(STREAM, points=points, out=out)
    assert status == 1 and said.startswith(f"{out}.partial") and "No space left on device; " in said and "rows are kept" in said
    left = "['out.csv.partial', 'out.csv.partial.npz']"
    assert small.run("print(sorted(os.listdir(folder)))", folder=folder) == (0, left)
    assert small.run("subprocess.run(['mount', '-o', 'remount,size=1m', folder], check=True)", folder=folder) == (0, "")
    assert small.run(STREAM, points=points, out=out) == (0, "")
    assert small.run("print(os.listdir(folder))", folder=folder) == (0, "['out.csv']")
    assert small.run("open(again, 'wb').write(open(out, 'rb').read())", out=out, again=again)[0] == 0
    assert again.read_bytes() == whole.read_bytes()


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
    """The first stands at a gate behind its first block, and does not get any further."""
    out, gate, second = tmp_path / "out.npy", tmp_path / "gate", Runner()
    os.mkfifo(gate)
    there = "(print('there', flush=True), open(gate).read())"
    waiting = f"reduce_file(points, out, TangentPCA(2), progress=lambda done, total: done and {there})"
    try:
        with open(os.open(gate, os.O_RDWR)):  # as long as it is open, there may be something to read
            child = runner.start(waiting, points=points, out=out, gate=gate)
            assert runner.process.stdout.readline() == "there\n"
            status, said = second.run(STREAM, points=points, out=out)
            assert status == 1 and f"{out} is being written by another process" in said
            os.kill(child, signal.SIGKILL)
            runner.end()
        assert not out.exists()
        assert second.run(STREAM, points=points, out=out) == (0, "")
    finally:
        second.close()
    assert out.read_bytes() == whole and not list(tmp_path.glob("out.npy.*"))


def test_a_fit_is_kept_whole_or_not_at_all(tmp_path, runner):
    fit = save_fitted(TangentPCA(2).fit(POINTS), tmp_path / "fit.npz")
    content = fit.read_bytes()
    for size in (0, 500, len(content) - 1):
        code = "fit = load_fitted(out)\n" + limited(size, "save_fitted(fit, out, force=True)")
        assert runner.run(code, out=fit) == (1, f"{fit}: File too large")
        assert fit.read_bytes() == content and [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
