"""How honest the error bars are: simulations from a model whose truth is known, counted over runs.

    python -m benchmarks.trust                   # all of them
    python -m benchmarks.trust selection         # or one of TABLES

Seeds are fixed: the counts are the same whatever the number of jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np
from joblib import Parallel, delayed

from horopca import HoroPCA
from horopca._optimize.objectives import ObjectiveName
from horopca.geometry import Frame, align, between, from_hyperboloid, lift, to_hyperboloid, translate, translate_to_origin
from horopca.metrics import bootstrap, component_curve
from horopca.projections import Spine, slide, spine_basis
from horopca.projections.spines import spine_angle


class Planted(NamedTuple):
    """Points about a submanifold that is known."""

    X: np.ndarray  # (n, d), in the ball
    mean: np.ndarray  # (d+1,), on the hyperboloid
    directions: np.ndarray  # (K, d), orthonormal: they span the submanifold as it is seen from the mean


def planted(n: int, d: int, K: int, noise: float, rng: np.random.Generator, first: float = 1.0) -> Planted:
    """A wrapped normal distribution about a random point: of deviation `noise` across K random directions, 1 along these, and
    `first` along the first of them."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    mean = to_hyperboloid(rng.standard_normal((1, d)) / np.sqrt(d), "tangent")[0]
    v = rng.standard_normal((n, d)) * np.where(np.arange(d) < K, np.where(np.arange(d) < 1, first, 1.0), noise)
    return Planted(from_hyperboloid(translate(to_hyperboloid(v @ turn, "tangent"), mean), "poincare"), mean, turn[:K])


SIMULATIONS, REFITS = 200, 50  # Of coverage: simulations, and refits in each.


def coverage(K: int, seed: int) -> tuple[bool, float]:
    """Whether the bound of the angle covers the planted spine in one simulation, and the share of regions that hold the image.

    By symmetry the planted submanifold is the spine of the population: reflections in it and across it leave the distribution
    as it is.
    """
    rng = np.random.default_rng([K, seed])
    X, mean, directions = planted(100, 3, K, 0.4, rng)
    model = HoroPCA(K, spine="free", n_init=1).fit(X)
    found = bootstrap(model, X, n_resamples=REFITS, random_state=seed)
    there = between(Frame(mean, np.eye(3)), Frame(model._mean, np.eye(3))).T
    angle = spine_angle(spine_basis(model.spine_), np.pad(directions, ((0, 0), (1, 0))) @ there)
    spine = Spine(directions[0], -1.0, directions[1:])
    truth = to_hyperboloid(slide(translate_to_origin(to_hyperboloid(X), mean), spine), "halfspace")
    matched = align(truth, to_hyperboloid(found.images), squares=True).move(truth)
    return np.degrees(angle) <= found.angle_bounds[-1], float(np.mean(found.contains(from_hyperboloid(matched))))


def print_coverage() -> None:
    """How often intervals of 90 % hold what is true."""
    print("How often intervals of 90 % hold the truth:\n")
    print(f"| components | the bound of the angle | regions of images |   ({SIMULATIONS} simulations, {REFITS} refits in each)")
    print("|---|---|---|")
    for K in (1, 2):
        runs = Parallel(n_jobs=-1)(delayed(coverage)(K, seed) for seed in range(SIMULATIONS))
        cells = (f"{np.mean(values):.1%} ± {np.std(values) / np.sqrt(SIMULATIONS):.1%}" for values in zip(*runs, strict=True))
        print(f"| {K} | {' | '.join(cells)} |", flush=True)


class Model(NamedTuple):
    """What is planted: K directions in d dimensions, n points."""

    K: int
    noise: float = 0.4
    first: float = 1.0
    n: int = 100
    d: int = 5


SELECTED = {
    "no direction": Model(0, noise=1.0),
    "1": Model(1),
    "2": Model(2),
    "3": Model(3),
    "2, the first three times as wide": Model(2, first=3.0),
}
SELECTIONS = 100  # Runs for each model.


def selection(model: Model, run: int) -> int:
    """How many components `component_curve` chooses for points of a model."""
    rng = np.random.default_rng(run)
    X = planted(model.n, model.d, model.K, model.noise, rng, model.first).X
    return component_curve(X, cv=2, random_state=run).chosen


def print_selection() -> None:
    """How many components are chosen, of as many as are planted."""
    print("| planted | chosen: 0 | 1 | 2 | 3 | more | right |\n|---|---|---|---|---|---|---|")
    for name, model in SELECTED.items():
        chosen = Parallel(n_jobs=-1)(delayed(selection)(model, run) for run in range(SELECTIONS))
        counts = np.bincount(np.minimum(chosen, 4), minlength=5)
        print(f"| {name} | {' | '.join(map(str, counts))} | {counts[model.K] / SELECTIONS:.0%} |", flush=True)


SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)  # Of the rows, moved to the rim.
CONTAMINATIONS = 5  # Data sets for each share.


def at_the_rim(found: Planted, share: float, rng: np.random.Generator) -> np.ndarray:
    """The points with a share of them moved to the rim of float64, to either side across the planted submanifold."""
    n, d = found.X.shape
    rows = rng.permutation(n)[: round(share * n)]
    across = np.linalg.svd(found.directions)[2][-1] * rng.choice([-1.0, 1.0], (len(rows), 1))
    u = across + 0.01 * rng.standard_normal((len(rows), d))
    far = lift(np.sinh(30.0) * u / np.linalg.norm(u, axis=1, keepdims=True))
    X = found.X.copy()
    X[rows] = from_hyperboloid(translate(far, found.mean), "poincare")
    return X


def turn(objective: str, share: float, seed: int) -> float:
    """By how many degrees the plane of a picture is turned from the planted one, seen from the planted mean.

    Inside its plane a spine can slide at little cost, and the picture stays the same: only what leaves the plane counts.
    """
    found = planted(150, 6, 2, 0.2, np.random.default_rng(seed))
    fit = HoroPCA(2, objective=objective, n_init=4).fit(at_the_rim(found, share, np.random.default_rng([seed, 1])))
    seen = spine_basis(fit.spine_) @ between(Frame(fit._mean, np.eye(6)), Frame(found.mean, np.eye(6))).T
    return float(np.degrees(spine_angle(seen[:, 1:], found.directions)))


def print_breakdown() -> None:
    """How far rows at the rim turn the picture, for each objective: the median over data sets, and the most."""
    names = get_args(ObjectiveName)
    print(f"rows at the rim: degrees between the plane of the picture and the planted one, median (most) of {CONTAMINATIONS}")
    print("  share  " + "".join(f"{name:>14}" for name in names))
    for share in SHARES:
        cells = []
        for name in names:
            turns = Parallel(n_jobs=-1)(delayed(turn)(name, share, seed) for seed in range(CONTAMINATIONS))
            cells.append(f"{np.median(turns):.1f} ({max(turns):.1f})")
        print(f"  {share:>5.0%}  " + "".join(f"{cell:>14}" for cell in cells), flush=True)


# what is simulated, by its name on the command line
TABLES: dict[str, Callable[[], None]] = {
    "selection": print_selection,
    "coverage": print_coverage,
    "breakdown": print_breakdown,
}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        if name not in TABLES:
            sys.exit(f"{name!r} is none of {', '.join(TABLES)}.")
        TABLES[name]()


if __name__ == "__main__":
    main()
