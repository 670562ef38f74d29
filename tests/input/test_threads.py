"""Fits in threads: the serial result to the bit, and the library of linear algebra left as it was."""

from __future__ import annotations

import multiprocessing
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from horopca import BusemannWhitener, EuclideanPCA, HoroPCA, HyperbolicMDS, TangentPCA, TangentWhitener
from horopca._input.threads import _Limit, allowed_threads, one_blas_thread
from horopca.geometry import from_hyperboloid, to_hyperboloid

ESTIMATORS = [
    HoroPCA(2, n_init=1, max_iter=10, random_state=0),
    HoroPCA(2, spine="free", objective="distortion", n_init=1, max_iter=10, random_state=0),
    TangentPCA(3),
    EuclideanPCA(3),
    HyperbolicMDS(3),
    TangentWhitener(3),
    BusemannWhitener(2, n_init=1, random_state=0),
]


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def three_threads():
    with threadpool_limits(3, "blas"):
        if set(blas_threads()) != {3}:
            pytest.skip("this library of linear algebra has no three threads")
        yield


def test_fits_in_threads_are_the_serial_ones_and_leave_no_trace(three_threads):
    X = from_hyperboloid(to_hyperboloid(0.3 * np.random.default_rng(0).standard_normal((600, 40)), "tangent"))

    def images(estimator):
        return estimator.fit(X).transform(X)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten iterations are few; set once, for warnings are not safe in threads
        serial = [images(estimator) for estimator in ESTIMATORS]
        with ThreadPoolExecutor(len(ESTIMATORS)) as pool:
            together = list(pool.map(images, ESTIMATORS))
    for a, b in zip(serial, together, strict=True):
        np.testing.assert_array_equal(a, b)
    assert set(blas_threads()) == {3}


def test_the_last_who_leaves_puts_back_what_was_there(three_threads):
    """Those who come and go in between, in any order, find one thread and change nothing."""
    inside, leave = threading.Barrier(3, timeout=60), [threading.Event() for _ in range(2)]
    seen = []

    def work(event):
        with one_blas_thread():
            inside.wait()
            event.wait(60)
            seen.append(blas_threads())

    workers = [threading.Thread(target=work, args=(event,), daemon=True) for event in leave]
    for worker in workers:
        worker.start()
    inside.wait()
    for worker, event in zip(workers, leave, strict=True):  # the first to come is the first to go
        assert set(blas_threads()) == {1} and allowed_threads(None) == 3
        event.set()
        worker.join()
    assert all(set(numbers) == {1} for numbers in seen)
    assert set(blas_threads()) == {3} and allowed_threads(None) == 3 and allowed_threads(2) == 2


def test_a_failure_puts_back_what_was_there(three_threads):
    with pytest.raises(ValueError, match="inside the unit ball"):
        TangentPCA(2).fit(np.full((5, 3), 2.0))
    assert set(blas_threads()) == {3}


def _report(connection):
    connection.send((blas_threads(), allowed_threads(None)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_working_process_is_not_limited(three_threads):
    here, there = multiprocessing.get_context("fork").Pipe()
    with one_blas_thread():
        child = multiprocessing.get_context("fork").Process(target=_report, args=(there,))
        child.start()
        numbers, allowed = here.recv()
        child.join()
    assert set(numbers) == {3} and allowed == 3
    assert set(blas_threads()) == {3}


class Library:
    """A library of linear algebra that is set to use so many threads."""

    def __init__(self, number: int) -> None:
        self.num_threads = number

    def set_num_threads(self, number: int) -> None:
        self.num_threads = number


class Recent(Library):
    """One that hears only what is really said, as those that threadpoolctl 3.8 wraps."""

    def set_num_threads(self, number: int) -> None:
        raise AssertionError("this would be for one thread alone")

    def _real_set_num_threads(self, number: int) -> None:
        self.num_threads = number


def test_the_limit_counts_who_works_under_it():
    limit = _Limit()
    assert [library.num_threads for library in limit.libraries] == blas_threads()
    limit.libraries = libraries = [Library(4), Recent(6)]
    numbers = lambda: [library.num_threads for library in libraries]
    assert limit.allowed() == 6
    for workers in (1, 2):
        limit.enter()
        assert (numbers(), limit.allowed(), limit.workers) == ([1, 1], 6, workers)
    limit.leave()
    assert (numbers(), limit.allowed(), limit.workers) == ([1, 1], 6, 1)
    limit.leave()
    assert (numbers(), limit.allowed(), limit.workers) == ([4, 6], 6, 0)
    libraries[0].num_threads = 8
    assert limit.allowed() == 8
    limit.libraries = []
    assert limit.allowed() == 1


def test_a_child_begins_without_the_limit_and_without_who_holds_it():
    limit = _Limit()
    limit.libraries = libraries = [Library(4), Library(6)]
    limit.enter()
    limit.enter()
    limit.lock.acquire()  # by a thread that is not there in the child
    limit.forked()
    assert ([library.num_threads for library in libraries], limit.workers, limit.lock.locked()) == ([4, 6], 0, False)
    libraries[0].num_threads = 2
    limit.forked()  # nothing to put back
    assert [library.num_threads for library in libraries] == [2, 6]
