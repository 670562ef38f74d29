"""Fits in threads: identical results, and the number of BLAS threads is restored."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from horopca import HoroPCA, HyperbolicMDS, TangentPCA
from horopca._input.threads import allowed_threads, one_blas_thread
from horopca.geometry import from_hyperboloid, to_hyperboloid

SETUP = """
from threadpoolctl import threadpool_info, threadpool_limits
from horopca._input.threads import allowed_threads, one_blas_thread
"""
ESTIMATORS = [HoroPCA(2, n_init=1, max_iter=10, random_state=0), TangentPCA(3), HyperbolicMDS(3)]


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def three_threads():
    with threadpool_limits(3, "blas"):
        if set(blas_threads()) != {3}:
            pytest.skip("this BLAS library does not use three threads")
        yield


def test_fits_in_threads_are_identical_to_serial_fits(three_threads):
    X = from_hyperboloid(to_hyperboloid(0.3 * np.random.default_rng(0).standard_normal((200, 20)), "tangent"))

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


def test_the_last_thread_restores_the_number(three_threads):
    inside, leave = threading.Barrier(3), [threading.Event() for _ in range(2)]
    seen = []

    def work(event):
        with one_blas_thread():
            inside.wait()
            event.wait()
            seen.append(blas_threads())

    workers = [threading.Thread(target=work, args=(event,), daemon=True) for event in leave]
    for worker in workers:
        worker.start()
    inside.wait()
    for worker, event in zip(workers, leave, strict=True):  # the first to enter leaves first
        assert set(blas_threads()) == {1} and allowed_threads(None) == 3
        event.set()
        worker.join()
    assert all(set(numbers) == {1} for numbers in seen)
    assert set(blas_threads()) == {3} and allowed_threads(None) == 3 and allowed_threads(2) == 2


def test_an_error_restores_the_number(three_threads):
    with pytest.raises(ValueError, match="inside the unit ball"):
        TangentPCA(2).fit(np.full((5, 3), 2.0))
    assert set(blas_threads()) == {3}


FORK = """
with threadpool_limits(3, "blas"), one_blas_thread():
    child = os.fork()
    if not child:
        print({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}, allowed_threads(None), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_a_fork_inside_the_limit_is_not_limited(runner):
    """In a process without other threads, whose locks a fork would copy."""
    assert runner.run(FORK) == (0, "{3} 3")
