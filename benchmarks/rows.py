"""Whether more rows make a better fit: variance on independent pairs, against a fit of the first 16,384 rows.

    python -m benchmarks.rows [rows ...]

The pairs are 400,000 pairs of new points of the same distribution, which had no part in any fit. The standard error of a ratio
is that of the paired difference. To be at least .9995 everywhere, and to grow with the number of rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from horopca import HoroPCA
from horopca.geometry import distance, to_hyperboloid

SAMPLE, PAIRS = 1 << 14, 400_000
FITS: dict[str, dict[str, Any]] = {"HoroPCA(2)": {}, "spine='free'": {"spine": "free"}, "K = 1": {"n_components": 1}}


def normal(n: int, rng: np.random.Generator) -> np.ndarray:
    """The Gaussian points of a slowly falling spectrum."""
    return rng.standard_normal((n, 64)) * np.linspace(1, 0.3, 64) * 0.3


def heavy(n: int, rng: np.random.Generator) -> np.ndarray:
    """Points with the tails of Student's t with four degrees of freedom."""
    return 0.3 * normal(n, rng) / np.sqrt(rng.chisquare(4, (n, 1)) / 4)


def clusters(n: int, rng: np.random.Generator) -> np.ndarray:
    """40 clusters in 32 dimensions."""
    centres = np.random.default_rng(5).standard_normal((40, 32))
    return 0.7 * centres[rng.integers(40, size=n)] + 0.2 * rng.standard_normal((n, 32))


SETS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "normal": normal,
    "heavy tails": heavy,
    "clusters": clusters,
}


def squares(pca: HoroPCA, X: np.ndarray) -> np.ndarray:
    """Squared distances (m,) of the images of the pairs of rows i and m + i of X (2 m, d)."""
    y = to_hyperboloid(pca.transform(X), "tangent")
    return distance(y[: len(y) // 2], y[len(y) // 2 :]) ** 2


def main(*sizes: int) -> None:
    sizes = sizes or (40_000, 200_000, 1_000_000)
    table = Table(title=f"Variance on {PAIRS:,} independent pairs over that of a fit of {SAMPLE:,} rows, ± standard error")
    for column in ("points", "fit", *(f"{n:,} rows" for n in sizes), "seconds"):
        table.add_column(column, justify="left" if column in ("points", "fit") else "right")
    for name, draw in SETS.items():
        X, new = draw(max(sizes), np.random.default_rng(1)), draw(2 * PAIRS, np.random.default_rng(2))
        for title, options in FITS.items():
            fit = lambda rows, options=options: HoroPCA(**options, model="tangent", random_state=0).fit(rows)
            base, cells = squares(fit(X[:SAMPLE]), new), []
            for n in sizes:
                start = time.process_time()
                pca = fit(X[:n])
                seconds = time.process_time() - start
                found = squares(pca, new)
                ratio = found.mean() / base.mean()
                error = np.std(found - ratio * base) / np.sqrt(PAIRS) / base.mean()
                cells.append(f"{ratio:.5f} ± {error:.5f}")
                print(name, title, n, cells[-1], f"{seconds:.1f} s", file=sys.stderr)
            table.add_row(name, title, *cells, f"{seconds:.1f}")
    Console(width=150).print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
