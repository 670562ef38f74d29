"""Data like the paper's, but small; and none at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from reproduction.cells import data
from scipy.io import savemat

from horopca.datasets import balanced_tree, fetching, make_hierarchy, random_tree


def make_data(folder: Path) -> None:
    """Four graphs with embeddings in 10 and 50 dimensions, three networks with five embeddings."""
    (folder / "graphs").mkdir(parents=True)
    (folder / "embeddings").mkdir()
    (folder / "realnet").mkdir()
    for k, name in enumerate(fetching.GRAPHS):
        parent = balanced_tree(2, 3).parent if k == 0 else random_tree(14 + 2 * k, random_state=k).parent
        edges = "".join(f"{i} {p}\n" for i, p in enumerate(parent) if p >= 0)
        (folder / "graphs" / f"{name}.edges").write_text(edges)
        for d in (10, 50):
            np.save(
                folder / "embeddings" / f"{name}_{d}_poincare.npy",
                make_hierarchy(2, 4, d, random_state=k).points[: len(parent)],
            )
    for name in fetching.NETWORKS:
        for version in fetching.VERSIONS:
            tree = make_hierarchy(3, 3, 2, random_state=version)
            label = np.array([1 + hash_of(text) % 3 for text in tree.labels[1:]])
            n = len(label)
            savemat(
                folder / "realnet" / f"{name}_data_{version}.mat",
                {"B": tree.points[1:], "label": label, "A": np.eye(n), "R": 1.0},
            )


def hash_of(text: object) -> int:
    return int(hashlib.sha256(str(text).encode()).hexdigest(), 16)


def registry_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.*")
        if path.is_file()
    }


@pytest.fixture(scope="session")
def generated(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "data"
    make_data(folder)
    return folder


def forget() -> None:
    for cached in (data.embedding, data.graph):
        cached.cache_clear()


@pytest.fixture
def use_data(monkeypatch) -> Iterator[Callable[[Path], None]]:
    """Makes a folder the one that data comes from."""

    def use(folder: Path) -> None:
        forget()
        known = registry_of(folder)
        monkeypatch.setenv("HOROPCA_DATA", str(folder))
        monkeypatch.setattr(fetching, "registry", lambda: known)

    yield use
    forget()


@pytest.fixture
def small_data(generated, use_data) -> Path:
    use_data(generated)
    return generated


@pytest.fixture
def no_data(monkeypatch, tmp_path) -> Iterator[None]:
    forget()
    monkeypatch.setenv("HOROPCA_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr(fetching, "HOMES", {folder: f"http://127.0.0.1:9/{folder}/" for folder in fetching.HOMES})
    yield
    forget()
