"""How often error bars are right: simulations from models whose truth is known, in the tables of docs/trust.md.

    python -m benchmarks.trust                   # all tables: about three hours of processor time
    python -m benchmarks.trust selection         # one of TABLES
    python -m benchmarks.trust coverage runs=20  # with at most 20 simulations for each row

Seeds are fixed: the figures do not depend on the number of jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np
from joblib import Parallel, delayed

from horopca import HoroPCA, refine
from horopca._optimize.objectives import ObjectiveName
from horopca.datasets import load_mammals
from horopca.embed import TreeEmbedding
from horopca.estimators.parallel_analysis import look_dependent
from horopca.geometry import align, distance, from_hyperboloid, lift, to_hyperboloid, translate, translate_to_origin
from horopca.geometry._arrays import unit
from horopca.geometry.isometries import Frame, change_of_frame
from horopca.metrics import average_distortion, bootstrap, component_curve
from horopca.projections import Spine, slide, spine_basis
from horopca.projections.spines import spine_angle
from horopca.statistics import frechet_mean

from .data import embedding


class Planted(NamedTuple):
    """Points about a submanifold that is known."""

    X: np.ndarray  # (n, d), tangent vectors at the origin: the ball has no points beyond radius 37, as a t distribution has
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
    skewed: bool = False  # exponential coordinates, about their mean, instead of normal ones
    family: int = 1  # points in a family, whose deviation is 0.3 of that of all points; 0: families of 1, 2, 4, 8, ... points
    grouped: bool = False  # whether the families are passed as groups
    runs: int = 50  # simulations


def planted(model: Model, rng: np.random.Generator) -> Planted:
    """A wrapped normal (or t) distribution about a random point, of the deviations of a model."""
    n, d, K = model.n, model.d, model.K
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    mean = to_hyperboloid(rng.standard_normal((1, d)) / np.sqrt(d), "tangent")[0]
    deviations = np.where(np.arange(d) < K, np.where(np.arange(d) < 1, model.first, 1.0), model.noise)
    v = rng.standard_normal((n, d))
    members = np.arange(n) // model.family if model.family else np.log2(np.arange(1, n + 1)).astype(int)
    if model.family != 1:
        v = rng.standard_normal((n, d))[members] + 0.3 * v
    if model.skewed:
        v = rng.exponential(size=(n, d)) - 1
    if model.tails:
        v /= np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    points = translate(to_hyperboloid(model.size * v * deviations @ turn, "tangent"), mean)
    return Planted(from_hyperboloid(points, "tangent"), mean, turn[:K], members if model.grouped else None)


COVERED = {
    "normal": Model(1, d=3, runs=100),
    "normal, three times as far out": Model(1, d=3, size=3.0),
    "normal, 30 points": Model(1, n=30, d=3),
    "normal, 30 points in 20 dimensions": Model(1, n=30, d=20, noise=0.2, runs=20),
    "t₃ tails": Model(1, d=3, tails=True, runs=200),
    "families of ten": Model(1, d=3, family=10),
    "families of ten, with `groups`": Model(1, d=3, family=10, grouped=True),
    "normal, two directions": Model(2, d=3, runs=200),
}
REFITS = 50  # In each simulation.


def coverage(model: Model, seed: int) -> tuple[bool, float]:
    """Whether the bound of the angle covers the planted spine in one simulation, and the share of regions that hold the image.

    By symmetry the planted submanifold is the spine of the population: reflections in it and across it leave the distribution
    as it is.
    """
    d, (X, mean, directions, groups) = model.d, planted(model, np.random.default_rng([model.K, seed]))
    fit = HoroPCA(model.K, spine="free", n_init=1, model="tangent").fit(X)
    found = bootstrap(fit, X, n_resamples=REFITS, groups=groups, random_state=seed)
    there = change_of_frame(Frame(mean, np.eye(d)), Frame(fit._mean, np.eye(d))).T
    angle = spine_angle(spine_basis(fit.spine_), np.pad(directions, ((0, 0), (1, 0))) @ there)
    spine = Spine(directions[0], -1.0, directions[1:])
    truth = to_hyperboloid(slide(translate_to_origin(to_hyperboloid(X, "tangent"), mean), spine), "halfspace")
    matched = align(truth, to_hyperboloid(found.images, "tangent"), squares=True).move(truth)
    return np.degrees(angle) <= found.angle_bounds[-1], float(np.mean(found.contains(from_hyperboloid(matched, "tangent"))))


def rate(mean: float, error: float) -> str:
    return f"{mean:.1%} ± {error:.1%}" if error > 0 else f"{mean:.0%}"


def print_coverage(most: int = 1000) -> None:
    """How often intervals of 90 % hold what is true."""
    print(f"How often intervals of 90 % hold the truth ({REFITS} refits in each simulation):\n")
    print("| points | angle within its bound | images within their regions | simulations |\n|---|---:|---:|---:|")
    for name, model in COVERED.items():
        runs = min(most, model.runs)
        found = Parallel(n_jobs=-1)(delayed(coverage)(model, seed) for seed in range(runs))
        cells = (rate(np.mean(values), np.std(values) / np.sqrt(runs)) for values in zip(*found, strict=True))
        print(f"| {name} | {' | '.join(cells)} | {runs} |", flush=True)


SELECTED = {
    "none": Model(0, noise=1.0, runs=200),
    "none, t₃ tails": Model(0, noise=1.0, tails=True, runs=200),
    "none, skewed": Model(0, noise=1.0, skewed=True, runs=200),
    "none, families of ten": Model(0, noise=1.0, family=10, runs=20),
    "none, families of ten, with `groups`": Model(0, noise=1.0, family=10, grouped=True, runs=200),
    "none, families of 1, 2, 4, ... 32 and 37, with `groups`": Model(0, noise=1.0, family=0, grouped=True, runs=100),
    "one": Model(1, runs=100),
    "two": Model(2, runs=100),
    "three": Model(3, runs=100),
    "two, the first three times as wide": Model(2, first=3.0, runs=100),
    "two, t₃ tails": Model(2, tails=True, runs=100),
    "two, 30 points in 20 dimensions": Model(2, n=30, d=20, noise=0.2, runs=100),
    "two, three times as far out": Model(2, size=3.0, runs=100),
}


def selection(model: Model, run: int) -> int:
    """How many components `component_curve` chooses for points of a model."""
    found = planted(model, np.random.default_rng(run))
    return component_curve(found.X, estimator=HoroPCA(model="tangent"), cv=2, groups=found.groups, random_state=run).chosen


def print_selection(most: int = 1000) -> None:
    """How many components are chosen, of as many as are planted."""
    print("Components chosen, counts of runs:\n")
    print("| planted | chosen: 0 | 1 | 2 | 3 | more | right | runs |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, model in SELECTED.items():
        runs = min(most, model.runs)
        chosen = Parallel(n_jobs=-1)(delayed(selection)(model, run) for run in range(runs))
        counts = np.bincount(np.minimum(chosen, 4), minlength=5)
        right = counts[model.K] / runs
        cell = rate(right, np.sqrt(right * (1 - right) / runs))
        print(f"| {name} | {' | '.join(map(str, counts))} | {cell} | {runs} |", flush=True)


# Tangent vectors (n, d) of independent rows, alone and in clusters, and of families.
ROWS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "normal": lambda n, d, rng: rng.standard_normal((n, d)),
    "normal, deviations from 1 to 0.1": lambda n, d, rng: rng.standard_normal((n, d)) * np.linspace(1, 0.1, d),
    "log-normal": lambda n, d, rng: np.exp(0.7 * rng.standard_normal((n, d))),
    "t₃ tails": lambda n, d, rng: t3(n, d, rng),
    "exponential radii": lambda n, d, rng: rng.exponential(size=(n, 1)) * unit(rng.standard_normal((n, d))),
    "uniform in a cube": lambda n, d, rng: rng.uniform(-1, 1, (n, d)),
    "normal in a plane": lambda n, d, rng: np.pad(rng.standard_normal((n, 2)), ((0, 0), (0, d - 2))),
    "two clusters": lambda n, d, rng: clusters(2, n, d, rng) + rng.standard_normal((n, d)),
    "four clusters": lambda n, d, rng: clusters(4, n, d, rng) + rng.standard_normal((n, d)),
    "four clusters, t₃ tails": lambda n, d, rng: clusters(4, n, d, rng) + t3(n, d, rng),
    "six clusters": lambda n, d, rng: clusters(6, n, d, rng) + rng.standard_normal((n, d)),
    "six clusters, ten times as far apart": lambda n, d, rng: 10 * clusters(6, n, d, rng) + rng.standard_normal((n, d)),
    "twelve clusters": lambda n, d, rng: clusters(12, n, d, rng) + rng.standard_normal((n, d)),
    "pairs, 0.1 as wide": lambda n, d, rng: families(n, d, 2, 0.1, rng),
    "families of five, 0.1 as wide": lambda n, d, rng: families(n, d, 5, 0.1, rng),
    "families of five, 0.2 as wide": lambda n, d, rng: families(n, d, 5, 0.2, rng),
    "families of ten, 0.1 as wide": lambda n, d, rng: families(n, d, 10, 0.1, rng),
    "families of ten, 0.2 as wide": lambda n, d, rng: families(n, d, 10, 0.2, rng),
    "families of ten, 0.3 as wide": lambda n, d, rng: families(n, d, 10, 0.3, rng),
    "families of 5 to 20, 0.2 as wide": lambda n, d, rng: families(n, d, rng.integers(5, 21, n), 0.2, rng),
    "families of twenty, 0.2 as wide": lambda n, d, rng: families(n, d, 20, 0.2, rng),
    "copies, three of each row": lambda n, d, rng: families(n, d, 3, 0.0, rng),
}


def t3(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def clusters(count: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """The centres (n, d) of clusters that rows are in at random, with a deviation of 3."""
    return 3 * rng.standard_normal((count, d))[rng.integers(count, size=n)]


def families(n: int, d: int, size: int | np.ndarray, width: float, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(rng.standard_normal((n, d)), size, axis=0)[:n] + width * rng.standard_normal((n, d))


def print_dependence(runs: int = 50) -> None:
    """How often rows look dependent: the share of samples, for each number of rows and of dimensions."""
    sizes, dimensions = (100, 500, 2000), (3, 5, 10, 20)
    print(
        f"How often rows look dependent, of {runs} samples each of {', '.join(map(str, sizes))} rows. The standard errors are"
    )
    print(f"{30 / np.sqrt(runs):.1f} points at 10 % and {40 / np.sqrt(runs):.1f} at 80 %.\n")
    print(f"| rows | {' | '.join(f'd = {d}' for d in dimensions)} |\n|---|---:|---:|---:|---:|")
    for number, (name, rows) in enumerate(ROWS.items()):
        cells = []
        for d in dimensions:
            draws = [[rows(n, d, np.random.default_rng([2026, number, n, d, run])) for n in sizes] for run in range(runs)]
            # a tenth of them, because far points of a t distribution are beyond what float64 can represent
            found = [[look_dependent(to_hyperboloid(v / 10, "tangent")) for v in draw] for draw in draws]
            cells.append(" / ".join(f"{100 * share:.0f}" for share in np.mean(found, axis=0)) + "%")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


Picture = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of points (n, d) of a tree and the parent (n,) of each, as (n, 2)
PICTURES: dict[str, Picture] = {
    "`HoroPCA(2)`": lambda X, parent: HoroPCA(2).fit_transform(X),
    "`HoroPCA(2, stretch=True)`": lambda X, parent: HoroPCA(2, stretch=True).fit_transform(X),
    "the stretched picture after `refine`": lambda X, parent: refine(X, HoroPCA(2, stretch=True).fit_transform(X)),
    "`TreeEmbedding()` of the tree": lambda X, parent: TreeEmbedding(random_state=0).fit(parent).embedding_,
}


def redrawn(picture: Picture, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the mammals that remain without a share of the leaves, and their picture."""
    mammals = load_mammals()
    parent, n = mammals.parent, len(mammals.points)
    leaves = np.setdiff1d(np.arange(n), parent)
    gone = np.random.default_rng(seed).choice(leaves, round(share * len(leaves)), replace=False)
    kept = np.setdiff1d(np.arange(n), gone)
    number = np.full(n + 1, -1)  # the parent of the root is -1
    number[kept] = np.arange(len(kept))
    return kept, picture(mammals.points[kept], number[parent[kept]])


def print_pictures(runs: int = 10) -> None:
    """How far pictures of the mammals change if leaves are left out."""
    mammals, shares = load_mammals(), (0.1, 0.5)
    print(f"Pictures of the mammals without some leaves, mean ± standard deviation of {runs} refits\n")
    print("| picture |" + "".join(f" {share:.0%} left out: stability | distances change by |" for share in shares))
    print("|---|" + "---:|" * 2 * len(shares))
    for name, picture in PICTURES.items():
        whole, cells = picture(mammals.points, mammals.parent), []
        for share in shares:
            moved, changes = [], []
            for kept, after in Parallel(n_jobs=-1)(delayed(redrawn)(picture, share, seed) for seed in range(runs)):
                x, y = to_hyperboloid(whole[kept]), to_hyperboloid(after)
                variance = np.mean(distance(x, frechet_mean(x).point) ** 2)
                moved.append(min(1.0, float(np.mean(distance(align(y, x, squares=True).move(y), x) ** 2) / variance)))
                changes.append(average_distortion(whole[kept], after))
            cells += [f"{1 - np.mean(moved):.2f} ± {np.std(moved):.2f}", f"{np.mean(changes):.1%} ± {np.std(changes):.1%}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)  # Of the rows, moved to the rim.


def at_the_rim(found: Planted, share: float, rng: np.random.Generator) -> np.ndarray:
    """The points with a share of them moved to the rim of float64, to either side across the planted submanifold."""
    n, d = found.X.shape
    rows = rng.permutation(n)[: round(share * n)]
    across = np.linalg.svd(found.directions)[2][-1] * rng.choice([-1.0, 1.0], (len(rows), 1))
    u = across + 0.01 * rng.standard_normal((len(rows), d))
    far = lift(np.sinh(30.0) * u / np.linalg.norm(u, axis=1, keepdims=True))
    X = found.X.copy()
    X[rows] = from_hyperboloid(translate(far, found.mean), "tangent")
    return X


def turn(objective: str, share: float, seed: int) -> float:
    """By how many degrees the plane of a picture is turned from the planted one, seen from the planted mean.

    Inside its plane a spine can slide at little cost, and the picture stays the same: only what leaves the plane counts.
    """
    found = planted(Model(2, noise=0.2, n=150, d=6), np.random.default_rng(seed))
    fit = HoroPCA(2, objective=objective, n_init=4, model="tangent").fit(
        at_the_rim(found, share, np.random.default_rng([seed, 1]))
    )
    seen = spine_basis(fit.spine_) @ change_of_frame(Frame(fit._mean, np.eye(6)), Frame(found.mean, np.eye(6))).T
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


def print_curves(most: int = 6) -> None:
    """What each component adds to three data sets and to their copies, and the distortion of unseen rows."""
    print(f"Adds / most by chance, in %, and the distortion of unseen rows, for 1 to {most} components:\n")
    for name in ("mammals", "phylo tree", "CS Ph.D."):
        X = load_mammals().points if name == "mammals" else embedding(name)
        curve = component_curve(X, most)
        added = zip(100 * curve.added, 100 * curve.null.max(axis=0), strict=False)
        print(f"| {name}, {len(X)} rows, chosen: {curve.chosen} | {' | '.join(f'{a:.2f} / {b:.2f}' for a, b in added)} |")
        held = zip(curve.distortion.mean, curve.distortion.error, strict=True)
        print(f"| distortion of unseen rows | {' | '.join(f'{d:.3f} ± {e:.3f}' for d, e in held)} |", flush=True)


# By the name on the command line. The table of curves reads two embeddings of the paper from the folder HOROPCA_DATA.
TABLES: dict[str, Callable[..., None]] = {
    "selection": print_selection,
    "coverage": print_coverage,
    "dependence": print_dependence,
    "pictures": print_pictures,
    "curves": print_curves,
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
