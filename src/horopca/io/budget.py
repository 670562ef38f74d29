"""How much memory a file may take: one rule for every reader, checked before the memory is allocated.

A file may take `FACTOR` times its size on disk, or `FLOOR` bytes if that is more. Ordinary files need far less; a small file
that claims to be huge, or that was compressed to expand, raises a FormatError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from .files import FormatError

FLOOR = 1 << 28  # Bytes that any file may take.
FACTOR = 16  # A larger file may take this multiple of its size: text of short words needs about 10.
WORD = 80  # Bytes of a string in a list, without its characters.
SHARED_WORDS = 1 << 16  # The first words of a file are stored once each: classes repeat, names do not.

_allowed: ContextVar[int | None] = ContextVar("_allowed", default=None)


@contextmanager
def memory_limit(nbytes: float) -> Iterator[None]:
    """Set the memory that each file may take while the context is open.

    Parameters
    ----------
    nbytes : number
        Bytes that one file may take, more or fewer than the rule allows.

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
    """The memory that one file may still take."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, path.stat().st_size
        self.limit = _allowed.get() or max(FLOOR, FACTOR * self.size)
        self.claimed = 0
        self._words: dict[str, str] = {}

    def claim(self, nbytes: int) -> None:
        """Count bytes that are about to be allocated. Raises FormatError beyond the limit."""
        self.claimed += nbytes
        if self.claimed > self.limit:
            disk, memory, limit = map(in_words, (self.size, self.claimed, self.limit))
            raise FormatError(
                f"{self.path} has {disk} on disk but would take {memory} or more in memory, and {limit} are allowed. If "
                "you trust it, read it inside horopca.io.memory_limit(bytes) (on the command line, horopca --max-memory BYTES)."
            )

    def word(self, text: str) -> str:
        """The text, counted; equal short texts share one string."""
        known = self._words.get(text)
        if known is None:
            self.claim(WORD + 4 * len(text))
            if len(self._words) < SHARED_WORDS:
                self._words[text] = text
            return text
        self.claim(8)  # a pointer
        return known


def in_words(nbytes: int) -> str:
    """A number of bytes with its unit.

    >>> in_words(10), in_words(3_500), in_words(8_500_000_000)
    ('10 bytes', '3.5 kB', '8.5 GB')
    """
    size, units = float(nbytes), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"
