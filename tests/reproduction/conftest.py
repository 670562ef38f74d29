"""Data like the paper's, but small; and none at all."""

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest
from reproduction.cells import data

from horopca.datasets import balanced_tree, fetching, make_hierarchy, random_tree


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """No test sees the data of another."""
    yield
    data.embedding.cache_clear()
    data.graph.cache_clear()


@pytest.fixture
def small_data(tmp_path, monkeypatch) -> None:
    """Four small graphs with embeddings in 10 dimensions, in place of the paper's."""
    for folder in ("graphs", "embeddings"):
        (tmp_path / folder).mkdir()
    for k, name in enumerate(fetching.GRAPHS):
        parent = balanced_tree(2, 3).parent if k == 0 else random_tree(14 + 2 * k, random_state=k).parent
        (tmp_path / f"graphs/{name}.edges").write_text("".join(f"{i} {p}\n" for i, p in enumerate(parent) if p >= 0))
        points = make_hierarchy(2, 4, 10, random_state=k).points[: len(parent)]
        np.save(tmp_path / f"embeddings/{name}_10_poincare.npy", points)
    files = [path for path in tmp_path.rglob("*.*") if path.is_file()]
    known = {path.relative_to(tmp_path).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path))
    monkeypatch.setattr(fetching, "registry", lambda: known)


@pytest.fixture
def no_data(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(fetching, "URLS", {folder: f"http://127.0.0.1:9/{folder}/" for folder in fetching.URLS})
