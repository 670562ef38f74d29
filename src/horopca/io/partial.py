"""A partial file: written by one process at a time, and kept for the next one if that process is interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_partial(partial: Path) -> Iterator[BinaryIO]:
    """Open a partial file, which no other process can open meanwhile. An empty one without a journal is removed at the end."""
    file = _open_locked(partial)
    try:
        yield file
    finally:
        empty = not beside(partial, ".jsonl").exists() and _is_at(file, partial) and not partial.stat().st_size
        if empty and os.name != "nt":  # while no other process can hold the lock
            partial.unlink()
        with suppress(OSError):  # the buffer of a write that failed
            file.close()
        if empty and os.name == "nt":  # Windows cannot remove an open file
            with suppress(OSError):
                partial.unlink()


def _open_locked(partial: Path) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        if partial.is_symlink():
            raise FileExistsError(f"{partial} is a link, and its target would be overwritten: remove the link.")
        file = open(os.open(partial, flags, 0o666), "r+b")
        try:
            lock(file)
        except BlockingIOError:
            file.close()
            output = partial.with_name(partial.name.removesuffix(".partial"))
            raise BlockingIOError(
                f"{output} is being written by another process, which has locked {partial}: wait, or choose another output."
            ) from None
        if _is_at(file, partial):
            return file
        file.close()  # the other process has renamed or removed the file before it released the lock


def lock(file: BinaryIO) -> None:
    """Lock a file until it is closed or the process ends. Raises BlockingIOError if another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek((1 << 31) - 1)  # locks are on bytes there, up to the largest C long
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


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


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
