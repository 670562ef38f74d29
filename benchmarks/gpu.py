"""What a GPU does: all pairs of many points, a fit and a transform of ten million rows, beside a copy of them.

    python -m benchmarks.gpu

Needs a CUDA device with 24 GB of memory, torch and Triton.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from horopca import HoroPCA
from horopca._input.coordinates import Coordinates
from horopca._input.rows import check_rows
from horopca._optimize.objectives import as_sample, objective_over
from horopca.statistics.pairs import pair_offsets

ROWS, COLUMNS = 10_000_000, 64


def seconds(function, repeats: int = 10, *, warm: bool = True) -> float:
    """Median time of a call, the device idle before and after; if `warm`, after a call that is not counted."""
    if warm:
        function()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def points(n: int, dtype: torch.dtype) -> torch.Tensor:
    """Points (n, 64) of the Poincaré ball, on the device."""
    rng = torch.Generator("cuda").manual_seed(0)
    X = torch.randn((n, COLUMNS), generator=rng, device="cuda", dtype=dtype)
    return X.mul_(torch.linspace(0.1, 0.01, COLUMNS, device="cuda", dtype=dtype))


def evaluation(n: int, K: int, place: str = "cuda"):
    """The exact objective of n points, and a basis of K vectors to evaluate it at."""
    x = Coordinates("poincare", -1.0).to_hyperboloid(points(n, torch.float64)).to(place)
    A = np.random.default_rng(0).standard_normal((1, K, COLUMNS + 1))
    return objective_over(as_sample(x if place == "cuda" else x.numpy()), "variance", pair_offsets(n)), A


def pairs_rows(table: Table) -> None:
    here, A = evaluation(3000, 2, "cpu")
    there, _ = evaluation(3000, 2)
    (value, gradient), (found, other) = here(A), there(A)
    apart = max(abs(found[0] - value[0]) / value[0], np.abs(other - gradient).max() / np.abs(gradient).max())
    table.add_row("all pairs of 3,000 points: value and gradient against the host's, relative", f"{apart:.1e}", "<= 1e-10")
    for K in (2, 3, 5):
        objective, A = evaluation(100_000, K)
        took = seconds(lambda objective=objective, A=A: objective(A), 3)
        table.add_row(f"all pairs of 100,000 points, K = {K}: value and gradient, float64", f"{took * 1e3:.1f} ms", "")


def exact_fit_row(table: Table, n: int = 100_000) -> None:
    X, pca = points(n, torch.float64), HoroPCA(pairs="all", random_state=0)
    took = seconds(lambda: pca.fit(X), 1, warm=False)
    table.add_row(f"fit of {n:,} x 64 float64 with pairs='all', {pca.n_iter_} iterations over all pairs", f"{took:.2f} s", "")


def agreement_row(table: Table, n: int = 100_000) -> None:
    X = points(n, torch.float64)
    there, here = HoroPCA(random_state=0).fit(X), HoroPCA(random_state=0).fit(X.cpu().numpy())
    apart = np.abs(there.transform(X).cpu().numpy() - here.transform(X.cpu().numpy())).max()
    table.add_row(f"transform after a fit of {n:,} x 64 float64, against the host's", f"{apart:.1e}", "<= 1e-8")


def many_rows(table: Table) -> None:
    X = points(ROWS, torch.float32)
    name = f"{ROWS:,} x {COLUMNS} float32"
    pca, coordinates = HoroPCA(random_state=0), Coordinates("poincare", -1.0)
    table.add_row(f"fit of {name}", f"{seconds(lambda: pca.fit(X), 3):.2f} s", "<= 1 s")
    copy = 2 * X.nbytes / seconds(X.clone)
    Y = pca.transform(X)
    took = seconds(lambda: pca.transform(X), 20)
    moved = (X.nbytes + Y.nbytes) / took
    table.add_row(f"copy of {name}, bytes read and written", f"{copy / 1e12:.2f} TB/s", "")
    table.add_row(f"transform of {name} to 2, bytes read and written", f"{moved / 1e12:.2f} TB/s, {took * 1e3:.2f} ms", "")
    table.add_row("transform, of the bandwidth of the copy", f"{moved / copy:.0%}", ">= 50 %")
    stretched = HoroPCA(stretch=True, random_state=0).fit(X[:1000])
    more = seconds(lambda: stretched.transform(X), 20) / took
    table.add_row("transform with a stretch, in transforms", f"{more:.2f}", "<= 1.5")
    checked = seconds(lambda: check_rows(X, coordinates), 20)
    table.add_row(f"checks of {name}, in transforms (which include them)", f"{checked / took:.2f}", "<= 1")


def main() -> None:
    if not torch.cuda.is_available():
        Console().print("The benchmark of the GPU needs a CUDA device, and there is none here.")
        return
    table = Table(title=f"On a GPU: {torch.cuda.get_device_name()}")
    for column in ("measure", "ours", "target"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    pairs_rows(table)
    agreement_row(table)
    exact_fit_row(table)
    many_rows(table)
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
