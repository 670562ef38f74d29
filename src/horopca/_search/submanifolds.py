"""The search for geodesic submanifolds: through data points first, then anywhere near them.

Far out, hyperbolic data leaves the submanifolds that pass through it a landscape of narrow valleys, one for each choice of
points to pass through. So the search starts among hulls of data points, where exchanging one point for the best
other one is a single matrix product, and only then lets go of the points and climbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from .._objectives.objectives import Sample
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
from .climb import Ascent, Heat, climb, race
from .ending import Ending
from .families import Anywhere, Family, Inside, OneMore, ThroughOrigin, compose

CANDIDATES = 256  # data points to pass through
LOOKED_AT = 512  # data points over which they are compared
BLOCK = 32  # candidates compared at a time
SWEEPS = 6


class Goal(NamedTuple):
    """What to optimise: the objective, and the profile that ranks hulls of data points (the smaller the better)."""

    objective: Callable[[Sample], Callable]
    profile: Profile
    sign: int


GOALS = {
    "variance": Goal(spread_objective, distance_within, -1),
    "residual": Goal(explained_objective, distance_to, 1),
}


class Effort(NamedTuple):
    """How hard to search: starts, iterations and tolerance of the last climb, whom to tell."""

    n_init: int
    max_iter: int
    tol: float
    report: Callable


class Nested(NamedTuple):
    """Submanifolds of dimensions 1 .. K, each inside the next, and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k+1, d+1)
    ending: Ending  # of all its climbs


# ---------------------------------------------------------------- through the base point (PGA)


def search_joint(sample: Sample, K: int, goal: str, effort: Effort, rng: np.random.Generator) -> Nested:
    """The best K-dimensional submanifold through the origin; then, greedily, the ones inside it."""
    family = ThroughOrigin()
    hulls = _exchanged(sample, _origin(sample), K, GOALS[goal], effort.n_init, rng)
    hulls += [_grown(sample, _origin(sample), [], _candidates(sample), K, GOALS[goal]), *_drawn(sample, K, effort.n_init, rng)]
    starts = [np.eye(K, sample.dimension), *(_directions(sample, hull) for hull in hulls)]
    best = _race(sample, family, starts, GOALS[goal].objective, effort)
    A = family.basis(best.point)[0]
    inside = _one_by_one(sample, K - 1, np.linalg.qr(A[1:].T)[0], goal, effort._replace(report=_quiet), rng)
    return Nested([*inside.bases, A], Ending.of_all([best, inside.ending]))


def search_greedy(sample: Sample, K: int, goal: str, effort: Effort, rng: np.random.Generator) -> Nested:
    """One direction through the origin after another, each the best addition to those before it."""
    return _one_by_one(sample, K, np.eye(sample.dimension + 1)[:, 1:], goal, effort, rng)


def _one_by_one(sample: Sample, K: int, spread: np.ndarray, goal: str, effort: Effort, rng: np.random.Generator) -> Nested:
    """The greedy sequence, with directions in the columns of `spread` (d+1, m)."""
    m = spread.shape[1]
    A, bases, climbs = _origin(sample), [], []
    for _ in range(K):
        likely = list(np.argsort(_with_one_more(sample, A, [], GOALS[goal]))[: 2 * effort.n_init])
        starts = [*(_directions(sample, likely) @ spread[1:]), *np.eye(m)[:2], rng.standard_normal(m)]
        family = OneMore(A, 0 * A[0], spread)
        best = _race(sample, family, [u for u in starts if u.any()], GOALS[goal].objective, effort)
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
    return block_diag(1, np.linalg.qr(directions.T, mode="complete")[0].T) @ boost(f)


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
    products = A[:, 1:] @ frame[:, 1:].T - np.outer(A[:, 0], frame[:, 0])
    products[:, 0] *= -1
    return products


# ---------------------------------------------------------------- hulls of data points


def _hull_starts(sample: Sample, K: int, through: bool, effort: Effort, rng: np.random.Generator) -> list[np.ndarray]:
    """Bases (K+1, d+1): the principal axes; the best hulls of data points, by exchange; the best lines, with points added."""
    origin, goal = _origin(sample), GOALS["residual"]
    given = origin[: int(through)]
    hulls = _exchanged(sample, given, K + (not through), goal, effort.n_init, rng)
    lines = _exchanged(sample, given, 1 + (not through), goal, 2 * effort.n_init, rng)
    grown = (_grown(sample, given, line, _candidates(sample), K + (not through), goal) for line in lines)
    hulls = [*(_in_order(sample, given, hull, goal) for hull in hulls), *grown]
    hulls += _drawn(sample, K + (not through), effort.n_init, rng)
    return [np.eye(K + 1, sample.dimension + 1), *(np.concatenate([given, _points(sample, hull)]) for hull in hulls)]


def _origin(sample: Sample) -> np.ndarray:
    return np.eye(1, sample.dimension + 1)


def _candidates(sample: Sample) -> range:
    return range(min(CANDIDATES, sample.size))


def _points(sample: Sample, indices: Sequence[int]) -> np.ndarray:
    """Data points (k, d+1), scaled to time 1."""
    return (sample.columns[:, indices] / sample.columns[0, indices]).T


def _directions(sample: Sample, indices: Sequence[int]) -> np.ndarray:
    """Directions (k, d) of data points from the origin: unit vectors, or 0."""
    s = sample.columns[1:, indices].T
    return s / np.maximum(np.linalg.norm(s, axis=1, keepdims=True), 1e-300)


def _with_one_more(sample: Sample, given: np.ndarray, hull: list[int], goal: Goal) -> np.ndarray:
    """The goal (the smaller the better) for the hull of `given`, the points `hull` and each candidate in turn.

    Infinite for the candidates that lie in the hull already.
    """
    looked_at = sample.head(LOOKED_AT)
    A = np.concatenate([given, _points(sample, hull)])
    _, _, outside, q = parts(looked_at, A)
    t = looked_at.columns[0]
    new = q > 1e-8 + (1e-10 * t) ** 2
    new[hull] = False
    values = np.full(len(_candidates(sample)), np.inf)
    for start in range(0, len(values), BLOCK):  # small blocks: they stay in a core's cache
        rows = np.flatnonzero(new[start : min(start + BLOCK, len(values))]) + start
        products = outside[1:, rows].T @ outside[1:] - np.outer(outside[0, rows], outside[0])
        left = np.maximum(q - products**2 / q[rows, None], 0)
        values[rows] = goal.sign * np.mean(goal.profile(left, np.maximum(t * t - 1 - left, 0), t)[0], axis=1)
    return values


def _drawn(sample: Sample, count: int, n_init: int, rng: np.random.Generator) -> list[list[int]]:
    """Random sets of `count` data points."""
    m = len(_candidates(sample))
    return [rng.choice(m, count, replace=m < count).tolist() for _ in range(n_init)]


def _exchanged(sample: Sample, given: np.ndarray, count: int, goal: Goal, n_init: int, rng) -> list[list[int]]:
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


def _grown(sample: Sample, given: np.ndarray, hull: list[int], among: Sequence[int], count: int, goal: Goal) -> list[int]:
    """The hull with the best of the data points `among` added, one after another, until it has `count`."""
    while len(hull) < count:
        values = _with_one_more(sample, given, hull, goal)
        left = [i for i in among if i not in hull] or list(among)
        hull = [*hull, left[int(np.argmin(values[left]))]]
    return hull


def _in_order(sample: Sample, given: np.ndarray, hull: list[int], goal: Goal) -> list[int]:
    """The points of a hull in the order in which they explain most: the best line first."""
    first: list[int] = []
    if not len(given):
        pairs = {i: _with_one_more(sample, given, [i], goal)[hull] for i in hull}
        i = min(pairs, key=lambda i: pairs[i].min())
        first = [i, hull[int(pairs[i].argmin())]]
    return _grown(sample, given, first, hull, len(hull), goal)


# ---------------------------------------------------------------- the climb


def _race(sample: Sample, family: Family, starts: list[np.ndarray], objective: Callable, effort: Effort) -> Ascent:
    """Climb a little from every start on some of the points, then all the way from the best on all of them."""
    few = compose(objective(sample.head(1024)), family)
    heats = [Heat(few, 20, max(2, effort.n_init // 2)), Heat(compose(objective(sample), family), effort.max_iter, 1)]
    return race(starts, heats, tol=effort.tol, report=effort.report)[0]


def _race_in_frames(
    sample: Sample, space: np.ndarray, starts: list[np.ndarray], anchor: int, objective: Callable, effort: Effort
) -> Ascent:
    """As `_race`, each climb in coordinates in which it starts at the origin, along the axes: far out, that makes all steps
    of one size. The starts are bases (K+1, m+1) in the frame `space` (m+1, d+1), the point of the result is a basis (K+1, d+1).
    """
    family: Family = Anywhere() if anchor else ThroughOrigin()

    def run(goal: Callable, runner: Ascent, max_iter: int) -> Ascent:
        frame = _frame(runner.point, anchor)
        start = np.eye(len(runner.point), len(frame) - 1, k=-1)[0 if anchor else 1 :]
        ascent = climb(compose(goal, Inside(family, frame @ space)), start, max_iter=max_iter, tol=effort.tol)
        return ascent._replace(point=family.basis(ascent.point)[0] @ frame, n_iter=runner.n_iter + ascent.n_iter)

    field = [Ascent(start, -np.inf, 0, False, "not started") for start in starts]
    heats = [(sample.head(1024), 20, max(2, effort.n_init // 3)), (sample, effort.max_iter, 1)]
    for number, (part, max_iter, keep) in enumerate(heats):
        finished = [run(objective(part), runner, max_iter) for runner in field]
        field = sorted(finished, key=lambda ascent: -ascent.value if np.isfinite(ascent.value) else np.inf)[:keep]
        effort.report(number, len(heats), len(finished), field[0].value)
    return field[0]._replace(point=field[0].point @ space)


def _quiet(*_: object) -> None:
    pass
