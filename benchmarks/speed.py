"""What a fit costs: in exact evaluations, in NumPy logarithms, in memory, in imports.

HOROPCA_DATA=... python -m benchmarks.speed
"""

from __future__ import annotations

import subprocess
import sys
import time
import timeit
import tracemalloc

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from horopca import HoroPCA
from horopca._optimize.objectives import as_sample, objective_over
from horopca.geometry import to_hyperboloid, translate_to_origin
from horopca.statistics import frechet_mean
from horopca.statistics.pairs import pair_offsets

from .data import embedding


def seconds(function, repeats: int = 7, clock=time.process_time) -> float:
    """Least processor time of a few calls (one thread: what else runs on the machine then matters little)."""
    return min(timeit.repeat(function, timer=clock, repeat=repeats, number=1))


def fit_in_evaluations() -> tuple[float, float]:
    """A default fit on CS Ph.D. in exact evaluations, and one of those in logarithms and square roots of the pairs."""
    X = embedding("CS Ph.D.")
    x = to_hyperboloid(X)
    sample = as_sample(translate_to_origin(x, frechet_mean(x).point))
    objective = objective_over(sample, "variance", pair_offsets(len(X)))
    A = np.random.default_rng(0).standard_normal((1, 2, X.shape[1] + 1))
    pairs = np.random.default_rng(0).uniform(0.5, 2, size=len(X) * (len(X) - 1) // 2)
    fit = seconds(lambda: HoroPCA(random_state=0).fit(X), 3)
    evaluation = seconds(lambda: objective(A), 25)
    elementary = seconds(lambda: np.log(pairs), 15) + seconds(lambda: np.sqrt(pairs), 15)
    return fit / evaluation, evaluation / elementary


def fit_memory(n: int = 200_000, d: int = 50) -> float:
    """Peak of what a fit allocates, over the size of its input."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(0.1, 0.01, d)
    tracemalloc.start()
    HoroPCA(random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / X.nbytes


def high_dimension(n: int, K: int, d: int = 512) -> float:
    """Processor time of a fit in hundreds of dimensions with a slowly falling spectrum, as vision-language models have."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) / (1 + np.arange(d)) ** 0.5
    X *= 0.8 / np.linalg.norm(X, axis=1).max()
    return seconds(lambda: HoroPCA(K, random_state=0).fit(X), 1)


def import_time(statement: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", statement], check=True), 5, time.perf_counter)


@threadpool_limits.wrap(limits=1)
def main() -> None:
    table = Table(title="What a fit costs")
    for column in ("measure", "ours", "target"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    evaluations, elementary = fit_in_evaluations()
    table.add_row("default fit on CS Ph.D., in exact evaluations (value, gradient; all pairs)", f"{evaluations:.0f}", "<= 60")
    table.add_row("one exact evaluation, in numpy.log + numpy.sqrt over as many numbers", f"{elementary:.1f}", "<= 6")
    memory = 1 + fit_memory()
    table.add_row("peak memory of a fit on 200,000 x 50, input included, in inputs", f"{memory:.2f}", "<= 2")
    for n, K, limit in ((3000, 2, 3), (3000, 8, 8), (3000, 50, 30), (5000, 2, 3), (5000, 8, 8)):
        row = f"fit of {n:,} x 512 to {K}, seconds of processor time"
        table.add_row(row, f"{high_dimension(n, K):.1f}", f"<= {limit}")
    peers = import_time("import sklearn.base, scipy.optimize, scipy.spatial")
    ratio = import_time("from horopca import HoroPCA, metrics") / peers
    table.add_row("import of HoroPCA, in imports of sklearn.base, scipy.optimize and scipy.spatial", f"{ratio:.2f}", "~ 1")
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
