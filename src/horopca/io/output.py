"""Writing: whole or not at all."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .files import as_text, named
from .text import DELIMITERS

FORMATS = (".npy", ".npz", ".csv", ".tsv")


def save(path: str | Path, X: Any, labels: Sequence[Any] | None = None, *, force: bool = False) -> Path:
    """Write points to a ``.npy``, ``.npz``, ``.csv`` or ``.tsv`` file, whole or not at all.

    Labels go into the array ``labels`` of an ``.npz`` and the last column of a text file; an ``.npy`` has no
    room for them.  An existing file is replaced only with ``force=True``.  Returns the path.
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a matrix of numbers, but it has shape {X.shape} and dtype {X.dtype}.")
    if labels is not None and len(labels) != len(X):
        raise ValueError(f"labels must have one entry per row, but has {len(labels)} for {len(X)} rows.")
    with atomic_output(path, force=force, formats=FORMATS) as temporary:
        suffix = temporary.suffix.lower()
        if suffix in DELIMITERS:
            _write_text(temporary, X, labels, DELIMITERS[suffix])
        else:
            _write_numpy(temporary, X, labels)
    return Path(path)


def _write_numpy(path: Path, X: np.ndarray, labels: Sequence[Any] | None) -> None:
    with open(path, "wb") as file:
        if path.suffix.lower() == ".npy":
            np.save(_Plain(file), X, allow_pickle=False)
        elif labels is None:
            np.savez(file, X=X)
        else:
            np.savez(file, X=X, labels=np.array([as_text(label) for label in labels]))


class _Plain:
    """A file as something to write to: into what it knows as a file NumPy writes past it, and forgets why it could not."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


def _write_text(path: Path, X: np.ndarray, labels: Sequence[Any] | None, delimiter: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([f"x{j + 1}" for j in range(X.shape[1])] + ([] if labels is None else ["label"]))
        for i, row in enumerate(X):  # str of a NumPy float is the shortest decimal that reads back the same
            writer.writerow([str(value) for value in row] + ([] if labels is None else [as_text(labels[i])]))


def check_output(path: str | Path, *, force: bool = False, formats: Sequence[str] = ()) -> Path:
    """Refuse an output that could not be written, before the work that would fill it."""
    path = Path(path)
    if formats and path.suffix.lower() not in formats:
        raise ValueError(f"The format of {path} is not known: its name must end in {', '.join(formats)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file name was expected.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already; force (on the command line, --force) overwrites it.")
    return path


@contextmanager
def atomic_output(path: str | Path, *, force: bool = False, formats: Sequence[str] = ()) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to: renamed to it at the end, removed if anything fails.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_output(folder / "note.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['note.txt']
    """
    path = check_output(path, force=force, formats=formats)
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
    try:
        with named(path):
            yield temporary
        check_output(path, force=force)  # somebody may have written it meanwhile
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
