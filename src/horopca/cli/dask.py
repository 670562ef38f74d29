"""Connections to the Dask cluster of ``horopca reduce --dask``."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import Any

TIMEOUT = "distributed.comm.timeouts.connect"  # Dask's setting for the time that a scheduler has to answer.


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Connect to the Dask cluster at an address, or to a new one for "local". Raises OSError if the connection is lost."""
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError as error:
        raise ImportError("--dask needs Dask's distributed scheduler: pip install 'dask[array,distributed]' zarr.") from error
    limit = dask.utils.parse_timedelta(dask.config.get(TIMEOUT))
    started: Any = nullcontext(address)
    if address == "local":
        started = distributed.LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL)
    with ExitStack() as stack:
        logging.disable(logging.CRITICAL)  # what Dask logs when workers or schedulers stop is in the error message
        stack.callback(logging.disable, logging.NOTSET)
        where = stack.enter_context(started)
        scheduler = getattr(where, "scheduler_address", where)
        try:
            _workers(scheduler, limit)  # a client would wait for a frozen scheduler
        except (OSError, ValueError) as error:
            raise OSError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler` and `dask worker ADDRESS`, or pass "
                f"--dask local. ({error or f'no answer in {limit:g} seconds'})"
            ) from error
        with _watched(scheduler, limit, f"The Dask scheduler at {address}"), distributed.Client(where, timeout=limit):
            yield


def _workers(address: str, limit: float) -> Any:
    """The workers that the scheduler knows. Raises OSError (TimeoutError) if it does not answer."""
    distributed = import_module("distributed")

    async def asked() -> Any:
        connection = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, timeout=limit, connection_args=connection) as scheduler:
            return (await asyncio.wait_for(scheduler.identity(), limit))["workers"]

    with ThreadPoolExecutor(1) as pool:  # the caller's thread may have an event loop already
        return pool.submit(asyncio.run, asked()).result()


@contextmanager
def _watched(address: str, limit: float, name: str) -> Iterator[None]:
    """Raise OSError if the scheduler or its workers are lost: Dask itself would wait forever."""
    killed, closed = import_module("distributed").KilledWorker, import_module("distributed.comm.core").CommClosedError
    # A thread interrupts the main thread with SIGTERM, because shells start background jobs with SIGINT ignored.
    ended, sending, problems = threading.Event(), threading.Lock(), list[str]()

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
                with sending:
                    if not ended.is_set():
                        problems.append(problem)
                        if os.name == "nt":
                            interrupt_main(signal.SIGTERM)
                        else:  # also wakes the main thread if it waits
                            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except killed as error:
        raise OSError(f"Workers of the Dask cluster died, perhaps because they ran out of memory: {error}") from error
    except (Exception, SystemExit) as error:
        if problems:
            raise OSError(f"{name} {problems[0]} for {limit:g} seconds (Dask's {TIMEOUT}). Nothing was written.") from None
        if isinstance(error, CancelledError | closed):
            raise OSError(f"{name} was lost. Nothing was written: run it again when there is one.") from error
        raise
    finally:
        with sending:  # so that no signal comes later
            ended.set()
