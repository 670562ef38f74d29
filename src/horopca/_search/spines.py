"""The search for a spine: many starts, a race between them, and the nested sequence of components.

All in the frame in which the sample has its mean at the origin and its principal axes along the axes, so that the same
seed makes the same search wherever the data sits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._objectives.many import Many, over_many
from .._objectives.objectives import OBJECTIVES, SHARPEST
from .._objectives.pairs import some_pairs
from .._objectives.sample import Objective, Sample
from ..projections import Spine, spine_basis, spine_from_basis
from ..projections.spines import spine_angle
from .climb import Ascent, Heat, Report, climb, corrected, race
from .families import Family, FreeSpines, IdealSpines, OneMore, compose, ideal_cone, parameters_in_ideal, whole_space
from .flock import climb_many, hop_many
from .starts import drawn_back, exchanged, light_like, random_starts, some_directions, sure_starts

LEAST_PAIRS = 1 << 12  # A round but the last counts at least so many pairs: of few points all.
SEMIFINAL_PAIRS = 1 << 16  # The last but one counts so many,
SEMIFINAL_ROWS = 1 << 13  # of at most so many points.
FEW_ROWS = 1 << 9  # Of so few points all pairs cost little, and more runners reach the last round.
ON_THE_WAY = 1e-7  # Where more pairs are still to come, a climb goes on to no better than this.
WORTH_MOVING = 1 << 15  # So many pairs are worth going to a device for.
SCREENED_ROWS = 512  # Starts are looked at on so many points,
SCREENED_SHIFTS = 6  # with so many pairs for each.
DIRECTIONS = 1 << 12  # So many points' own directions are looked at for a single component, on as many points,
ADDED_ROWS = 1 << 10  # and so many for one more,
ADDED_PAIRS = 1 << 14  # on so many pairs.
MANY_AXES = 64  # In more dimensions than this all rounds but the last are run in the first principal axes, so many of them,
AXES_PER_COMPONENT = 4  # or so many for each component.
MANY_COMPONENTS = 8  # For more components than this a quarter of the starts will do: there is less to miss.
MOST_HOP_ROWS = 1 << 12  # Up to so many points the best runners, with a stretch, hop on from where they are.
STRETCHED = (1.5, 2.2)  # The stretches of starts, in turn.
AS_GOOD = 1e-3  # Optima nearer than this fraction are told of as equals,
APART = 0.1  # if their spines differ by an angle of more than this.
SAME = 0.02  # Runners whose spines differ by less than this angle are on the way to one optimum.
MERGED = 1e-7  # Below this kappa the ideal points of a spine count as one.


Tilt = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Plan(NamedTuple):
    """How hard to search: starts that are climbed, pairs of the last climb, its iterations and tolerance."""

    n_init: int
    shifts: int  # of the last climb; as many as there are: all pairs
    max_iter: int
    tol: float
    report: Report
    tilt: Tilt | None = None  # of a sample's gradient to that of all rows
    exact: Objective | None = None  # over all pairs of all rows, for a last climb
    warm: list[np.ndarray] | None = None  # bases of an earlier answer: one more start
    place: Callable[[Sample], Sample] | None = None  # takes a sample to where many pairs of it cost less


class Hopping(NamedTuple):
    """How runners hop: how many of them, so many times for each length, and how they climb again."""

    runners: int
    hops: int
    lengths: tuple[float, ...]
    shifts: int  # pairs for each point
    landing: dict[float, int]  # evaluations for each softness


FEW_HOP = (
    64,
    Hopping(16, 8, (1.0, 0.3, 1.0, 0.3, 1.0, 0.3), 64, {0.01: 25, 0.003: 30}),
)  # Up to so many points, all their pairs.
HOPPING = Hopping(8, 4, (1.0, 0.3, 1.0, 0.3, 0.1), 16, {0.03: 15, 0.01: 20})  # Of more points.


class Round(NamedTuple):
    """A row of the plan: on how many points and pairs of each to climb, for how long, and how many go on."""

    rows: int
    shifts: int
    iterations: int
    keep: int
    softness: float


class Flag(NamedTuple):
    """A nested sequence of spines V_1 < ... < V_K and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k, d+1); with a stretch, the last has a column more
    ascent: Ascent


class Search(NamedTuple):
    """What is searched for, on which points, how hard."""

    sample: Sample
    objective: str
    plan: Plan
    rng: np.random.Generator

    def first_rounds(self) -> list[Round]:
        """A few steps of all promising starts together, and more of the better ones."""
        n, shifts = self.plan.n_init, max(8, LEAST_PAIRS // self.sample.size)
        rows = 1024 if OBJECTIVES[self.objective].rugged else SCREENED_ROWS
        return [Round(rows, shifts, 10, max(2, n // 3), 0.1), Round(2048, shifts, 36, self.finalists(), 0.03)]

    def finalists(self) -> int:
        """How many runners come to the last rounds: more where there are many optima, and where they cost little."""
        n, cheap = self.plan.n_init, self.sample.size <= FEW_ROWS
        return max(2, n // (3 if cheap and OBJECTIVES[self.objective].rugged else 6))

    def last_rounds(self) -> list[Round]:
        """The best of these one by one, on all that the plan allows."""
        size, plan = self.sample.size, self.plan
        rows = min(size, SEMIFINAL_ROWS)
        shifts = min(max(plan.shifts, LEAST_PAIRS // size), max(8, SEMIFINAL_PAIRS // rows))
        keep = max(1, self.finalists() // 3) if size <= FEW_ROWS else 3 if self.hops() else 1
        return [Round(rows, shifts, 40, keep, 0.01), Round(size, plan.shifts, plan.max_iter, 1, SHARPEST)]

    def many(self, rows: int, shifts: int, softness: float) -> Many:
        """The objective at many spines at once, on a few points and pairs."""
        return over_many(self.sample.head(min(rows, self.sample.size)), self.objective, shifts, softness, self.rng)

    def screened(self, bases: Sequence[np.ndarray], keep: int) -> list[np.ndarray]:
        """The most promising of some bases, best first."""
        rows = min(SCREENED_ROWS, self.sample.size)
        values = self.many(rows, max(SCREENED_SHIFTS, LEAST_PAIRS // rows), 0.1)(np.stack(bases), gradient=False)[0]
        return [bases[i] for i in np.argsort(-values, kind="stable")[:keep]]

    def flocked(self, family: Family, starts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The points that starts have come to after the first rounds, best first."""
        field = np.stack(starts)
        for number, (rows, shifts, iterations, keep, softness) in enumerate(self.first_rounds()):
            many = self.many(rows, shifts, softness)

            def composed(theta: np.ndarray, many: Many = many) -> tuple[np.ndarray, np.ndarray]:
                A, pullback = family.basis(theta)
                value, G = many(A)
                return value, pullback(G)

            points, values = climb_many(composed, field, iterations)
            best = np.argsort(-values, kind="stable")[:keep]
            self.plan.report(number + 1, len(field), float(values[best[0]]))
            field = points[best]
        return list(field)

    def unstretched(self) -> Search:
        """The same search without a stretch."""
        return self._replace(objective="distortion") if OBJECTIVES[self.objective].stretched else self

    def hops(self) -> bool:
        """Whether runners hop: an objective with a kink at every pair has better optima than those that starts lead to."""
        return OBJECTIVES[self.objective].stretched and self.sample.size <= MOST_HOP_ROWS

    def hopped(self, field: list[np.ndarray]) -> list[np.ndarray]:
        """Bases that the best runners come to by hopping, best first; as they are where there are many points, or no kinks."""
        if not self.hops():
            return field
        n, d = self.sample.size, self.sample.dimension
        plan = FEW_HOP[1] if n <= FEW_HOP[0] else HOPPING
        over = [(self.many(n, plan.shifts, softness), evaluations) for softness, evaluations in plan.landing.items()]

        def land(bases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found, values = np.concatenate([_orthonormal(bases[:, :, : d + 1]), bases[:, :, d + 1 :]], axis=2), np.zeros(0)
            for objective, evaluations in over:
                found, values = climb_many(objective, found, evaluations)
            return found, values

        found = hop_many(land, np.stack(field[: plan.runners]), plan.hops, plan.lengths, self.rng)
        return [*found, *field] if n > FEW_HOP[0] else list(found)

    def different(self, family: Family, field: Sequence[np.ndarray], keep: int) -> list[np.ndarray]:
        """The best of some points whose spines are not the same, best first."""
        bases = np.stack([family.basis(theta)[0] for theta in field])
        values = self.many(SEMIFINAL_ROWS, max(16, SEMIFINAL_PAIRS // self.sample.size), 0.03)(bases, gradient=False)[0]
        chosen: list[int] = []
        for k in np.argsort(-values, kind="stable"):
            if all(spine_angle(bases[k], bases[other]) > SAME for other in chosen):
                chosen.append(int(k))
        return [field[k] for k in chosen[:keep]]

    def raced(self, family: Family, starts: Sequence[np.ndarray]) -> Ascent:
        """The best that the last rounds make of starts; its status says so if another optimum was as good."""
        semifinal, final = self.last_rounds()
        ends = self._climbed(family, starts, semifinal._replace(keep=len(starts)))
        best = self._climbed(family, ends[: semifinal.keep], final)[0]
        near = [end for end in ends if end.value > ends[0].value - AS_GOOD * abs(ends[0].value)]
        several = any(spine_angle(*(family.basis(a.point)[0] for a in (ends[0], end))) > APART for end in near)
        return best._replace(status=f"{best.status}; another optimum is as good to {AS_GOOD:g}") if several else best

    def _climbed(self, family: Family, starts: Sequence[np.ndarray | Ascent], round: Round) -> list[Ascent]:
        heat = Heat(compose(self.over(round), family), round.iterations, round.keep)
        last = min(round.shifts, round.rows // 2) >= min(self.plan.shifts, self.sample.size // 2)
        tol = self.plan.tol if last else max(self.plan.tol, ON_THE_WAY)
        return race(starts, [heat], tol=tol, report=self.plan.report)

    def over(self, round: Round) -> Objective:
        """The objective on the points and pairs of a round."""
        part = self.sample.head(min(round.rows, self.sample.size))
        pairs = some_pairs(part.size, round.shifts, self.rng)
        if self.plan.place is not None and pairs.total >= WORTH_MOVING:
            part = self.plan.place(part)
        return OBJECTIVES[self.objective].over(part, pairs, round.softness)

    def finished(self, best: Ascent, family: Family) -> Ascent:
        """The answer of a sample taken to all rows."""
        plan = self.plan
        if plan.tilt is not None:
            best = _corrected(best, self.over(self.last_rounds()[-1]), family, plan.tilt)
        if plan.exact is not None:
            best = climb(compose(plan.exact, family), best.point, max_iter=plan.max_iter, tol=plan.tol)
        return best


def search_joint(sample: Sample, K: int, spine: str, objective: str, plan: Plan, rng: np.random.Generator) -> Flag:
    """All K components together; then the best flag inside the spine they span."""
    stretched = OBJECTIVES[objective].stretched
    if K == 1 and not stretched:
        return search_greedy(sample, K, spine, objective, plan, rng)
    search, free = Search(sample, objective, plan, rng), spine == "free"
    family: Family = FreeSpines() if free else IdealSpines()
    into = (lambda basis: basis) if free else parameters_in_ideal
    field = _ahead(search, K, free)
    field = [into(basis) for basis in (search.hopped(field) if free else field)]
    field = search.different(family, field, search.finalists())
    if plan.warm is not None:
        field.append(into(plan.warm[-1]))
    best = search.finished(search.raced(family, field), family)
    basis = family.basis(best.point)[0]
    inside = basis[:, : sample.dimension + 1]
    light = Search(
        sample.head(FEW_ROWS if K > MANY_COMPONENTS else 4096),
        "variance" if stretched else objective,
        _light(plan, K * sample.dimension),
        rng,
    )
    return Flag([*_flag_inside(light, inside, free), basis], best)


def _ahead(search: Search, K: int, free: bool) -> list[np.ndarray]:
    """Bases (K, d+1) to which the first rounds come, in both families: each finds optima that the other misses."""
    d, many = search.sample.dimension, K > MANY_COMPONENTS
    n = max(2, search.plan.n_init // 4) if many else search.plan.n_init
    m = d if d <= MANY_AXES else min(d, max(MANY_AXES, AXES_PER_COMPONENT * K))
    search = search._replace(sample=search.sample.first_axes(m))
    looked_at = random_starts(search.sample.head(4096), K, 8 * n, search.rng)
    sure = [*sure_starts(search.sample, K), *([] if many else [_exchanged(search, K, free)])]
    stretched = OBJECTIVES[search.objective].stretched
    if stretched:
        columns = [np.full((K, 1), np.log(stretch) / K) for stretch in STRETCHED]
        looked_at = [np.hstack([basis, columns[k % 2]]) for k, basis in enumerate(looked_at)]
        sure = [np.hstack([basis, column]) for basis in sure for column in columns]
    field = search.flocked(FreeSpines(), [*sure, *search.screened(looked_at, n if free else (n + 1) // 2)])
    if not stretched:
        real = search.screened(list(drawn_back(np.stack(looked_at))), (n + 1) // 2 if free else n)
        ideal = search.flocked(IdealSpines(), list(parameters_in_ideal(np.stack([*sure, *real]))))
        field += [IdealSpines().basis(theta)[0] for theta in ideal]
    return [np.hstack([basis[:, : m + 1], np.zeros((K, d - m)), basis[:, m + 1 :]]) for basis in field]


def _exchanged(search: Search, K: int, free: bool) -> np.ndarray:
    """The spine of vectors of the data that exchanging one of them for another does not improve."""
    rows = min(SCREENED_ROWS, search.sample.size)
    many = search.unstretched().many(rows, max(SCREENED_SHIFTS // 2, LEAST_PAIRS // search.sample.size // 2), 0.1)
    return exchanged(search.sample.head(rows), K, lambda A: many(np.stack(A), gradient=False)[0], search.rng, free)


def _orthonormal(bases: np.ndarray) -> np.ndarray:
    """Orthonormal bases (S, K, d+1) of the same spans."""
    return np.swapaxes(np.linalg.qr(np.swapaxes(bases, 1, 2))[0], 1, 2)


def search_greedy(sample: Sample, K: int, spine: str, objective: str, plan: Plan, rng: np.random.Generator) -> Flag:
    """One component after another, each the best addition to those before it (the paper's equation)."""
    d, free = sample.dimension, spine == "free"
    centre, spread = whole_space(d) if free else ideal_cone(d)
    search = Search(sample, objective, plan, rng)
    bases, climbs = [np.zeros((0, d + 1))], []
    for k in range(K):
        family = OneMore(bases[-1], centre, spread)
        starts = _additions(search, bases[-1], free)
        if plan.warm is not None:
            starts.append(plan.warm[k][-1, -spread.shape[1] :])
        field = search.flocked(family, starts)
        if k == 0:  # the peak at a far point is narrower than the first rounds can see: the best direction goes on as it is
            exact = compose(search.over(search.last_rounds()[-1]), family)
            field.append(max(starts, key=lambda theta: exact(theta)[0]))
        best = search.raced(family, field)
        bases.append(family.basis(best.point)[0])
        climbs.append(best)
    if plan.tilt is not None or plan.exact is not None:
        # once all are found, so that what one pass rounds does not decide what is found next
        for k in range(K):
            family = OneMore(bases[k], centre, spread)
            climbs[k] = search.finished(climbs[k], family)
            bases[k + 1] = family.basis(climbs[k].point)[0]
    return Flag(bases[1:], _ending(climbs))


def _ending(climbs: list[Ascent]) -> Ascent:
    """How a sequence of climbs ended: the last, with the convergence of all."""
    failed = next((climb for climb in climbs if not climb.converged), None)
    last = climbs[-1]
    return last if failed is None else last._replace(converged=False, status=failed.status, n_iter=failed.n_iter)


def _additions(search: Search, given: np.ndarray, free: bool) -> list[np.ndarray]:
    """Parameters in `OneMore` of the most promising vectors to add to a spine: every point's direction, and shaken ones."""
    rows = DIRECTIONS if len(given) == 0 else ADDED_ROWS
    few = search.sample.head(min(rows, search.sample.size))
    own = few.directions()
    shaken = some_directions(few, (4 * search.plan.n_init, 1), search.rng, shaken=True)[:, 0]
    vectors = light_like(np.concatenate([own, shaken]))
    if free:
        tilt = search.rng.standard_normal((len(shaken), 1))
        vectors = np.concatenate([vectors, np.hstack([tilt, shaken]), np.eye(vectors.shape[1])[1:]])
    bases = np.concatenate([np.broadcast_to(given, (len(vectors), *given.shape)), vectors[:, None]], axis=1)
    values = search.many(rows, max(SCREENED_SHIFTS, ADDED_PAIRS // few.size), 0.1)(bases, gradient=False)[0]
    order = np.argsort(-values, kind="stable")
    return list(vectors[order[: 2 * search.plan.n_init], (0 if free else 1) :])


def _light(plan: Plan, size: int) -> Plan:
    """A plan for the small problem of a flag inside a spine."""
    return Plan(8 if size < 200 else 4 if size < 5000 else 2, 8, 40, plan.tol, lambda *_: None)


def _flag_inside(search: Search, basis: np.ndarray, free: bool) -> list[np.ndarray]:
    """Bases (k, d+1), k = 1 .. K-1, of the greedy flag inside the span of `basis`: a K-dimensional problem."""
    K = len(basis)
    axes = np.linalg.qr(basis[:, 1:].T)[0]
    search = search._replace(sample=search.sample.along(axes))
    basis = np.column_stack([basis[:, 0], basis[:, 1:] @ axes])
    if free:
        given, centre, spread = basis[:0], np.zeros(basis.shape[1]), np.linalg.qr(basis.T)[0]
    else:
        n, kappa, U, _ = spine_from_basis(basis)
        merged = kappa < MERGED  # one ideal point: it comes first, then directions across it
        kappa = 0.0 if merged else kappa
        pole, U0 = spine_basis(Spine(n, kappa, U))[:1], np.pad(U, ((0, 0), (1, 0)))
        given = pole if merged else basis[:0]
        centre, spread = (0 * pole[0], U0.T) if merged else (pole[0], 2 * np.sqrt(kappa) * U0.T)
    bases = [given] if len(given) else []
    while len(bases) < K - 1:
        family = OneMore(given, centre, spread)
        m = spread.shape[1]
        starts = [np.ones(1), -np.ones(1)] if m == 1 else list(search.rng.standard_normal((search.plan.n_init, m)))
        given = family.basis(search.flocked(family, starts)[0])[0]
        bases.append(given)
    return [np.column_stack([inner[:, 0], inner[:, 1:] @ axes.T]) for inner in bases]


def _corrected(best: Ascent, objective: Objective, family: Family, tilt: Tilt) -> Ascent:
    """Moved to the optimum of all rows: that of the sample's objective, tilted by the difference of their gradients."""
    A, pullback = family.basis(best.point)
    value, G = objective(A)
    off = pullback(tilt(A, G))
    composed = compose(objective, family)
    point = corrected(composed, best.point, pullback(G) + off)
    gain = composed(point)[0] + float(np.sum(off * (point - best.point))) - value
    return best._replace(point=point, value=best.value + gain) if gain > 0 else best
