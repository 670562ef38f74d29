"""Text a line at a time, also of packed files (``.gz``)."""

from __future__ import annotations

import gzip
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TextIO, cast

from .budget import Budget
from .files import FormatError, format_errors

LONGEST_LINE = 1 << 22  # A line has at most so many characters: 100,000 columns, far from filling a machine's memory.
PACKED_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
SWELL = 4  # A character of a table takes so many bytes: "0," becomes a number of eight.


def ending(path: Path) -> str:
    """What the name says about the format: its last part, or for a ``.gz`` the one before."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]


def open_bytes(path: Path) -> IO[bytes]:
    """A file to read from, unpacked if it is packed."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else open(path, "rb")


def open_text(path: Path) -> TextIO:
    return TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def lines(file: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file, refusing to swallow an endless one, or more of them than the budget allows of a packed file."""
    number, budget, packed = 0, Budget(path), path.suffix.lower() == ".gz"
    with format_errors(path, "is damaged or cut short: it cannot be unpacked", *PACKED_ERRORS):
        try:
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE:
                    raise FormatError(f"{path}, line {number}: a line of over {LONGEST_LINE} characters is not read.")
                if packed:
                    budget.claim(SWELL * len(line))
                yield line
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}, line {_undecodable(path)}: this is not text in UTF-8.") from error


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number, be it NaN or infinite."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _undecodable(path: Path) -> int:
    """The line of the first byte that is not UTF-8 (the decoder is some lines ahead of those handed out)."""
    before, decoder = 1, getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        while part := file.read(1 << 16):
            try:
                decoder.decode(part)
            except UnicodeDecodeError as error:
                return before + error.object[: error.start].count(b"\n")
            before += part.count(b"\n")
    return before
