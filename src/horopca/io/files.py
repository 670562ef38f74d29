"""What every format shares: tables, sentences, the existence of files."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

CLASS_HEADERS = {"label", "labels", "class", "category"}  # Under these headers a column of words holds classes.
NAME_HEADERS = {"name", "names", "id", "index", "node", "objects", "__index_level_0__"}  # Under these it holds names.
LABEL_NAMES = CLASS_HEADERS | NAME_HEADERS
PREFERRED = ("X", "embeddings", "model.lt.weight", "lt.weight", "weight")  # Points are called so, beside other arrays.


class FormatError(ValueError):
    """A sentence about a file, for whoever gave it."""


class Table(NamedTuple):
    """What a file holds."""

    X: np.ndarray  #: (n, d), float64, float32 or float16
    labels: list[str] | None = None  #: n: classes, that several rows share; or, where there are none, the names of the rows
    names: list[str] | None = None  #: d, of the columns of X
    model: str | None = None  #: where the file says in which model its points are
    row_names: list[str] | None = None  #: n, all different unless told to be names
    words: Mapping[str, list[str]] = MappingProxyType({})  #: every column of words, n of them, by its name
    values: Mapping[str, np.ndarray] = MappingProxyType({})  #: and of numbers that are no coordinates
    curvature: float | None = None  #: where the file says at which curvature its points are

    def sorted_out(self, names: str | None = None, labels: str | None = None) -> Table:
        """The table with its columns of words told apart: names if all are different, and else classes; by their headers
        first of all, or as told."""
        unique = [name for name, column in self.words.items() if name != labels and len(set(column)) == len(column)]
        called = [name for name in unique if name.lower() in NAME_HEADERS]
        free = [name for name in unique if name.lower() not in CLASS_HEADERS]
        named = names or next(iter([*called, *free, *unique]), None)
        others = [name for name in self.words if name != named]
        classes = [name for name in others if name.lower() in CLASS_HEADERS]
        label = labels or next(iter([*classes, *others]), named)
        return self._replace(labels=self.words.get(label or ""), row_names=self.words.get(named or ""))

    def as_told(self, names: str | None, labels: str | None, values: Sequence[str], path: Path) -> Table:
        """The table with columns as a user says that they are; those that stood among the coordinates are taken out."""
        words = [name for name in (names, labels) if name is not None]
        columns = self.names or []
        for name in (*words, *values):
            if name not in (*columns, *self.words, *self.values):
                raise FormatError(f"{path} has no column {name!r}; it has {listed([*columns, *self.words, *self.values])}.")
            if name in values and name in self.words:
                raise FormatError(f"{path} has words in its column {name!r}, which cannot be values.")
        kept = [j for j, name in enumerate(columns) if name not in (*words, *values)]
        if columns and not kept:
            raise FormatError(f"{path} has no column left for coordinates.")
        numbers = {**self.values, **{name: self.X[:, j] for j, name in enumerate(columns) if j not in kept}}
        spoken = {name: [f"{number:.15g}" for number in numbers[name]] for name in words if name in numbers}
        table = self._replace(words={**self.words, **spoken}, values=numbers)
        if len(kept) < len(columns):
            table = table._replace(X=self.X[:, kept], names=[columns[j] for j in kept])
        return table.sorted_out(names, labels)


def existing(path: str | Path) -> Path:
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file was expected.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    return path


@contextmanager
def named(path: Path) -> Iterator[None]:
    """A failure of the disk with the name of the file that it is about."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextmanager
def format_errors(path: Path, why: str, *errors: type[Exception]) -> Iterator[None]:
    """What a library raises at a damaged or hostile file, said in a sentence."""
    try:
        with named(path):
            yield
    except FormatError:
        raise
    except errors as error:
        raise FormatError(f"{path} {why}.") from error
    except OSError as error:
        # without a number it is a library's, about the content and not about the disk; EINVAL: a place before the beginning
        if error.errno in (None, errno.EINVAL):
            raise FormatError(f"{path} {why}.") from error
        raise


def listed(names: Iterable[str], none: str = "none") -> str:
    """Names in a sentence, which would not be one with all of a thousand."""
    first = list(islice(names, 21))
    return ", ".join(name[:80] for name in first[:20]) + (", ..." if len(first) > 20 else "") or none


def choose(arrays: Mapping[str, Any], key: str | None, path: Path, what: str, note: str = "") -> Any:
    """The array that is asked for, the only one, or the one that is called as points are called."""
    if key is not None and key not in arrays:
        raise FormatError(f"{path} has no {what} {key!r}; it holds {listed(arrays, 'none')}.")
    for choice in (key, *(arrays if len(arrays) == 1 else ()), *PREFERRED):
        if choice in arrays:
            return arrays[choice]
    raise FormatError(f"{path} holds {listed(arrays, f'no {what}')}{note}: say which {what} to read with key=.")


def as_text(value: Any) -> str:
    """A label as text that can be written: bytes as UTF-8, and what no text can hold as an escape such as ``\\udc80``."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def check_finite(blocks: Iterable[np.ndarray], path: Path) -> None:
    """Refuse rows, a block after another, that are not all finite numbers."""
    bad = ~np.concatenate([np.isfinite(block).all(axis=1) for block in blocks])
    if bad.any():
        raise ValueError(
            f"{path} must hold finite numbers, but {bad.sum()} of {len(bad)} rows have a NaN, an infinity or a missing "
            f"value (the first is row {bad.argmax()}, counting from 0)."
        )


def matrix(values: np.ndarray, path: Path) -> np.ndarray:
    """The array as floats in rows, or a sentence why it is not one."""
    if values.dtype.kind not in "fiub":
        raise FormatError(f"{path} must hold real numbers, but its array has dtype {values.dtype}.")
    if values.ndim != 2:
        raise FormatError(f"{path} must hold one point per row, but its array has shape {values.shape}.")
    if 0 in values.shape:
        raise FormatError(f"{path} holds no points: its array has shape {values.shape}.")
    short = values.dtype.kind == "f" and values.dtype.itemsize < 8
    return values.astype(values.dtype.newbyteorder("=") if short else np.float64)  # half precision stays known as such
