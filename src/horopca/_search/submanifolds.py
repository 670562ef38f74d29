"""The search for geodesic submanifolds: through data points first, then anywhere near them.

Far out, hyperbolic data leaves the submanifolds that pass through it a landscape of narrow valleys, one for each choice of
points to pass through. So the search starts among hulls of data points, where exchanging one point for the best
other one is a single matrix product, and only then lets go of the points and climbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from .._objectives.sample import Objective, Sample
from .._objectives.submanifolds import (
    Profile,
    distance_to,
    distance_within,
    explained_objective,
    flag_objective,
    parts,
    spread_objective,
)
from ..geometry import boost, boost_to_origin, lift, lorentz_frame
from ..geometry.hulls import split_basis
from .climb import Ascent, Heat, Report, Run, climb, race, run
from .ending import Ending
from .families import Anywhere, Family, Inside, OneMore, ThroughOrigin, compose

CANDIDATES = 256  # So many data points are tried in exchange for others.
LOOKED_AT = 512  # They are compared over so many data points.
EVERY = 2048  # Up to so many data points are tried as the next one to pass through, and compared over as many.
FEW = 512  # The first climbs are made on so many data points.
CANDIDATES_AT_ONCE = 32  # So many candidates are compared at a time.
SWEEPS = 6


Measure = Callable[[Sample], Objective]  # an objective, once it is told the points


class Aim(NamedTuple):
    """What to optimise: the objective, and the profile that ranks hulls of data points (the smaller the better)."""

    objective: Measure
    profile: Profile
    sign: int


AIMS = {
    "variance": Aim(spread_objective, distance_within, -1),
    "residual": Aim(explained_objective, distance_to, 1),
}


class Effort(NamedTuple):
    """How hard to search: starts, iterations and tolerance of the last climb, whom to tell."""

    n_init: int
    max_iter: int
    tol: float
    report: Report


class Nested(NamedTuple):
    """Submanifolds of dimensions 1 .. K, each inside the next, and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k+1, d+1)
    ending: Ending  # of all its climbs


# ---------------------------------------------------------------- through the base point (PGA)


def search_joint(sample: Sample, K: int, goal: str, effort: Effort, rng: np.random.Generator) -> Nested:
    """The best K-dimensional submanifold through the origin; then, greedily, the ones inside it."""
    family = ThroughOrigin()
    if sample.dimension == K:  # all of the space: only the sequence is left to find
        return search_greedy(sample, K, goal, effort, rng, CANDIDATES)
    hulls = _exchanged(sample, _origin(sample), K, AIMS[goal], effort.n_init, rng)
    hulls += [_grown(sample, _origin(sample), K, AIMS[goal]), *_drawn(sample, K, effort.n_init, rng)]
    starts = [np.eye(K, sample.dimension), *(_towards(sample, hull) for hull in hulls)]
    best = _race(sample, starts, _in_family(AIMS[goal].objective, family), effort)
    A = family.basis(best.point)[0]
    inside = _one_by_one(sample, K - 1, np.linalg.qr(A[1:].T)[0], goal, effort._replace(report=_quiet), rng, CANDIDATES)
    return Nested([*inside.bases, A], Ending.of_all([best, inside.ending]))


def search_greedy(
    sample: Sample, K: int, goal: str, effort: Effort, rng: np.random.Generator, candidates: int = EVERY
) -> Nested:
    """One direction through the origin after another, each the best addition to those before it."""
    return _one_by_one(sample, K, np.eye(sample.dimension + 1)[:, 1:], goal, effort, rng, candidates)


def _one_by_one(
    sample: Sample, K: int, spread: np.ndarray, goal: str, effort: Effort, rng: np.random.Generator, candidates: int
) -> Nested:
    """The greedy sequence, with directions in the columns of `spread` (d+1, m), from those of so many data points."""
    m = spread.shape[1]
    A, bases, climbs = _origin(sample), [], []
    for _ in range(K):
        likely = list(np.argsort(_with_one_more(sample, A, [], AIMS[goal], candidates, candidates))[: 2 * effort.n_init])
        starts = [*(_towards(sample, likely) @ spread[1:]), *np.eye(m)[:2], rng.standard_normal(m)]
        family = OneMore(A, 0 * A[0], spread)
        best = _race(sample, [u for u in starts if u.any()], _in_family(AIMS[goal].objective, family), effort)
        A = family.basis(best.point)[0]
        bases.append(A)
        climbs.append(best)
    return Nested(bases, Ending.of_all(climbs))


# ---------------------------------------------------------------- anywhere, or through the base point (BSA)


def search_last(sample: Sample, K: int, through: bool, effort: Effort, rng: np.random.Generator) -> Nested:
    """The K-dimensional submanifold nearest to the points, through the origin or anywhere; then the best flag inside it."""
    whole = np.eye(sample.dimension + 1)
    starts = _hull_starts(sample, K, through, effort, rng)
    best = _race_in_frames(sample, whole, starts, 0 if through else K, explained_objective, effort)
    frame = lorentz_frame(best.point)
    inside = [_coordinates(A, frame) for A in starts[: effort.n_init]]
    flag = _race_in_frames(sample, frame, inside, int(not through), flag_objective, effort._replace(report=_quiet))
    return Nested([*(flag.point[: k + 1] for k in range(1, K)), best.point], Ending.of_all([best, flag]))


def search_flag(sample: Sample, K: int, through: bool, effort: Effort, rng: np.random.Generator) -> Nested:
    """Nested submanifolds of dimensions 1 .. K with the least sum of unexplained variances (Pennec's criterion)."""
    whole = np.eye(sample.dimension + 1)
    starts = _hull_starts(sample, K, through, effort, rng)
    best = _race_in_frames(sample, whole, starts, int(not through), flag_objective, effort)
    return Nested([best.point[: k + 1] for k in range(1, K + 1)], Ending.of(best))


# ---------------------------------------------------------------- frames


def _frame(A: np.ndarray, anchor: int) -> np.ndarray:
    """A Lorentz-orthonormal frame (m+1, m+1) of R^{1,m}, its first j+1 rows spanning those of A (K+1, m+1), j >= anchor.

    Row 0 is the point nearest to the origin in the submanifold of the first anchor+1 rows of A.
    """
    f = lift(lorentz_frame(A[: anchor + 1])[0, 1:])
    seen = A @ boost_to_origin(f)
    directions = np.concatenate([split_basis(seen[: anchor + 1])[2], seen[anchor + 1 :, 1:]])
    return np.asarray(block_diag(1, np.linalg.qr(directions.T, mode="complete")[0].T) @ boost(f))


def nested_frame(bases: list[np.ndarray], anchor: int) -> np.ndarray:
    """A Lorentz-orthonormal frame (K+1, d+1) whose first k+1 rows span the k-th of nested submanifolds, k >= anchor.

    Row 0 is the point nearest to the origin in the anchor-th of them; with anchor = 0, the origin, which all contain.
    """
    A = bases[0]
    for basis in bases[1:]:  # one row more: the part of V_k that is not in V_{k-1}
        Q, V = np.linalg.qr(A.T)[0], np.linalg.qr(basis.T)[0].T
        A = np.concatenate([A, np.linalg.svd(V - (V @ Q) @ Q.T)[2][:1]])
    return _frame(A, anchor)[: len(A)]


def _coordinates(A: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Coordinates (k, K+1) of the projections of vectors A (k, d+1) in a Lorentz-orthonormal frame (K+1, d+1)."""
    products: np.ndarray = A[:, 1:] @ frame[:, 1:].T - np.outer(A[:, 0], frame[:, 0])
    products[:, 0] *= -1
    return products


# ---------------------------------------------------------------- hulls of data points


def _hull_starts(sample: Sample, K: int, through: bool, effort: Effort, rng: np.random.Generator) -> list[np.ndarray]:
    """Bases (K+1, d+1): eigen-solutions; the best hulls of data points, by exchange; the best lines, with points added."""
    goal = AIMS["residual"]
    given, count = _origin(sample)[: int(through)], K + (not through)
    hulls = [_in_order(sample, given, hull, goal) for hull in _exchanged(sample, given, count, goal, effort.n_init, rng)]
    lines = _exchanged(sample, given, count - K + 1, goal, effort.n_init, rng)
    hulls += [_grown(sample, given, count, goal, line, range(_few(sample, CANDIDATES))) for line in lines]
    hulls += _drawn(sample, count, effort.n_init, rng)
    spectral = [space_form(sample, K, through, power) for power in (0.0, 0.5, 1.0)]
    return [*spectral, *(np.concatenate([given, _points(sample, hull)]) for hull in hulls)]


def space_form(sample: Sample, K: int, through: bool, power: float) -> np.ndarray:
    """A basis (K+1, d+1): the submanifold with the least mean of sinh^2 of the distances, weighted by time^(-2 power).

    A closed form, space-form PCA (Tabaghi et al. 2024): eigenvectors of the second moments M of the points in the Minkowski
    form, M J v = lambda v, the time-like one and the K that explain most. Through the origin: those of the space parts.
    """
    x = sample.columns / np.maximum(sample.columns[0], 1) ** power
    M = x @ x.T / sample.size
    if through:
        axes = np.linalg.eigh(M[1:, 1:])[1][:, ::-1][:, :K].T
        return np.concatenate([_origin(sample), np.pad(axes, ((0, 0), (1, 0)))])
    M[:, 0] *= -1
    values, vectors = np.linalg.eig(M)
    vectors = vectors[:, np.argsort(values.real)].real.T  # the time-like one has the only negative value
    return np.concatenate([vectors[:1], vectors[::-1][:K]])


def _origin(sample: Sample) -> np.ndarray:
    return np.eye(1, sample.dimension + 1)


def _few(sample: Sample, most: int) -> int:
    return min(most, sample.size)


def _points(sample: Sample, indices: Sequence[int]) -> np.ndarray:
    """Data points (k, d+1), scaled to time 1."""
    return np.asarray((sample.columns[:, indices] / sample.columns[0, indices]).T)


def _towards(sample: Sample, indices: Sequence[int]) -> np.ndarray:
    """Directions (k, d) of data points from the origin: unit vectors, or 0."""
    s = sample.columns[1:, indices].T
    return np.asarray(s / np.maximum(np.linalg.norm(s, axis=1, keepdims=True), 1e-300))


def _with_one_more(
    sample: Sample, given: np.ndarray, hull: list[int], goal: Aim, candidates: int = CANDIDATES, looked_at: int = LOOKED_AT
) -> np.ndarray:
    """The goal (the smaller the better) for the hull of `given`, the points `hull` and each candidate in turn.

    Infinite for the candidates that lie in the hull already.
    """
    part = sample.head(max(candidates, looked_at))
    A = np.concatenate([given, _points(sample, hull)])
    _, _, outside, q = parts(part, A)
    t = part.columns[0]
    new = q > 1e-8 + (1e-10 * t) ** 2
    new[hull] = False
    over = slice(looked_at)
    values = np.full(_few(sample, candidates), np.inf)
    for start in range(0, len(values), CANDIDATES_AT_ONCE):  # small blocks: they stay in a core's cache
        rows = np.flatnonzero(new[start : min(start + CANDIDATES_AT_ONCE, len(values))]) + start
        products = outside[1:, rows].T @ outside[1:, over] - np.outer(outside[0, rows], outside[0, over])
        left = np.maximum(q[over] - products * (products / q[rows, None]), 0)  # the square may leave float64
        inside = np.maximum(t[over] ** 2 - 1 - left, 0)
        values[rows] = goal.sign * np.mean(goal.profile(left, inside, t[over])[0], axis=1)
    return np.where(np.isnan(values), np.inf, values)


def _drawn(sample: Sample, count: int, n_init: int, rng: np.random.Generator) -> list[list[int]]:
    """Random sets of `count` data points."""
    m = _few(sample, CANDIDATES)
    return [rng.choice(m, count, replace=m < count).tolist() for _ in range(n_init)]


def _exchanged(
    sample: Sample, given: np.ndarray, count: int, goal: Aim, n_init: int, rng: np.random.Generator
) -> list[list[int]]:
    """Sets of `count` data points whose hull, with `given`, no exchange of one point improves."""
    found: dict[tuple[int, ...], None] = {}
    for hull in _drawn(sample, count, n_init, rng):
        best, idle = np.inf, 0
        for step in range(SWEEPS * count):
            slot = step % count
            values = _with_one_more(sample, given, hull[:slot] + hull[slot + 1 :], goal)
            idle, least = idle + 1, values.min()
            if least < best and not best - least <= 1e-9 * abs(least):
                best, hull[slot], idle = least, int(values.argmin()), 0
            if idle == count:
                break
        found[tuple(sorted(hull))] = None
    return [list(hull) for hull in found]


def _grown(
    sample: Sample, given: np.ndarray, count: int, goal: Aim, hull: Sequence[int] = (), among: Sequence[int] | None = None
) -> list[int]:
    """The hull with the best of the data points `among` (all that are not too many) added, until it has `count`."""
    hull, most = list(hull), EVERY if among is None else CANDIDATES
    among = range(_few(sample, EVERY)) if among is None else among
    while len(hull) < count:
        values = _with_one_more(sample, given, hull, goal, most, EVERY if most == EVERY else LOOKED_AT)
        left = [i for i in among if i not in hull] or list(among)
        hull = [*hull, left[int(np.argmin(values[left]))]]
    return hull


def _in_order(sample: Sample, given: np.ndarray, hull: list[int], goal: Aim) -> list[int]:
    """The points of a hull in the order in which they explain most: the best line first."""
    first: list[int] = []
    if not len(given):
        pairs = {i: _with_one_more(sample, given, [i], goal)[hull] for i in hull}
        i = min(pairs, key=lambda i: pairs[i].min())
        first = [i, hull[int(pairs[i].argmin())]]
    return _grown(sample, given, len(hull), goal, first, hull)


# ---------------------------------------------------------------- the climb


def _race(sample: Sample, starts: list[np.ndarray], objective: Measure, effort: Effort, run: Run = run) -> Ascent:
    """Look at every start, climb a little from the better ones on few of the points, then all the way on more, then on all.

    The best start is tried again if it was better: up to EVERY points, what is found is never worse than what one can list.
    """
    some, whole = objective(sample.head(EVERY)), objective(sample)
    racing = partial(race, tol=effort.tol, run=run)
    looked_at = racing(starts, [Heat(some, 0, 2 * effort.n_init)])
    heats = [
        Heat(objective(sample.head(FEW)), 12, max(2, effort.n_init // 2)),
        Heat(some, effort.max_iter, 1),
        Heat(whole, effort.max_iter, 1),
    ]
    heats = heats if sample.size > EVERY else heats[:2]
    found = racing([start.point for start in looked_at], heats, report=effort.report)[0]
    if sample.size > EVERY or found.value >= looked_at[0].value:
        return found
    return racing([looked_at[0].point], heats[1:])[0]


def _in_family(objective: Measure, family: Family) -> Measure:
    return lambda sample: compose(objective(sample), family)


def _race_in_frames(
    sample: Sample, space: np.ndarray, starts: list[np.ndarray], anchor: int, objective: Measure, effort: Effort
) -> Ascent:
    """As `_race`, each climb in coordinates in which it starts at the origin, along the axes: far out, that makes all steps
    of one size. The starts are bases (K+1, m+1) in the frame `space` (m+1, d+1), the point of the result is a basis (K+1, d+1).
    """
    family: Family = Anywhere() if anchor else ThroughOrigin()

    def run(goal: Objective, runner: Ascent, max_iter: int, tol: float) -> Ascent:
        if max_iter == 0:
            return runner._replace(value=goal(runner.point @ space)[0])
        frame = _frame(runner.point, anchor)
        start = np.eye(len(runner.point), len(frame) - 1, k=-1)[0 if anchor else 1 :]
        ascent = climb(compose(goal, Inside(family, frame @ space)), start, max_iter=max_iter, tol=tol)
        return ascent._replace(point=family.basis(ascent.point)[0] @ frame)

    found = _race(sample, starts, objective, effort, run)
    return found._replace(point=found.point @ space)


def _quiet(*_: object) -> None:
    pass
