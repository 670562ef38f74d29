"""Outputs are complete or absent, and nothing is overwritten without force."""

import os

import numpy as np
import pytest

from forks import KILL
from horopca.io import atomic_output, load, save

X = np.zeros((3, 2))
SETUP = "arrays.BLOCK_BYTES, streaming.LARGE = 1 << 12, 1000"  # a small file is read in blocks
POINTS = np.random.default_rng(0).uniform(-0.3, 0.3, (300, 5))
WRITERS = {
    "reduce_file .csv": "reduce_file(points, out, TangentPCA(2), force=True)",
    **{f"save {suffix}": "save(out, np.load(points), ['a'] * 300, force=True)" for suffix in (".npy", ".npz", ".csv")},
    "save_fitted .npz": "save_fitted(TangentPCA(2).fit(np.load(points)), out, force=True)",
}
# Root may write everywhere, by a capability that a process can lay down: CAP_DAC_OVERRIDE, the second bit of the first set.
AS_OTHERS = """
import ctypes
header, sets, libc = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(), ctypes.CDLL(None)
assert libc.capget(header, sets) == 0
sets[0] &= ~0b10
assert libc.capset(header, sets) == 0
"""
# As on a full disk, a write beyond the limit fails. (Python would leave truncated .pyc files.)
FULL = "sys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))\n"


@pytest.fixture(params=WRITERS)
def call(request, runner, tmp_path):
    """A function that writes a file, after other code, in another process. It returns the status and the output."""
    points, suffix = save(tmp_path / "points.npy", POINTS), request.param.split()[1]
    arguments = {"points": points, "out": tmp_path / "new" / f"out{suffix}"}
    (tmp_path / "new").mkdir()
    return lambda code="", **more: runner.run(code + WRITERS[request.param], **arguments, **more), arguments["out"]


def test_killed_call_leaves_the_old_file_or_the_new_one(call):
    """Killed at every call in turn of a function that gives names. The same call then completes the file."""
    call, out = call
    assert call() == (0, "")
    complete = out.read_bytes()
    for function in ("link", "replace", "unlink"):
        for calls in range(30):
            out.write_bytes(b"old")
            status, _ = call(KILL, call=function, calls=calls)
            assert out.read_bytes() in ((b"old", complete) if status else (complete,))
            assert call() == (0, "") and out.read_bytes() == complete and not list(out.parent.glob("out*.partial*"))
            if status == 0:
                break
        assert status == 0


def test_full_disk_leaves_the_old_file(call):
    call, out = call
    assert call() == (0, "")
    complete, statuses = out.read_bytes(), []
    for size in np.linspace(0, len(complete) + 1000, 6, dtype=int):
        out.write_bytes(b"old")
        status, message = call(FULL, size=size)
        statuses.append(status)
        assert status == 0 or "File too large" in message
        assert out.read_bytes() == (b"old" if status else complete)
        assert not list(out.parent.glob(".*"))
    assert call() == (0, "") and out.read_bytes() == complete and statuses[0] == 1


def test_folder_without_write_permission(call):
    call, out = call
    out.parent.chmod(0o555)
    status, message = call(AS_OTHERS if os.geteuid() == 0 else "")
    out.parent.chmod(0o755)
    assert status == 1 and str(out.parent) in message and "Permission denied" in message and not list(out.parent.iterdir())


def test_file_of_another_process_is_kept(tmp_path, monkeypatch):
    with pytest.raises(FileExistsError, match="exists already"), atomic_output(tmp_path / "a.txt") as temporary:
        temporary.write_text("late")
        (tmp_path / "a.txt").write_text("early")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "early")]
    link = os.link
    monkeypatch.setattr(os, "link", lambda source, target: (target.write_text("early"), link(source, target)))
    with pytest.raises(FileExistsError, match="exists already"):  # written after the last check
        save(tmp_path / "b.npz", X)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.npz"]
    assert (tmp_path / "b.npz").read_text() == "early"


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither these modes nor links for everybody")
def test_force_keeps_the_mode_and_replaces_links(tmp_path):
    path, link = save(tmp_path / "a.npy", X), tmp_path / "b.npy"
    path.chmod(0o600)
    save(path, X + 0.1, force=True)
    assert path.stat().st_mode & 0o777 == 0o600 and load(path).X[0, 0] == 0.1
    link.symlink_to(tmp_path / "nothing")
    with pytest.raises(FileExistsError, match="exists already"):
        save(link, X)
    assert link.is_symlink()
    save(link, X, force=True)
    assert not link.is_symlink() and load(link).X.shape == (3, 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npy", "b.npy"]


def test_interrupted_output_is_removed(tmp_path):
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_output(tmp_path / "old.txt", force=True) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.txt", "old")]


def test_without_hard_links_files_are_renamed(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(1, "no hard links")

    monkeypatch.setattr(os, "link", fail)
    path = save(tmp_path / "a.npy", X, model="klein")
    with pytest.raises(FileExistsError, match="exists already"):
        save(path, X)
    save(path, X + 0.1, model="poincare", force=True)
    assert load(path).X[0, 0] == 0.1 and load(path).model == "poincare"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npy", "a.npy.json"]
