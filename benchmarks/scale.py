"""A million points on two cores: time and memory of every linear method beside scikit-learn's PCA on the same array.

    python -m benchmarks.scale [rows] [columns]

takes a few minutes; 1,000,000 x 64 by default. With OMP_NUM_THREADS=1

    python -m benchmarks.scale processor

prints the processor time of a fit of normal points in the same process as PCA's.
"""

from __future__ import annotations

import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA

from horopca import BSA, PGA, HoroPCA, HyperbolicMDS, RadialPCA, TangentPCA, metrics
from horopca.datasets import make_hierarchical_normals

REPEATS = 3
DISTORTION = {"spine": "free", "objective": "distortion"}
PAIRS = 1 << 22  # that two objectives are compared on
STRETCH = "<= 27"  # 1.5 times what the distortion fit took, 18 times PCA, when the stretch was asked for


def seconds(function: Callable, repeats: int = REPEATS) -> float:
    """The least time of a few calls."""
    return min(timeit.repeat(function, repeat=repeats, number=1))


def peak(function: Callable) -> int:
    """The most that a call has allocated at once, in bytes."""
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def points(n: int, d: int, dtype: type = np.float64) -> np.ndarray:
    """A mixture around the nodes of a random tree, in the ball."""
    return make_hierarchical_normals(n, d, random_state=0).points.astype(dtype)


def speed(X: np.ndarray, table: Table) -> None:
    """Seconds of fit and transform beside PCA's."""
    pca = PCA(2).fit(X)
    table.add_row("PCA", "fit", f"{(fit := seconds(lambda: PCA(2).fit(X))):.2f} s", "1", "")
    mine = fit
    table.add_row("", "transform", f"{(transform := seconds(lambda: pca.transform(X))):.2f} s", "1", "")
    for name, make, limits in (
        ("HoroPCA", lambda: HoroPCA(2, random_state=0), ("<= 6", "<= 3")),
        ('HoroPCA, spine="free"', lambda: HoroPCA(2, spine="free", random_state=0), ("", "")),
        ("HoroPCA, free, distortion", lambda: HoroPCA(2, **DISTORTION, random_state=0), ("", "")),
        ("HoroPCA, the same, stretch", lambda: HoroPCA(2, **DISTORTION, stretch=True, random_state=0), (STRETCH, "")),
        ("TangentPCA", lambda: TangentPCA(2), ("<= 15", "<= 3")),
        ("RadialPCA", lambda: RadialPCA(2), ("<= 15", "<= 3")),
        ("HyperbolicMDS", lambda: HyperbolicMDS(2), ("<= 15", "<= 3")),
        ("PGA", lambda: PGA(2, random_state=0), ("<= 15", "<= 3")),
        ("BSA", lambda: BSA(2, random_state=0), ("<= 15", "<= 3")),
    ):
        repeats = REPEATS if name == "HoroPCA" else 1
        before, mine = mine, seconds(lambda make=make: make().fit(X), repeats)
        fitted = make().fit(X)
        map_ = seconds(lambda fitted=fitted: fitted.transform(X), repeats)
        table.add_row(name, "fit", f"{mine:.2f} s", f"{mine / fit:.1f}", limits[0])
        table.add_row("", "transform", f"{map_:.2f} s", f"{map_ / transform:.1f}", limits[1])
        if name.endswith("stretch"):
            table.add_row("", "fit, against that of the row above", "", f"{mine / before:.1f}", "")


def memory(X: np.ndarray, table: Table) -> None:
    """Peak allocations above the input."""
    pca = HoroPCA(2, random_state=0).fit(X)
    for name, call in (("fit", lambda: HoroPCA(2, random_state=0).fit(X)), ("transform", lambda: pca.transform(X))):
        measure = f"peak memory of {name} above the input, in inputs"
        table.add_row("HoroPCA", measure, "", f"{peak(call) / X.nbytes:.2f}", "<= 0.6")


def growth(X: np.ndarray, table: Table) -> None:
    """Time of a fit against that of a tenth of the points."""
    whole, tenth = (seconds(lambda Z=Z: HoroPCA(2, random_state=0).fit(Z)) for Z in (X, X[::10].copy()))
    table.add_row("HoroPCA", "fit, against that of a tenth of the points", f"{tenth:.2f} s", f"{whole / tenth:.1f}", "<= 10")


def quality(X: np.ndarray, table: Table) -> None:
    """The objective reached against that of a fit with ten times the work in its search."""
    from unittest.mock import patch

    from horopca.estimators import horopca_fit

    plain = HoroPCA(2, random_state=0).fit(X)
    pairs = 8 * horopca_fit.LAST_PAIRS
    with patch.object(horopca_fit, "search_rows", lambda _: len(X)), patch.object(horopca_fit, "LAST_PAIRS", pairs):
        hard = HoroPCA(2, n_init=72, random_state=1).fit(X)
    reached, best = (metrics.pair_variance(p.transform(X), n_pairs=PAIRS, random_state=0) for p in (plain, hard))
    table.add_row("HoroPCA", "variance short of a fit with all rows, 8 times the pairs, 3 times the starts", "",
                  f"{100 * (1 - reached / best):.3f} %", "<= 0.2 %")  # fmt: skip
    error = plain.variance_error_ / plain.explained_variance_.sum()
    table.add_row("", "standard error of its variance, as reported", "", f"{100 * error:.3f} %", "")


def processor(n: int = 1_000_000, d: int = 64, repeats: int = 7) -> None:
    """Processor time of fits of normal points, HoroPCA's and PCA's in turn."""
    X = np.random.default_rng(1).standard_normal((n, d)) * np.linspace(1, 0.3, d) * 0.3
    taken: dict[str, list[float]] = {"PCA": [], "HoroPCA": []}
    for _ in range(repeats):
        for name, fit in (("PCA", PCA(2).fit), ("HoroPCA", HoroPCA(2, model="tangent", random_state=0).fit)):
            start = time.process_time()
            fit(X)
            taken[name].append(time.process_time() - start)
    table = Table(title=f"{n:,} x {d} normal points: processor time, {repeats} fits of each")
    for column in ("method", "least", "median"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, times in taken.items():
        table.add_row(name, f"{min(times):.2f} s", f"{np.median(times):.2f} s")
    ratios = (f"{found(taken['HoroPCA']) / found(taken['PCA']):.1f}" for found in (min, np.median))
    table.add_row("ratio, to be <= 5", *ratios)
    Console().print(table)


def main(n: int = 1_000_000, d: int = 64) -> None:
    for dtype in (np.float64, np.float32):
        X = points(n, d, dtype)
        table = Table(title=f"{n:,} x {d}, {np.dtype(dtype).name}: wall-clock time, and ratio to PCA's")
        for column in ("method", "measure", "seconds", "ratio", "target"):
            table.add_column(column, justify="left" if column in ("method", "measure") else "right")
        speed(X, table)
        memory(X, table)
        if dtype is np.float64:
            growth(X, table)
            quality(X, table)
        Console(width=150).print(table)


if __name__ == "__main__":
    processor() if "processor" in sys.argv else main(*map(int, sys.argv[1:]))
