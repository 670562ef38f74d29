"""Files larger than memory: the output is complete or absent, an interruption costs one block, memory does not grow."""

import errno
import os
import signal
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

from blocks import BLOCK, POINTS, D, N, Stop, begun, stop_after
from forks import Runner
from horopca import HoroPCA, TangentPCA
from horopca.io import is_large, load, reduce_file, save, streaming

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


def counted(monkeypatch):
    """The number of rows of every transform, and of every fit as (n,), from here on."""
    calls = []
    transform, fit = TangentPCA.transform, TangentPCA.fit
    monkeypatch.setattr(TangentPCA, "transform", lambda self, X: (calls.append(len(X)), transform(self, X))[1])
    monkeypatch.setattr(TangentPCA, "fit", lambda self, X: (calls.append((len(X),)), fit(self, X))[1])
    return calls


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---------------------------------------------------------------- what is written


def test_the_input_is_no_output(points, tmp_path):
    (tmp_path / "link.npy").symlink_to(points)
    for path in (points, tmp_path / "link.npy"):
        with pytest.raises(ValueError, match="is the input as well: the result needs a file of its own"):
            reduce_file(points, path, TangentPCA(2), force=True)
    assert np.array_equal(load(points).X, POINTS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("suffix", [".npy", ".csv", ".tsv"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_file_is_the_one_that_save_would_write(tmp_path, dtype, suffix, order):
    X = np.asarray(POINTS, dtype=dtype, order=order)
    np.save(tmp_path / "points.npy", X)
    done = reduce_file(tmp_path / "points.npy", tmp_path / f"out{suffix}", TangentPCA(2))
    whole = save(tmp_path / f"whole{suffix}", TangentPCA(2).fit(X).transform(X))
    if order == "C" and dtype == np.float64:  # else the blocks are cut elsewhere, and a sum may round otherwise
        assert (tmp_path / f"out{suffix}").read_bytes() == whole.read_bytes()
    assert np.allclose(load(tmp_path / f"out{suffix}").X, load(whole).X, rtol=0, atol=1e-6 if dtype == np.float32 else 1e-13)
    if suffix == ".npy":
        assert load(tmp_path / "out.npy").X.dtype == dtype
    assert (done.n_rows, done.resumed_at) == (N, 0)
    assert names(tmp_path) == sorted(["points.npy", f"out{suffix}", f"whole{suffix}"])


def test_an_estimator_that_is_fitted_is_not_fitted_again(points, out, monkeypatch):
    fit = TangentPCA(2).fit(POINTS[:100])
    calls = counted(monkeypatch)
    assert reduce_file(points, out, fit).estimator is fit
    assert calls == [BLOCK] * 7 + [N - 7 * BLOCK]
    assert np.array_equal(np.load(out), fit.transform(POINTS))


def test_progress_counts_rows(points, out):
    seen = []
    reduce_file(points, out, TangentPCA(2), progress=lambda *rows: seen.append(rows))
    assert seen == [(min(k * BLOCK, N), N) for k in range(9)]


# ---------------------------------------------------------------- interruptions


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
@pytest.mark.parametrize("failure", [Stop, KeyboardInterrupt])
def test_an_interrupted_call_resumes_where_it_was(tmp_path, points, monkeypatch, suffix, failure):
    out, said = tmp_path / f"out{suffix}", []
    reduce_file(points, tmp_path / f"whole{suffix}", TangentPCA(2))
    with pytest.raises(failure):
        reduce_file(points, out, TangentPCA(2), progress=stop_after(3, failure))
    assert not out.exists()
    calls = counted(monkeypatch)
    done = reduce_file(points, out, TangentPCA(2), say=said.append)
    assert done.resumed_at == 3 * BLOCK and said[0].startswith("Resuming at row 384 of 1,000; the fit is taken from ")
    assert calls == [1, *[BLOCK] * 4, N - 7 * BLOCK]  # the origin, to try the kept fit, and the rows that were left: no fit
    assert out.read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    assert names(tmp_path) == sorted([out.name, "points.npy", f"whole{suffix}"])


def test_interrupted_again_and_again_it_ends(points, out, tmp_path):
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    for blocks in range(8):
        with pytest.raises(Stop):
            reduce_file(points, out, TangentPCA(2), progress=stop_after(blocks))
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 7 * BLOCK
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_an_interruption_during_the_fit_leaves_nothing(points, out, tmp_path, monkeypatch):
    monkeypatch.setattr(TangentPCA, "fit", lambda self, X: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        reduce_file(points, out, TangentPCA(2))
    assert names(tmp_path) == ["points.npy"]


SETUP = f"streaming.BLOCK_BYTES = {BLOCK * D * 8}"
ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="forks, signals and limits are of POSIX")


@pytest.fixture(scope="module")
def runner():
    runner = Runner(setup=SETUP)
    yield runner
    runner.close()


@ON_POSIX
@pytest.mark.parametrize("syncs", [1, 4, 5])
def test_a_killed_process_costs_one_block(points, out, tmp_path, runner, syncs):
    """Killed as it makes the fit safe, as it makes rows safe, and between these and the note of them."""
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    code = """
    fsync, count = os.fsync, int(syncs)
    def deadly(handle):
        global count
        count -= 1
        if count < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        fsync(handle)
    os.fsync = deadly
    reduce_file(points, out, TangentPCA(2))
    """
    assert runner.run(dedent(code), points=points, out=out, syncs=syncs) == (-signal.SIGKILL, "")
    assert not out.exists()
    done = reduce_file(points, out, TangentPCA(2))
    assert done.resumed_at == {1: 0, 4: 1, 5: 2}[syncs] * BLOCK
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert not list(tmp_path.glob("*.partial*"))


# ---------------------------------------------------------------- what cannot be resumed


def test_another_input_begins_anew(points, out):
    begun(points, out, TangentPCA(2))
    other = POINTS.copy()
    other[500] /= 2
    save(points, other, force=True)
    said = []
    assert reduce_file(points, out, TangentPCA(2), say=said.append).resumed_at == 0
    assert "Starting anew" in said[0] and "on another input" in said[0]
    assert np.array_equal(np.load(out), TangentPCA(2).fit(other).transform(other))


@pytest.mark.parametrize("row", [3, 500, -1])
def test_a_row_changed_under_the_same_size_and_time_is_seen(points, out, row):
    begun(points, out, TangentPCA(2))
    time = points.stat().st_mtime_ns
    other = POINTS.copy()
    other[row] /= 2
    save(points, other, force=True)
    os.utime(points, ns=(time, time))
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 0


@pytest.mark.parametrize(
    ("words", "estimator", "version"),
    [
        ("with other options", TangentPCA(3), None),
        ("with other options", TangentPCA(2).fit(POINTS[:50]), None),
        ("with other options", HoroPCA(2, n_init=1, random_state=0), None),
        ("by another version", TangentPCA(2), "9.9"),
    ],
)
def test_another_request_begins_anew(points, out, monkeypatch, words, estimator, version):
    begun(points, out, TangentPCA(2))
    if version:
        monkeypatch.setattr("horopca.io.streaming.__version__", version)
    said = []
    assert reduce_file(points, out, estimator, say=said.append).resumed_at == 0
    assert words in said[0] and len(np.load(out)) == N


def test_restart_begins_anew(points, out):
    begun(points, out, TangentPCA(2))
    assert reduce_file(points, out, TangentPCA(2), restart=True).resumed_at == 0


@pytest.mark.parametrize("block", [0, 2])
def test_damaged_bytes_among_those_written_are_made_again(points, out, tmp_path, block):
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    begun(points, out, TangentPCA(2))
    with open(tmp_path / "out.npy.partial", "r+b") as file:
        file.seek(128 + block * BLOCK * 2 * 8 + 100)
        file.write(b"\xff")
    said = []
    assert reduce_file(points, out, TangentPCA(2), say=said.append).resumed_at == block * BLOCK
    assert f"Rows from {block * BLOCK} are damaged" in said[0]
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["out.npy.partial", "out.npy.partial.npz.new"])
def test_a_link_is_not_written_through(points, out, tmp_path, name):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    if name.endswith(".partial"):
        with pytest.raises(FileExistsError, match="is a link"):
            reduce_file(points, out, TangentPCA(2))
    else:
        reduce_file(points, out, TangentPCA(2))
    assert (tmp_path / "precious").read_text() == "precious"


def test_an_input_cut_short_meanwhile_is_a_sentence_and_nothing_is_left(points, out, tmp_path):
    with pytest.raises(ValueError, match="damaged, cut short"):
        reduce_file(points, out, TangentPCA(2), progress=lambda done, _: os.truncate(points, 5000) if done else None)
    assert names(tmp_path) == ["points.npy"]


@ON_POSIX
@pytest.mark.parametrize("when", ["rows", "digests", "fit"])
def test_an_input_cut_short_before_and_during_the_fit_is_a_sentence(points, out, tmp_path, runner, when):
    """In a process apart: where the length of a map is not asked, the system ends it (SIGBUS)."""
    code = """
    from horopca._input import memory
    if when == "digests":
        read = streaming.Source.rows
        def rows(self, *where):
            os.truncate(self.path, 5000)
            return read(self, *where)
        streaming.Source.rows = rows
    elif when == "rows":
        fit = TangentPCA.fit
        TangentPCA.fit = lambda self, X: (os.truncate(points, 5000), fit(self, X))[1]
    else:
        memory.CHUNK_ELEMENTS = 64
        chunk = memory.Rows._chunk
        def cut(self, rows):
            os.truncate(points, 5000)
            return chunk(self, rows)
        memory.Rows._chunk = lambda self, rows: cut(self, rows) if rows.start == 0 else chunk(self, rows)
    reduce_file(points, out, TangentPCA(2))
    """
    status, said = runner.run(dedent(code), points=points, out=out, when=when)
    assert status == 1 and "cut short" in said, (status, said)
    assert names(tmp_path) == ["points.npy"]


@pytest.mark.parametrize("damage", ["journal", "partial"])
def test_damaged_remains_begin_anew(points, out, tmp_path, damage):
    begun(points, out, TangentPCA(2))
    file = tmp_path / {"journal": "out.npy.partial.npz", "partial": "out.npy.partial"}[damage]
    file.write_bytes(file.read_bytes()[:300])
    said = []
    assert reduce_file(points, out, TangentPCA(2), say=said.append).resumed_at == 0
    assert "its journal does not fit it" in said[0]


def test_a_partial_file_of_somebody_else_is_not_touched(points, out, tmp_path):
    (tmp_path / "out.npy.partial").write_text("precious")
    with pytest.raises(FileExistsError, match="without the journal"):
        reduce_file(points, out, TangentPCA(2))
    assert (tmp_path / "out.npy.partial").read_text() == "precious"


def test_an_input_that_changes_meanwhile_is_not_reduced_to_a_mixture(points, out, tmp_path):
    def meddle(done, total):
        if done == 2 * BLOCK:
            save(points, POINTS / 2, force=True)

    with pytest.raises(ValueError, match="has changed while it was reduced"):
        reduce_file(points, out, TangentPCA(2), progress=meddle)
    assert names(tmp_path) == ["points.npy"]


# ---------------------------------------------------------------- refusals


def test_an_existing_output_is_refused_before_any_work(points, out, tmp_path, monkeypatch):
    out.write_text("precious")
    calls = counted(monkeypatch)
    with pytest.raises(FileExistsError, match="exists already"):
        reduce_file(points, out, TangentPCA(2))
    assert calls == [] and out.read_text() == "precious" and names(tmp_path) == ["out.npy", "points.npy"]
    reduce_file(points, out, TangentPCA(2), force=True)
    assert np.load(out).shape == (N, 2)


def test_an_output_that_appears_meanwhile_is_not_overwritten(points, out):
    with pytest.raises(FileExistsError):
        reduce_file(points, out, TangentPCA(2), progress=lambda done, _: out.write_text("precious"))
    assert out.read_text() == "precious"


def full_disk(monkeypatch, module, name, calls):
    """Let the disk be full at some call of a function that writes."""
    function, left = getattr(module, name), [calls]

    def failing(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*arguments)

    monkeypatch.setattr(module, name, failing)


@pytest.mark.parametrize(("name", "calls"), [("to_disk", 3), ("write_members", 4)])
def test_a_full_disk_costs_nothing_that_was_done(points, out, tmp_path, monkeypatch, name, calls):
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    with monkeypatch.context() as patch:
        full_disk(patch, streaming, name, calls)
        with pytest.raises(OSError, match=r"No space left on device; 384 rows are kept in .*the same command resumes there"):
            reduce_file(points, out, TangentPCA(2))
    assert names(tmp_path) == ["out.npy.partial", "out.npy.partial.npz", "points.npy", "whole.npy"]
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 3 * BLOCK
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()


@ON_POSIX
def test_a_write_that_the_system_cuts_short_is_repeated(points, out, tmp_path, runner):
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    code = "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000)); reduce_file(points, out, TangentPCA(2))"
    status, said = runner.run(code, points=points, out=out)
    assert status == 1 and "rows are kept in" in said
    assert not out.exists() and (tmp_path / "out.npy.partial").stat().st_size == 8000
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 3 * BLOCK
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_a_disk_without_room_is_seen_before_the_work(points, out, tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    calls = counted(monkeypatch)
    with pytest.raises(OSError, match=r"needs 1\.6e-05 GB more, but its disk has 1e-06 GB left"):
        reduce_file(points, out, TangentPCA(2))
    assert calls == [] and names(tmp_path) == ["points.npy"]


def test_two_at_once_are_refused_until_the_first_is_gone(points, out, tmp_path):
    """The first, in a process of its own, waits behind its first block until it is killed."""
    reduce_file(points, tmp_path / "whole.npy", TangentPCA(2))
    code = f"""
    import sys
    from horopca import TangentPCA
    from horopca.io import reduce_file, streaming
    {SETUP}
    def wait(done, total):
        if done:
            print("held", flush=True)
            sys.stdin.read()
    reduce_file(sys.argv[1], sys.argv[2], TangentPCA(2), progress=wait)
    """
    command, pipe = [sys.executable, "-c", dedent(code), str(points), str(out)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            for more in ({}, {"restart": True, "force": True}):
                with pytest.raises(BlockingIOError, match=r"out\.npy is being written by another process"):
                    reduce_file(points, out, TangentPCA(2), **more)
        finally:
            process.kill()
    assert not out.exists()
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == BLOCK
    assert out.read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert names(tmp_path) == ["out.npy", "points.npy", "whole.npy"]


def test_a_file_system_without_locks_is_no_obstacle(points, out, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, "no locks")))
    assert reduce_file(points, out, TangentPCA(2)).n_rows == N


@pytest.mark.parametrize("where", [0, 500])
def test_a_row_that_is_no_point_is_named_and_nothing_is_left(points, out, tmp_path, where):
    X = POINTS.copy()
    X[where] = np.nan
    save(points, X, force=True)
    with pytest.raises(
        ValueError, match=rf"1 of 1000 rows have a NaN, an infinity or a missing value \(the first is row {where},"
    ):
        reduce_file(points, out, TangentPCA(2))
    X[where] = 2.0
    save(points, X, force=True)
    with pytest.raises(ValueError, match="must lie inside the unit ball"):
        reduce_file(points, out, TangentPCA(2))
    with pytest.raises(ValueError, match=rf"rows {where // BLOCK * BLOCK} to .*must lie inside the unit ball"):
        reduce_file(points, out, TangentPCA(2).fit(POINTS))
    assert names(tmp_path) == ["points.npy"]


def test_what_cannot_be_streamed_is_refused(tmp_path, points, out):
    for X, words in ((POINTS[0], "one point per row"), (np.ones((5, 2), int), "float32 or float64"), (POINTS[:0], "shape")):
        np.save(tmp_path / "other.npy", X)
        with pytest.raises(ValueError, match=words):
            reduce_file(tmp_path / "other.npy", out, TangentPCA(2))
        assert not is_large(tmp_path / "other.npy")
    with pytest.raises(ValueError, match=r"only a \.npy file can"):
        reduce_file(save(tmp_path / "points.csv", POINTS), out, TangentPCA(2))
    with pytest.raises(ValueError, match=r"must end in \.npy, \.csv, \.tsv"):
        reduce_file(points, tmp_path / "out.npz", TangentPCA(2))


# ---------------------------------------------------------------- memory


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc, which only Linux has")
def test_memory_does_not_grow_with_the_file(tmp_path, runner):
    """128 MB of points take less than 70 MB: a block or two of 4 MiB, and what the fit makes of 8192 points at a time."""
    code = """
    import threading
    streaming.BLOCK_BYTES = 1 << 22
    path, n = folder + "/points.npy", 250_000
    X = np.lib.format.open_memmap(path, mode="w+", dtype="f8", shape=(n, 64))
    for start in range(0, n, 1 << 14):
        X[start : start + (1 << 14)] = np.random.default_rng(start).uniform(-1e-3, 1e-3, X[start : start + (1 << 14)].shape)
    del X
    def used():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) / 1024
    estimator = TangentPCA(2)
    before, peak, over = used(), [0.0], threading.Event()
    def watch():
        while not over.wait(0.005):
            peak[0] = max(peak[0], used())
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        reduce_file(path, folder + "/out.npy", estimator)
    finally:
        over.set()
    print(peak[0] - before)
    """
    status, said = runner.run(dedent(code), folder=tmp_path)
    assert status == 0, said
    grown = float(said)
    (tmp_path / "points.npy").unlink()
    assert grown < 70
    assert np.load(tmp_path / "out.npy", mmap_mode="r").shape == (250_000, 2)
