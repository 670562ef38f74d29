"""Tables of numbers in text, ``.csv`` and ``.tsv``, and lists of labels."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .arrays import read_npy
from .budget import Budget
from .files import LABEL_NAMES, FormatError, Table, existing
from .lines import ending, is_number, number, open_lines

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PEEK = 100  # Lines that are read before the header and the columns of words are recognised.


class Layout(NamedTuple):
    """Whether a table has a header, and which columns hold words, which coordinates; an unnamed index is in neither."""

    header: bool
    words: list[int]
    coordinates: list[int]


def read_text(path: Path, delimiter: str) -> Table:
    """Coordinates and columns of words of a table in text."""
    budget = Budget(path)
    with open_lines(path, budget) as lines:
        rows = _rows(lines, path, delimiter)
        head = list(islice(rows, PEEK))
        if not head:
            raise FormatError(f"{path} is empty.")
        first = [field.strip() for field in head[0][1]]
        layout = _layout([first, *([field.strip() for field in fields] for _, fields in head[1:])], path)
        body = chain(head[1:] if layout.header else head, rows)
        X, columns = _parse(body, len(first), layout, budget)
    if _is_padded([fields for _, fields in head[1:] or head], layout.coordinates):
        columns = [[word.strip() for word in column] for column in columns]
    first = [name.lstrip("# ") for name in first]
    names = [first[j] for j in layout.coordinates] if layout.header else None
    called = [(first[j] if layout.header else "") or f"column {j + 1}" for j in layout.words]
    return Table(X, names=names, words=dict(zip(called, columns, strict=True)))


def _rows(lines: Iterator[str], path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise FormatError(f"{path}, line {reader.line_num}: {error}.") from error


def _layout(head: list[list[str]], path: Path) -> Layout:
    first, body = head[0], head[1:] or head
    if not any(is_number(field) for row in body for field in row):
        separator = "tabs" if ending(path) == ".tsv" else "commas"
        raise FormatError(f"{path} has no rows of numbers separated by {separator}.")
    several = [*body, first] if head[1:] and len(head) < 3 else body  # of two lines the first counts too
    text = {j for j in range(len(first)) if _is_text([row[j] for row in several if j < len(row)])}
    named = {j for j, name in enumerate(first) if name.lower() in LABEL_NAMES or (j == 0 < len(first) - 1 and not name)}
    others = [j for j, name in enumerate(first) if name and j not in text and j not in named]
    counted = _is_counted([first[j] for j in others], [row[j] for row in body for j in others if j < len(row)])
    header = len(head) > 1 and (counted or not any(is_number(first[j]) for j in others))
    words = text | named if header else text
    index = {0} if header and len(words) > 1 and 0 in words and not first[0] else set[int]()  # of a data frame
    coordinates = [j for j in range(len(first)) if j not in words]
    if not coordinates:
        raise FormatError(f"{path} has words and no coordinates.")
    return Layout(header, sorted(words - index), coordinates)


def _is_text(fields: list[str]) -> bool:
    """Whether most fields of a column are words: a single one among numbers is an error in the file, not a label."""
    return sum(not is_number(field) for field in fields if field) > len(fields) / 2


def _is_counted(names: list[str], body: list[str]) -> bool:
    """Whether a line reads 0, 1, 2, ... or 1, 2, 3, ..., a data frame's default header, above numbers with fractions."""
    counts = [[str(start + j) for j in range(len(names))] for start in (0, 1)]
    return len(names) > 1 and names in counts and not all(field.lstrip("-").isdigit() for field in body)


def _parse(
    body: Iterable[tuple[int, list[str]]], width: int, layout: Layout, budget: Budget
) -> tuple[np.ndarray, list[list[str]]]:
    """Numbers (n, d) and columns of words of the lines below the header."""
    numbers, columns = array("d"), [list[str]() for _ in layout.words]
    for line, fields in body:
        if len(fields) != width:
            raise FormatError(f"{budget.path}, line {line}: {len(fields)} values, but the first line has {width}.")
        for column, j in zip(columns, layout.words, strict=True):
            column.append(budget.word(fields[j]))
        try:
            numbers.extend([number(fields[j].strip() or "nan") for j in layout.coordinates])
        except ValueError:
            wrong = next(fields[j].strip() for j in layout.coordinates if fields[j].strip() and not is_number(fields[j]))
            raise FormatError(f"{budget.path}, line {line}: {wrong[:40]!r} is not a number.") from None
    return np.frombuffer(numbers).reshape(-1, len(layout.coordinates)), columns


def _is_padded(rows: list[list[str]], coordinates: list[int]) -> bool:
    """Whether a file has blanks beside its separators: around the numbers too. Other blanks belong to the words."""
    numbers = [row[j] for row in rows for j in coordinates if 0 < j < len(row)]
    return bool(numbers) and all(field != field.strip() for field in numbers)


def load_labels(path: str | Path) -> list[str]:
    """Read labels from a text file with one on each line, or from a one-dimensional ``.npy`` file."""
    path = existing(path)
    if ending(path) == ".npy":
        values = read_npy(path)
        if values.ndim != 1:
            raise FormatError(f"{path} must hold one label per row, but its array has shape {values.shape}.")
        return [str(value) for value in values]
    budget = Budget(path)
    with open_lines(path, budget) as lines:
        labels = [budget.word(line.rstrip("\r\n")) for line in lines]
    if not labels:
        raise FormatError(f"{path} is empty: expected one label on each line.")
    return labels
