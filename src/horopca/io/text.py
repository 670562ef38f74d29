"""Text, also compressed (``.gz``): tables (``.csv``, ``.tsv``), lists of labels, and the two formats of word2vec."""

from __future__ import annotations

import csv
import gzip
import mmap
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, TextIO, cast

import numpy as np

from .arrays import map_npy
from .files import LABEL_NAMES, Budget, FormatError, Table, as_text, existing, format_errors, named, with_values
from .metadata import COLUMN_KINDS, COLUMNS

MAX_LINE = 1 << 22  # Characters of the longest line of a table or an edge list: room for 100,000 columns.
MAX_NAME = 4096  # Bytes of the longest name in word2vec's binary format, where only a blank ends it.
PIECE = 1 << 16  # Characters that are read at a time.
PEEKED_LINES = 100  # Lines from which the separator, the header and the columns of words are recognised.
COPIES = 4  # The memory of a whole text in multiples of its size: the pieces, the text, its bytes, and wide characters.
FLOAT_BYTES = 8
UNPACKING_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def ending(path: Path) -> str:
    """The last suffix of the name, or for a ``.gz`` file the one before it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]


def open_bytes(path: Path) -> IO[bytes]:
    """An open binary file, decompressed if its name ends in ``.gz``."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else open(path, "rb")


@contextmanager
def _open_text(path: Path) -> Iterator[TextIO]:
    """An open text file. Bytes that are not UTF-8 become lone surrogates, at which `_check_utf8` raises FormatError."""
    why = "is damaged or cut short: it cannot be unpacked"
    with format_errors(path, why, *UNPACKING_ERRORS), open_bytes(path) as file:
        yield TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _check_utf8(text: str, path: Path, line: int) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        line += text.count("\n", 0, error.start)
        raise FormatError(f"{path}, line {line}: this is not text in UTF-8. Save it in this encoding.") from error


@contextmanager
def open_lines(path: Path, budget: Budget) -> Iterator[Iterator[str]]:
    """The lines of a text file, one after another."""

    def lines(file: TextIO) -> Iterator[str]:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            _check_utf8(line, path, number)
            if len(line) == MAX_LINE:
                raise FormatError(f"{path}, line {number}: lines of more than {MAX_LINE:,} characters are not supported.")
            budget.claim(len(line))
            yield line

    with _open_text(path) as file:
        yield lines(file)


def read_whole(path: Path, budget: Budget) -> str:
    """The whole text of a file, whose lines may have any length."""
    pieces = []
    with _open_text(path) as file:
        while piece := file.read(PIECE):
            budget.claim(COPIES * len(piece))
            pieces.append(piece)
    text = "".join(pieces)
    _check_utf8(text, path, 1)
    return text


def beginning(path: Path) -> str:
    """The first 64 KiB of a file as text, with bytes that are not UTF-8 replaced; empty if they cannot be decompressed."""
    try:
        with named(path), open_bytes(path) as file:
            return file.read(PIECE).decode("utf-8-sig", "replace")
    except UNPACKING_ERRORS:
        return ""


def number(text: str) -> float:
    """The number that a text represents. Raises ValueError for other texts, and for "0_1", which Python's float reads as 1."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def is_number(text: str) -> bool:
    """Whether a text represents a number, NaN and infinity included."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def read_text(path: Path, usual: str | None) -> Table:
    """Points of a text file. The separator is the usual one (None for blanks), unless the first lines show another."""
    head = beginning(path) if path.is_file() else ""  # a pipe cannot be read twice
    lines = [line.strip() for line in head.splitlines()[:PEEKED_LINES] if line.strip()]
    if usual is None and lines and "\t" in lines[0] and not _count(lines[0], None):
        usual = "\t"  # a header
    numbers = {mark: sum(_count(line, mark) for line in lines) for mark in dict.fromkeys([usual, ",", "\t", ";", None])}
    if ";" in head and not (numbers[";"] or numbers["\t"]) and any(_count(line.replace(",", "."), ";") for line in lines):
        raise FormatError(f"{path} has decimal commas, which are not supported: use decimal points.")
    if usual is None:  # a word may contain a comma
        mark = max(numbers, key=lambda mark: numbers[mark])
    elif lines and usual in lines[0]:  # the lines of a quoted name would count
        mark = usual
    else:
        mark = next((mark for mark in numbers if numbers[mark]), usual)
    return _read_word2vec(path) if mark is None else _read_table(path, mark)


def _count(line: str, mark: str | None) -> int:
    """The number of values on a line that are numbers; of those separated by blanks, the last ones."""
    return sum(map(is_number, line.split(mark))) if mark else sum(1 for _ in takewhile(is_number, reversed(line.split())))


def _read_table(path: Path, delimiter: str) -> Table:
    """Coordinates and columns of words of a table in text."""
    budget = Budget(path)
    with open_lines(path, budget) as lines:
        rows = table_rows(lines, path, delimiter)
        head = list(islice(rows, PEEKED_LINES))
        if not head:
            raise FormatError(f"{path} is empty.")
        if _lacks_index_header(*(fields for _, fields in head[:2])):
            head[0] = (head[0][0], ["", *head[0][1]])
        table = [[field.strip() for field in fields] for _, fields in head]
        first, (header, words, coordinates) = [name.lstrip("# ") for name in table[0]], _layout(table, path)
        X, columns = _parse(chain(head[1:] if header else head, rows), len(first), words, coordinates, budget)
    if _is_padded([fields for _, fields in head[1:] or head], coordinates):
        columns = [[word.strip() for word in column] for column in columns]
    repeated = [name for name, times in Counter(first).items() if name and times > 1]
    if header and repeated:
        raise FormatError(f"{path} has several columns with the header {repeated[0]!r}: rename all but one.")
    names = [first[j] for j in coordinates] if header else None
    called = [(first[j] if header else "") or f"column {j + 1}" for j in words]
    return Table(X, names=names, words=dict(zip(called, columns, strict=True)))


def read_stated_table(path: Path, delimiter: str, kinds: Mapping[str, str]) -> Table:
    """A table whose columns that are not coordinates are known: the kinds of `COLUMN_KINDS` by their headers."""
    if not isinstance(kinds, dict) or not all(kind in COLUMN_KINDS for kind in kinds.values()):
        raise FormatError(f"{path} has damaged metadata: {COLUMNS} must be one of {', '.join(COLUMN_KINDS)} by their headers.")
    budget = Budget(path)
    with open_lines(path, budget) as lines:
        rows = table_rows(lines, path, delimiter)
        _, header = next(rows, (0, list[str]()))
        words = [j for j, name in enumerate(header) if kinds.get(name, "values") != "values"]
        numeric = [j for j in range(len(header)) if j not in words]
        if len(set(header)) < len(header) or not numeric or not kinds.keys() <= set(header):
            raise FormatError(f"{path} does not have the columns that its metadata states.")
        X, columns = _parse(rows, len(header), words, numeric, budget)
    found = dict(zip((header[j] for j in words), columns, strict=True))
    by_kind = {kinds[name]: column for name, column in found.items()}
    table = Table(X, by_kind.get("labels"), [header[j] for j in numeric], row_names=by_kind.get("names"), words=found)
    return with_values(table, [name for name, kind in kinds.items() if kind == "values"], path)


def table_rows(lines: Iterator[str], path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise FormatError(f"{path}, line {reader.line_num}: {error}.") from error


def _lacks_index_header(header: list[str], row: list[str] | None = None) -> bool:
    """Whether a header has one field less than a row, that of the row names, as R writes tables."""
    named = row is not None and len(row) == len(header) + 1 and (row[0].isdigit() or not is_number(row[0]))
    return named and not any(map(is_number, header))


def _layout(head: list[list[str]], path: Path) -> tuple[bool, list[int], list[int]]:
    """Whether a table has a header, and which columns hold words, which coordinates; an unnamed index is in neither."""
    first, body = head[0], head[1:] or head
    if not any(is_number(field) for row in body for field in row):
        raise FormatError(f"{path} has no rows of numbers, separated by commas, tabs, semicolons or blanks.")
    several = [*body, first] if head[1:] and len(head) < 3 else body  # of two lines the first counts too
    text = {j for j in range(len(first)) if _is_text([row[j] for row in several if j < len(row)])}
    named = {j for j, name in enumerate(first) if name.lower() in LABEL_NAMES or (j == 0 < len(first) - 1 and not name)}
    others = [j for j, name in enumerate(first) if name and j not in text and j not in named]
    counts = [first[j] for j in others if is_number(first[j])]  # beside the name of an index or of another column
    counted = _is_default_index(counts, [row[j] for row in body for j in others if j < len(row)])
    header = len(head) > 1 and (counted or not any(is_number(first[j]) for j in others))
    words = text | named if header else text
    if not header and _is_default_index([row[0] for row in head], [field for row in head for field in row[1:]]):
        words = words | {0}  # the index of a data frame
    index = {0} if header and len(words) > 1 and 0 in words and not first[0] else set[int]()  # of a data frame
    coordinates = [j for j in range(len(first)) if j not in words]
    if not coordinates:
        raise FormatError(f"{path} has columns of words, but none of coordinates.")
    return header, sorted(words - index), coordinates


def _is_text(fields: list[str]) -> bool:
    """Whether most fields of a column are words: a single one among numbers is an error in the file, not a label."""
    return sum(not is_number(field) for field in fields if field) > len(fields) / 2


def _is_default_index(names: list[str], body: list[str]) -> bool:
    """Whether names are 0, 1, 2, ... or 1, 2, 3, ..., the default header or index of a data frame, beside fractions."""
    counts = [[str(start + j) for j in range(len(names))] for start in (0, 1)]
    return len(names) > 1 and names in counts and not all(field.lstrip("-").isdigit() for field in body)


def _parse(
    body: Iterable[tuple[int, list[str]]], width: int, words: list[int], coordinates: list[int], budget: Budget
) -> tuple[np.ndarray, list[list[str]]]:
    """Numbers (n, d) and columns of words of the lines below the header."""
    numbers, columns = array("d"), [list[str]() for _ in words]
    for line, fields in body:
        if len(fields) != width:
            raise FormatError(f"{budget.path}, line {line}: {len(fields)} values, but the first line has {width}.")
        for column, j in zip(columns, words, strict=True):
            column.append(budget.word(fields[j]))
        budget.claim(FLOAT_BYTES * len(coordinates))
        try:
            numbers.extend([number(fields[j].strip() or "nan") for j in coordinates])
        except ValueError:
            wrong = next(fields[j].strip() for j in coordinates if fields[j].strip() and not is_number(fields[j]))
            raise FormatError(f"{budget.path}, line {line}: {wrong[:40]!r} is not a number.") from None
    return np.frombuffer(numbers).reshape(-1, len(coordinates)), columns


def _is_padded(rows: list[list[str]], coordinates: list[int]) -> bool:
    """Whether blanks pad all fields, the numbers too; other blanks belong to the words."""
    numbers = [row[j] for row in rows for j in coordinates if 0 < j < len(row)]
    return bool(numbers) and all(field != field.strip() for field in numbers)


def load_labels(path: str | Path) -> list[str]:
    r"""Read labels, one for each point.

    Parameters
    ----------
    path : str or Path
        A text file with a label on each line, or a one-dimensional ``.npy`` file.

    Returns
    -------
    list of str

    See Also
    --------
    load : points, with labels that are in the same file

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from horopca.io import load_labels
    >>> path = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = path.write_text("cat\ndog\n")
    >>> load_labels(path)
    ['cat', 'dog']
    """
    path = existing(path)
    if ending(path) == ".npy":
        values = map_npy(path)
        if values.ndim != 1:
            raise FormatError(f"{path} must hold one label per row, but its array has shape {values.shape}.")
        return [str(value) for value in values]
    budget = Budget(path)
    with open_lines(path, budget) as lines:
        labels = [budget.word(line.rstrip("\r\n")) for line in lines]
    if not labels:
        raise FormatError(f"{path} is empty: expected one label on each line.")
    return labels


def _read_word2vec(path: Path) -> Table:
    """Points of a text file: a name and d numbers on each line, below an optional line "n d" or comment.

    Names may contain blanks: the last d fields are the numbers. A file without names, as `numpy.savetxt` writes it, has d
    numbers on each line. Without the line "n d" that is a file in which all fields are numbers, unless the first column holds
    different integers and the others do not: these are the names of nodes.
    """
    budget = Budget(path)
    labels, numbers = list[str](), array("d")
    with open_lines(path, budget) as lines:
        body = ((k, line.strip()) for k, line in enumerate(lines, 1) if line.strip())
        first = next((line for line in body if line[1][0] != "#" or _count(line[1], None)), None)
        if first is None:
            raise FormatError(f"{path} is empty.")
        header, values = _word2vec_header(first[1]), _count(first[1], None)
        d = header[1] if header else values - (values == len(first[1].split()) > 1)  # the first value may be a name
        if d < 1:
            raise FormatError(f"{path}, line {first[0]}: expected a name and its numbers, separated by blanks.")
        for k, line in body if header else chain([first], body):
            fields = line.rsplit(None, d)
            if len(fields) < d:
                raise FormatError(f"{path}, line {k}: {len(fields)} values, but {d} numbers and a name were expected.")
            budget.claim(FLOAT_BYTES * d)
            try:
                numbers.extend(map(number, fields[-d:]))
            except ValueError:
                raise FormatError(f"{path}, line {k}: the last {d} values must be numbers.") from None
            labels.append(budget.word(fields[0]) if len(fields) > d else "")
    if header and len(labels) != header[0]:
        raise FormatError(f"{path} says in its first line that it holds {header[0]} points, but it holds {len(labels)}.")
    X = np.frombuffer(numbers).reshape(-1, d)
    if not header and any(labels) and all(map(is_number, labels)):
        identifiers = len(set(labels)) == len(labels) and all(map(str.isdigit, labels)) and not (X == np.round(X)).all()
        if not identifiers:
            return Table(np.column_stack([np.array(labels, dtype=np.float64), X]))
    return Table(X, words={"name": labels} if any(labels) else {})


def _word2vec_header(line: str) -> tuple[int, int] | None:
    """The numbers n of points and d of dimensions, if a line is the header "n d" of word2vec's formats; None otherwise."""
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def is_word2vec(path: Path) -> bool:
    """Whether a text file begins with the header "n d" of word2vec's format."""
    return _word2vec_header(beginning(path).partition("\n")[0]) is not None


def read_word2vec_binary(path: Path) -> Table:
    """Points of a binary file: a line "n d", then names, each followed by a blank and d numbers of four bytes."""
    budget = Budget(path)
    if not budget.size:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = content.find(b"\n", 0, 64)
        header = _word2vec_header(content[: max(end, 0)].decode("ascii", "replace"))
        if header is None:
            raise FormatError(f"{path} does not begin with the line of word2vec's binary format: two whole numbers.")
        n, d = header
        if not n or not d or len(content) - end < n * (4 * d + 2):  # before any memory is allocated
            raise FormatError(f"{path} is cut short: it says that it holds {n} points of {d} dimensions.")
        budget.claim(4 * n * d)
        X, labels, at = np.empty((n, d), dtype=np.float32), list[str](), end + 1
        for i in range(n):
            blank = content.find(b" ", at, at + MAX_NAME)
            stop = blank + 1 + 4 * d
            if blank < 0 or stop > len(content):
                raise FormatError(f"{path} is damaged or cut short after {i} of {n} points.")
            labels.append(budget.word(as_text(content[at:blank].lstrip(b"\n"))))
            X[i] = np.frombuffer(content[blank + 1 : stop], dtype="<f4")
            at = stop
    return Table(X, words={"name": labels})
