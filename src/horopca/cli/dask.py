"""``horopca reduce --dask``: chunked stores, reduced by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from .._input.rows import check_rows
from ..estimators.fitting import fitted_coordinates
from ..io.output import OutputSet
from ..io.stores import check_store, open_store, write_store
from .console import status
from .reducing import Reduced, Request
from .streaming import DRAWN_ROWS, sampled_distortion

ANSWER = 10  # A scheduler has so many seconds to answer.


def reduce_chunked(request: Request, outputs: OutputSet) -> Reduced:
    """Points in a store that the workers of a cluster can read, and images in another that they can write."""
    start, some = time.perf_counter(), None
    with cluster(str(request.address)):
        X = open_store(request.input, request.reading.key)
        n, estimator = X.shape[0], request.estimator(None)
        with status(f"Reducing {n:,} points from {request.input.name}"):
            estimator = estimator if request.kept is not None else estimator.fit(X)
            rows: Any = check_rows(X, fitted_coordinates(estimator), estimator=estimator)
            distortion, error = sampled_distortion(rows.raw, n, estimator, request.seed)
            if request.plot is not None:
                some = estimator.transform(rows.raw(np.arange(0, n, -(-n // DRAWN_ROWS))))
            if request.output is not None:
                write_store(outputs.add(request.output, check_store), estimator.transform(X))
    return Reduced(estimator, n, distortion, error, time.perf_counter() - start, some)


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """The Dask cluster at an address, or one of this machine's cores for "local", for as long as the work lasts."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("--dask needs Dask's distributed scheduler: pip install 'dask[array,distributed]' zarr.") from error
    library: Any = distributed
    local = address == "local"
    place = library.LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL) if local else nullcontext(address)
    with place as where:
        try:
            client = library.Client(where, timeout=ANSWER)
        except (OSError, ValueError) as error:
            raise OSError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler` and `dask worker ADDRESS`, or pass "
                f"--dask local. ({error})"
            ) from error
        with client, _silence():
            try:
                yield
            except library.KilledWorker as error:
                raise OSError(f"Workers of the Dask cluster died at the work, perhaps for want of memory: {error}") from error
            except Exception as error:
                if client.status == "running" and not isinstance(error, CancelledError):
                    raise
                lost = f"The Dask scheduler at {address} was lost during the work"
                raise OSError(f"{lost}, and nothing was written: run it again when there is one.") from error


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing of what Dask logs when workers or schedulers die: what there is to know is in the sentence."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
