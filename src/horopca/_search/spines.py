"""The search for a spine: starts from the data, a race between them, and the nested sequence of components.

All in the frame in which the sample has its mean at the origin and its principal axes along the axes, so that the same
seed makes the same search wherever the data sits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._objectives.objectives import Sample, fidelity_objective, variance_objective
from .._objectives.pairs import AllPairs, Shifts, some_pairs
from ..projections import Spine, spine_basis, spine_from_basis
from .climb import Ascent, Heat, climb, corrected, race
from .families import Family, FreeSpines, IdealSpines, OneMore, compose, ideal_cone, whole_space

OBJECTIVES: dict[str, Callable[[Sample, AllPairs | Shifts], Callable]] = {
    "variance": variance_objective,
    "distortion": fidelity_objective,
}

LEAST_PAIRS = 1 << 12  # in any heat but the last: of few points all pairs
SEMIFINAL_PAIRS = 1 << 16
PLACED_PAIRS = 1 << 15  # as many are worth going elsewhere for
SEMIFINAL_ROWS = 1 << 13
MERGED = 1e-7  # below this kappa the ideal points of a spine count as one


class Plan(NamedTuple):
    """How hard to search: starts, pairs of the last climb, its iterations and tolerance."""

    n_init: int
    shifts: int  # of the last climb; as many as there are: all pairs
    max_iter: int
    tol: float
    report: Callable
    whole: Callable | None = None  # the objective between all rows and the sample, where the sample is not all
    exact: Callable | None = None  # the objective over all pairs of all rows, for a last climb
    warm: list[np.ndarray] | None = None  # bases of an earlier answer: one more start
    place: Callable[[Sample], Sample] | None = None  # takes a sample to where many pairs of it cost less


class Flag(NamedTuple):
    """A nested sequence of spines V_1 < ... < V_K and how the search for the last one ended."""

    bases: list[np.ndarray]  # k-th of shape (k, d+1)
    ascent: Ascent


def search_joint(sample: Sample, K: int, spine: str, objective: str, plan: Plan, rng: np.random.Generator) -> Flag:
    """All K components together; then the best flag inside the spine they span."""
    d = sample.dimension
    if K == 1:
        return search_greedy(sample, K, spine, objective, plan, rng)
    family: Family = FreeSpines() if spine == "free" else IdealSpines()
    if spine == "free":
        starts = free_starts(sample, K, 8 * plan.n_init, rng)
    else:  # the free family has fewer local optima: its best are starts too, drawn back to infinity
        free = _heats(sample, FreeSpines(), objective, plan._replace(n_init=(plan.n_init + 1) // 2), rng)[:3]
        ahead = race(free_starts(sample, K, 4 * plan.n_init, rng), free, tol=plan.tol)
        starts = [*ideal_starts(sample, K, 8 * plan.n_init, rng), *(_drawn_back(ascent.point) for ascent in ahead)]
    if plan.warm is not None:
        starts.append(plan.warm[-1] if spine == "free" else _drawn_back(plan.warm[-1]))
    best = _race(sample, family, starts, objective, plan, rng)
    basis = family.basis(best.point)[0]
    light = Plan(4 if d * K < 200 else 2, 8, 40, plan.tol, lambda *_: None)
    return Flag([*_flag_inside(sample.head(4096), basis, spine, objective, light, rng), basis], best)


def search_greedy(sample: Sample, K: int, spine: str, objective: str, plan: Plan, rng: np.random.Generator) -> Flag:
    """One component after another, each the best addition to those before it (the paper's equation)."""
    d = sample.dimension
    centre, spread = ideal_cone(d) if spine == "ideal" else whole_space(d)
    basis = np.zeros((0, d + 1))
    bases, climbs = [], []
    for k in range(K):
        family = OneMore(basis, centre, spread)
        starts = _directions(sample, 8 * plan.n_init, rng)
        if spine == "free":
            starts = np.column_stack([rng.standard_normal(len(starts)), starts])
        if plan.warm is not None:
            starts = np.concatenate([starts, plan.warm[k][-1:, -spread.shape[1] :]])
        best = _race(sample, family, list(starts), objective, plan._replace(whole=None, exact=None), rng)
        basis = family.basis(best.point)[0]
        bases.append(basis)
        climbs.append(best)
    if plan.whole is not None:  # once all are found, so that what one pass rounds does not decide what is found next
        pairs = some_pairs(sample.size, plan.shifts, rng)
        for k in range(K):
            family = OneMore(bases[k - 1] if k else bases[0][:0], centre, spread)
            climbs[k] = _finished(climbs[k], OBJECTIVES[objective](sample, pairs), family, plan)
            bases[k] = family.basis(climbs[k].point)[0]
    return Flag(bases, next((climb for climb in climbs if not climb.converged), climbs[-1]))


def _flag_inside(sample: Sample, basis: np.ndarray, spine: str, objective: str, plan: Plan, rng) -> list[np.ndarray]:
    """Bases (k, d+1), k = 1 .. K-1, of the greedy flag inside the span of `basis`: a K-dimensional problem."""
    K = len(basis)
    if spine == "free":
        given, centre, spread = basis[:0], np.zeros(basis.shape[1]), np.linalg.qr(basis.T)[0]
    else:
        n, kappa, U = spine_from_basis(basis)
        merged = kappa < MERGED  # one ideal point: it comes first, then directions across it
        kappa = 0.0 if merged else kappa
        pole, U0 = spine_basis(Spine(n, kappa, U))[:1], np.pad(U, ((0, 0), (1, 0)))
        given = pole if merged else basis[:0]
        centre, spread = (0 * pole[0], U0.T) if merged else (pole[0], 2 * np.sqrt(kappa) * U0.T)
    bases = [given] if len(given) else []
    while len(bases) < K - 1:
        family = OneMore(given, centre, spread)
        m = spread.shape[1]
        starts = [np.ones(1), -np.ones(1)] if m == 1 else list(rng.standard_normal((8 * plan.n_init, m)))
        given = family.basis(_race(sample, family, starts, objective, plan, rng).point)[0]
        bases.append(given)
    return bases


def _race(sample: Sample, family: Family, starts: list, objective: str, plan: Plan, rng: np.random.Generator) -> Ascent:
    best = race(starts, _heats(sample, family, objective, plan, rng), tol=plan.tol, report=plan.report)[0]
    if plan.whole is not None:
        best = _finished(best, OBJECTIVES[objective](sample, some_pairs(sample.size, plan.shifts, rng)), family, plan)
    return best


def _finished(best: Ascent, objective: Callable, family: Family, plan: Plan) -> Ascent:
    """The answer of a sample, with objective A -> (value, gradient), taken to all rows."""
    if plan.whole is not None:
        best = _corrected(best, compose(objective, family), family, plan.whole)
    if plan.exact is not None:
        best = climb(compose(plan.exact, family), best.point, max_iter=plan.max_iter, tol=plan.tol)
    return best


def _corrected(best: Ascent, objective: Callable, family: Family, whole: Callable) -> Ascent:
    """Moved to the optimum of all rows: that of the sample's objective, tilted by the difference of their gradients."""
    A, pullback = family.basis(best.point)
    _, G = whole(A)
    value, gradient = objective(best.point)
    tilt = 2 * (pullback(G) - gradient)
    point = corrected(objective, best.point, gradient + tilt)
    gain = objective(point)[0] + float(np.sum(tilt * (point - best.point))) - value
    return best._replace(point=point, value=best.value + gain) if gain > 0 else best


def _heats(sample: Sample, family: Family, objective: str, plan: Plan, rng: np.random.Generator) -> list[Heat]:
    """Screen all starts on a few pairs, climb the promising ones on more, polish the best on all the plan allows."""

    def heat(rows: int, shifts: int, max_iter: int, keep: int) -> Heat:
        part = sample.head(min(rows, sample.size))
        pairs = some_pairs(part.size, shifts, rng)
        if plan.place is not None and pairs.total >= PLACED_PAIRS:
            part = plan.place(part)
        return Heat(compose(OBJECTIVES[objective](part, pairs), family), max_iter, keep)

    n, size, least = plan.n_init, sample.size, LEAST_PAIRS // sample.size
    semifinal = min(size, SEMIFINAL_ROWS)
    return [
        heat(512, max(6, least), 0, n),
        heat(1024, max(8, least), 12, max(1, n // 3)),
        heat(4096 if size <= SEMIFINAL_ROWS else 2048, max(8, least), 40, max(1, n // (6 if size <= SEMIFINAL_ROWS else 12))),
        heat(semifinal, min(max(plan.shifts, least), max(8, SEMIFINAL_PAIRS // semifinal)), 60, 1),
        heat(size, plan.shifts, plan.max_iter, 1),
    ]


def _directions(sample: Sample, count: int, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors (count, d): directions of points of the sample, seen from the mean, slightly shaken."""
    picks = rng.integers(sample.size, size=count)
    s = sample.columns[1:, picks].T
    u = s / np.maximum(np.linalg.norm(s, axis=1, keepdims=True), 1e-300)
    u = u + 0.05 * rng.standard_normal(u.shape)
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def ideal_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Parameters of `IdealSpines`: half with the pole towards or away from a point of the sample and other points'
    directions, half with ideal points in the directions of K points; and the principal axes with every one as pole."""
    d = sample.dimension
    q = _directions(sample, count * K, rng).reshape(count, K, d)
    poles, corners = q[: count // 2], q[count // 2 :]
    poles[:, 0] *= rng.uniform(-1, 1, size=(len(poles), 1))
    axes = np.eye(d)[: min(d, K + 1)]
    turned = [np.roll(axes, -k, axis=0)[:K] * np.where(np.arange(K) == 0, sign, 1.0)[:, None]
              for k in range(len(axes)) for sign in (0.5, -0.5)]  # fmt: skip
    return [*poles, *(_through_corners(c) for c in corners), *turned]


def _drawn_back(basis: np.ndarray) -> np.ndarray:
    """The parameters in `IdealSpines` of a spine, or of the nearest with merged ideal points if it lies beyond infinity."""
    n, kappa, U = spine_from_basis(basis)
    p = (1 - max(kappa, 0.0)) / (1 + max(kappa, 0.0))
    return np.concatenate([n[None] * p / (1 + np.sqrt(1 - p * p)), U])


def _through_corners(q: np.ndarray) -> np.ndarray:
    """The parameters of the spine through K ideal points q (K, d)."""
    arms = q[1:] - q[0]
    p = q[0] - np.linalg.lstsq(arms.T, q[0], rcond=None)[0] @ arms
    return np.concatenate([p[None] / (1 + np.sqrt(max(1 - p @ p, 0.0))), arms])


def free_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Bases (K, d+1): half of them spines of ideal points, half space-like spans of directions of points, tilted in time."""
    real = [IdealSpines().basis(theta)[0] for theta in ideal_starts(sample, K, count // 2, rng)]
    q = _directions(sample, (count - count // 2) * K, rng).reshape(-1, K, sample.dimension)
    tilt = rng.uniform(-1, 1, size=(*q.shape[:2], 1)) * (rng.uniform(size=(len(q), 1, 1)) < 0.5)
    return [*real, *np.concatenate([tilt, q], axis=2), np.eye(K, sample.dimension + 1, k=1)]
