"""Tables of numbers in text, ``.csv`` and ``.tsv``, and lists of labels."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np

from .arrays import read_npy
from .files import LABEL_NAMES, Table, existing
from .lines import ending, is_number, lines, open_text

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PEEK = 100  # So many lines are seen before the header and the label column are decided.


def _rows(file: TextIO, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    reader = csv.reader(lines(file, path), delimiter=delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, [field.strip() for field in fields]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}.") from error


def read_text(path: Path, delimiter: str) -> Table:
    with open_text(path) as file:
        rows = _rows(file, path, delimiter)
        head = list(islice(rows, PEEK))
        if not head:
            raise ValueError(f"{path} is empty.")
        header, words, index = _layout([fields for _, fields in head], path)
        body = chain(head[1:] if header else head, rows)
        X, columns = _parse(body, len(head[0][1]), words, index, path)
    first = [name.lstrip("# ") for name in head[0][1]]
    names = [name for j, name in enumerate(first) if j not in (*words, index)] if header else None
    called = [(first[j] if header else "") or f"column {j + 1}" for j in words]
    return Table(X, names=names, words=dict(zip(called, columns, strict=True)))


def _layout(head: list[list[str]], path: Path) -> tuple[bool, list[int], int | None]:
    """Whether the first line is a header, which columns hold words, and which an index to pass over (None if none does)."""
    first, body = head[0], head[1:] or head
    if not any(is_number(field) for row in body for field in row):
        separator = "tabs" if ending(path) == ".tsv" else "commas"
        raise ValueError(f"{path} has no rows of numbers separated by {separator}.")
    several = [*body, first] if head[1:] and len(head) < 3 else body  # of two lines the first counts too
    text = [j for j in range(len(first)) if _is_text([row[j] for row in several if j < len(row)])]
    named = [j for j, name in enumerate(first) if name.lower() in LABEL_NAMES or (j == 0 < len(first) - 1 and not name)]
    others = [name for j, name in enumerate(first) if name and j not in text and j not in named]
    header = len(head) > 1 and (not any(map(is_number, others)) or _counts(others))
    words = sorted({*text, *named}) if header else text
    index = 0 if header and len(words) > 1 and 0 in words and not first[0] else None  # a data frame's, without a name
    return header, [j for j in words if j != index], index


def _is_text(fields: list[str]) -> bool:
    """Whether a column holds words: one wrong cell among numbers is a mistake to report, not a label."""
    return sum(not is_number(field) for field in fields if field) > len(fields) / 2


def _counts(names: list[str]) -> bool:
    """Whether a line reads 0, 1, 2, ...: a data frame's default column names."""
    return len(names) > 1 and names == [str(j) for j in range(len(names))]


def _parse(
    body: Iterable[tuple[int, list[str]]], width: int, words: list[int], index: int | None, path: Path
) -> tuple[np.ndarray, list[list[str]]]:
    """Numbers (n, d) and columns of words of the lines below the header."""
    numbers, columns = array("d"), [list[str]() for _ in words]
    kept = [j for j in range(width) if j not in (*words, index)]
    for line, fields in body:
        if len(fields) != width:
            raise ValueError(f"{path}, line {line}: {len(fields)} values, but the first line has {width}.")
        for column, j in zip(columns, words, strict=True):
            column.append(fields[j])
        try:
            numbers.extend([float(fields[j] or "nan") for j in kept])
        except ValueError:
            wrong = next(fields[j] for j in kept if fields[j] and not is_number(fields[j]))
            raise ValueError(f"{path}, line {line}: {wrong[:40]!r} is not a number.") from None
    if not kept:
        raise ValueError(f"{path} has words and no coordinates.")
    return np.array(numbers).reshape(-1, len(kept)), columns


def load_labels(path: str | Path) -> list[str]:
    """Read labels, one to a line (or a one-dimensional ``.npy``)."""
    path = existing(path)
    if ending(path) == ".npy":
        values = read_npy(path)
        if values.ndim != 1:
            raise ValueError(f"{path} must hold one label per row, but its array has shape {values.shape}.")
        return [str(value) for value in values]
    with open_text(path) as file:
        labels = [line.rstrip("\r\n") for line in lines(file, path)]
    if not labels:
        raise ValueError(f"{path} is empty: expected one label on each line.")
    return labels
