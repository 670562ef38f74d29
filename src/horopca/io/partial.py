"""A file that one process writes, and that outlives it if it is interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def claimed(partial: Path) -> Iterator[BinaryIO]:
    """The partial file, for this process alone. It is removed in the end if there is nothing to resume."""
    file = _locked(partial)
    try:
        yield file
    finally:
        useless = not beside(partial, ".npz").exists() and _is_at(file, partial) and not partial.stat().st_size
        if useless and os.name != "nt":  # while nobody else can hold it
            partial.unlink()
        with suppress(OSError):  # what a failed write has left in the buffer
            file.close()
        if useless and os.name == "nt":  # where an open file cannot be removed, and one that another process has opened stays
            with suppress(OSError):
                partial.unlink()


def _locked(partial: Path) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        if partial.is_symlink():
            raise FileExistsError(f"{partial} is a link, and what it leads to would be overwritten: remove it.")
        file = open(os.open(partial, flags, 0o666), "r+b")
        try:
            _lock(file)
        except BlockingIOError:
            file.close()
            output = partial.with_name(partial.name.removesuffix(".partial"))
            raise BlockingIOError(
                f"{output} is being written by another process, which holds {partial}: wait for it, or choose another output."
            ) from None
        if _is_at(file, partial):
            return file
        file.close()  # whoever held it has renamed or removed it since


def _lock(file: BinaryIO) -> None:
    """A lock that ends with the process; BlockingIOError where another process has it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek((1 << 31) - 1)  # locks are of bytes there, up to the largest place that a C long can tell
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            return


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether the open file is still the one at the path."""
    return not file.closed and path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def beside(path: Path, more: str) -> Path:
    return path.with_name(path.name + more)


def to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
