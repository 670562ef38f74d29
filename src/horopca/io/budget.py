"""How much memory a file may take: one rule for every reader, asked before the memory is claimed.

A file may become as large as `FACTOR` times its size on the disk, or `FLOOR` bytes if that is more. Honest files stay far
below; a small file that claims to be huge, or that was packed to swell, is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from .files import FormatError

FLOOR = 1 << 28  # Any file may take so many bytes.
FACTOR = 16  # A larger file may take so many times its own size.

_allowed: ContextVar[int | None] = ContextVar("_allowed", default=None)


@contextmanager
def memory_limit(nbytes: float) -> Iterator[None]:
    """Let files that are read inside take so many bytes of memory, more or fewer than the rule would allow.

    Parameters
    ----------
    nbytes : number
        Bytes that one file may take.

    Examples
    --------
    >>> from horopca.io import load, memory_limit
    >>> with memory_limit(64e9):  # doctest: +SKIP
    ...     table = load("packed.npz")
    """
    if not nbytes > 0:
        raise ValueError(f"nbytes must be a number of bytes above 0, but is {nbytes!r}.")
    before = _allowed.set(int(min(nbytes, 1 << 62)))
    try:
        yield
    finally:
        _allowed.reset(before)


class Budget:
    """What the reading of one file may still claim."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, path.stat().st_size
        self.limit = _allowed.get() or max(FLOOR, FACTOR * self.size)
        self.claimed = 0

    def claim(self, nbytes: int) -> None:
        """Count so many bytes more, or refuse the file."""
        self.claimed += nbytes
        if self.claimed > self.limit:
            disk, memory, limit = map(in_words, (self.size, self.claimed, self.limit))
            raise FormatError(
                f"{self.path} has {disk} on the disk but would take {memory} or more in memory, where {limit} are allowed. If "
                "you trust it, read it inside horopca.io.memory_limit(bytes) (on the command line, horopca --max-memory BYTES)."
            )


def in_words(nbytes: int) -> str:
    """A number of bytes as people say it.

    >>> in_words(10), in_words(3_500), in_words(8_500_000_000)
    ('10 bytes', '3.5 kB', '8.5 GB')
    """
    size, units = float(nbytes), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"
