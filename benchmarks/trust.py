"""How far error bars hold: simulations from models whose truth is known.

    python -m benchmarks.trust                   # all tables
    python -m benchmarks.trust selection         # one of TABLES
    python -m benchmarks.trust coverage runs=20  # with fewer simulations

Seeds are fixed: the counts do not depend on the number of jobs.
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
    groups: np.ndarray | None = None  # (n,), the family of each point


class Model(NamedTuple):
    """What is planted: K directions in d dimensions, n points."""

    K: int
    noise: float = 0.4  # deviation across the directions; along them it is 1
    first: float = 1.0  # deviation along the first
    n: int = 100
    d: int = 5
    size: float = 1.0  # all deviations are multiplied by this
    tails: bool = False  # Student's t with 3 degrees of freedom instead of a normal distribution
    family: int = 1  # points in a family, whose deviation is 0.3 of that of all points
    grouped: bool = False  # whether the families are passed as groups


def planted(model: Model, rng: np.random.Generator) -> Planted:
    """A wrapped normal (or t) distribution about a random point, of the deviations of a model."""
    n, d, K = model.n, model.d, model.K
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    mean = to_hyperboloid(rng.standard_normal((1, d)) / np.sqrt(d), "tangent")[0]
    deviations = np.where(np.arange(d) < K, np.where(np.arange(d) < 1, model.first, 1.0), model.noise)
    v = rng.standard_normal((n, d))
    members = np.arange(n) // model.family
    if model.family > 1:
        v = rng.standard_normal((n, d))[members] + 0.3 * v
    if model.tails:
        v /= np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    points = translate(to_hyperboloid(model.size * v * deviations @ turn, "tangent"), mean)
    return Planted(from_hyperboloid(points, "poincare"), mean, turn[:K], members if model.grouped else None)


COVERED = {
    "1 component": Model(1, d=3),
    "2 components": Model(2, d=3),
    "1, three times as far out": Model(1, d=3, size=3.0),
    "1, of 30 points in 20 dimensions": Model(1, n=30, d=20, noise=0.2),
    "1, t₃ tails": Model(1, d=3, tails=True),
    "1, families of ten": Model(1, d=3, family=10),
    "1, families of ten, with `groups`": Model(1, d=3, family=10, grouped=True),
}
REFITS = 50  # In each simulation.


def coverage(model: Model, seed: int) -> tuple[bool, float]:
    """Whether the bound of the angle covers the planted spine in one simulation, and the share of regions that hold the image.

    By symmetry the planted submanifold is the spine of the population: reflections in it and across it leave the distribution
    as it is.
    """
    d, (X, mean, directions, groups) = model.d, planted(model, np.random.default_rng([model.K, seed]))
    fit = HoroPCA(model.K, spine="free", n_init=1).fit(X)
    found = bootstrap(fit, X, n_resamples=REFITS, groups=groups, random_state=seed)
    there = between(Frame(mean, np.eye(d)), Frame(fit._mean, np.eye(d))).T
    angle = spine_angle(spine_basis(fit.spine_), np.pad(directions, ((0, 0), (1, 0))) @ there)
    spine = Spine(directions[0], -1.0, directions[1:])
    truth = to_hyperboloid(slide(translate_to_origin(to_hyperboloid(X), mean), spine), "halfspace")
    matched = align(truth, to_hyperboloid(found.images), squares=True).move(truth)
    return np.degrees(angle) <= found.angle_bounds[-1], float(np.mean(found.contains(from_hyperboloid(matched))))


def print_coverage(runs: int = 100) -> None:
    """How often intervals of 90 % hold what is true."""
    print(f"How often intervals of 90 % hold the truth ({runs} simulations, {REFITS} refits in each):\n")
    print("| planted | the bound of the angle | regions of images |\n|---|---|---|")
    for name, model in COVERED.items():
        found = Parallel(n_jobs=-1)(delayed(coverage)(model, seed) for seed in range(runs))
        cells = (f"{np.mean(values):.1%} ± {np.std(values) / np.sqrt(runs):.1%}" for values in zip(*found, strict=True))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


SELECTED = {
    "no direction": Model(0, noise=1.0),
    "1": Model(1),
    "2": Model(2),
    "3": Model(3),
    "2, the first three times as wide": Model(2, first=3.0),
    "no direction, t₃ tails": Model(0, noise=1.0, tails=True),
    "2, t₃ tails": Model(2, tails=True),
    "no direction, families of ten": Model(0, noise=1.0, family=10),
    "no direction, families of ten, with `groups`": Model(0, noise=1.0, family=10, grouped=True),
}


def selection(model: Model, run: int) -> int:
    """How many components `component_curve` chooses for points of a model."""
    found = planted(model, np.random.default_rng(run))
    return component_curve(found.X, cv=2, groups=found.groups, random_state=run).chosen


def print_selection(runs: int = 100) -> None:
    """How many components are chosen, of as many as are planted."""
    print(f"Components chosen, counts of {runs} runs:\n")
    print("| planted | chosen: 0 | 1 | 2 | 3 | more | right |\n|---|---|---|---|---|---|---|")
    for name, model in SELECTED.items():
        chosen = Parallel(n_jobs=-1)(delayed(selection)(model, run) for run in range(runs))
        counts = np.bincount(np.minimum(chosen, 4), minlength=5)
        print(f"| {name} | {' | '.join(map(str, counts))} | {counts[model.K] / runs:.0%} |", flush=True)


SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)  # Of the rows, moved to the rim.


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
    found = planted(Model(2, noise=0.2, n=150, d=6), np.random.default_rng(seed))
    fit = HoroPCA(2, objective=objective, n_init=4).fit(at_the_rim(found, share, np.random.default_rng([seed, 1])))
    seen = spine_basis(fit.spine_) @ between(Frame(fit._mean, np.eye(6)), Frame(found.mean, np.eye(6))).T
    return float(np.degrees(spine_angle(seen[:, 1:], found.directions)))


def print_breakdown(runs: int = 5) -> None:
    """How far rows at the rim turn the picture, for each objective: the median over data sets, and the most."""
    names = get_args(ObjectiveName)
    print(f"rows at the rim: degrees between the plane of the picture and the planted one, median (most) of {runs}")
    print("  share  " + "".join(f"{name:>14}" for name in names))
    for share in SHARES:
        cells = []
        for name in names:
            turns = Parallel(n_jobs=-1)(delayed(turn)(name, share, seed) for seed in range(runs))
            cells.append(f"{np.median(turns):.1f} ({max(turns):.1f})")
        print(f"  {share:>5.0%}  " + "".join(f"{cell:>14}" for cell in cells), flush=True)


# what is simulated, by its name on the command line
TABLES: dict[str, Callable[..., None]] = {
    "selection": print_selection,
    "coverage": print_coverage,
    "breakdown": print_breakdown,
}


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("runs=")]
    runs = [int(word.removeprefix("runs=")) for word in sys.argv[1:] if word.startswith("runs=")]
    for name in names or TABLES:
        if name not in TABLES:
            sys.exit(f"{name!r} is not one of {', '.join(TABLES)}.")
        TABLES[name](*runs[:1])


if __name__ == "__main__":
    main()
