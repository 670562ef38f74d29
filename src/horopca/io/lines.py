"""Text files, line by line or whole, also compressed (``.gz``), counted against the budget as they are read."""

from __future__ import annotations

import gzip
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TextIO, cast

from .budget import Budget
from .files import FormatError, format_errors

LONGEST_LINE = 1 << 22  # Characters of a line of a table or an edge list: 100,000 columns.
PIECE = 1 << 16
UNPACKING_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
SWELL = 4  # Bytes per character of a table: "0," becomes a number of eight bytes.


def ending(path: Path) -> str:
    """The last suffix of the name, or for a ``.gz`` file the one before it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]


def open_bytes(path: Path) -> IO[bytes]:
    """An open binary file, decompressed if its name ends in ``.gz``."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else open(path, "rb")


@contextmanager
def _open_text(path: Path) -> Iterator[TextIO]:
    """An open text file. Raises FormatError for what is not UTF-8 or cannot be decompressed."""
    why = "is damaged or cut short: it cannot be unpacked"
    with format_errors(path, why, *UNPACKING_ERRORS), TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as file:
        try:
            yield file
        except UnicodeDecodeError as error:
            where = f", line {_undecodable(path)}" if path.is_file() else ""  # a pipe cannot be read twice
            raise FormatError(f"{path}{where}: this is not text in UTF-8.") from error


@contextmanager
def open_lines(path: Path, budget: Budget) -> Iterator[Iterator[str]]:
    """The lines of a text file, one after another."""

    def lines(file: TextIO) -> Iterator[str]:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise FormatError(f"{path}, line {number}: a line of over {LONGEST_LINE} characters is not read.")
            budget.claim(SWELL * len(line))
            yield line

    with _open_text(path) as file:
        yield lines(file)


def read_whole(path: Path, budget: Budget) -> str:
    """The whole text of a file, whose lines may have any length."""
    pieces = []
    with _open_text(path) as file:
        while piece := file.read(PIECE):
            budget.claim(SWELL * len(piece))
            pieces.append(piece)
    return "".join(pieces)


def beginning(path: Path) -> str:
    """The first characters of a file, without what is not UTF-8 in them; empty if they cannot be decompressed."""
    try:
        with open_bytes(path) as file:
            return file.read(PIECE).decode("utf-8-sig", "replace")
    except UNPACKING_ERRORS:
        return ""


def number(text: str) -> float:
    """The number that a text spells. Raises ValueError for other texts, and for "0_1", which Python takes for 1."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def is_number(text: str) -> bool:
    """Whether a text spells a number, NaN and infinity included."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def _undecodable(path: Path) -> int:
    """The line of the first byte that is not UTF-8. (The decoder is ahead of the lines that were handed out.)"""
    before, decoder = 1, getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        while part := file.read(PIECE):
            try:
                decoder.decode(part)
            except UnicodeDecodeError as error:
                return before + error.object[: error.start].count(b"\n")
            before += part.count(b"\n")
    return before
