"""``horopca reduce --dask``: chunked stores, reduced by the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np

from .._input.rows import check_rows
from ..estimators.fitting import fitted_coordinates
from ..io.output import OutputSet
from ..io.stores import check_store, open_store, write_store
from .console import progress_bar
from .reduce import DRAWN_ROWS, Reduced, Request, measure

SIGNAL = getattr(signal, "SIGUSR1", None)  # Windows lacks it.
TIMEOUT = "distributed.comm.timeouts.connect"  # Dask's setting for the time that a scheduler has to answer.


def reduce_chunked(request: Request, outputs: OutputSet) -> Reduced:
    """Reduce points in a store that the workers of a cluster can read, and write the images to another store."""
    images = None
    with cluster(str(request.address)):
        X = open_store(request.input, request.reading.key)
        n, estimator = X.shape[0], request.estimator()
        with progress_bar(f"Reducing {n:,} points from {request.input.name}", estimator):
            estimator = estimator if request.saved is not None else estimator.fit(X)
            rows: Any = check_rows(X, fitted_coordinates(estimator), estimator=estimator)
            measures = measure(rows.raw, n, estimator)
            if request.plot is not None:
                images = estimator.transform(rows.raw(np.arange(0, n, -(-n // DRAWN_ROWS))))
            if request.output is not None:
                write_store(outputs.add(request.output, check_store), estimator.transform(X))
    return Reduced(estimator, n, measures, images)


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Connect to the Dask cluster at an address, or start one on this machine for "local".

    Raises OSError if the scheduler cannot be reached, if it stops, or if it has no workers.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ImportError("--dask needs Dask's distributed scheduler: pip install 'dask[array,distributed]' zarr.") from error
    library: Any = distributed
    limit = dask.utils.parse_timedelta(dask.config.get(TIMEOUT))
    started: Any = nullcontext(address)
    if address == "local":
        started = library.LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL)
    with ExitStack() as stack:
        logging.disable(logging.CRITICAL)  # what Dask logs when workers or schedulers stop is in the error message
        stack.callback(logging.disable, logging.NOTSET)
        where = stack.enter_context(started)
        scheduler = getattr(where, "scheduler_address", where)
        try:
            _workers(scheduler, limit)
        except (OSError, ValueError) as error:
            raise OSError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler` and `dask worker ADDRESS`, or pass "
                f"--dask local. ({error or f'no answer in {limit:g} seconds'})"
            ) from error
        with _watched(scheduler, limit, f"The Dask scheduler at {address}"), library.Client(where, timeout=limit):
            yield


def _workers(address: str, limit: float) -> dict[str, Any]:
    """The workers that the scheduler knows. Raises OSError (TimeoutError) if it does not answer."""
    import distributed

    library: Any = distributed

    async def asked() -> dict[str, Any]:
        connection = library.Security().get_connection_args("client")
        async with library.rpc(address, timeout=limit, connection_args=connection) as scheduler:
            workers: dict[str, Any] = (await asyncio.wait_for(scheduler.identity(), limit))["workers"]
        return workers

    pool = ThreadPoolExecutor(1)  # the caller's thread may have an event loop already
    try:
        return pool.submit(lambda: asyncio.run(asked())).result()
    finally:
        pool.shutdown(wait=False)


@contextmanager
def _watched(address: str, limit: float, name: str) -> Iterator[None]:
    """Raise OSError if the scheduler or its workers are lost.

    Dask itself would wait forever for a scheduler that does not answer or has no workers. A thread notices it after `limit`
    seconds, and interrupts the main thread with SIGUSR1, because shells let background jobs ignore SIGINT.
    """
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    ended, sending, problems = threading.Event(), threading.Lock(), list[str]()
    before = None if SIGNAL is None else signal.signal(SIGNAL, signal.default_int_handler)

    def watch() -> None:
        seen = time.monotonic()  # the time of the last answer with workers
        while not ended.wait(limit / 4):
            try:
                problem = None if _workers(address, limit) else "has had no workers"
            except OSError:
                problem = "has not answered"
            if problem is None:
                seen = time.monotonic()
            elif time.monotonic() - seen >= limit:
                problems.append(problem)
                with sending:
                    if not ended.is_set():
                        _interrupt()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except KilledWorker as error:
        raise OSError(f"Workers of the Dask cluster died, perhaps because they ran out of memory: {error}") from error
    except (Exception, KeyboardInterrupt) as error:
        if problems:
            raise OSError(f"{name} {problems[0]} for {limit:g} seconds (Dask's {TIMEOUT}). Nothing was written.") from None
        if isinstance(error, CancelledError | CommClosedError):
            raise OSError(f"{name} was lost. Nothing was written: run it again when there is one.") from error
        raise
    finally:
        with sending:  # so that no signal comes later
            ended.set()
        if SIGNAL is not None:
            signal.signal(SIGNAL, before or signal.SIG_DFL)


def _interrupt() -> None:
    if SIGNAL is None:
        interrupt_main()
    else:  # a signal also wakes a main thread that waits
        signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
