"""Points in files: ``.npy``, ``.npz``, ``.csv`` and ``.tsv``, read with care and written whole or not at all.

Nothing is ever unpickled.  What cannot be read is refused in a sentence that names the file and, in text, the
line.
"""

from __future__ import annotations

import csv
import secrets
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

__all__ = ["Table", "atomic_output", "check_output", "load", "load_labels", "save"]

FORMATS = (".npy", ".npz", ".csv", ".tsv")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
LABEL_NAMES = {"label", "labels", "class", "category", "name", "id", "index", "node"}
LONGEST_LINE = 1 << 22  # characters: room for 100,000 columns, and far from filling a machine's memory
PEEK = 100  # lines seen before the header and the label column are decided


class Table(NamedTuple):
    """What a file holds."""

    X: np.ndarray  # (n, d), float32 or float64
    labels: list[str] | None = None  # n
    names: list[str] | None = None  # d, of the columns


# ---------------------------------------------------------------- reading


def load(path: str | Path, *, key: str | None = None, allow_nonfinite: bool = False) -> Table:
    """Read the points in a file, one to a row.

    Parameters
    ----------
    path : str or Path
        ``.npy``; ``.npz``, whose array ``labels`` is read too; ``.csv`` or ``.tsv``, with or without a header
        line, with or without a column of labels (the first or the last, recognised by its text or by a name
        such as "label").
    key : str, optional
        Which array of an ``.npz`` to take.  Without it: the only one, the one called ``X`` or ``embeddings``,
        or the only matrix.
    allow_nonfinite : bool
        Let NaN and infinity through, for a caller that reports them itself.

    Returns
    -------
    Table
        ``X`` (float32 stays float32, every other number becomes float64), ``labels`` and ``names``, or None.
    """
    path = _existing(path)
    suffix = _suffix(path)
    if key is not None and suffix != ".npz":
        raise ValueError(f"key={key!r} selects an array of an .npz file, but {path} is not one.")
    if suffix == ".npy":
        table = Table(_matrix(_read_npy(path), path))
    elif suffix == ".npz":
        table = _read_npz(path, key)
    else:
        table = _read_text(path, DELIMITERS[suffix])
    if not allow_nonfinite:
        _refuse_nonfinite(table.X, path)
    return table


def load_labels(path: str | Path) -> list[str]:
    """Read labels, one to a line (or a one-dimensional ``.npy``)."""
    path = _existing(path)
    if path.suffix.lower() == ".npy":
        values = _read_npy(path)
        if values.ndim != 1:
            raise ValueError(f"{path} must hold one label per row, but its array has shape {values.shape}.")
        return [str(value) for value in values]
    with _open_text(path) as file:
        labels = [line.rstrip("\r\n") for line in _lines(file, path)]
    if not labels:
        raise ValueError(f"{path} is empty: expected one label on each line.")
    return labels


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file was expected.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return path


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"The format of {path} is not known: its name must end in {', '.join(FORMATS)}.")
    return suffix


def _refuse_nonfinite(X: np.ndarray, path: Path) -> None:
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if bad.size:
        raise ValueError(
            f"{path} must hold finite numbers, but {bad.size} of {len(X)} rows have a NaN, an infinity or a "
            f"missing value (the first is row {bad[0]}, counting from 0)."
        )


def _matrix(values: np.ndarray, path: Path) -> np.ndarray:
    """The array as floats in rows, or a sentence why it is not one."""
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{path} must hold real numbers, but its array has dtype {values.dtype}.")
    if values.ndim != 2:
        raise ValueError(f"{path} must hold one point per row, but its array has shape {values.shape}.")
    if 0 in values.shape:
        raise ValueError(f"{path} holds no points: its array has shape {values.shape}.")
    single = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    return values.astype(np.float32 if single else np.float64)


# ---------------------------------------------------------------- NumPy's formats


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
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


def _read_npy(path: Path) -> np.ndarray:
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    with _refusals(path):  # mapped first: a file shorter than its header claims must not claim memory
        return np.array(np.lib.format.open_memmap(path, mode="r"))


def _read_npz(path: Path, key: str | None) -> Table:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is damaged, cut short, or not written by numpy.savez.")
    with _refusals(path):
        archive = np.load(path, allow_pickle=False)
    with archive:
        name = _choose(archive, key, path)
        with _refusals(path):
            values = archive[name]
            if isinstance(values, bytes):
                raise ValueError("This member of the archive is no array.")
        X = _matrix(values, path)
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


# ---------------------------------------------------------------- text


def _open_text(path: Path) -> TextIO:
    return open(path, encoding="utf-8-sig", newline="")


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file, refusing to swallow an endless one."""
    try:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise ValueError(f"{path} has a line of over {LONGEST_LINE} characters: it is no table of points.")
            yield line
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text in UTF-8.") from error


def _rows(file: TextIO, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    reader = csv.reader(_lines(file, path), delimiter=delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, [field.strip() for field in fields]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}.") from error


def _read_text(path: Path, delimiter: str) -> Table:
    with _open_text(path) as file:
        rows = _rows(file, path, delimiter)
        head = list(islice(rows, PEEK))
        if not head:
            raise ValueError(f"{path} is empty.")
        header, label = _layout([fields for _, fields in head], path)
        body = chain(head[1:] if header else head, rows)
        X, labels = _parse(body, len(head[0][1]), label, path)
    names = [name.lstrip("# ") for j, name in enumerate(head[0][1]) if j != label] if header else None
    return Table(X, labels, names)


def _layout(head: list[list[str]], path: Path) -> tuple[bool, int | None]:
    """Whether the first line is a header, and which column holds labels (None if none does)."""
    first, body, last = head[0], head[1:] or head, len(head[0]) - 1
    if not any(_is_number(field) for row in body for field in row):
        separator = "tabs" if path.suffix.lower() == ".tsv" else "commas"
        raise ValueError(f"{path} has no rows of numbers separated by {separator}.")
    ends = dict.fromkeys((last, 0))
    columns = [j for j in ends if not all(_is_number(row[j]) for row in body if j < len(row) and row[j])]
    names = [name for j, name in enumerate(first) if name and j not in columns]
    header = len(head) > 1 and (not any(map(_is_number, names)) or _counts(names))
    if header and not columns:
        columns = [j for j in ends if first[j].lower() in LABEL_NAMES or (j == 0 < last and not first[j])][:1]
    if len(columns) > 1:
        raise ValueError(f"{path} has text in its first and in its last column: keep only the labels.")
    return header, columns[0] if columns else None


def _counts(names: list[str]) -> bool:
    """Whether a line reads 0, 1, 2, ...: a data frame's default column names."""
    return len(names) > 1 and names == [str(j) for j in range(len(names))]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _parse(body: Iterable[tuple[int, list[str]]], width: int, label: int | None, path: Path):
    """Numbers (n, d) and labels of the lines below the header."""
    numbers, labels = array("d"), []
    for line, fields in body:
        if len(fields) != width:
            raise ValueError(f"{path}, line {line}: {len(fields)} values, but the first line has {width}.")
        if label is not None:
            labels.append(fields.pop(label))
        try:
            numbers.extend([float(field or "nan") for field in fields])
        except ValueError:
            wrong = next(field for field in fields if field and not _is_number(field))
            raise ValueError(f"{path}, line {line}: {wrong[:40]!r} is not a number.") from None
    d = width - (label is not None)
    return np.array(numbers).reshape(-1, d), labels if label is not None else None


# ---------------------------------------------------------------- writing


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
            np.save(file, X, allow_pickle=False)
        elif labels is None:
            np.savez(file, X=X)
        else:
            np.savez(file, X=X, labels=np.array([str(label) for label in labels]))


def _write_text(path: Path, X: np.ndarray, labels: Sequence[Any] | None, delimiter: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([f"x{j + 1}" for j in range(X.shape[1])] + ([] if labels is None else ["label"]))
        for i, row in enumerate(X):  # str of a NumPy float is the shortest decimal that reads back the same
            writer.writerow([str(value) for value in row] + ([] if labels is None else [str(labels[i])]))


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
        yield temporary
        check_output(path, force=force)  # somebody may have written it meanwhile
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
