"""One BLAS thread while the package computes: its products are small, and more threads would wait for each other.

BLAS has one number of threads for the whole process, so there is one limit with a counter: the first thread that enters sets
it, and the last that leaves restores the previous number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


class _Limit:
    """The limit of one BLAS thread, and the number of threads inside it."""

    def __init__(self) -> None:
        self.lock, self.workers = threading.Lock(), 0
        self.before: list[int] = []  # the number of threads of each library outside the limit

    @cached_property
    def libraries(self) -> list[Any]:
        """The BLAS libraries of this process, cached: finding them takes longer than a small product."""
        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def enter(self) -> None:
        with self.lock:
            if self.workers == 0:
                self.before = [library.num_threads for library in self.libraries]
                self._set([1] * len(self.before))
            self.workers += 1

    def leave(self) -> None:
        with self.lock:
            self.workers -= 1
            if self.workers == 0:
                self._set(self.before)

    def allowed(self) -> int:
        """The number of threads that the libraries use outside the limit."""
        with self.lock:
            return max(self.before if self.workers else [library.num_threads for library in self.libraries], default=1)

    def forked(self) -> None:
        """Restore the number in a forked child, which has the limit of its parent but not the threads that would lift it."""
        self.lock = threading.Lock()
        if self.workers:
            self.workers = 0
            self._set(self.before)

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self.libraries, numbers, strict=True):
            # threadpoolctl 3.8 sets the number from the main thread only; the last thread to leave may be another
            getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; also a decorator: ``@one_blas_thread()``."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


def allowed_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`; None means as many as BLAS is set to use."""
    return _limit.allowed() if n_jobs is None else effective_n_jobs(n_jobs)
