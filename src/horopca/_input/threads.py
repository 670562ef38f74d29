"""One thread of the library of linear algebra while we work: products here are small, and threads would wait for each other.

The library knows one number of threads for the whole process. So there is one limit, counted: the first who works sets it, the
last who leaves puts back what was there before, and whoever comes in between, from any thread, finds it set.
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
    """The limit of one thread, and how many are at work under it."""

    def __init__(self) -> None:
        self.lock, self.workers = threading.Lock(), 0
        self.before: list[int] = []  # the threads of each library outside of the limit

    @cached_property
    def libraries(self) -> list[Any]:
        """The libraries of linear algebra of this process; to find them takes longer than many a product."""
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
        """The number of threads that the libraries are set to use outside of the limit."""
        with self.lock:
            return max(self.before if self.workers else [library.num_threads for library in self.libraries], default=1)

    def forked(self) -> None:
        """A child process has the limit of its parent, but not the threads that would lift it."""
        self.lock = threading.Lock()
        if self.workers:
            self.workers = 0
            self._set(self.before)

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self.libraries, numbers, strict=True):
            # threadpoolctl 3.8 lets one thread alone set a number that is everybody's: it would not hear the last who leaves
            getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Work with one thread of the library of linear algebra; also a decorator: ``@one_blas_thread()``."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


def allowed_threads(n_jobs: int | None) -> int:
    """As many threads as `n_jobs` says; None: as many as the library of linear algebra is set to use."""
    return _limit.allowed() if n_jobs is None else effective_n_jobs(n_jobs)
