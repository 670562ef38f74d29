"""Shared by all formats: the results of reading, the error, the rule for memory, and helpers for messages.

Reading a file may take `BYTES_PER_BYTE` times its size on disk in memory, or `MIN_BYTES` bytes if that is more. Readers check
this before they allocate. Ordinary files need far less; a small file that claims to be huge, or that expands when it is
decompressed, raises a FormatError.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_cupy_array

CLASS_HEADERS = {"label", "labels", "class", "category"}  # A column of words with such a header holds classes.
NAME_HEADERS = {"name", "names", "id", "index", "node", "objects", "__index_level_0__"}  # One with such a header holds names.
LABEL_NAMES = CLASS_HEADERS | NAME_HEADERS
PREFERRED = ("X", "embeddings", "model.lt.weight", "lt.weight", "weight")  # Usual names of the points among other arrays.
MIN_BYTES = 1 << 28  # Bytes that reading any file may take.
BYTES_PER_BYTE = 16  # A larger file may take this multiple of its size: text of short words needs about 10.
POINTER_BYTES = 8  # Bytes of an entry of a list.
SHARED_WORDS = 1 << 16  # The first words of a file are stored once each: classes repeat, names do not.
_allowed: ContextVar[int | None] = ContextVar("_allowed", default=None)


class FormatError(ValueError):
    """A file cannot be read. Control characters in the message, such as those of a hostile array name, are escaped."""

    def __init__(self, message: str, keys: Iterable[str] = ()) -> None:
        super().__init__(printable(message))
        self.keys = list(keys)  # the arrays of the file, if it holds several and the caller has to choose one


class Table(NamedTuple):
    """The points in a file, with their names and labels; returned by `load`."""

    X: np.ndarray  #: (n, d), float64, float32 or float16
    labels: list[str] | None = None  #: n classes, which rows may share; without classes, the names of the rows
    names: list[str] | None = None  #: d names of the columns of X
    model: str | None = None  #: of the points, if the file states it
    row_names: list[str] | None = None  #: n names, all different unless the column is called "name" or was chosen by the caller
    words: Mapping[str, list[str]] = MappingProxyType({})  #: every column of words by its name
    values: Mapping[str, np.ndarray] = MappingProxyType({})  #: every column of numbers that are not coordinates
    curvature: float | None = None  #: of the points, if the file states it
    colours: Mapping[str, Mapping[str, str]] = MappingProxyType({})  #: colours of the classes of a column, by its name
    contents: Mapping[str, Any] = MappingProxyType({})  #: of a file with several arrays: shapes, or numbers, by their names


class EdgeList(NamedTuple):
    """The graph, tree or ontology in a file; returned by `load_edges`."""

    names: list[str]  #: n names; sorted if all are integers, otherwise in the order of the file
    edges: np.ndarray  #: (m, 2) positions in `names`; in a tree or an ontology from a child to its parent
    weights: np.ndarray | None = None  #: (m,) lengths, if the file has them
    codes: list[str] | None = None  #: n identifiers of the terms of an ontology, such as "GO:0008150"
    notes: Sequence[str] = ()  #: what was left out or replaced, one sentence each


def with_columns(
    table: Table,
    path: Path,
    *,
    columns: Sequence[str] = (),
    names: str | None = None,
    labels: str | None = None,
    values: Sequence[str] = (),
) -> Table:
    """The table with the chosen columns as coordinates, names, labels and values, and the others recognised."""
    chosen = [name for name in (names, labels) if name is not None]
    table = with_values(table, [*values, *(name for name in chosen if name not in table.words)], path)
    headers = table.names or ()
    inside = _matching(headers, columns, path) if columns else _numbered(headers, path)
    table = with_values(table, [header for header in headers if header not in inside], path)
    written = {name: [f"{number:.15g}" for number in table.values[name]] for name in chosen if name in table.values}
    return _with_names_and_labels(table._replace(words={**table.words, **written}), names, labels)


def with_values(table: Table, values: Sequence[str], path: Path) -> Table:
    """The table with these columns as values, not coordinates."""
    headers = list(table.names or ())
    known = [*headers, *table.words, *table.values]
    for name in values:
        if name not in known:
            raise FormatError(f"{path} has no column {name!r}; it has {listed(known)}.")
        if name in table.words:
            raise FormatError(f"{path} has words in its column {name!r}, which cannot be values.")
    kept = [j for j, name in enumerate(headers) if name not in values]
    if len(kept) == len(headers):
        return table
    if not kept:
        raise FormatError(f"{path} has no column left for coordinates.")
    found = {name: table.X[:, j] for j, name in enumerate(headers) if name in values}
    return table._replace(X=table.X[:, kept], names=[headers[j] for j in kept], values={**table.values, **found})


def _matching(headers: Sequence[str], columns: Sequence[str], path: Path) -> list[str]:
    """The headers that are in `columns` or match one of its patterns."""
    for pattern in columns:
        if pattern != "*" and not any(header == pattern or fnmatchcase(header, pattern) for header in headers):
            raise FormatError(f"{path} has no column of numbers {pattern!r}; it has {listed(headers)}.")
    return [header for header in headers if header in columns or any(fnmatchcase(header, one) for one in columns)]


def _numbered(headers: Sequence[str], path: Path) -> Collection[str]:
    """The headers of the coordinates: those of the only numbered series, such as x1, x2, x3; all headers if there is none.

    Warns about columns of numbers that are not in the series. Raises FormatError if there are several series, or a column
    that may be the time coordinate of points of the hyperboloid.
    """
    groups: dict[str, list[tuple[int, str]]] = {}
    for header in headers:
        if found := re.fullmatch(r"(.*?)(\d{1,9})", header):
            groups.setdefault(found[1], []).append((int(found[2]), header))
    ordered = [sorted(group) for group in groups.values() if len(group) > 1]
    series = [group for group in ordered if [k for k, _ in group] == [*range(group[0][0], group[0][0] + len(group))]]
    ranges = listed(f"{group[0][1]} to {group[-1][1]}" for group in series)
    if len(series) > 1:
        raise FormatError(f"{path} has several series of numbered columns ({ranges}): choose the coordinates with key=.")
    inside = {header for group in series for _, header in group}
    others = [header for header in headers if header not in inside]
    if not inside or not others:
        return headers
    if any(header.lower() in ("t", "time") for header in others):  # of the hyperboloid, or an annotation
        raise FormatError(f"{path}: {listed(others)} may belong to {ranges}: choose the coordinates with key=, '*' for all.")
    which = f"{listed(others)} {'is not a coordinate' if len(others) == 1 else 'are not coordinates'}"
    warnings.warn(f"{path}: {which}, because {ranges} are. To use other columns, pass key=.", stacklevel=4)
    return inside


def _with_names_and_labels(table: Table, names: str | None, labels: str | None) -> Table:
    """Find names and classes: as the caller or the file states, then by the header, then by whether all words are different."""
    for header, column in table.words.items():  # what the file states
        names = header if names is None and column == table.row_names else names
        labels = header if labels is None and column == table.labels else labels
    unique = [name for name, column in table.words.items() if name != labels and len(set(column)) == len(column)]
    by_header = [name for name in unique if name.lower() in NAME_HEADERS]
    free = [name for name in unique if name.lower() not in CLASS_HEADERS]
    repeated = [name for name in table.words if name != labels and name.lower() in ("name", "names")]
    named = names or next(iter([*by_header, *free, *repeated, *unique]), None)
    others = [name for name in table.words if name != named]
    classes = [name for name in others if name.lower() in CLASS_HEADERS]
    label = labels or next(iter([*classes, *others]), named)
    return table._replace(labels=table.words.get(label or ""), row_names=table.words.get(named or ""))


def existing(path: str | Path) -> Path:
    """The path of a file. Raises an OSError if there is none."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file was expected.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return path


@contextmanager
def named(path: Path, *, replace: bool = False) -> Iterator[None]:
    """Add the name of the file to an error of the operating system; if `replace`, in place of the name of a temporary file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (replace or error.filename is None):
            raise OSError(error.errno, error.strerror or os.strerror(error.errno), str(path)) from error
        if replace and type(error) is OSError:  # raised by HDF5
            raise OSError(f"{path} could not be written: {error}") from error
        raise


@contextmanager
def format_errors(path: Path, why: str, *errors: type[Exception]) -> Iterator[None]:
    """Convert the errors (by default all) that a reader or a library raises for a damaged or hostile file to FormatError."""
    known: tuple[type[Exception], ...] = (OSError, *(errors or [Exception]))
    try:
        with named(path):
            yield
    except (FormatError, ImportError):
        raise
    except known as error:
        # An OSError without an errno comes from a library and is about the content. EINVAL: a seek before the beginning.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise FormatError(f"{path} {why}.") from error


def printable(text: str) -> str:
    """The text with control characters as escapes, so that it cannot control a terminal.

    >>> printable("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def listed(names: Iterable[str], none: str = "none") -> str:
    """The first twenty names, separated by commas, for a message."""
    first = list(islice(names, 21))
    return printable(", ".join(name[:80] for name in first[:20]) + (", ..." if len(first) > 20 else "") or none)


def choose(arrays: Mapping[str, Any], key: str | None, path: Path, what: str, note: str = "") -> Any:
    """The array called `key`, the only array, or the one with a usual name of points."""
    if key is not None and key not in arrays:
        raise FormatError(f"{path} has no {what} {key!r}; it holds {listed(arrays)}.")
    for choice in (key, *(arrays if len(arrays) == 1 else ()), *PREFERRED):
        if choice in arrays:
            return arrays[choice]
    if not arrays:
        raise FormatError(f"{path} holds no {what}{note}.")
    found = [f"{name} {tuple(array.shape)}" if hasattr(array, "shape") else name for name, array in arrays.items()]
    raise FormatError(f"{path} holds {listed(found)}{note}: choose the {what} to read with key=.", arrays)


def as_text(value: Any) -> str:
    """A label as text that can be written: bytes as UTF-8, and what UTF-8 cannot encode as an escape such as ``\\udc80``."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def as_matrix(X: Any) -> np.ndarray:
    """Array-like X as a NumPy matrix of real numbers, with NaN for missing values. Raises ValueError if it is not one."""
    if hasattr(X, "detach"):
        X = X.detach().cpu()
        X = X.float() if str(X.dtype) == "torch.bfloat16" else X
    elif is_cupy_array(X):
        X = X.get()
    elif hasattr(X, "iloc") and X.to_numpy().dtype == object:
        with suppress(TypeError, ValueError):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise ValueError(f"X must be a matrix of numbers, but it has shape {values.shape} and dtype {values.dtype}.")
    return values


def check_finite(blocks: Iterable[np.ndarray], path: Path) -> None:
    """Raise ValueError if a row of the blocks is not finite."""
    bad = ~np.concatenate([np.isfinite(block).all(axis=1) for block in blocks])
    if bad.any():
        raise ValueError(
            f"{path} must hold finite numbers, but {bad.sum()} of {len(bad)} rows have a NaN, an infinity or a missing "
            f"value (the first is row {bad.argmax()}, counting from 0). Drop or repair such rows."
        )


def matrix(values: np.ndarray, path: Path) -> np.ndarray:
    """The array as a matrix of floats. Raises FormatError if it is not a matrix of real numbers."""
    if values.dtype.kind not in "fiub":
        raise FormatError(f"{path} must hold real numbers, but its array has dtype {values.dtype}.")
    if values.ndim != 2:
        raise FormatError(f"{path} must hold one point per row, but its array has shape {values.shape}.")
    if 0 in values.shape:
        raise FormatError(f"{path} holds no points: its array has shape {values.shape}.")
    short = values.dtype.kind == "f" and values.dtype.itemsize < 8
    return values.astype(values.dtype.newbyteorder("=") if short else np.float64)  # half precision is kept


@contextmanager
def memory_limit(nbytes: float) -> Iterator[None]:
    """Set the memory that reading a file may take, for all files that are read in the context.

    Parameters
    ----------
    nbytes : number
        The limit in bytes, instead of the default: 16 times the size of the file, or 256 MiB if that is more.

    See Also
    --------
    load : reads within the limit

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from horopca.io import load, memory_limit
    >>> path = Path(tempfile.mkdtemp()) / "packed.npz"
    >>> np.savez_compressed(path, np.zeros((100, 5)))
    >>> with memory_limit(64e9):
    ...     load(path).X.shape
    (100, 5)
    """
    if not nbytes > 0:
        raise ValueError(f"nbytes must be a number of bytes above 0, but is {nbytes!r}.")
    before = _allowed.set(int(min(nbytes, 1 << 62)))
    try:
        yield
    finally:
        _allowed.reset(before)


class Budget:
    """The memory that reading one file has taken, and its limit."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, path.stat().st_size
        self.limit = _allowed.get() or max(MIN_BYTES, BYTES_PER_BYTE * self.size)
        self.claimed = 0
        self._words: dict[str, str] = {}

    def claim(self, nbytes: int) -> None:
        """Count bytes that are about to be allocated. Raises FormatError beyond the limit."""
        self.claimed += nbytes
        if self.claimed > self.limit:
            disk, memory, limit = map(in_words, (self.size, self.claimed, self.limit))
            raise FormatError(
                f"{self.path} has {disk} on disk but would take {memory} or more in memory, and {limit} are allowed. If "
                "you trust it, read it inside horopca.io.memory_limit(bytes) (on the command line, horopca --max-memory BYTES)."
            )

    def word(self, text: str) -> str:
        """The text, counted; equal short texts share one string."""
        known = self._words.get(text)
        if known is None:
            self.claim(POINTER_BYTES + sys.getsizeof(text))
            if len(self._words) < SHARED_WORDS:
                self._words[text] = text
            return text
        self.claim(POINTER_BYTES)
        return known


def in_words(nbytes: int) -> str:
    """A number of bytes with its unit.

    >>> in_words(10), in_words(3_500), in_words(8_500_000_000)
    ('10 bytes', '3.5 kB', '8.5 GB')
    """
    size, units = float(nbytes), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"
