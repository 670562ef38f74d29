"""Zip archives, whose members are read only if they fit the budget."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .budget import Budget
from .files import format_errors

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Other methods allocate memory before their size is known.
PIECE = 1 << 20  # Bytes that are unpacked at a time.
ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,  # a member that needs a password
    ValueError,
    OverflowError,
)


class Archive:
    """The members of an open zip file."""

    def __init__(self, file: zipfile.ZipFile, budget: Budget) -> None:
        self.file, self.budget = file, budget
        self.sizes = {info.filename: info.file_size for info in file.infolist()}

    def read(self, name: str, most: int | None = None) -> bytes:
        """The bytes of a member, or the first `most` of them. Raises EOFError if it is not as long as the archive says."""
        info = self.file.getinfo(name)
        if info.compress_type not in METHODS:
            raise NotImplementedError(f"The method {info.compress_type} of compression is not read.")
        left = info.file_size if most is None else min(most, info.file_size)
        self.budget.claim(left)
        content = bytearray()
        with self.file.open(info) as member:
            while left > len(content) and (piece := member.read(min(PIECE, left - len(content)))):
                content += piece  # reading all at once would unpack everything before the size is checked
            if most is None and (len(content) < left or member.read(1)):
                raise EOFError(f"{name} does not have the length that it says.")
        return bytes(content)


@contextmanager
def open_archive(path: Path, budget: Budget, why: str) -> Iterator[Archive]:
    """The archive in a file. Errors inside the block raise FormatError with the reason `why`."""
    with format_errors(path, why, *ERRORS), zipfile.ZipFile(path) as file:
        yield Archive(file, budget)
