"""Rows of a file that is mapped into memory: as those in memory, once it is known that the file is still there.

Where a mapped file has been cut short, reading it ends the whole process (SIGBUS). Its length is asked before every chunk.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from . import rows as memory
from .coordinates import Coordinates


class MappedRows(memory.Rows):
    """The rows of a `numpy.memmap` as `Points`."""

    def __init__(self, X: Any, coordinates: Coordinates, n_jobs: int | None, source: Any) -> None:
        super().__init__(X, coordinates, n_jobs)
        self._source = source
        self._end = source.offset - source.offset % mmap.ALLOCATIONGRANULARITY + len(source._mmap)

    def raw(self, indices: np.ndarray) -> Any:
        self._refuse_shorter()
        return super().raw(indices)

    def _rows(self, rows: slice) -> Any:
        self._refuse_shorter()
        return super()._rows(rows)

    def _refuse_shorter(self) -> None:
        if self._source._mmap.size() < self._end:
            raise ValueError(f"{self._source.filename} has been cut short while it was read: write it anew.")


def enter(X: Any, asked: memory.Asked) -> memory.Rows:
    """The rows of a mapped file, or of what NumPy has copied it to."""
    rows = memory.enter(X, asked)
    return MappedRows(rows.X, asked.coordinates, asked.n_jobs, X) if np.may_share_memory(rows.X, X) else rows
