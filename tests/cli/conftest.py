"""Files that most commands are tried on."""

import pytest

from hierarchies import TREE
from horopca.io import save


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def points(tmp_path):
    return save(tmp_path / "points.npy", TREE.points)


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.edges"
    path.write_text("cat\tfeline\nlion\tfeline\nsea cow\tmammal\nfeline\tmammal\n")
    return path
