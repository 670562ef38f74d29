"""A fit of more rows than a worker can hold, on a Dask cluster of four workers.

    python -m benchmarks.cluster [--rows 20000000] [--folder /tmp]

The rows are generated chunk by chunk into a Zarr store in a temporary folder: 5 GB for 20 million of 32 columns in float64.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from horopca import HoroPCA
from horopca.estimators.fitting import fitted_coordinates
from horopca.geometry import from_hyperboloid, lift
from horopca.io.stores import open_store, write_store
from horopca.statistics.pairs import sampled_mean_square_distance

WORKERS, LIMIT = 4, 1 << 30
COLUMNS, CHUNK_ROWS = 32, 1 << 17
SUBSET = 500_000  # rows of the fit in memory
JUDGED = 1 << 17  # other rows, on whose pairs both fits are judged


def chunk_of_points(block_info: Any = None) -> np.ndarray:
    """Points of the ball around sixteen centres, some far out, more spread along some axes than along others."""
    ((low, high), _) = block_info[None]["array-location"]
    rng, fixed = np.random.default_rng((7, low)), np.random.default_rng(7)
    centres = fixed.standard_normal((16, COLUMNS)) * 0.9 ** np.arange(COLUMNS)
    turn = np.linalg.qr(fixed.standard_normal((COLUMNS, COLUMNS)))[0]
    v = centres[rng.integers(16, size=high - low)] + 0.4 * rng.standard_normal((high - low, COLUMNS))
    size = np.linalg.norm(v, axis=1, keepdims=True)
    return from_hyperboloid(lift(v @ turn * (np.sinh(size) / size)), "poincare")


def peak() -> tuple[int, int]:
    """The process, and the most memory that it has held since it was started, in bytes."""
    status = Path("/proc/self/status").read_text()
    return os.getpid(), 1024 * int(status.split("VmHWM:")[1].split()[0])


def timed(function: Any, *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def generate(path: Path, rows: int) -> None:
    import dask.array as da

    chunks = da.core.normalize_chunks((CHUNK_ROWS, -1), (rows, COLUMNS))
    write_store(path, da.map_blocks(chunk_of_points, chunks=chunks, dtype=np.float64, meta=np.empty((0, COLUMNS))))


def judged(fits: list[HoroPCA], X: np.ndarray) -> tuple[float, float]:
    """The pair variance that the first fit keeps of X over that which the second keeps, less 1; and its standard error."""
    images = [fit._project(fitted_coordinates(fit).to_hyperboloid(X)) for fit in fits]
    groups = np.array_split(np.arange(len(X)), 32)
    first, second = ([sampled_mean_square_distance(y[rows], (1, 2, 3, 5))[0] for rows in groups] for y in images)
    ratios = np.array(first) / np.array(second) - 1
    return float(np.mean(ratios)), float(np.std(ratios, ddof=1) / np.sqrt(len(ratios)))


def main(rows: int, folder: str | None) -> None:
    from distributed import Client, LocalCluster

    room, need = shutil.disk_usage(folder or tempfile.gettempdir()).free, rows * (COLUMNS + 2) * 8
    if need > room:
        sys.exit(f"{need / 1e9:.3g} GB are needed in {folder or tempfile.gettempdir()}, but {room / 1e9:.3g} GB are free.")
    options = {"memory_limit": LIMIT, "dashboard_address": None, "silence_logs": logging.ERROR}
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        store = Path(place) / "points.zarr"
        _, generating = timed(generate, store, rows)
        client.restart()
        before = {pid for pid, _ in client.run(peak).values()}
        X = open_store(store)
        fit, fitting = timed(HoroPCA(2, random_state=0).fit, X)
        _, transforming = timed(write_store, Path(place) / "plane.zarr", fit.transform(X))
        peaks, driver = client.run(peak).values(), peak()[1]
        rng = np.random.default_rng(1)
        subset = X[np.sort(rng.choice(rows, size=min(rows, SUBSET), replace=False))].compute()
        others = X[np.sort(rng.choice(rows, size=min(rows, JUDGED), replace=False))].compute()
    inside, in_memory = timed(HoroPCA(2, random_state=0).fit, subset)
    rng.shuffle(others)
    ratio, error = judged([fit, inside], others)

    table = Table(title=f"HoroPCA(2) on {rows:,} x {COLUMNS} float64 in Zarr, {WORKERS} workers on {os.cpu_count()} cores")
    for column in ("measure", "found", "target"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    table.add_row("generating the store", f"{generating:.0f} s", "")
    table.add_row("fit", f"{fitting:.0f} s", "")
    table.add_row("transform, into another store", f"{transforming:.0f} s", "")
    for number, (_, size) in enumerate(sorted(peaks)):
        table.add_row(f"peak memory of worker {number}, of {LIMIT >> 20} MiB", f"{size >> 20} MiB", "<= limit")
    table.add_row("workers that died", f"{len(before - {pid for pid, _ in peaks})}", "0")
    table.add_row("peak memory of this process", f"{driver >> 20} MiB", "")
    table.add_row("variance kept", f"{fit.explained_variance_.sum():.5g} ± {fit.variance_error_:.2g}", "")
    table.add_row("... by the fit of a subset in memory, of its own rows", f"{inside.explained_variance_.sum():.5g}", "")
    table.add_row(f"fit of {len(subset):,} rows in memory", f"{in_memory:.0f} s", "")
    table.add_row(
        "objective over that of the subset's fit, on the same pairs", f"{ratio:+.4%} ± {error:.4%}", f">= -0.2% - {error:.4%}"
    )
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--folder", help="where to put the store")
    asked = parser.parse_args()
    main(asked.rows, asked.folder)
