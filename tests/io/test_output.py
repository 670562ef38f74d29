"""Outputs are complete or absent, and nothing is overwritten without force."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from forks import Runner
from horopca.io import atomic_output, load, output, save

X = np.zeros((3, 2))


def test_one_of_simultaneous_saves_succeeds(tmp_path):
    def attempt(number):
        try:
            return save(tmp_path / "a.npz", X + number / 10) and number
        except FileExistsError as error:
            assert str(error).startswith(f"{tmp_path / 'a.npz'} exists already")

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            winners = [number for number in pool.map(attempt, range(8)) if number is not None]
            assert len(winners) == 1 and load(tmp_path / "a.npz").X[0, 0] == winners[0] / 10
            assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
            (tmp_path / "a.npz").unlink()


def test_file_of_another_process_is_kept(tmp_path):
    with pytest.raises(FileExistsError, match="exists already"), atomic_output(tmp_path / "a.txt") as temporary:
        temporary.write_text("late")
        (tmp_path / "a.txt").write_text("early")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "early")]


@pytest.mark.skipif(os.name == "nt", reason="Windows locks bytes, not files")
def test_file_that_is_finished_meanwhile_is_kept(tmp_path, monkeypatch):
    """Another process removes the temporary name and releases its lock just before this one locks the file."""
    path, temporary = tmp_path / "a.npy", tmp_path / ".a-01234567.npy"
    path.write_text("early")
    os.link(path, temporary)
    monkeypatch.setattr(output, "lock", lambda _: temporary.unlink(missing_ok=True))
    with pytest.raises(FileExistsError, match="exists already"):
        save(path, X)
    assert path.read_text() == "early"


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


@pytest.mark.skipif(os.name == "nt", reason="needs fork and signals")
def test_without_hard_links_outputs_are_completed_after_a_kill(tmp_path):
    """Killed at the second of two renames: the file that has its name is replaced, unless it has been changed since."""
    code = """
from horopca.io.output import OutputSet
def fail(*_, **__):
    raise OSError(1, "no hard links")
def deadly(*arguments):
    rename(*arguments) if not os.path.exists(folder + "/b.txt") else os.kill(os.getpid(), signal.SIGKILL)
rename, os.link = os.rename, fail
os.rename = deadly if text == "first" else rename
with OutputSet() as outputs:
    for name in ("a.txt", "b.txt"):
        outputs.add(f"{folder}/{name}").write_text(text)
    outputs.publish()
"""
    visible = lambda: {path.name: path.read_text() for path in tmp_path.iterdir() if path.name[0] != "."}
    runner = Runner()
    try:
        assert runner.run(code, folder=tmp_path, text="first")[0] == -9 and visible() == {"b.txt": "first"}
        assert runner.run(code, folder=tmp_path, text="again") == (0, "")
        assert visible() == {"a.txt": "again", "b.txt": "again"}
        (tmp_path / "a.txt").unlink(), (tmp_path / "b.txt").unlink()
        assert runner.run(code, folder=tmp_path, text="first")[0] == -9
        (tmp_path / "b.txt").write_text("changed")
        status, message = runner.run(code, folder=tmp_path, text="again")
        assert status == 1 and "exists already" in message and visible() == {"b.txt": "changed"}
    finally:
        runner.close()
