"""HoroPCA on the paper's four 10-dimensional embeddings: medians over ten copies, their spread, and the targets.

    HOROPCA_DATA=... python -m benchmarks.figures [copies]

A fit depends neither on the seed nor on the order of the rows; so each copy but the first is also moved by an isometry of its
own, and seen through other rounding.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table

from horopca import HoroPCA, metrics
from horopca.geometry import lift, to_hyperboloid, translate

from .data import NAMES, embedding

COPIES = 10
FREE = {"spine": "free"}
DISTORTION = {"spine": "free", "objective": "distortion"}
STRETCH = {**DISTORTION, "stretch": True}


class Row(NamedTuple):
    """A row of the table: components, options, what is measured, and the target for each data set."""

    K: int
    options: dict[str, Any]
    quantity: str
    relation: str
    targets: tuple[float, ...]
    half: bool = False  # fitted on half of the rows, measured on the others


ROWS = [
    Row(1, {}, "pair variance", ">=", (5.183, 75.18, 11.51, 33.89)),
    Row(2, {}, "pair variance", ">=", (17.4, 203.5, 41.2, 112.8)),
    Row(2, {}, "distortion", "<=", (0.21, 0.115, 0.130, 0.135)),
    Row(2, {}, "Fréchet variance", ">=", (7.15, 69.16, 15.46, 36.79)),
    Row(2, FREE, "pair variance", ">=", (17.86, 204.5, 41.65, 113.9)),
    Row(2, FREE, "distortion", "<=", (0.22, 0.105, 0.121, 0.122)),
    Row(2, {**FREE, "objective": "frechet"}, "Fréchet variance", ">=", (7.54, 71.8, 15.98, 38.9)),
    Row(2, DISTORTION, "distortion", "<=", (0.182, 0.098, 0.119, 0.122)),
    Row(2, STRETCH, "distortion", "<=", (0.080, 0.0425, 0.0875, 0.069)),
    Row(2, STRETCH, "distortion", "<=", (0.131, 0.045, 0.091, 0.073), half=True),
    Row(3, STRETCH, "distortion", "<=", (0.039, 0.018, 0.045, 0.033)),
    Row(5, STRETCH, "distortion", "<=", (0.018, 0.0073, 0.020, 0.015)),
    Row(5, {}, "pair variance", ">=", (20.03, 225.39, 45.96, 133.0)),
]


def copied(X: np.ndarray, seed: int) -> np.ndarray:
    """Points of the ball on the hyperboloid, in another order and moved by an isometry; for seed 0 in their place."""
    rng, d = np.random.default_rng(seed), X.shape[1]
    x = to_hyperboloid(X[rng.permutation(len(X))])
    if seed == 0:
        return x
    turned = x[:, 1:] @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    return translate(lift(turned), lift(0.5 * rng.standard_normal(d) / np.sqrt(d)))


def measure(X: np.ndarray, row: Row, seed: int) -> dict[str, float]:
    """What a fit keeps; its processor time."""
    seen = unseen = copied(X, seed)
    if row.half:
        seen, unseen = np.array_split(seen, 2)
    start = time.process_time()
    pca = HoroPCA(row.K, model="lorentz", random_state=seed, **row.options).fit(seen)
    seconds = time.process_time() - start
    Y = pca.transform(unseen)
    return {
        "pair variance": metrics.pair_variance(Y, model="lorentz"),
        "distortion": metrics.average_distortion(unseen, Y, model="lorentz"),
        "Fréchet variance": metrics.frechet_variance(Y, model="lorentz"),
        "seconds": seconds,
    }


def described(row: Row) -> str:
    options = ", ".join(f"{k}={v}" for k, v in row.options.items()) or "default"
    return f"K = {row.K}, {options}{', unseen half' if row.half else ''}"


def main(copies: int = COPIES) -> None:
    title = f"HoroPCA from 10 dimensions: median over {copies} copies (spread in %, to be <= 0.1) \\[target]; processor seconds"
    table = Table(title=title)
    for column in ("options", "measure", *NAMES):
        table.add_column(column, justify="left" if column in ("options", "measure") else "right")
    kinds = {described(row): row for row in ROWS}
    jobs = [(name, kind, seed) for kind in kinds for name in NAMES for seed in range(copies)]
    found = Parallel(n_jobs=-1)(delayed(measure)(embedding(name), kinds[kind], seed) for name, kind, seed in jobs)
    cache: dict[tuple[str, str], list[dict[str, float]]] = {}
    for (name, kind, _), values in zip(jobs, found, strict=True):
        cache.setdefault((name, kind), []).append(values)
    for row in ROWS:
        cells = []
        for name, target in zip(NAMES, row.targets, strict=True):
            values = np.array([m[row.quantity] for m in cache[name, described(row)]])
            middle, spread = np.median(values), np.ptp(values) / np.median(values) * 100
            met = middle >= target if row.relation == ">=" else middle <= target
            cells.append(f"{middle:.4g} ({spread:.2f}) [{row.relation} {target:g}{'' if met else ' MISSED'}]")
        table.add_row(described(row), row.quantity, *cells)
    for kind in kinds:
        table.add_row(kind, "seconds", *(f"{np.median([m['seconds'] for m in cache[name, kind]]):.2f}" for name in NAMES))
    Console(width=200).print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
