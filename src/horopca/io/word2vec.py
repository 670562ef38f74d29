"""word2vec's two formats: names with their vectors, in text and in binary."""

from __future__ import annotations

import mmap
from array import array
from itertools import chain, islice, takewhile
from pathlib import Path

import numpy as np

from .files import Table, as_text
from .lines import is_number, lines, open_text

LONGEST_NAME = 4096  # In binary, where nothing but a blank ends a name, it has at most so many bytes.


def read_word2vec_text(path: Path) -> Table:
    """Points of a text file: a name and d numbers on each line, after a line "n d" that may be missing.

    Names may hold blanks: the last d fields are the numbers.
    """
    with open_text(path) as file:
        body = ((k, line.split()) for k, line in enumerate(lines(file, path), 1) if line.strip())
        head = list(islice(body, 1))
        if not head:
            raise ValueError(f"{path} is empty.")
        claim = _claim(head[0][1])
        d = claim[1] if claim else _trailing_numbers(head[0][1])
        if d < 1:
            raise ValueError(f"{path}, line 1: expected a name and its numbers, separated by blanks.")
        labels, numbers = [], array("d")
        for k, fields in body if claim else chain(head, body):
            if len(fields) < d:
                raise ValueError(f"{path}, line {k}: {len(fields)} values, but {d} numbers and a name were expected.")
            numbers.extend(_floats(fields[-d:], k, path))
            labels.append(" ".join(fields[:-d]))
    if claim and len(labels) != claim[0]:
        raise ValueError(f"{path} says in its first line that it holds {claim[0]} points, but it holds {len(labels)}.")
    return Table(np.array(numbers).reshape(-1, d), words={"name": labels} if any(labels) else {})


def _claim(fields: list[str]) -> tuple[int, int] | None:
    """The numbers of points and of dimensions where a line holds these two and nothing else."""
    if len(fields) == 2 and all(field.isascii() and field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _trailing_numbers(fields: list[str]) -> int:
    """How many fields at the end of the line are numbers; the first field of several is a name."""
    return sum(1 for _ in takewhile(is_number, reversed(fields[1:])))


def _floats(fields: list[str], line: int, path: Path) -> list[float]:
    try:
        return [float(field) for field in fields]
    except ValueError:
        raise ValueError(f"{path}, line {line}: the last {len(fields)} values must be numbers.") from None


def read_word2vec_binary(path: Path) -> Table:
    """Points of a binary file: a line "n d", then names, each followed by a blank and d numbers of four bytes."""
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = content.find(b"\n", 0, 64)
        claim = _claim(content[: max(end, 0)].decode("ascii", "replace").split())
        if claim is None:
            raise ValueError(f"{path} does not begin with the line of word2vec's binary format: two whole numbers.")
        n, d = claim
        if not n or not d or len(content) - end < n * (4 * d + 2):  # before any memory is claimed
            raise ValueError(f"{path} is cut short: it says that it holds {n} points of {d} dimensions.")
        X, labels, at = np.empty((n, d), dtype=np.float32), [], end + 1
        for i in range(n):
            blank = content.find(b" ", at, at + LONGEST_NAME)
            stop = blank + 1 + 4 * d
            if blank < 0 or stop > len(content):
                raise ValueError(f"{path} is damaged or cut short after {i} of {n} points.")
            labels.append(as_text(content[at:blank].lstrip(b"\n")))
            X[i] = np.frombuffer(content[blank + 1 : stop], dtype="<f4")
            at = stop
    return Table(X, words={"name": labels})
