"""The search for a spine: many starts, successive halving, and the nested sequence of components.

All in the frame in which the sample has its mean at the origin and its principal axes along the axes, so that the same seed
makes the same search wherever the data lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..projections.spines import Spine, spine_angle, spine_basis, spine_from_basis
from .families import Family, FreeSpines, IdealSpines, OneMore, compose, ideal_parameters, one_more
from .lbfgs import Ascents, Batched, Status, maximise
from .objectives import OBJECTIVES, SHARPEST, Objective, objective_over
from .pairs import some_pairs
from .sample import Sample
from .starts import light_like, random_starts, some_directions, spectral_starts

Progress = Callable[[int, int, float], None]  # (number of the round, ascents in it, best value)

SCREENED = 8  # Starts that are looked at for each one that is climbed from: a look costs a tenth of a climb.
LEAST_PAIRS = 1 << 12  # Pairs in every round: below that their noise decides which ascents go on.
SEMIFINAL_PAIRS = 1 << 14  # Pairs in the last round but one: four times as many take 1.6 times as long, for 0.003 % (CS Ph.D.).
FEW_ROWS = 1 << 9  # Up to this many points all pairs cost little, and more ascents reach the last round.
ROUND_TOL = 1e-7  # Tolerance of all rounds but the last, whose optima are only near those of more pairs.
MORE_STARTS = 12  # Starts of a single component on few points, for each of other searches: without, random points lose 1 %.
MANY_AXES = 64  # In more dimensions all rounds but the last two use the first principal axes only, this many of them
AXES_PER_COMPONENT = 4  # or this many for each component.
MANY_COMPONENTS = 8  # For more components a quarter of the starts: their optima differ by less (figures at K = 50).
DIRECTIONS = 1 << 12  # Data directions that are looked at for a single component.
STRETCHES = (1.5, 2.2)  # Stretches of the starts, in turn: those of the paper's data lie between 1.3 and 2.6.
EQUAL = 1e-3  # Two optima whose values differ by a smaller fraction are reported as equally good,
DIFFERENT = 0.1  # if the largest angle between their spines is larger than this.
OTHERS = 2  # Ascents of the free family whose nearest ideal spines reach the last rounds of a search among these.
SAME = 0.02  # Ascents whose spines are nearer than this angle lead to one optimum.
MERGED = 1e-7  # Below this kappa the ideal points of a spine count as one.


class Round(NamedTuple):
    """One round of successive halving."""

    rows: int  # points
    shifts: int  # pairs of each point
    iterations: int
    keep: int  # ascents that go on
    softness: float


class SearchOptions(NamedTuple):
    """How hard to search."""

    n_init: int  # starts that are climbed from
    shifts: int  # pairs of each point in the last round; n: all pairs
    max_iter: int  # of the last round
    tol: float
    progress: Progress = lambda *_: None
    warm: list[np.ndarray] | None = None  # bases of an earlier answer: one more start


class Flag(NamedTuple):
    """A nested sequence of spines V_1 < ... < V_K, and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k, d+1); with a stretch, the last has one more column
    value: float
    n_iter: int
    status: Status
    several: bool = False  # whether another optimum is equally good


class Search(NamedTuple):
    """What is searched for, on which points, how hard."""

    sample: Sample
    objective: str
    options: SearchOptions
    rng: np.random.Generator

    @property
    def rugged(self) -> bool:
        return OBJECTIVES[self.objective].rugged

    def over(self, rows: int, shifts: int, softness: float = SHARPEST) -> Objective:
        """The objective on some points and pairs; the variance stands for the Fréchet variance before the last rounds."""
        part = self.sample.head(min(rows, self.sample.size))
        return objective_over(part, self.objective, some_pairs(part.size, shifts, self.rng), softness, precise=softness <= 0.01)

    def early_rounds(self) -> list[Round]:
        """A few steps of all starts, and more of the better ones."""
        n, shifts = self.options.n_init, max(8, LEAST_PAIRS // self.sample.size)
        rows = 1024 if self.rugged else 512
        return [Round(rows, shifts, 10, max(2, n // 3), 0.1), Round(2048, shifts, 36, self.finalists(), 0.03)]

    def finalists(self) -> int:
        """Ascents in the last rounds: more where there are many optima and where they cost little."""
        n, cheap = self.options.n_init, self.sample.size <= FEW_ROWS
        return max(3, n // (3 if cheap and self.rugged else 6))

    def last_rounds(self) -> list[Round]:
        """The best of these on more pairs, then on all that the options allow."""
        size, options = self.sample.size, self.options
        rows = min(size, 1 << 13)
        shifts = min(max(options.shifts, LEAST_PAIRS // size), max(8, SEMIFINAL_PAIRS // rows))
        keep = max(1, self.finalists() // 3) if size <= FEW_ROWS else 3 if self.hops() else 1
        return [Round(rows, shifts, 25, keep, 0.01), Round(size, options.shifts, options.max_iter, 1, SHARPEST)]

    def early(self) -> Search:
        """The search of the early rounds: the pair variance stands for the Fréchet variance."""
        return self._replace(objective="variance") if self.objective == "frechet" else self

    def screened(self, bases: np.ndarray, keep: int) -> np.ndarray:
        """The most promising of some bases, best first."""
        rows = min(FEW_ROWS, self.sample.size)
        values = self.early().over(rows, max(6, LEAST_PAIRS // rows), 0.1)(bases, gradient=False)[0]
        return bases[np.argsort(-values, kind="stable")[:keep]]

    def climbed(self, family: Family, starts: np.ndarray, rounds: Sequence[Round]) -> Ascents:
        """Successive halving: a few iterations from all starts, more pairs and iterations for the best of them."""
        points = starts
        for number, round in enumerate(rounds):
            last = round.softness == SHARPEST
            objective = compose((self if round.softness <= 0.01 else self.early()).over(*round[:2], round.softness), family)
            tol = self.options.tol if last else max(self.options.tol, ROUND_TOL)
            found = maximise(objective, points, max_iter=round.iterations, tol=tol)
            found = found.take(self.distinct(family.basis(found.points)[0], found.values, round.keep))
            self.options.progress(number + 1, len(points), float(found.values[0]))
            points = found.points
        return found

    def finished(self, family: Family, starts: np.ndarray) -> tuple[Ascents, bool]:
        """The best that the last rounds make of starts, and whether another optimum is equally good.

        The ascents of the last round but one are compared on the pairs of the last round: fewer pairs would rank them by noise.
        """
        semifinal, final = self.last_rounds()
        ends = self.climbed(family, starts, [semifinal._replace(keep=len(starts))])
        objective, bases = self.over(final.rows, final.shifts), family.basis(ends.points)[0]
        values = objective(bases, gradient=False)[0]
        order = np.argsort(-values, kind="stable")
        near = order[values[order] > values.max() - EQUAL * abs(values.max())]
        several = any(spine_angle(bases[order[0]], bases[other]) > DIFFERENT for other in near[1:])
        points = ends.points[order[: semifinal.keep]]
        best = maximise(compose(objective, family), points, max_iter=final.iterations, tol=self.options.tol).best(1)
        self.options.progress(4, len(points), float(best.values[0]))
        return best, several

    def distinct(self, bases: np.ndarray, values: np.ndarray, keep: int) -> np.ndarray:
        """The indices of the best bases (S, K, d+1), best first, without those whose spine is that of a better one."""
        order = np.argsort(-values, kind="stable")
        if keep == 1:
            return np.asarray(order[:1])
        S, K, d = len(bases), bases.shape[1], self.sample.dimension + 1
        Q = np.swapaxes(np.linalg.qr(np.swapaxes(bases[:, :, :d], 1, 2))[0], 1, 2).reshape(S * K, d)
        sines = K - ((Q @ Q.T) ** 2).reshape(S, K, S, K).sum(axis=(1, 3))  # (S, S), sums of sin^2 of the principal angles
        chosen: list[int] = []
        for k in order:
            if len(chosen) < keep and (sines[k, chosen] > SAME**2).all():
                chosen.append(int(k))
        return np.array(chosen)

    def ranked(self, bases: np.ndarray, keep: int) -> np.ndarray:
        """The best different ones of some bases, best first."""
        rows = min(self.sample.size, 1 << 13)
        values = self.early().over(rows, max(16, SEMIFINAL_PAIRS // rows), 0.03)(bases, gradient=False)[0]
        return np.asarray(bases[self.distinct(bases, values, keep)])

    def hops(self) -> bool:
        """Whether ascents hop (see `hopped`)."""
        return OBJECTIVES[self.objective].stretched and self.sample.size <= HOPS[-1].rows

    def hopped(self, bases: np.ndarray) -> np.ndarray:
        """Bases that the best ascents reach by basin hopping, best first, and the given ones.

        Each ascent makes some random jumps of every length in turn, climbs again, and keeps the highest. A stretch makes a kink
        at every pair: there are better optima than those that starts lead to.
        """
        if not self.hops():
            return bases
        hop = next(hop for hop in HOPS if self.sample.size <= hop.rows)
        d = self.sample.dimension + 1
        rounds = [Round(self.sample.size, hop.shifts, iterations, -1, softness) for iterations, softness in hop.landing]

        def land(bases: np.ndarray) -> Ascents:
            Q = np.linalg.qr(np.swapaxes(bases[:, :, :d], 1, 2))[0]
            points = np.concatenate([np.swapaxes(Q, 1, 2), bases[:, :, d:]], axis=2)
            for round, objective in zip(rounds, objectives, strict=True):
                found = maximise(objective, points, max_iter=round.iterations, tol=ROUND_TOL)
                points = found.points
            return found

        objectives: list[Batched] = [self.over(*round[:2], round.softness) for round in rounds]
        ends = land(bases[: hop.ascents])
        x, values, every = ends.points, ends.values, np.arange(len(ends.values))
        for length in hop.lengths:
            ahead = np.repeat(x, hop.jumps, axis=0)
            ahead = ahead + length * (self.rng.random(ahead.shape) < 0.5) * self.rng.standard_normal(ahead.shape)
            ends = land(ahead)
            found = ends.values.reshape(len(x), hop.jumps)
            best = found.argmax(axis=1)
            higher = found[every, best] > values
            points = ends.points.reshape(len(x), hop.jumps, *x.shape[1:])[every, best]
            x, values = np.where(higher[:, None, None], points, x), np.where(higher, found[every, best], values)
        return np.concatenate([x[np.argsort(-values, kind="stable")], bases])


class Hopping(NamedTuple):
    """How ascents hop on up to some number of points."""

    rows: int
    ascents: int
    jumps: int  # of each ascent, for every length
    lengths: tuple[float, ...]
    shifts: int  # pairs of each point
    landing: tuple[tuple[int, float], ...]  # iterations and softness of the climbs after a jump


HOPS = (
    Hopping(64, 16, 8, (1.0, 0.3, 1.0, 0.3, 1.0, 0.3), 64, ((25, 0.01), (30, 0.003))),
    Hopping(1 << 12, 8, 4, (1.0, 0.3, 1.0, 0.3, 0.1), 16, ((15, 0.03), (20, 0.01))),
)


def search_joint(sample: Sample, K: int, spine: str, objective: str, options: SearchOptions, rng: np.random.Generator) -> Flag:
    """All K components together; then the best flag inside the spine they span."""
    stretched = OBJECTIVES[objective].stretched
    if K == 1 and not stretched:
        return search_greedy(sample, K, spine, objective, options, rng)
    search, free = Search(sample, objective, options, rng), spine == "free"
    family: Family = FreeSpines() if free else IdealSpines()
    own, other = _early_bases(search, K, free)
    if free:  # the other family is contained in this one
        field = search.ranked(search.hopped(np.concatenate([own, other])), search.finalists())
    else:  # the optima of the other family lead to some of this one, but their values say nothing here
        field = np.concatenate([search.ranked(own, search.finalists()), search.ranked(other, OTHERS)])
    if options.warm is not None:
        field = np.concatenate([field, options.warm[-1][None]])
    best, several = search.finished(family, field if free else ideal_parameters(field))
    basis = family.basis(best.points)[0][0]
    inside = basis[:, : sample.dimension + 1]
    flag = _flag_inside(sample.head(4096 if K <= MANY_COMPONENTS else FEW_ROWS), inside, objective, options, rng, free)
    return Flag([*flag, basis], float(best.values[0]), int(best.n_iter[0]), best.status[0], several)


def _early_bases(search: Search, K: int, free: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bases (S, K, d+1) that the early rounds reach in the family that is searched, and in the other: each finds optima that
    the other misses."""
    d, many = search.sample.dimension, K > MANY_COMPONENTS
    n = max(2, search.options.n_init // 4) if many else search.options.n_init
    m = d if d <= MANY_AXES else min(d, max(MANY_AXES, AXES_PER_COMPONENT * K))
    if m < d:
        search = search._replace(sample=search.sample.along(np.eye(d, m)))
    candidates = random_starts(search.sample.head(4096), K, SCREENED * n, search.rng)
    spectral = spectral_starts(search.sample, K)
    stretched = OBJECTIVES[search.objective].stretched
    if stretched:
        columns = [np.full((1, K, 1), np.log(stretch) / K) for stretch in STRETCHES]
        spectral = np.concatenate([np.concatenate([spectral, np.repeat(c, 2, axis=0)], axis=2) for c in columns])
        column = np.concatenate([columns[k % 2] for k in range(len(candidates))])
        candidates = np.concatenate([candidates, column], axis=2)
    starts = np.concatenate([spectral, search.screened(candidates, n if free else (n + 1) // 2)])
    found = [search.climbed(FreeSpines(), starts, search.early_rounds()).points, np.zeros((0, *starts.shape[1:]))]
    if not stretched:
        real = search.screened(_nearest_ideal(candidates), (n + 1) // 2 if free else n)
        starts = ideal_parameters(np.concatenate([spectral, real]))
        found[1] = IdealSpines().basis(search.climbed(IdealSpines(), starts, search.early_rounds()).points)[0]
    whole = [np.concatenate([A[:, :, : m + 1], np.zeros((len(A), K, d - m)), A[:, :, m + 1 :]], axis=2) for A in found]
    return (whole[0], whole[1]) if free else (whole[1], whole[0])


def _nearest_ideal(bases: np.ndarray) -> np.ndarray:
    """The same spines, or the nearest with merged ideal points where the pole lies beyond infinity."""
    return np.asarray(IdealSpines().basis(ideal_parameters(bases))[0])


def search_greedy(sample: Sample, K: int, spine: str, objective: str, options: SearchOptions, rng: np.random.Generator) -> Flag:
    """One component after another, each the best addition to those before it (the paper's equation)."""
    if sample.size <= FEW_ROWS:  # one vector of random points has many optima, and ascents cost little
        options = options._replace(n_init=MORE_STARTS * options.n_init)
    free, search = spine == "free", Search(sample, objective, options, rng)
    bases, ends, several = [np.zeros((0, sample.dimension + 1))], [], False
    for k in range(K):
        family = one_more(bases[-1], free)
        starts = _additions(search, bases[-1], free)
        if options.warm is not None:
            starts = np.concatenate([starts, options.warm[k][-1:, -family.spread.shape[1] :]])
        field = search.climbed(family, starts, search.early_rounds()).points
        # the maximum at a far point is narrower than the early rounds can see: the best direction goes on unchanged
        exact = search.over(sample.size, search.last_rounds()[-1].shifts)(family.basis(starts)[0], gradient=False)[0]
        best, another = search.finished(family, np.concatenate([field, starts[[int(exact.argmax())]]]))
        bases.append(family.basis(best.points)[0][0])
        ends.append(best)
        several = several or another
    worst = next((end for end in ends if not end.status[0].converged), ends[-1])
    return Flag(bases[1:], float(ends[-1].values[0]), int(worst.n_iter[0]), worst.status[0], several)


def _additions(search: Search, given: np.ndarray, free: bool) -> np.ndarray:
    """Parameters in `one_more` of the most promising vectors to add to a spine: directions of points, exact and perturbed."""
    few = search.sample.head(DIRECTIONS if len(given) == 0 else DIRECTIONS // 4)
    perturbed = some_directions(few, (4 * search.options.n_init, 1), search.rng, perturbed=True)[:, 0]
    vectors = light_like(np.concatenate([few.directions(), perturbed]))
    if free:
        tilt = search.rng.standard_normal((len(perturbed), 1))
        anywhere = search.rng.standard_normal((len(perturbed), vectors.shape[1]))  # mostly across the data
        vectors = np.concatenate([vectors, np.hstack([tilt, perturbed]), anywhere, np.eye(vectors.shape[1])[1:]])
    bases = np.concatenate([np.broadcast_to(given, (len(vectors), *given.shape)), vectors[:, None]], axis=1)
    values = search.early().over(few.size, max(6, 4 * LEAST_PAIRS // few.size), 0.1)(bases, gradient=False)[0]
    order = np.argsort(-values, kind="stable")
    return np.asarray(vectors[order[: 2 * search.options.n_init], (0 if free else 1) :])


def _flag_inside(
    sample: Sample, basis: np.ndarray, objective: str, options: SearchOptions, rng: np.random.Generator, free: bool
) -> list[np.ndarray]:
    """Bases (k, d+1), k = 1 .. K-1, of the greedy flag inside the span of `basis`: a K-dimensional problem."""
    K, size = len(basis), basis.size
    n_init = 8 if size < 200 else 4 if size < 5000 else 2
    axes = np.linalg.qr(basis[:, 1:].T)[0]
    objective = "variance" if OBJECTIVES[objective].stretched else objective
    search = Search(sample.along(axes), objective, SearchOptions(n_init, 8, 40, options.tol), rng)
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
        family, m = OneMore(given, centre, spread), spread.shape[1]
        starts = np.array([[1.0], [-1.0]]) if m == 1 else rng.standard_normal((n_init, m))
        best = search.climbed(family, starts, search.early_rounds()).points[:1]
        given = family.basis(best)[0][0]
        bases.append(given)
    return [np.column_stack([inner[:, 0], inner[:, 1:] @ axes.T]) for inner in bases]
