"""``horopca reduce --dask``: chunked stores, reduced by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from .streaming import DRAWN_ROWS, sampled_distortion

if TYPE_CHECKING:
    import numpy as np

    from .._points.dask import DaskRows

ANSWER = 10  # seconds that a scheduler has


class Reduced(NamedTuple):
    """A fitted estimator, what was found about it, and the images of some of the rows."""

    estimator: Any
    found: dict[str, Any]
    some: np.ndarray | None


def reduce_chunked(
    input: Path,
    output: Path | None,
    estimator: Any,
    address: str,
    *,
    fitted: bool = False,
    key: str | None = None,
    seed: int = 0,
    force: bool = False,
    drawn: bool = False,
) -> Reduced:
    """Fit to a store on the cluster at an address, and write the images of its rows to another, if there is an output."""
    from .._points.places import check_rows
    from ..io.stores import check_store, open_store, save_store

    if output is not None:
        check_store(output, force=force)
    start = time.perf_counter()
    with cluster(address):
        X = open_store(input, key)
        with _working(f"Reducing {X.shape[0]:,} points from {input.name}"):
            estimator = estimator if fitted else estimator.fit(X)
            rows: Any = check_rows(X, estimator._door(), estimator=estimator)
            if output is not None:
                save_store(output, estimator.transform(X), force=force)
            distortion, error = sampled_distortion(Sampled(rows), estimator, seed)  # type: ignore[arg-type]
            some = _some(rows, estimator) if drawn else None
    seconds = time.perf_counter() - start
    found = {"n_points": X.shape[0], "distortion": distortion, "distortion_error": error, "seconds": seconds}
    return Reduced(estimator, found, some)


class Sampled:
    """Rows of a store, a few of which are wanted."""

    def __init__(self, rows: DaskRows) -> None:
        self.shape, self.take = rows.X.shape, rows.raw


def _some(rows: DaskRows, estimator: Any) -> np.ndarray:
    """The images of at most DRAWN_ROWS rows, evenly chosen."""
    import numpy as np

    n = rows.X.shape[0]
    return estimator.transform(rows.raw(np.arange(0, n, -(-n // DRAWN_ROWS))))


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """The Dask cluster at an address, or one of this machine's cores for "local", for as long as the work lasts."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ImportError("--dask needs Dask's distributed scheduler: pip install 'horopca[dask]'.") from error
    local = address == "local"
    place = LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL) if local else nullcontext(address)
    with place as where:
        try:
            client = Client(where, timeout=ANSWER)
        except (OSError, ValueError) as error:
            raise OSError(
                f"No Dask scheduler answers at {address}: start one with `dask scheduler` and `dask worker ADDRESS`, or pass "
                f"--dask local. ({error})"
            ) from error
        with client:
            yield


def _working(text: str) -> Any:
    console = Console(stderr=True)
    return console.status(Text(f"{text} …")) if console.is_terminal else nullcontext()
