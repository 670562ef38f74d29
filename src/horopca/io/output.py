"""Writing: whole or not at all."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .anndata import write_h5ad
from .files import as_text, named
from .metadata import MEMBER, SIDE_FORMATS, as_metadata, is_side_file, side_file, to_json, write_side_file
from .text import DELIMITERS

Metadata = Mapping[str, Any]
Words = Mapping[str, list[str]]  # columns of words by their names: "names", "labels"


def save(
    path: str | Path,
    X: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[Any] | None = None,
    model: str | None = None,
    curvature: float | None = None,
    source: Mapping[str, Any] | None = None,
    force: bool = False,
    **h5ad: Any,
) -> Path:
    """Write points to a ``.npy``, ``.npz``, ``.csv``, ``.tsv`` or ``.h5ad`` file. The file is complete or absent.

    Parameters
    ----------
    path : str or Path
        The extension of its name selects the format.
    X : array-like of shape (n, d)
    labels, names : sequence of length n, optional
        Classes and names of the rows: arrays of an ``.npz``, columns of a text file, observations of an ``.h5ad``.
    model, curvature : str and float, optional
        Those of the points. `load` and every command read them back.
    source : mapping, optional
        How the points were made: strings, numbers, arrays, and mappings of these.
    force : bool, default=False
        Replace an existing file.
    **h5ad
        For an ``.h5ad``: ``key``, the array of ``obsm`` ("X_horopca"), and ``base``, an ``.h5ad`` whose other content is kept.

    Returns
    -------
    Path

    Notes
    -----
    An ``.npz`` has the metadata in its member ``horopca``, an ``.h5ad`` in ``uns``. The other formats have no place for it and
    get a side file: ``points.npy.json`` belongs to ``points.npy``, and also holds its labels and names.

    Examples
    --------
    >>> import tempfile
    >>> from horopca.io import load
    >>> table = load(save(Path(tempfile.mkdtemp()) / "points.npy", [[0.1, 0.2]], names=["cat"], model="klein"))
    >>> table.model, table.row_names
    ('klein', ['cat'])
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a matrix of numbers, but it has shape {X.shape} and dtype {X.dtype}.")
    given = {"names": names, "labels": labels}
    for kind, column in given.items():
        if column is not None and len(column) != len(X):
            raise ValueError(f"{kind} must have one entry per row, but has {len(column)} for {len(X)} rows.")
    words = {kind: [as_text(word) for word in column] for kind, column in given.items() if column is not None}
    if h5ad and Path(path).suffix.lower() != ".h5ad":
        raise TypeError(f"{', '.join(h5ad)} belong to a file that ends in .h5ad, but path is {str(path)!r}.")
    metadata = as_metadata(model, curvature, source)
    with atomic_output(path, force=force, formats=FORMATS) as temporary:
        suffix = temporary.suffix.lower()
        WRITERS[suffix](temporary, X, words, metadata, **h5ad)
        beside = {**metadata, **words} if suffix == ".npy" else metadata
        if beside and suffix in SIDE_FORMATS:
            write_side_file(temporary, beside)
    return Path(path)


def _write_npy(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    with open(path, "wb") as file:
        np.save(_Plain(file), X, allow_pickle=False)


def _write_npz(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    with open(path, "wb") as file:
        arrays: dict[str, Any] = {kind: np.array(column) for kind, column in words.items()}
        if metadata:
            arrays[MEMBER] = np.array(to_json(metadata))
        np.savez(file, X=X, **arrays)


class _Plain:
    """A file as something to write to: into what it knows as a file NumPy writes past it, and forgets why it could not."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write


def _write_text(path: Path, X: np.ndarray, words: Words, metadata: Metadata) -> None:
    before, behind = (words[kind] if kind in words else None for kind in ("names", "labels"))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=DELIMITERS[path.suffix.lower()], lineterminator="\n")
        head = [f"x{j + 1}" for j in range(X.shape[1])]
        writer.writerow(([] if before is None else ["name"]) + head + ([] if behind is None else ["label"]))
        for i, row in enumerate(X):  # str of a NumPy float is the shortest decimal that reads back the same
            numbers = [str(value) for value in row]
            writer.writerow(([] if before is None else [before[i]]) + numbers + ([] if behind is None else [behind[i]]))


# The ending of a file's name says which of these writes it.
WRITERS: dict[str, Callable[..., None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    **dict.fromkeys(DELIMITERS, _write_text),
    ".h5ad": write_h5ad,
}
FORMATS = tuple(WRITERS)  #: The endings of files that points can be written to.


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
    side = side_file(path)
    if path.suffix.lower() in SIDE_FORMATS and side.exists() and not (side.is_file() and is_side_file(side)):
        raise FileExistsError(f"{side} exists already and was not written by horopca: remove it, or choose another output.")
    return path


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, or one of them into the other."""
    a, b = path.resolve(), other.resolve()
    return a == b or a in b.parents or b in a.parents or (a.exists() and b.exists() and a.samefile(b))


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
        check_output(path, force=force)  # another process may have written it meanwhile
        put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
        side_file(temporary).unlink(missing_ok=True)


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a complete file, and its side file first: points without their metadata would be misread."""
    beside, side = side_file(temporary), side_file(path)
    described = beside.exists()
    if described:
        beside.replace(side)
    temporary.replace(path)
    if not described and path.suffix.lower() in SIDE_FORMATS and side.is_file() and is_side_file(side):
        side.unlink()  # that of the file that was replaced


# ---------------------------------------------------------------- a block of rows at a time


def _as_npy(Y: np.ndarray, start: int, n: int) -> bytes:
    head = io.BytesIO()
    if start == 0:
        descr = np.lib.format.dtype_to_descr(Y.dtype)
        np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": (n, Y.shape[1])})
    return head.getvalue() + Y.tobytes()


def _as_text(Y: np.ndarray, start: int, delimiter: str) -> bytes:
    # str of a NumPy float is the shortest decimal that reads back the same
    lines = [delimiter.join(map(str, row)) for row in Y]
    head = [] if start else [delimiter.join(f"x{j + 1}" for j in range(Y.shape[1]))]
    return "".join(f"{line}\n" for line in head + lines).encode()


# By the ending of its name, this is written to a file for a block, its first row and the number of all rows.
BLOCKS: Mapping[str, Callable[[np.ndarray, int, int], bytes]] = {
    ".npy": _as_npy,
    ".csv": lambda Y, start, n: _as_text(Y, start, DELIMITERS[".csv"]),
    ".tsv": lambda Y, start, n: _as_text(Y, start, DELIMITERS[".tsv"]),
}
