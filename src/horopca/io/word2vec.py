"""The two formats of word2vec, text and binary: names with their vectors."""

from __future__ import annotations

import mmap
from array import array
from itertools import chain, takewhile
from pathlib import Path

import numpy as np

from .budget import WORD, Budget
from .files import FormatError, Table, as_text
from .lines import is_number, number, open_lines

LONGEST_NAME = 4096  # Bytes of a name in the binary format, where only a blank ends it.


def read_word2vec_text(path: Path) -> Table:
    """Points of a text file: a name and d numbers on each line, below an optional line "n d".

    Names may contain blanks: the last d fields are the numbers. A file without names, as `numpy.savetxt` writes it, has d
    numbers on each line. Without the line "n d" that is a file in which all fields are numbers, unless the first column holds
    different integers and the others do not: these are the names of nodes.
    """
    budget = Budget(path)
    labels, numbers = list[str](), array("d")
    with open_lines(path, budget) as lines:
        body = ((k, line.strip()) for k, line in enumerate(lines, 1) if line.strip())
        first = next(body, None)
        if first is None:
            raise FormatError(f"{path} is empty.")
        claim = _claim(first[1])
        d = claim[1] if claim else sum(1 for _ in takewhile(is_number, reversed(first[1].split()[1:])))
        if d < 1:
            raise FormatError(f"{path}, line 1: expected a name and its numbers, separated by blanks.")
        for k, line in body if claim else chain([first], body):
            fields = line.rsplit(None, d)
            if len(fields) < d:
                raise FormatError(f"{path}, line {k}: {len(fields)} values, but {d} numbers and a name were expected.")
            numbers.extend(_floats(fields[-d:], k, path))
            labels.append(budget.word(fields[0]) if len(fields) > d else "")
    if claim and len(labels) != claim[0]:
        raise FormatError(f"{path} says in its first line that it holds {claim[0]} points, but it holds {len(labels)}.")
    X = np.frombuffer(numbers).reshape(-1, d)
    if not claim and _are_coordinates(labels, X):
        return Table(np.column_stack([np.array(labels, dtype=np.float64), X]))
    return Table(X, words={"name": labels} if any(labels) else {})


def _claim(line: str) -> tuple[int, int] | None:
    """The numbers of points and of dimensions if a line consists of these two."""
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _are_coordinates(first: list[str], X: np.ndarray) -> bool:
    """Whether the first column holds coordinates rather than names."""
    identifiers = len(set(first)) == len(first) and all(field.isdigit() for field in first) and not (X == np.round(X)).all()
    return all(map(is_number, first)) and not identifiers


def _floats(fields: list[str], line: int, path: Path) -> list[float]:
    try:
        return [number(field) for field in fields]
    except ValueError:
        raise FormatError(f"{path}, line {line}: the last {len(fields)} values must be numbers.") from None


def read_word2vec_binary(path: Path) -> Table:
    """Points of a binary file: a line "n d", then names, each followed by a blank and d numbers of four bytes."""
    budget = Budget(path)
    if not budget.size:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = content.find(b"\n", 0, 64)
        claim = _claim(content[: max(end, 0)].decode("ascii", "replace"))
        if claim is None:
            raise FormatError(f"{path} does not begin with the line of word2vec's binary format: two whole numbers.")
        n, d = claim
        if not n or not d or len(content) - end < n * (4 * d + 2):  # before any memory is allocated
            raise FormatError(f"{path} is cut short: it says that it holds {n} points of {d} dimensions.")
        budget.claim(n * (4 * d + WORD))
        X, labels, at = np.empty((n, d), dtype=np.float32), list[str](), end + 1
        for i in range(n):
            blank = content.find(b" ", at, at + LONGEST_NAME)
            stop = blank + 1 + 4 * d
            if blank < 0 or stop > len(content):
                raise FormatError(f"{path} is damaged or cut short after {i} of {n} points.")
            labels.append(as_text(content[at:blank].lstrip(b"\n")))
            X[i] = np.frombuffer(content[blank + 1 : stop], dtype="<f4")
            at = stop
    return Table(X, words={"name": labels})
