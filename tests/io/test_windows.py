"""Files as Windows has them, as far as Linux can play it: what is open or mapped can be neither removed nor renamed."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from blocks import POINTS, Stop, stop_after
from fuzz.samples import MAKERS
from horopca import TangentPCA
from horopca.io import load, reduce_file, save
from horopca.io.files import FormatError
from horopca.io.partial import open_partial

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who holds a file is read from /proc, which only Linux has")


def is_held(path: Path) -> bool:
    """Whether this process has the file open, or mapped."""
    place = str(path.resolve())
    opened = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return place in opened or any(line.endswith(f" {place}") for line in mapped)


class Windows:
    """The module `os`, of another system."""

    name = "nt"

    def __getattr__(self, name):
        return getattr(os, name)

    def open(self, path, *arguments):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return os.open(path, *arguments)


@pytest.fixture
def windows(monkeypatch, small_blocks):
    unlink, replace = Path.unlink, Path.replace

    def held(path):
        if path.exists() and is_held(path):
            raise PermissionError(13, "The process cannot access the file because it is being used", str(path))

    monkeypatch.setattr(Path, "unlink", lambda self, **options: (held(self), unlink(self, **options))[1])
    monkeypatch.setattr(Path, "replace", lambda self, other: (held(self), held(Path(other)), replace(self, other))[2])
    for module in ("output", "partial", "streaming"):
        monkeypatch.setattr(f"horopca.io.{module}.os", Windows())
    monkeypatch.setattr("horopca.io.partial.sys", SimpleNamespace(platform="win32"))
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=lock_in_a_long))


def lock_in_a_long(handle, mode, count):
    """Where Windows locks bytes: at the place where the file stands, in a C long of 32 bits."""
    assert os.lseek(handle, 0, os.SEEK_CUR) + count <= 1 << 31


def test_this_windows_keeps_what_is_held(windows, tmp_path):
    path = tmp_path / "held.npy"
    np.save(path, POINTS)
    mapped = np.load(path, mmap_mode="r")
    for take_away in (path.unlink, lambda: path.replace(tmp_path / "other.npy")):
        with pytest.raises(PermissionError):
            take_away()
    del mapped
    with open(path, "rb"), pytest.raises(PermissionError):
        path.unlink()
    path.unlink()


def test_a_reduction_is_interrupted_resumed_and_written_again(windows, tmp_path, out):
    points = save(tmp_path / "points.npy", POINTS)
    with pytest.raises(Stop):
        reduce_file(points, out, TangentPCA(2), progress=stop_after(3))
    assert reduce_file(points, out, TangentPCA(2)).resumed_at > 0
    first = out.read_bytes()
    reduce_file(points, out, TangentPCA(2), force=True)
    assert out.read_bytes() == first
    assert {path.name for path in tmp_path.iterdir()} == {"points.npy", "out.npy", "out.npy.json"}


def test_a_reduction_that_is_refused_leaves_nothing(windows, tmp_path, out):
    points = save(tmp_path / "points.npy", np.where(np.arange(len(POINTS))[:, None] == 700, np.nan, POINTS))
    with pytest.raises(ValueError, match="must hold finite numbers"):
        reduce_file(points, out, TangentPCA(2))
    assert [path.name for path in tmp_path.iterdir()] == ["points.npy"]


def test_another_process_holds_the_output(windows, tmp_path, monkeypatch):
    def taken(handle, mode, count):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sys.modules["msvcrt"], "locking", taken)
    with pytest.raises(BlockingIOError, match=r"out\.npy is being written by another process"):
        open_partial(tmp_path / "out.npy.partial").__enter__()


@pytest.mark.parametrize("name", ["npy", "npz", "csv", "csv, packed", "word2vec, binary", "safetensors", "mat 5"])
def test_what_was_read_is_free_again(windows, tmp_path, name):
    sample = MAKERS[name]()
    path = tmp_path / f"sample{sample.endings[0]}"
    path.write_bytes(sample.content)
    kept = load(path)
    path.unlink()
    assert len(kept.X)


def test_a_file_that_was_read_is_written_over(windows, tmp_path):
    path = save(tmp_path / "points.npy", POINTS)
    table = load(path)
    save(path, table.X, force=True)
    assert np.array_equal(load(path).X, POINTS)


@pytest.mark.parametrize("status, how", [(0xC0000005, "with status 0xc0000005"), (3, "with status 0x3"), (-11, "by signal 11")])
def test_a_library_that_crashes_at_a_file_is_a_sentence_on_every_system(tmp_path, monkeypatch, status, how):
    path = tmp_path / "sample.h5ad"
    path.write_bytes(b"damaged")
    ended = lambda command, **options: subprocess.CompletedProcess(command, status, b"", b"")
    monkeypatch.setattr("horopca.io.subprocess_reader.subprocess.run", ended)
    with pytest.raises(FormatError, match=f"the process that read it ended {how}"):
        load(path)
