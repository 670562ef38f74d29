"""How honest the error bars are: simulations from a model whose truth is known, counted over runs.

    python -m benchmarks.trust                   # all of them
    python -m benchmarks.trust selection         # or one of TABLES

Seeds are fixed: the counts are the same whatever the number of jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from horopca.geometry import from_hyperboloid, to_hyperboloid, translate


class Planted(NamedTuple):
    """Points about a submanifold that is known."""

    X: np.ndarray  # (n, d), in the ball
    mean: np.ndarray  # (d+1,), on the hyperboloid
    directions: np.ndarray  # (K, d), orthonormal: they span the submanifold as it is seen from the mean


def planted(n: int, d: int, K: int, noise: float, rng: np.random.Generator) -> Planted:
    """A wrapped normal distribution about a random point: of deviation 1 along K random directions, and `noise` across."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    mean = to_hyperboloid(rng.standard_normal((1, d)) / np.sqrt(d), "tangent")[0]
    v = rng.standard_normal((n, d)) * np.where(np.arange(d) < K, 1.0, noise)
    return Planted(from_hyperboloid(translate(to_hyperboloid(v @ turn, "tangent"), mean), "poincare"), mean, turn[:K])


TABLES: dict[str, Callable[[], None]] = {}  # What is simulated, by its name on the command line.


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        if name not in TABLES:
            sys.exit(f"{name!r} is none of {', '.join(TABLES)}.")
        TABLES[name]()


if __name__ == "__main__":
    main()
