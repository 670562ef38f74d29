"""Faults: a kill at any moment, a full disk, a folder that cannot be written. `make fuzz` tries more of the first two."""

import os

import pytest

from forks import Runner
from fuzz.faults import POINTS, SMALL, WRITERS, trying
from fuzz.rounds import fuzz
from horopca.io import save

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
