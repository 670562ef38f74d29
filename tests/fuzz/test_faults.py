"""Faults: a kill at any moment, a full disk, a folder that cannot be written. `make fuzz` tries more of the first two."""

import os
import shutil
import sys

import pytest

from forks import Runner
from fuzz.faults import POINTS, SMALL, WRITERS, trying
from fuzz.rounds import fuzz
from horopca import TangentPCA
from horopca.io import reduce_file, save

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals and limits")


def test_faults_leave_the_old_file_or_the_new_one():
    with trying(seed=0) as (kinds, attempt):
        counts, findings = fuzz(kinds, attempt, rounds=2)
    assert not findings, "\n".join(findings)
    assert counts.total() == 2 * len(kinds)
    assert sum(count for (kind, outcome), count in counts.items() if "full disk" in kind and outcome == "raised") > 5


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


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


def test_disk_that_fills_up_and_is_enlarged(tmp_path, points, small_disk, monkeypatch):
    monkeypatch.setattr("horopca.io.arrays.BLOCK_BYTES", 1 << 13)
    whole = tmp_path / "whole.csv"
    reduce_file(points, whole, TangentPCA(2))
    folder, small = small_disk
    for writer in ("save .npy", "save .npz", "save .csv"):  # each more than 100 KB
        old = folder / f"old{writer.split()[1]}"
        assert small.run(WRITERS[writer], points=points, out=old) == (1, f"{old}: No space left on device")
        assert small.run("print(os.listdir(folder))", folder=folder) == (0, "[]")
    out, again = folder / "out.csv", tmp_path / "again.csv"
    status, message = small.run(WRITERS["reduce_file .csv"], points=points, out=out)
    assert (
        status == 1
        and message.startswith(f"{out}.partial: No space left on device The fit and ")
        and "rows are kept" in message
    )
    left = "['out.csv.partial', 'out.csv.partial.jsonl', 'out.csv.partial.npz']"
    assert small.run("print(sorted(os.listdir(folder)))", folder=folder) == (0, left)
    assert small.run("subprocess.run(['mount', '-o', 'remount,size=1m', folder], check=True)", folder=folder) == (0, "")
    assert small.run(WRITERS["reduce_file .csv"], points=points, out=out) == (0, "")
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


def test_folder_without_write_permission(tmp_path, points):
    folder, runner = tmp_path / "closed", Runner(setup=SMALL)
    folder.mkdir(mode=0o555)
    try:
        for writer, code in WRITERS.items():
            out = folder / f"out{writer.split()[1]}"
            status, message = runner.run((AS_OTHERS if os.geteuid() == 0 else "") + code, points=points, out=out)
            assert status == 1 and str(folder) in message and "Permission denied" in message, message
    finally:
        runner.close()
    assert not list(folder.iterdir())
