"""Outputs are complete or absent, and nothing is overwritten without force."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from horopca.io import atomic_output, load, save

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
