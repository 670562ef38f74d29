"""At the size of hyperbolic networks: 100,000 x 512 float32, space components as MERU writes them, to 2 and 8 dimensions.

    python -m benchmarks.networks [--rows 100000] [--columns 512] [--dense 200]

Beside scikit-learn's PCA on the same array in the same run; where there is CUDA, on the GPU too, with the array staying there.
The way of the published research code (`benchmarks.dense`: automatic differentiation through arrays of n x n x d, 500 steps of
Adam) runs at no such size: it is measured on a few of the points, with ours beside it. Some minutes, and 3 GB of memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA

from horopca import HoroPCA, TangentPCA
from horopca.geometry import from_hyperboloid, to_hyperboloid

from .dense import STEPS, centred, dense_variance, unit
from .gpu import seconds
from .scale import points

COMPONENTS = (2, 8)
REPEATS = 2
STRETCHED_ROWS = 1000  # Rows that the stretch is fitted to: the transform of all rows is measured.
MEASURED_STEPS = 3  # of the dense way, each as long as every other
MODEL = "lorentz-space"


class Took(NamedTuple):
    """Seconds of a call: by the clock, and of all processors together."""

    wall: float
    processor: float

    @classmethod
    def by(cls, function: Callable[[], Any], repeats: int = REPEATS) -> Took:
        """The least of a few calls."""
        found = []
        for _ in range(repeats):
            before = time.perf_counter(), time.process_time()
            function()
            found.append(cls(time.perf_counter() - before[0], time.process_time() - before[1]))
        return min(found)

    def cells(self, other: Took) -> list[str]:
        return [f"{self.wall:.2f} s", f"{self.processor:.2f} s", f"{self.processor / other.processor:.1f}"]


def host_rows(X: np.ndarray, K: int, table: Table) -> Took:
    """Fit and transform of the processor, beside PCA's; returns what the fit took."""
    plain, ours = PCA(K), HoroPCA(K, model=MODEL, random_state=0)
    beside = [Took.by(lambda: plain.fit(X)), Took.by(lambda: plain.transform(X))]
    own = [Took.by(lambda: ours.fit(X)), Took.by(lambda: ours.transform(X))]
    for name, took in ((f"PCA({K})", beside), (f"HoroPCA({K})", own)):
        for what, one, other in zip(("fit", "transform"), took, beside, strict=True):
            table.add_row(name, what, *one.cells(other))
    return own[0]


def device_rows(X: np.ndarray, K: int, host: Took, table: Table) -> None:
    """The same on a GPU, the array there before and after; `host` is the fit of the processor."""
    there = torch.as_tensor(X, device="cuda")
    took = seconds(lambda: torch.pca_lowrank(there, K), 3)
    table.add_row(f"torch.pca_lowrank({K}), GPU", "fit", f"{took:.3f} s", "", "")
    for kind in (TangentPCA, HoroPCA):
        pca = kind(K, model=MODEL, random_state=0) if kind is HoroPCA else kind(K, model=MODEL)
        took = seconds(lambda pca=pca: pca.fit(there), 3)
        faster = f" ({host.wall / took:.1f} x the processor's)" if kind is HoroPCA else ""
        table.add_row(f"{kind.__name__}({K}), GPU", "fit", f"{took:.2f} s{faster}", "", "")
        table.add_row("", "transform", f"{1e3 * seconds(lambda pca=pca: pca.transform(there)):.2f} ms", "", "")
        assert pca.transform(there).device == there.device
    stretched = HoroPCA(K, model=MODEL, stretch=True, random_state=0).fit(there[:STRETCHED_ROWS])
    took = seconds(lambda: stretched.transform(there))
    table.add_row(f"HoroPCA({K}, stretch=True), GPU", "transform", f"{1e3 * took:.2f} ms", "", "")


def dense_step(X: np.ndarray, K: int) -> Callable[[], None]:
    """One step of the research way on points of the ball."""
    x = centred(X)
    free = torch.randn(K, X.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    adam = torch.optim.Adam([free], lr=0.05)

    def step() -> None:
        adam.zero_grad()
        (-dense_variance(x, unit(free))).backward()
        adam.step()

    return step


def dense_rows(X: np.ndarray, K: int, table: Table) -> None:
    """A whole fit of few points: the research way, by some of its steps, and ours on all pairs."""
    ball = np.asarray(from_hyperboloid(to_hyperboloid(X.astype(float), MODEL)))
    step = dense_step(ball, K)
    step()
    one = Took.by(step, MEASURED_STEPS)
    theirs = Took(STEPS * one.wall, STEPS * one.processor)
    ours = Took.by(lambda: HoroPCA(K, model=MODEL, random_state=0).fit(X))
    table.add_row(f"the research way, K = {K}, {STEPS} steps", "fit", *theirs.cells(ours))
    table.add_row(f"HoroPCA({K})", "fit", *ours.cells(ours))


def new_table(title: str, beside: str) -> Table:
    table = Table(title=title)
    for column in ("method", "", "clock", "processors", f"processors, in {beside}"):
        table.add_column(column, justify="left" if column in ("method", "") else "right")
    return table


def main(rows: int = 100_000, columns: int = 512, dense: int = 200) -> None:
    X = from_hyperboloid(to_hyperboloid(points(rows, columns)), MODEL).astype(np.float32)
    console = Console(width=130)
    table = new_table(f"{rows:,} x {columns} float32, {torch.get_num_threads()} threads", "PCA's")
    for K in COMPONENTS:
        host = host_rows(X, K, table)
        if torch.cuda.is_available():
            device_rows(X, K, host, table)
    console.print(table)
    few = new_table(f"{dense} of the points", "ours")
    for K in COMPONENTS:
        dense_rows(X[:: max(1, rows // dense)][:dense], K, few)
    console.print(few)
    console.print(
        f"Of all {rows:,} points every large array of the research way would take {8e-9 * rows**2 * columns:,.0f} GB."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("--rows", 100_000), ("--columns", 512), ("--dense", 200)):
        parser.add_argument(name, type=int, default=usual)
    main(**vars(parser.parse_args()))
