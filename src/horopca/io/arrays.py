"""NumPy's own formats, ``.npy`` and ``.npz``. Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .files import Table, matrix


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Whatever NumPy raises at a damaged or hostile file, said in a sentence."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        if "Object arrays" in str(error) or "Python objects" in str(error):
            why = "holds Python objects, which could run code when read and are refused: save an array of numbers"
        else:
            why = "is damaged, cut short, or not written by numpy.save or numpy.savez"
        raise ValueError(f"{path} {why}.") from None


def map_npy(path: Path) -> np.ndarray:
    """The array of a file, mapped and not read."""
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    with refusals(path):
        return np.lib.format.open_memmap(path, mode="r")


def read_npy(path: Path) -> np.ndarray:
    return np.array(map_npy(path))  # mapped first: a file shorter than its header claims must not claim memory


def read_npz(path: Path, key: str | None) -> Table:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is damaged, cut short, or not written by numpy.savez.")
    with refusals(path):
        archive = np.load(path, allow_pickle=False)
    with archive:
        name = _choose(archive, key, path)
        with refusals(path):
            values = archive[name]
            if isinstance(values, bytes):
                raise ValueError("This member of the archive is no array.")
        X = matrix(values, path)
        labels = _peek(archive, "labels")
    if np.shape(labels) != (len(X),):
        return Table(X)
    return Table(X, [str(label) for label in labels])


def _choose(archive: Any, key: str | None, path: Path) -> str:
    """The name of the array to read."""
    keys = list(archive.files)
    if key is not None and key not in keys:
        raise ValueError(f"{path} has no array {key!r}; it holds {', '.join(keys) or 'nothing'}.")
    for choice in (key, *(keys if len(keys) == 1 else ()), "X", "embeddings"):
        if choice in keys:
            return choice
    matrices = [name for name in keys if getattr(_peek(archive, name), "ndim", 0) == 2]
    if len(matrices) != 1:
        raise ValueError(f"{path} holds {', '.join(keys) or 'no array'}: say which to read with key=.")
    return matrices[0]


def _peek(archive: Any, name: str) -> Any:
    """An array of the archive, or None where it is missing, damaged or full of objects."""
    try:
        return archive[name]
    except Exception:
        return None
