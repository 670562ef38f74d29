"""One BLAS thread while the package computes: its products are small, and more threads would wait for each other.

BLAS has one number of threads for the whole process, so there is one limit with a counter: the first thread that enters sets
it, and the last that leaves restores the previous number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_workers = 0  # threads inside the limit
_before: list[int] = []  # the number of threads of each library outside the limit


@cache
def _libraries() -> list[Any]:
    """The BLAS libraries of this process, cached: finding them takes longer than a small product."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _set(numbers: list[int]) -> None:
    for library, number in zip(_libraries(), numbers, strict=True):
        # threadpoolctl 3.8 sets the number from the main thread only; the last thread to leave may be another
        getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; also a decorator: ``@one_blas_thread()``."""
    global _workers, _before
    with _lock:
        if _workers == 0:
            _before = [library.num_threads for library in _libraries()]
            _set([1] * len(_before))
        _workers += 1
    try:
        yield
    finally:
        with _lock:
            _workers -= 1
            if _workers == 0:
                _set(_before)


def allowed_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`; None means as many as BLAS uses outside the limit."""
    if n_jobs is not None:
        return effective_n_jobs(n_jobs)
    with _lock:
        return max(_before if _workers else [library.num_threads for library in _libraries()], default=1)


def _after_fork() -> None:
    """Restore the number in a forked child, which has the limit of its parent but not the threads that would lift it."""
    global _lock, _workers
    _lock = threading.Lock()
    if _workers:
        _workers = 0
        _set(_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run_jobs(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int | None) -> Iterator[Any]:
    """The results of some calls of a function in order, computed by joblib.

    New processes start without the working directory on their path, where modules of others may lie. Once they run, joblib
    gives them the path of this process.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*call) for call in calls)
    finally:
        os.environ.pop("PYTHONSAFEPATH")
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before
