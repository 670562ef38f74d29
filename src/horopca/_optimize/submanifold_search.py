"""The search for geodesic submanifolds, for PGA and BSA: through data points first, then anywhere near them.

Far out, hyperbolic data leaves the submanifolds that pass through it a landscape of narrow valleys, one for each choice of
points to pass through. So the search starts among hulls of data points, where exchanging one point for the best other one is a
single matrix product, and only then climbs away from the points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..geometry import boost, boost_to_origin, lift, lorentz_frame
from ..geometry.hulls import split_basis
from .families import OneMore
from .lbfgs import Status, maximise, one_at_a_time
from .result import Ending
from .sample import Sample
from .submanifolds import (
    Objective,
    Profile,
    distance_to,
    distance_within,
    explained_objective,
    flag_objective,
    parts,
    spread_objective,
)

CANDIDATES = 256  # Data points that are tried in exchange for others,
COMPARED = 512  # and data points over which they are compared: a product of this size stays in a core's cache.
EVERY = 2048  # Up to this many data points are all tried as the next one to pass through, and compared over as many.
FEW = 512  # Data points of the first climbs, which only have to rank their starts.
AT_ONCE = 32  # Candidates that are compared at a time: small blocks stay in a core's cache.
SWEEPS = 6  # Every point of a hull is exchanged at most this many times.

ObjectiveOf = Callable[[Sample], Objective]
Basis = Callable[[np.ndarray], tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]]


class Target(NamedTuple):
    """What to optimise: the objective, and the profile that ranks hulls of data points (sign * profile: smaller is better)."""

    objective: ObjectiveOf
    profile: Profile
    sign: int


TARGETS = {
    "variance": Target(spread_objective, distance_within, -1),
    "residual": Target(explained_objective, distance_to, 1),
}


class SubmanifoldOptions(NamedTuple):
    """How hard to search."""

    n_init: int
    max_iter: int
    tol: float
    progress: Callable[[int, int, float], None] = lambda *_: None


class Ascent(NamedTuple):
    """Where one ascent ended, and how."""

    point: np.ndarray
    value: float = -np.inf
    n_iter: int = 0
    status: Status = Status.MAX_ITER

    @property
    def ending(self) -> Ending:
        return Ending(self.n_iter, self.status.converged, self.status.value)


class Nested(NamedTuple):
    """Submanifolds of dimensions 1 .. K, each inside the next, and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k+1, d+1)
    ending: Ending


# ---------------------------------------------------------------- through the base point (PGA)


def search_joint(sample: Sample, K: int, target: str, options: SubmanifoldOptions, rng: np.random.Generator) -> Nested:
    """The best K-dimensional submanifold through the origin; then, greedily, the ones inside it."""
    if sample.dimension == K:  # all of the space: only the sequence is left to find
        return search_greedy(sample, K, target, options, rng, CANDIDATES)
    hulls = _exchanged(sample, _origin(sample), K, TARGETS[target], options.n_init, rng)
    hulls += [_grown(sample, _origin(sample), K, TARGETS[target]), *_drawn(sample, K, options.n_init, rng)]
    starts = [np.eye(K, sample.dimension), *(_towards(sample, hull) for hull in hulls)]
    best = _halving(sample, starts, TARGETS[target].objective, _in_family(through_origin), options)
    A = through_origin(best.point)[0]
    inside = _one_by_one(sample, K - 1, np.linalg.qr(A[1:].T)[0], target, options._replace(progress=_silent), rng, CANDIDATES)
    return Nested([*inside.bases, A], Ending.of_all([best.ending, inside.ending]))


def search_greedy(
    sample: Sample, K: int, target: str, options: SubmanifoldOptions, rng: np.random.Generator, candidates: int = EVERY
) -> Nested:
    """One direction through the origin after another, each the best addition to those before it."""
    return _one_by_one(sample, K, np.eye(sample.dimension + 1)[:, 1:], target, options, rng, candidates)


def _one_by_one(
    sample: Sample,
    K: int,
    spread: np.ndarray,
    target: str,
    options: SubmanifoldOptions,
    rng: np.random.Generator,
    candidates: int,
) -> Nested:
    """The greedy sequence, with directions in the columns of `spread` (d+1, m), from those of so many data points."""
    m = spread.shape[1]
    A, bases, climbs = _origin(sample), [], []
    for _ in range(K):
        likely = list(np.argsort(_with_one_more(sample, A, [], TARGETS[target], candidates, candidates))[: 2 * options.n_init])
        starts = [*(_towards(sample, likely) @ spread[1:]), *np.eye(m)[:2], rng.standard_normal(m)]
        family = OneMore(A, 0 * A[0], spread)
        starts = [u for u in starts if u.any()]
        best = _halving(sample, starts, TARGETS[target].objective, _in_family(family.basis), options)
        A = family.basis(best.point)[0]
        bases.append(A)
        climbs.append(best)
    return Nested(bases, Ending.of_all(climb.ending for climb in climbs))


# ---------------------------------------------------------------- anywhere, or through the base point (BSA)


def search_last(sample: Sample, K: int, through: bool, options: SubmanifoldOptions, rng: np.random.Generator) -> Nested:
    """The K-dimensional submanifold nearest to the points, through the origin or anywhere; then the best flag inside it."""
    whole = np.eye(sample.dimension + 1)
    starts = _hull_starts(sample, K, through, options, rng)
    best = _halving_in_frames(sample, whole, starts, 0 if through else K, explained_objective, options)
    frame = lorentz_frame(best.point)
    inside = [_coordinates(A, frame) for A in starts[: options.n_init]]
    flag = _halving_in_frames(sample, frame, inside, int(not through), flag_objective, options._replace(progress=_silent))
    return Nested([*(flag.point[: k + 1] for k in range(1, K)), best.point], Ending.of_all([best.ending, flag.ending]))


def search_flag(sample: Sample, K: int, through: bool, options: SubmanifoldOptions, rng: np.random.Generator) -> Nested:
    """Nested submanifolds of dimensions 1 .. K with the least sum of unexplained variances (Pennec's criterion)."""
    whole = np.eye(sample.dimension + 1)
    starts = _hull_starts(sample, K, through, options, rng)
    best = _halving_in_frames(sample, whole, starts, int(not through), flag_objective, options)
    return Nested([best.point[: k + 1] for k in range(1, K + 1)], best.ending)


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


def _hull_starts(
    sample: Sample, K: int, through: bool, options: SubmanifoldOptions, rng: np.random.Generator
) -> list[np.ndarray]:
    """Bases (K+1, d+1): eigen-solutions; the best hulls of data points, by exchange; the best lines, with points added."""
    target = TARGETS["residual"]
    given, count = _origin(sample)[: int(through)], K + (not through)
    hulls = [_in_order(sample, given, hull, target) for hull in _exchanged(sample, given, count, target, options.n_init, rng)]
    lines = _exchanged(sample, given, count - K + 1, target, options.n_init, rng)
    hulls += [_grown(sample, given, count, target, line, range(_few(sample, CANDIDATES))) for line in lines]
    hulls += _drawn(sample, count, options.n_init, rng)
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
    sample: Sample, given: np.ndarray, hull: list[int], target: Target, candidates: int = CANDIDATES, compared: int = COMPARED
) -> np.ndarray:
    """The target (the smaller the better) for the hull of `given`, the points `hull` and each candidate in turn.

    Infinite for the candidates that lie in the hull already.
    """
    part = sample.head(max(candidates, compared))
    A = np.concatenate([given, _points(sample, hull)])
    _, _, outside, q = parts(part, A)
    t = part.columns[0]
    new = q > 1e-8 + (1e-10 * t) ** 2
    new[hull] = False
    over = slice(compared)
    values = np.full(_few(sample, candidates), np.inf)
    for start in range(0, len(values), AT_ONCE):  # small blocks: they stay in a core's cache
        rows = np.flatnonzero(new[start : min(start + AT_ONCE, len(values))]) + start
        products = outside[1:, rows].T @ outside[1:, over] - np.outer(outside[0, rows], outside[0, over])
        left = np.maximum(q[over] - products * (products / q[rows, None]), 0)  # the square may leave float64
        inside = np.maximum(t[over] ** 2 - 1 - left, 0)
        values[rows] = target.sign * np.mean(target.profile(left, inside, t[over])[0], axis=1)
    return np.where(np.isnan(values), np.inf, values)


def _drawn(sample: Sample, count: int, n_init: int, rng: np.random.Generator) -> list[list[int]]:
    """Random sets of `count` data points."""
    m = _few(sample, CANDIDATES)
    return [rng.choice(m, count, replace=m < count).tolist() for _ in range(n_init)]


def _exchanged(
    sample: Sample, given: np.ndarray, count: int, target: Target, n_init: int, rng: np.random.Generator
) -> list[list[int]]:
    """Sets of `count` data points whose hull, with `given`, no exchange of one point improves."""
    found: dict[tuple[int, ...], None] = {}
    for hull in _drawn(sample, count, n_init, rng):
        best, idle = np.inf, 0
        for step in range(SWEEPS * count):
            slot = step % count
            values = _with_one_more(sample, given, hull[:slot] + hull[slot + 1 :], target)
            idle, least = idle + 1, values.min()
            if least < best and not best - least <= 1e-9 * abs(least):
                best, hull[slot], idle = least, int(values.argmin()), 0
            if idle == count:
                break
        found[tuple(sorted(hull))] = None
    return [list(hull) for hull in found]


def _grown(
    sample: Sample, given: np.ndarray, count: int, target: Target, hull: Sequence[int] = (), among: Sequence[int] | None = None
) -> list[int]:
    """The hull with the best of the data points `among` (all that are not too many) added, until it has `count`."""
    hull, most = list(hull), EVERY if among is None else CANDIDATES
    among = range(_few(sample, EVERY)) if among is None else among
    while len(hull) < count:
        values = _with_one_more(sample, given, hull, target, most, EVERY if most == EVERY else COMPARED)
        left = [i for i in among if i not in hull] or list(among)
        hull = [*hull, left[int(np.argmin(values[left]))]]
    return hull


def _in_order(sample: Sample, given: np.ndarray, hull: list[int], target: Target) -> list[int]:
    """The points of a hull in the order in which they explain most: the best line first."""
    first: list[int] = []
    if not len(given):
        pairs = {i: _with_one_more(sample, given, [i], target)[hull] for i in hull}
        i = min(pairs, key=lambda i: pairs[i].min())
        first = [i, hull[int(pairs[i].argmin())]]
    return _grown(sample, given, len(hull), target, first, hull)


# ---------------------------------------------------------------- the climb


def through_origin(theta: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The basis of the submanifold through the origin along K directions theta (K, d), and the pullback of gradients."""
    A = np.eye(len(theta) + 1, theta.shape[1] + 1)
    A[1:, 1:] = theta
    return A, lambda G: G[1:, 1:]


def anywhere(theta: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The basis of the submanifold through a point, the space part theta[0], along K directions theta[1:]; and the pullback."""
    A = np.concatenate([lift(theta[:1]), np.pad(theta[1:], ((0, 0), (1, 0)))])

    def pullback(G: np.ndarray) -> np.ndarray:
        g = G[:, 1:].copy()
        g[0] += G[0, 0] * theta[0] / A[0, 0]
        return g

    return A, pullback


def _climb(objective: Objective, basis: Basis, start: np.ndarray, max_iter: int, tol: float) -> Ascent:
    """Maximise an objective of bases over the parameters of a family."""

    def composed(theta: np.ndarray) -> tuple[float, np.ndarray]:
        A, pullback = basis(theta)
        value, G = objective(A)
        return value, pullback(G)

    found = maximise(one_at_a_time(composed), start[None], max_iter=max_iter, tol=tol)
    return Ascent(found.points[0], float(found.values[0]), int(found.n_iter[0]), found.status[0])


Climb = Callable[[Objective, np.ndarray, int, float], Ascent]  # (objective, start, max_iter, tol); 0 iterations: evaluate only


def _in_family(basis: Basis) -> Climb:
    def climb(objective: Objective, start: np.ndarray, max_iter: int, tol: float) -> Ascent:
        return _climb(objective, basis, start, max_iter, tol) if max_iter else Ascent(start, objective(basis(start)[0])[0])

    return climb


def _halving(
    sample: Sample, starts: list[np.ndarray], objective: ObjectiveOf, climb: Climb, options: SubmanifoldOptions
) -> Ascent:
    """Evaluate every start, climb a little from the better ones on few of the points, then to the end on more, then on all.

    The best start is tried again if it was better: up to EVERY points, the answer is never worse than any start.
    """
    n_init, max_iter, tol, progress = options
    some, whole = objective(sample.head(EVERY)), objective(sample)
    ranked = _best([climb(some, start, 0, tol) for start in starts], 2 * n_init)
    rounds = [(objective(sample.head(FEW)), 12, max(2, n_init // 2)), (some, max_iter, 1), (whole, max_iter, 1)]
    rounds = rounds if sample.size > EVERY else rounds[:2]
    field = ranked
    for number, (over, iterations, keep) in enumerate(rounds):
        field = _best([climb(over, ascent.point, iterations, tol) for ascent in field], keep)
        progress(number + 1, len(field), field[0].value)
    if sample.size > EVERY or field[0].value >= ranked[0].value:
        return field[0]
    return climb(some, ranked[0].point, max_iter, tol)


def _best(ascents: list[Ascent], keep: int) -> list[Ascent]:
    return sorted(ascents, key=lambda a: -a.value if np.isfinite(a.value) else np.inf)[:keep]


def _halving_in_frames(
    sample: Sample,
    space: np.ndarray,
    starts: list[np.ndarray],
    anchor: int,
    objective: ObjectiveOf,
    options: SubmanifoldOptions,
) -> Ascent:
    """`_halving`, each climb in coordinates in which it starts at the origin, along the axes: far out, that makes all steps
    of one size. The starts are bases (K+1, m+1) in the frame `space` (m+1, d+1), the point of the result is a basis (K+1, d+1).
    """
    family = anywhere if anchor else through_origin

    def climb(over: Objective, start: np.ndarray, max_iter: int, tol: float) -> Ascent:
        if max_iter == 0:
            return Ascent(start, over(start @ space)[0])
        frame = _frame(start, anchor)
        there = frame @ space

        def basis(theta: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
            A, pullback = family(theta)
            return A @ there, lambda G: pullback(G @ there.T)

        ascent = _climb(over, basis, np.eye(len(start), len(frame) - 1, k=-1)[0 if anchor else 1 :], max_iter, tol)
        return ascent._replace(point=family(ascent.point)[0] @ frame)

    found = _halving(sample, starts, objective, climb, options)
    return found._replace(point=found.point @ space)


def _silent(*_: object) -> None:
    pass
