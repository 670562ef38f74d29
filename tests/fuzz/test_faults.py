"""Faults: a kill at any moment, a full disk, a folder that cannot be written.

The output is always complete or absent, the input is unchanged, and a resumed job writes the same bytes.
"""

import contextlib
import os
import random
import shutil
import signal
import sys
import time

import numpy as np
import pytest

from forks import Runner
from horopca import TangentPCA
from horopca.io import reduce_file, save, save_fitted

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals and limits")
POINTS = np.random.default_rng(0).uniform(-0.3, 0.3, (3000, 5))
STREAM = "reduce_file(points, out, TangentPCA(2), progress=lambda *_: time.sleep(0.01))"
WRITERS = {
    ".npy": "save(out, np.load(points), force=True)",
    ".npz": "save(out, np.load(points), ['a'] * 3000, force=True)",
    ".csv": "save(out, np.load(points), ['a'] * 3000, force=True)",
}
SMALL = "arrays.BLOCK_BYTES, streaming.LARGE = 1 << 13, 1000"  # a file of a few kilobytes is read in blocks


@pytest.fixture(scope="module")
def runner():
    runner = Runner(setup=SMALL)
    yield runner
    runner.close()


def limited(size, code):
    """RLIMIT_FSIZE: a write that goes beyond fails, as on a full disk."""
    # without bytecode: Python would leave truncated .pyc files
    return f"__import__('sys').dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n{code}"


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


@pytest.fixture
def whole(tmp_path, points, monkeypatch):
    """What an undisturbed job writes."""
    monkeypatch.setattr("horopca.io.arrays.BLOCK_BYTES", 1 << 13)
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    return (tmp_path / "whole.npy").read_bytes()


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_moment(tmp_path, points, whole, runner, seed):
    out, draw, content = tmp_path / "out.npy", random.Random(seed), points.read_bytes()
    for _ in range(9):
        child = runner.start(STREAM, points=points, out=out)
        time.sleep(draw.uniform(0.0, 0.2))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        runner.end()
        assert points.read_bytes() == content
        assert not out.exists() or out.read_bytes() == whole
    # once more in any case: a job that was killed after its last step has left its journal
    assert runner.run(STREAM.replace("progress", "force=True, progress"), points=points, out=out) == (0, "")
    assert out.read_bytes() == whole
    assert not list(tmp_path.glob("out.npy.partial*"))


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
        status, message = runner.run(limited(size, STREAM), points=points, out=out)
        assert (status == 0) == out.exists() == (size == 100_000), message
        assert status == 0 or "File too large" in message
    assert out.read_bytes() == whole
    assert not list(tmp_path.glob("out.npy.partial*"))


@pytest.fixture(scope="module")
def mounting():
    """A runner with a private mount table."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root mounts file systems, and only Linux has them for one process")
    mounting = Runner("unshare", "--mount", setup=SMALL)
    yield mounting
    mounting.close()


@pytest.fixture
def small_disk(tmp_path, mounting):
    """A folder, and a runner for which a file system of 80 KB is mounted there."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = "subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=80k', 'tmpfs', folder], check=True)"
    if not mounting.ready or mounting.run(mount, folder=folder)[0] != 0:
        pytest.skip("a file system cannot be mounted here")
    return folder, mounting


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
    monkeypatch.setattr("horopca.io.arrays.BLOCK_BYTES", 1 << 13)
    whole = tmp_path / "whole.csv"
    reduce_file(points, whole, TangentPCA(2))
    folder, small = small_disk
    out, again = folder / "out.csv", tmp_path / "again.csv"
    status, message = small.run(STREAM, points=points, out=out)
    assert (
        status == 1
        and message.startswith(f"{out}.partial: No space left on device The fit and ")
        and "rows are kept" in message
    )
    left = "['out.csv.partial', 'out.csv.partial.jsonl', 'out.csv.partial.npz']"
    assert small.run("print(sorted(os.listdir(folder)))", folder=folder) == (0, left)
    assert small.run("subprocess.run(['mount', '-o', 'remount,size=1m', folder], check=True)", folder=folder) == (0, "")
    assert small.run(STREAM, points=points, out=out) == (0, "")
    assert small.run("print(sorted(os.listdir(folder)))", folder=folder) == (0, "['out.csv', 'out.csv.json']")
    assert small.run("open(again, 'wb').write(open(out, 'rb').read())", out=out, again=again)[0] == 0
    assert again.read_bytes() == whole.read_bytes()


# Root may write everywhere, by a capability that a process can lay down: CAP_DAC_OVERRIDE, the second bit of the first set.
AS_OTHERS = """
import ctypes
header, sets, libc = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(), ctypes.CDLL(None)
assert libc.capget(header, sets) == 0
sets[0] &= ~0b10
assert libc.capset(header, sets) == 0
"""


def test_a_folder_that_cannot_be_written(tmp_path, points, runner):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    for suffix, code in (*WRITERS.items(), (".npy", STREAM)):
        status, message = runner.run(
            (AS_OTHERS if os.geteuid() == 0 else "") + code, points=points, out=folder / f"out{suffix}"
        )
        assert status == 1 and str(folder) in message and "Permission denied" in message, message
    assert not list(folder.iterdir())


def test_a_saved_fit_is_complete_or_unchanged(tmp_path, runner):
    fit = save_fitted(TangentPCA(2).fit(POINTS), tmp_path / "fit.npz")
    content = fit.read_bytes()
    for size in (0, 500, len(content) - 1):
        code = "fit = load_fitted(out)\n" + limited(size, "save_fitted(fit, out, force=True)")
        assert runner.run(code, out=fit) == (1, f"{fit}: File too large")
        assert fit.read_bytes() == content and [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
