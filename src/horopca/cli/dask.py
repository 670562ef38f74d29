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
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from .._input.rows import check_rows
from ..estimators.fitting import fitted_coordinates
from ..io.output import OutputSet
from ..io.stores import check_store, open_store, write_store
from .console import progress_bar
from .reduce import DRAWN_ROWS, Reduced, Request, measure

TIMEOUT = "distributed.comm.timeouts.connect"  # Dask's setting for the time that a scheduler has to answer.


def reduce_chunked(request: Request, outputs: OutputSet) -> Reduced:
    """Reduce points in a store that the workers of a cluster can read, and write the images to another store."""
    images = None
    with cluster(str(request.address)):
        X = open_store(request.input, request.reading.key)
        n, estimator = X.shape[0], request.estimator(None)
        with progress_bar(f"Reducing {n:,} points from {request.input.name}", estimator):
            estimator = estimator if request.saved is not None else estimator.fit(X)
            rows: Any = check_rows(X, fitted_coordinates(estimator), estimator=estimator)
            figures = measure(rows.raw, n, estimator)
            if request.plot is not None:
                images = estimator.transform(rows.raw(np.arange(0, n, -(-n // DRAWN_ROWS))))
            if request.output is not None:
                write_store(outputs.add(request.output, check_store), estimator.transform(X))
    return Reduced(estimator, n, figures, images)


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
    local = address == "local"
    started: Any = (
        library.LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL) if local else nullcontext(address)
    )
    with _no_logs(), started as where:
        watch = Watch(where.scheduler_address if local else address, limit)
        try:
            watch.workers()
        except (OSError, ValueError) as error:
            raise OSError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler` and `dask worker ADDRESS`, or pass "
                f"--dask local. ({error or f'no answer in {limit:g} seconds'})"
            ) from error
        with watch, _lost(address, watch), library.Client(where, timeout=limit):
            yield


@contextmanager
def _lost(address: str, watch: Watch) -> Iterator[None]:
    """Raise OSError if the scheduler or its workers are lost."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    lost = f"The Dask scheduler at {address}"
    try:
        yield
    except KilledWorker as error:
        raise OSError(f"Workers of the Dask cluster died, perhaps because they ran out of memory: {error}") from error
    except (Exception, KeyboardInterrupt) as error:
        if watch.problem is not None:
            seconds = f"{watch.limit:g} seconds (Dask's {TIMEOUT})"
            raise OSError(f"{lost} {watch.problem} for {seconds}. Nothing was written.") from None
        if isinstance(error, CancelledError | CommClosedError):
            raise OSError(f"{lost} was lost. Nothing was written: run it again when there is one.") from error
        raise


class Watch(threading.Thread):
    """Interrupts the main thread if the scheduler does not answer, or has no workers, for `limit` seconds.

    Dask itself would wait forever. The signal is SIGUSR1, because shells let background jobs ignore SIGINT; Windows lacks it.
    """

    SIGNAL = getattr(signal, "SIGUSR1", None)

    def __init__(self, address: str, limit: float) -> None:
        super().__init__(daemon=True)
        self.address, self.limit = address, limit
        self.ended, self.sending = threading.Event(), threading.Lock()
        self.problem: str | None = None

    def __enter__(self) -> None:
        self.before = None if self.SIGNAL is None else signal.signal(self.SIGNAL, signal.default_int_handler)
        self.start()

    def __exit__(self, *_: object) -> None:
        with self.sending:  # so that no signal comes later
            self.ended.set()
        if self.SIGNAL is not None:
            signal.signal(self.SIGNAL, self.before or signal.SIG_DFL)

    def workers(self) -> dict[str, Any]:
        """The workers that the scheduler knows. Raises OSError (TimeoutError) if it does not answer."""
        pool = ThreadPoolExecutor(1)  # the caller's thread may have an event loop already
        try:
            return pool.submit(lambda: asyncio.run(self._workers())).result()
        finally:
            pool.shutdown(wait=False)

    async def _workers(self) -> dict[str, Any]:
        import distributed

        library: Any = distributed
        connection = library.Security().get_connection_args("client")
        async with library.rpc(self.address, timeout=self.limit, connection_args=connection) as scheduler:
            workers: dict[str, Any] = (await asyncio.wait_for(scheduler.identity(), self.limit))["workers"]
        return workers

    def run(self) -> None:
        seen = time.monotonic()  # the time of the last answer with workers
        while not self.ended.wait(self.limit / 4):
            try:
                problem = None if self.workers() else "has had no workers"
            except OSError:
                problem = "has not answered"
            seen = time.monotonic() if problem is None else seen
            if time.monotonic() - seen >= self.limit:
                self.problem = problem
                with self.sending:
                    self._interrupt()
                return

    def _interrupt(self) -> None:
        """Interrupt the main thread, unless its work has ended."""
        if self.ended.is_set():
            return
        if self.SIGNAL is None:
            interrupt_main()
        else:  # a signal also wakes a main thread that waits
            signal.pthread_kill(threading.main_thread().ident or 0, self.SIGNAL)


@contextmanager
def _no_logs() -> Iterator[None]:
    """Switch logging off: what Dask logs when workers or schedulers stop is in the error message."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
