"""Files larger than memory: the output is complete or absent, an interruption costs one block, memory does not grow."""

import errno
import json
import os
import signal
from contextlib import nullcontext
from textwrap import dedent

import numpy as np
import pytest

from blocks import BLOCK, POINTS, D, N, Stop, begun, stop_after
from forks import KILL
from horopca import TangentPCA
from horopca.io import load, reduce_file, save
from horopca.io.streaming import is_large

pytestmark = pytest.mark.usefixtures("small_blocks")
SETUP = f"arrays.BLOCK_BYTES = {BLOCK * D * 8}"


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", POINTS)


@pytest.fixture
def whole(points, tmp_path):
    """The bytes of an uninterrupted reduction."""
    folder = tmp_path / "whole"
    folder.mkdir()
    reduce_file(points, folder / "out.npy", TangentPCA(2))
    return (folder / "out.npy").read_bytes()


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("suffix", [".npy", ".csv", ".tsv"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_output_equals_that_of_save(tmp_path, dtype, suffix, order):
    X = np.asarray(POINTS, dtype=dtype, order=order)
    np.save(tmp_path / "points.npy", X)
    done = reduce_file(tmp_path / "points.npy", tmp_path / f"out{suffix}", TangentPCA(2))
    whole = save(tmp_path / f"whole{suffix}", TangentPCA(2).fit(X).transform(X))
    if order == "C" and dtype == np.float64:  # otherwise the chunks differ, and sums are rounded differently
        assert (tmp_path / f"out{suffix}").read_bytes() == whole.read_bytes()
    assert np.allclose(load(tmp_path / f"out{suffix}").X, load(whole).X, rtol=0, atol=1e-6 if dtype == np.float32 else 1e-13)
    if suffix == ".npy":
        assert load(tmp_path / "out.npy").X.dtype == dtype
    assert (done.n_rows, done.resumed_at) == (N, 0)
    assert names(tmp_path) == sorted(["points.npy", f"out{suffix}", f"out{suffix}.json", f"whole{suffix}"])


def test_fitted_estimator_is_applied(points, out):
    fit, seen = TangentPCA(2, model="klein", curvature=-0.5).fit(POINTS[:100]), []
    assert reduce_file(points, out, fit, progress=lambda *rows: seen.append(rows)).estimator is fit
    assert np.array_equal(np.load(out), fit.transform(POINTS))
    assert (load(out).model, load(out).curvature) == ("klein", -0.5)
    assert seen == [(min(k * BLOCK, N), N) for k in range(9)]


@pytest.mark.parametrize(("suffix", "failure"), [(".npy", Stop), (".csv", KeyboardInterrupt)])
def test_interrupted_call_is_resumed(tmp_path, points, suffix, failure):
    out, logged, seen = tmp_path / f"out{suffix}", [], []
    reduce_file(points, tmp_path / f"whole{suffix}", TangentPCA(2))
    with pytest.raises(failure) as interruption:
        reduce_file(points, out, TangentPCA(2), progress=stop_after(3, failure))
    assert "384 of 1,000 rows are kept in" in interruption.value.__notes__[0] and not out.exists()
    done = reduce_file(points, out, TangentPCA(2), progress=lambda *rows: seen.append(rows[0]), log=logged.append)
    assert done.resumed_at == seen[0] == 3 * BLOCK
    assert logged == [f"Resuming at row 384 of 1,000 with the fit in {out}.partial.npz."]
    assert out.read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    assert not list(tmp_path.glob("*.partial*"))


@pytest.mark.parametrize("call", ["fsync", "link", "replace", "unlink"])
def test_call_killed_at_any_step_is_resumed(points, out, whole, tmp_path, runner, call):
    """Killed at every call in turn of a function that writes to the disk, publishes the output or removes temporary files."""
    code, resumed = f"{KILL}\nreduce_file(points, out, TangentPCA(2))", []
    for calls in range(30):
        status, message = runner.run(code, points=points, out=out, call=call, calls=calls)
        if status == 0:
            break
        assert not out.exists() or out.read_bytes() == whole
        resumed.append(reduce_file(points, out, TangentPCA(2), force=out.exists()).resumed_at)
        assert out.read_bytes() == whole and not list(tmp_path.glob("*.partial*[nl]"))
        out.unlink()
    assert status == 0, message
    if call == "fsync":
        assert resumed[:-1] == sorted(resumed[:-1]) and set(resumed) >= {0, BLOCK, 2 * BLOCK, 7 * BLOCK}


DAMAGED = "its journal or its fit is damaged"


def changed_input(points):
    other = POINTS.copy()
    other[500] /= 2
    save(points, other, force=True)


def changed_with_the_same_time(points):
    time = points.stat().st_mtime_ns
    changed_input(points)
    os.utime(points, ns=(time, time))


def other_version(points):
    journal = points.with_name("out.npy.partial.jsonl")
    call, *blocks = journal.read_text().splitlines()
    journal.write_text("\n".join([json.dumps({**json.loads(call), "version": "0.0"}), *blocks, ""]))


@pytest.mark.parametrize(
    ("change", "estimator", "reason"),
    [
        (changed_input, TangentPCA(2), "the input has changed"),
        (changed_with_the_same_time, TangentPCA(2), "the input has changed"),
        (lambda _: None, TangentPCA(3), "the options have changed"),
        (lambda _: None, TangentPCA(2).fit(POINTS[:50]), "the options have changed"),
        (lambda points: os.truncate(f"{points.parent}/out.npy.partial.jsonl", 100), TangentPCA(2), DAMAGED),
        (lambda points: os.truncate(f"{points.parent}/out.npy.partial.npz", 100), TangentPCA(2), DAMAGED),
        (lambda points: (points.parent / "out.npy.partial.jsonl").write_text("[" * 60_000), TangentPCA(2), DAMAGED),
        (other_version, TangentPCA(2), "it was written by another version of horopca"),
    ],
)
def test_other_call_starts_from_the_beginning(points, out, change, estimator, reason):
    begun(points, out, TangentPCA(2))
    change(points)
    logged = []
    done = reduce_file(points, out, estimator, log=logged.append)
    assert done.resumed_at == 0 and logged == [f"Starting from the beginning: {out}.partial cannot be used, because {reason}."]
    assert np.array_equal(np.load(out), done.estimator.transform(np.load(points)))


def test_call_killed_in_a_new_fit_starts_from_the_beginning(points, out, whole, runner):
    begun(points, out, TangentPCA(3))
    code = "TangentPCA.fit = lambda self, X: os.kill(os.getpid(), signal.SIGKILL)\nreduce_file(points, out, TangentPCA(2))"
    assert runner.run(code, points=points, out=out)[0] == -9
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 0 and out.read_bytes() == whole


def test_missing_partial_file_starts_from_the_beginning(points, out, tmp_path, whole):
    begun(points, out, TangentPCA(2))
    (tmp_path / "out.npy.partial").unlink()
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 0
    assert out.read_bytes() == whole and not list(tmp_path.glob("*.partial*"))


@pytest.mark.parametrize(
    ("name", "at", "rows"),
    [
        ("out.npy.partial", 228, 0),
        ("out.npy.partial", 128 + 2 * BLOCK * 16 + 100, 2 * BLOCK),
        ("out.npy.partial.jsonl", -2, 256),
    ],
)
def test_damaged_blocks_are_computed_again(points, out, tmp_path, whole, name, at, rows):
    begun(points, out, TangentPCA(2))
    content = bytearray((tmp_path / name).read_bytes())
    content[at] ^= 0xFF
    (tmp_path / name).write_bytes(content)
    logged = []
    assert reduce_file(points, out, TangentPCA(2), log=logged.append).resumed_at == rows
    assert f"Rows from {rows} are damaged" in logged[0] and out.read_bytes() == whole


@pytest.mark.parametrize("lines", ["[" * 9999, "[1e400, 1]", "[-5, 0]", "7", "[99999999999999999999, 0]"])
def test_hostile_line_ends_the_journal(points, out, tmp_path, whole, lines):
    begun(points, out, TangentPCA(2))
    with open(tmp_path / "out.npy.partial.jsonl", "a") as file:
        file.write(f"{lines}\n")
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 3 * BLOCK
    assert out.read_bytes() == whole


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("out.npy.partial", "is a link"),
        ("out.npy.partial.npz", None),
        ("out.npy.partial.jsonl", None),
        (None, "without its journal"),
    ],
)
def test_precious_file_or_link_to_it_is_kept(points, out, tmp_path, name, error):
    precious = tmp_path / ("precious" if name else "out.npy.partial")
    precious.write_text("precious")
    if name:
        (tmp_path / name).symlink_to(precious)
    with pytest.raises(FileExistsError, match=error) if error else nullcontext():
        reduce_file(points, out, TangentPCA(2))
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("change", [lambda points: os.truncate(points, 5000), changed_input, os.unlink])
@pytest.mark.parametrize("row", [2 * BLOCK, N])
def test_changed_input_raises_error(points, out, tmp_path, change, row):
    with pytest.raises(ValueError, match="has changed"):
        reduce_file(points, out, TangentPCA(2), progress=lambda done, _: change(points) if done == row else None)
    assert set(names(tmp_path)) <= {"points.npy"}


def test_input_truncated_during_fit_raises_error(points, out, tmp_path, runner):
    """In another process, which would be killed (SIGBUS) if it read beyond the end of the file."""
    code = """
    fit = TangentPCA.fit
    TangentPCA.fit = lambda self, X: (os.truncate(points, 5000), fit(self, X))[1]
    reduce_file(points, out, TangentPCA(2))
    """
    status, message = runner.run(dedent(code), points=points, out=out)
    assert status == 1 and ("cut short" in message or "truncated" in message), (status, message)
    assert names(tmp_path) == ["points.npy"]


def test_existing_output_needs_force(points, out, tmp_path):
    out.write_text("precious")
    out.chmod(0o600)
    with pytest.raises(FileExistsError, match="exists already"):
        reduce_file(points, out, TangentPCA(2), progress=lambda *_: pytest.fail("the work was started"))
    assert out.read_text() == "precious" and names(tmp_path) == ["out.npy", "points.npy"]
    reduce_file(points, out, TangentPCA(2), force=True)
    assert np.load(out).shape == (N, 2) and (os.name == "nt" or out.stat().st_mode & 0o777 == 0o600)


def test_output_of_another_process_is_kept(points, out):
    with pytest.raises(FileExistsError) as error:
        reduce_file(points, out, TangentPCA(2), progress=lambda done, _: out.write_text("precious"))
    assert out.read_text() == "precious" and "1,000 of 1,000 rows are kept in" in error.value.__notes__[0]


def test_full_disk_costs_one_block(points, out, tmp_path, whole, runner):
    for limit, rows in ((8000, 3 * BLOCK), (12_000, 5 * BLOCK)):
        code = f"""
        __import__("sys").dont_write_bytecode = True  # Python would leave truncated .pyc files
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        try:
            reduce_file(points, out, TangentPCA(2))
        except OSError as error:
            print(error.__notes__[0], error.filename)
        """
        _, message = runner.run(dedent(code), points=points, out=out)
        assert f"{rows} of 1,000 rows are kept" in message and message.endswith("out.npy.partial")
        assert not out.exists() and (tmp_path / "out.npy.partial").stat().st_size == limit
    assert reduce_file(points, out, TangentPCA(2)).resumed_at == 5 * BLOCK
    assert out.read_bytes() == whole


def test_two_processes_cannot_write_the_same_output(points, out, tmp_path, whole, runner):
    """The first waits after its first block until it is killed."""
    code = "lambda done, _: done and (print('held', flush=True), time.sleep(600))"
    child = runner.start(f"reduce_file(points, out, TangentPCA(2), progress={code})", points=points, out=out)
    assert runner.process.stdout.readline() == "held\n"
    for force in (False, True):
        with pytest.raises(BlockingIOError, match=r"out\.npy is being written by another process"):
            reduce_file(points, out, TangentPCA(2), force=force)
    os.kill(child, signal.SIGKILL)
    runner.end()
    assert not out.exists() and reduce_file(points, out, TangentPCA(2)).resumed_at == BLOCK
    assert out.read_bytes() == whole


def test_file_system_without_locks(points, out, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, "no locks")))
    assert reduce_file(points, out, TangentPCA(2)).n_rows == N


@pytest.mark.parametrize("row", [0, 500])
def test_invalid_row_is_named(points, out, tmp_path, row):
    X = POINTS.copy()
    for value, message in ((np.nan, rf"the first is row {row},"), (2.0, "must lie inside the unit ball")):
        X[row] = value
        save(points, X, force=True)
        with pytest.raises(ValueError, match=message):
            reduce_file(points, out, TangentPCA(2))
    with pytest.raises(ValueError, match=rf"rows {row // BLOCK * BLOCK} to .*must lie inside the unit ball"):
        reduce_file(points, out, TangentPCA(2).fit(POINTS))
    assert names(tmp_path) == ["points.npy"]


def test_input_that_cannot_be_streamed_raises_error(tmp_path, points, out):
    for X, words in ((POINTS[0], "one point per row"), (np.ones((5, 2), int), "float32 or float64"), (POINTS[:0], "shape")):
        np.save(tmp_path / "other.npy", X)
        with pytest.raises(ValueError, match=words):
            reduce_file(tmp_path / "other.npy", out, TangentPCA(2))
        assert not is_large(tmp_path / "other.npy")
    with pytest.raises(ValueError, match=r"only a \.npy file can"):
        reduce_file(save(tmp_path / "points.csv", POINTS), out, TangentPCA(2))
    with pytest.raises(ValueError, match=r"must end in \.npy, \.csv, \.tsv"):
        reduce_file(points, tmp_path / "out.npz", TangentPCA(2))
    (tmp_path / "link.npy").symlink_to(points)
    for path in (points, tmp_path / "link.npy"):
        with pytest.raises(ValueError, match="is also the input"):
            reduce_file(points, path, TangentPCA(2), force=True)
    assert np.array_equal(load(points).X, POINTS)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux limits the memory of data")
def test_memory_does_not_grow_with_the_file(tmp_path, runner):
    """128 MB of points take about 75 MB of address space: blocks of 4 MiB, and the temporary arrays of the fit."""
    code = """
    arrays.BLOCK_BYTES = 1 << 22
    path, n = folder + "/points.npy", 250_000
    X = np.lib.format.open_memmap(path, mode="w+", dtype="f8", shape=(n, 64))
    for start in range(0, n, 1 << 14):
        X[start : start + (1 << 14)] = np.random.default_rng(start).uniform(-1e-3, 1e-3, X[start : start + (1 << 14)].shape)
    del X
    np.ones((500, 500)) @ np.ones((500, 500))  # BLAS allocates its buffers
    used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + 150_000_000,) * 2)
    reduce_file(path, folder + "/out.npy", TangentPCA(2))
    """
    assert runner.run(dedent(code), folder=tmp_path) == (0, "")
    (tmp_path / "points.npy").unlink()
    assert np.load(tmp_path / "out.npy", mmap_mode="r").shape == (250_000, 2)
