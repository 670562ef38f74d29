"""The search for a spine: many starts, successive halving, and the nested sequence of components.

The search runs in the frame that has the mean of the sample at the origin and its principal axes as coordinate axes, so that
with the same seed it is the same for all isometric copies of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..geometry._arrays import to_numpy, unit
from ..projections.spines import (
    Family,
    Spine,
    extended_spines,
    free_spines,
    ideal_parameters,
    ideal_spines,
    one_more_vector,
    spine_basis,
    spine_of,
)
from ..statistics.pairs import pair_offsets
from .lbfgs import Ascents, Status, compose, maximise
from .objectives import FEW_ROWS, OBJECTIVES, SHARPEST, SUBSET_ROWS, Objective, Sample, as_sample, objective_over

Log = Callable[[str], None]  # Called with a line of text after each round.

FIRST_SOFTNESS = 0.1  # Of the first round: about the distortion that fits end with, so that no single pair has a kink.
CANDIDATES = 8  # Candidates that are evaluated for each ascent: an evaluation costs a tenth of an ascent.
LEAST_PAIRS = 1 << 12  # Pairs in every round: with fewer, sampling noise decides which ascents continue.
MANY_AXES = 64  # In more dimensions all rounds but the last two use only the first principal axes: this many,
AXES_PER_COMPONENT = 4  # or this many for each component, if that is more.
MANY_COMPONENTS = 8  # More components use a quarter of the starts: their optima differ by less (measured at K = 50).
SINGLE_HOPS = (
    8  # Factor of the hops for the first component of few points: with 4, one of 38 fits of random points loses 2.8 %.
)
PERTURBATION = 0.05
"""Standard deviation of the perturbation of a direction, in every coordinate. Of twenty fits, three with 0.01 end up to 0.08 %
lower or 0.01 % higher, and two with 0.2 up to 0.05 % lower."""
STRETCHES = (1.5, 2.2)  # Starting values of the stretch, alternating: the optima on the paper's data lie between 1.3 and 2.6.
EQUAL_VALUES = 1e-3  # Different optima whose values differ by less than this fraction are reported as equally good.
DIFFERENT_ANGLE = 0.1  # Optima are different if the angle between their spines (radians) is larger than this.
SAME_ANGLE = 0.02  # Ascents whose spines differ by less than this angle (radians) lead to the same optimum.
MERGED_KAPPA = 1e-7  # Below this kappa, where two ideal points are 1e-3 radians apart (4 sqrt(kappa)), they count as one.
HOP_ASCENTS = 8  # The best ascents, at most n_init, hop. Four find the same except on CS Ph.D., where they lose 0.8 %.
HOP_LENGTHS = 3 * (1.0, 0.3, 0.1)  # In turn. Five lengths, with twice as many hops, lose 0.5 % on CS Ph.D. (four seeds).

NEAR_GIVEN = 0.1  # Distance of starts from a given ideal point: 0.03 finds the same optima, 1 five times less often.
# Data directions that are tried as one more component. With four components of five data sets, 8 lose up to 0.1 % of the
# variance, and 128 gain nothing.
NEXT_DIRECTIONS = 32


class Round(NamedTuple):
    """One round of successive halving: ascents from the best starts, on some points and pairs."""

    starts: int
    rows: int  # points
    n_offsets: int  # each makes one pair of every point
    iterations: int
    softness: float = SHARPEST
    tol: float = 0.0


class SearchOptions(NamedTuple):
    """How many starts, pairs and steps a search takes."""

    n_init: int  # starts of ascents
    n_offsets: int  # pairs of each point in the last round; n: all pairs
    max_iter: int  # of the last round
    tol: float
    log: Log = lambda _: None
    warm: list[np.ndarray] | None = None  # bases of an earlier solution: one more start


# For `search_next`: with few starts and pairs the error is below the differences between folds, and between copies of the data.
NEXT_OPTIONS = SearchOptions(n_init=3, n_offsets=16, max_iter=50, tol=1e-5)


class Flag(NamedTuple):
    """A nested sequence of spines V_1 < ... < V_K (a flag of subspaces), and how the search for them ended."""

    bases: list[np.ndarray]  # k-th of shape (k, d+1); with a stretch, the last has one more column
    n_iter: int
    status: Status
    several: bool = False  # whether another optimum is equally good


def successive_halving(
    objective_for: Callable[[Round], Objective], family: Family, points: np.ndarray, rounds: Sequence[Round], log: Log
) -> tuple[Ascents, bool]:
    """Successive halving: each round evaluates all points on its own pairs, and starts ascents at the best distinct ones.

    Returns the ascents of the last round, best first, and whether another of the points that it compared is equally good.
    """
    several = False
    for number, round in enumerate(rounds):
        objective, bases = objective_for(round), family(points)[0]
        values = objective(bases, gradient=False)[0]
        order = np.argsort(-values, kind="stable")
        if number or len(points) <= 4 * round.starts:
            near = order[values[order] >= values[order[0]] - EQUAL_VALUES * abs(values[order[0]])]
            sines, chosen = _squared_sines(bases), list[int]()
            several = bool((sines[order[0], near] > DIFFERENT_ANGLE**2).any())
            for k in order:  # the best, without those whose bases have the span of a better one
                if len(chosen) < round.starts and (sines[k, chosen] > SAME_ANGLE**2).all():
                    chosen.append(int(k))
            order = np.array(chosen)
        found = maximise(compose(objective, family), points[order[: round.starts]], max_iter=round.iterations, tol=round.tol)
        log(f"round {number + 1}, {len(found.values)} starts, best {found.values.max():.6g}")
        points = found.points
    return found.best(), several


def _squared_sines(bases: np.ndarray) -> np.ndarray:
    """Sums (S, S) of the squared sines of the principal angles between the spans of bases (S, K, m)."""
    S, K, m = bases.shape
    Q = np.linalg.qr(bases.mT)[0]
    products = Q.mT.reshape(-1, m) @ np.swapaxes(Q, 0, 1).reshape(m, -1)
    return K - (products**2).reshape(S, K, S, K).sum(axis=(1, 3))


class Search(NamedTuple):
    """The points, the objective and the options of a search."""

    sample: Sample
    objective: str
    options: SearchOptions
    rng: np.random.Generator

    def objective_for(self, round: Round) -> Objective:
        """The objective of a round; in the first one the pair variance stands for the Fréchet variance."""
        part, early = self.sample.take(slice(round.rows)), round.softness > 0.01
        name = "variance" if round.softness >= FIRST_SOFTNESS and self.objective == "frechet" else self.objective
        return objective_over(part, name, pair_offsets(part.size, round.n_offsets, self.rng), round.softness, precise=not early)

    def rounds(self, n: int) -> tuple[list[Round], list[Round]]:
        """The early rounds, a few steps from n starts and more from the better ones; and the last rounds."""
        size, options, rugged = self.sample.size, self.options, OBJECTIVES[self.objective].rugged
        n_offsets, few, rows = max(8, LEAST_PAIRS // size), size <= FEW_ROWS, min(size, 1 << 13)
        finalists = max(3, n // (3 if few and rugged else 6))
        # four times as many pairs in the third round take 1.6 times as long, for 0.003 % (CS Ph.D.)
        more = min(max(options.n_offsets, LEAST_PAIRS // size), max(8, 4 * LEAST_PAIRS // rows))
        last = max(1, finalists // 3) if few else 3 if self.uses_hopping() else 1
        early = [
            Round(n, 1024 if rugged else 512, n_offsets, 10, FIRST_SOFTNESS, options.tol),
            Round(max(2, n // 3), 2048, n_offsets, 36, 0.03, options.tol),
        ]
        return early, [
            Round(finalists, rows, more, 25, 0.01, options.tol),
            Round(last, size, options.n_offsets, options.max_iter, tol=options.tol),
        ]

    def ascend(self, family: Family, points: np.ndarray, rounds: Sequence[Round]) -> tuple[Ascents, bool]:
        """Successive halving in a family, over the given rounds."""
        return successive_halving(self.objective_for, family, points, rounds, self.options.log)

    def uses_hopping(self) -> bool:
        """Whether the search includes `basin_hopping`.

        Without it, on few points, the distortion ends up to 0.6 % above the optimum (0.01 % with it), and the Fréchet variance
        up to 0.16 % below (0.004 %).
        """
        row = OBJECTIVES[self.objective]
        return self.sample.size <= (row.rugged if row.stretched else min(row.rugged, FEW_ROWS))

    def basin_hopping(self, family: Family, points: np.ndarray, factor: int = 1) -> np.ndarray:
        """Points of a family that the best ascents reach by basin hopping, best first; `factor` times as many hops as usual.

        For every length in turn, each ascent makes some random hops, ascends from all of them, ascends further from the best
        one, and moves there if its value is higher. With a stretch the objective has a kink at every pair, and so more optima
        than the starts lead to.
        """
        d, size = self.sample.dimension + 1, self.sample.size
        # with 8 pairs of each of more than a thousand points, the distortion ends 0.6 % higher (mean of five data sets)
        n_offsets, hops = 2 * LEAST_PAIRS // size if size < 2 * FEW_ROWS else 4, factor * max(2, FEW_ROWS // size)

        def climb(round: Round) -> Callable[[np.ndarray], Ascents]:
            objective = compose(self.objective_for(round), family)
            return lambda points: maximise(objective, points, max_iter=round.iterations, tol=round.tol)

        def scaled(points: np.ndarray) -> np.ndarray:
            if family is ideal_spines:
                return ideal_parameters(family(points)[0])
            if points.ndim == 2:  # single vectors
                return unit(points)
            return np.concatenate([np.linalg.qr(points[:, :, :d].mT)[0].mT, points[:, :, d:]], axis=2)

        tol = self.options.tol
        first = Round(min(HOP_ASCENTS, self.options.n_init), size, n_offsets, 15, 0.03, tol)
        soft, sharp = climb(first), climb(Round(0, size, n_offsets, 20, 0.01, tol))
        best = sharp(self.ascend(family, scaled(points), [first])[0].points)
        for length in HOP_LENGTHS:
            ahead = np.repeat(best.points, hops, axis=0)
            ahead = ahead + length * (self.rng.random(ahead.shape) < 0.5) * self.rng.standard_normal(ahead.shape)
            landed = soft(scaled(ahead))
            own = np.arange(0, len(ahead), hops)  # the first hop of each ascent
            ends = sharp(landed.points[own + landed.values.reshape(-1, hops).argmax(axis=1)])
            higher = ends.values > best.values
            best.points[higher], best.values[higher] = ends.points[higher], ends.values[higher]
        return best.best().points


def data_directions(sample: Sample, shape: tuple[int, int], rng: np.random.Generator, perturbed: bool) -> np.ndarray:
    """Directions (*shape, d) of random data points, without repetition along the last axis of `shape`; optionally perturbed."""
    n, directions, (count, K) = sample.size, sample.directions(), shape
    if K < n:
        picks = rng.random((count, n)).argpartition(K - 1, axis=-1)[:, :K]
    else:
        picks = rng.integers(n, size=shape)
    # 1e-9: points on one ray have the same direction, and equal ideal points would not span a spine
    u = directions[picks] + (PERTURBATION if perturbed else 1e-9) * rng.standard_normal((*shape, sample.dimension))
    return np.asarray(u / np.linalg.norm(u, axis=-1, keepdims=True))


def random_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Bases (S, K, d+1) of random spines of three kinds, and of spines along the principal axes.

    The three kinds are spanned by the ideal points of K data directions; have their pole towards or away from a data direction;
    or are space-like, tilted towards the time axis.
    """
    found = []
    for perturbed in (False, True):
        corners, poles, q = (data_directions(sample, (count // 6, K), rng, perturbed) for _ in range(3))
        poles[:, 0] *= rng.uniform(-1, 1, size=(len(poles), 1))
        tilt = rng.uniform(-1, 1, size=(*q.shape[:2], 1)) * (rng.uniform(size=(len(q), 1, 1)) < 0.5)
        found += [np.insert(corners, 0, 1.0, axis=2), ideal_spines(poles)[0], np.concatenate([tilt, q], axis=2)]
    axes = np.eye(min(sample.dimension, K + 1), sample.dimension)  # each is the pole once, on either side
    turned = [np.roll(axes, -k, axis=0)[:K] for k in range(len(axes))]
    poles = np.stack([theta * np.where(np.arange(K) == 0, side, 1.0)[:, None] for theta in turned for side in (0.5, -0.5)])
    return np.concatenate([*found, ideal_spines(poles)[0]])


def spectral_basis(sample: Sample, K: int) -> np.ndarray:
    """The spine of hyperbolic MDS: the first K eigenvectors of M J, where M holds the second moments of the points."""
    x = to_numpy(sample.columns)
    weighted = x if sample.weights is None else x * to_numpy(sample.weights)
    sizes, axes = eigh(weighted @ x.T / x.shape[1])
    root = (axes * np.sqrt(sizes.clip(0))) @ axes.T
    mixed = root[:, 1:] @ root[:, 1:].T - np.outer(root[:, 0], root[:, 0])
    top = eigh(mixed, subset_by_index=[len(x) - K, len(x) - 1])[1]
    basis = (root @ top).T
    sizes = np.linalg.norm(basis, axis=1, keepdims=True)
    return basis / sizes if sizes.min() > 1e-12 else np.eye(K, len(x), k=1)  # too few points to span K dimensions


def search_spine(search: Search, K: int, free: bool, warm: np.ndarray) -> tuple[np.ndarray, Ascents, bool]:
    """The basis (K, d+1) of the best spine, the ascents of the last round, and whether another optimum is equally good.

    `warm` (S, K, d+1) holds additional starts. With a stretch, all bases have one more column.
    """
    d, stretched = search.sample.dimension, OBJECTIVES[search.objective].stretched
    n = search.options.n_init if K <= MANY_COMPONENTS else max(2, search.options.n_init // 4)
    m = min(d, max(MANY_AXES, AXES_PER_COMPONENT * K))
    coarse = search if m == d else search._replace(sample=search.sample.along(np.eye(d, m)))
    spectral = np.stack([np.eye(K, m + 1, k=1), spectral_basis(coarse.sample, K)])  # of tangent PCA, and of hyperbolic MDS
    few = coarse.sample.take(slice(SUBSET_ROWS))
    candidates = np.concatenate([spectral, random_starts(few, K, CANDIDATES * n, search.rng)])
    if stretched:
        candidates = _with_stretches(candidates)
    candidates = np.concatenate([candidates, np.delete(warm, slice(m + 1, d + 1), axis=2)])
    # each family finds optima that the other misses; the one that was not asked for gets half as many starts
    found = coarse.ascend(free_spines, candidates, coarse.rounds(n if free else (n + 1) // 2)[0])[0].points
    if not stretched and K > 1:
        rounds = coarse.rounds((n + 1) // 2 if free else n)[0]
        ideal = coarse.ascend(ideal_spines, ideal_parameters(candidates), rounds)[0].points
        found = np.concatenate([found, ideal_spines(ideal)[0]])
    found = np.concatenate([found[:, :, : m + 1], np.zeros((len(found), K, d - m)), found[:, :, m + 1 :]], axis=2)
    found = np.concatenate([found, warm])
    family: Family = free_spines if free else ideal_spines
    points = found if free else ideal_parameters(found)
    if search.uses_hopping():
        points = np.concatenate([search.basin_hopping(family, points), points])
    ends, several = search.ascend(family, points, search.rounds(n)[1])
    return family(ends.points[:1])[0][0], ends, several


def _with_stretches(bases: np.ndarray) -> np.ndarray:
    """Bases (S, K, d+2) with one more column, whose sum is the logarithm of the stretch."""
    columns = np.log(np.resize(STRETCHES, len(bases)))[:, None, None] / bases.shape[1]
    return np.concatenate([bases, np.broadcast_to(columns, (*bases.shape[:2], 1))], axis=2)


def search_joint(search: Search, K: int, free: bool) -> Flag:
    """Search for all K components together; then for the nested spines inside the one that they span."""
    stretched, d, warm = OBJECTIVES[search.objective].stretched, search.sample.dimension, search.options.warm
    if K == 1 and not stretched:
        return search_greedy(search, K, free)
    starts = np.zeros((0, K, d + 1 + stretched)) if warm is None else warm[-1][None]
    basis, ends, several = search_spine(search, K, free, starts)
    inside = _flag_inside(search, basis[:, : d + 1], free)
    return Flag([*inside, basis], int(ends.n_iter[0]), ends.status[0], several)


def search_greedy(search: Search, K: int, free: bool) -> Flag:
    """Search for one component after another, each the best addition to those before it (the paper's greedy method)."""
    options, bases, ends, several = search.options, [np.zeros((0, search.sample.dimension + 1))], [], False
    for k in range(K):
        n = 2 * options.n_init
        family, last = extended_spines(bases[-1], free), search.rounds(n)[1]
        candidates = [] if options.warm is None else [options.warm[k][-1:, (0 if free else 1) :]]
        for starts in _additions(search, bases[-1], free, n):
            # the maximum at a far point is too narrow for the early rounds, so the last ones compare the starts as well
            candidates += [search.ascend(family, starts, search.rounds(len(starts))[0])[0].points, starts]
        points = np.concatenate(candidates)
        if k == 0 and search.sample.size <= FEW_ROWS:
            factor = SINGLE_HOPS if search.objective == "variance" else 1
            points = np.concatenate([search.basin_hopping(family, points, factor), points])
        best, another = search.ascend(family, points, last)
        bases.append(family(best.points[:1])[0][0])
        ends.append(best)
        several = several or another
    worst = next((end for end in ends if not end.status[0].converged), ends[-1])
    return Flag(bases[1:], int(worst.n_iter[0]), worst.status[0], several)


def _additions(search: Search, given: np.ndarray, free: bool, n: int) -> list[np.ndarray]:
    """Parameters in `extended_spines` of the best vectors to add to a spine: n data directions, and n / 8 near given points.

    An optimum with nearly merged ideal points attracts only a hundredth of all directions, and ascents to it are slow.
    """
    few = search.sample.take(slice(SUBSET_ROWS if len(given) == 0 else SUBSET_ROWS // 4))
    q, perturbed = few.directions(), data_directions(few, (2 * n, 1), search.rng, perturbed=True)[:, 0]
    vectors = np.insert(np.concatenate([q, perturbed]), 0, 1.0, axis=1)  # light-like
    if free:
        tilt = search.rng.standard_normal((len(perturbed), 1))
        anywhere = search.rng.standard_normal((len(perturbed), vectors.shape[1]))  # mostly orthogonal to the data
        vectors = np.concatenate([vectors, np.hstack([tilt, perturbed]), anywhere, np.eye(vectors.shape[1])[1:]])
    sides = q[: 1 + n // (2 * len(given) + 1)]
    near = unit(unit(given[:, None, 1:]) + NEAR_GIVEN * np.concatenate([sides, -sides])).reshape(-1, q.shape[1])
    objective, found = search.objective_for(Round(0, few.size, max(6, 4 * LEAST_PAIRS // few.size), 0, FIRST_SOFTNESS)), []
    for some, keep in ((vectors, n), (np.insert(near, 0, 1.0, axis=1), -(-n // 8)))[: 1 + (len(given) > 0)]:
        bases = np.concatenate([np.broadcast_to(given, (len(some), *given.shape)), some[:, None]], axis=1)
        order = np.argsort(-objective(bases, gradient=False)[0], kind="stable")
        found.append(np.asarray(some[order[:keep], (0 if free else 1) :]))
    return found


def _flag_inside(search: Search, basis: np.ndarray, free: bool) -> list[np.ndarray]:
    """Bases (k, d+1), k = 1 .. K-1, of the spines found greedily inside the span of `basis`.

    This K-dimensional problem runs on the host: on a GPU it takes a third longer (0.32 s, not 0.24, for K = 8 on an H200).
    """
    K, size = len(basis), basis.size
    n_init = 8 if size < 200 else 4 if size < 5000 else 2  # fewer where an ascent takes longer
    axes = np.linalg.qr(basis[:, 1:].T)[0]
    few = search.sample.take(slice(SUBSET_ROWS if K <= MANY_COMPONENTS else FEW_ROWS))
    weights = None if few.weights is None else to_numpy(few.weights)
    sample = as_sample(to_numpy(few.points()), weights).along(axes)._replace(reach=few.reach)
    objective = "variance" if OBJECTIVES[search.objective].stretched else search.objective
    search = Search(sample, objective, SearchOptions(n_init, 8, 40, search.options.tol), search.rng)
    basis = np.column_stack([basis[:, 0], basis[:, 1:] @ axes])
    if free:
        given, centre, spread = basis[:0], np.zeros(basis.shape[1]), np.linalg.qr(basis.T)[0]
    else:
        n, kappa, U, _ = spine_of(basis)
        merged = kappa < MERGED_KAPPA  # a single ideal point: it comes first, then directions orthogonal to it
        kappa = 0.0 if merged else kappa
        pole, U0 = spine_basis(Spine(n, kappa, U))[:1], np.pad(U, ((0, 0), (1, 0)))
        given = pole if merged else basis[:0]
        centre, spread = (0 * pole[0], U0.T) if merged else (pole[0], 2 * np.sqrt(kappa) * U0.T)
    bases = [given] if len(given) else []
    while len(bases) < K - 1:
        family, m = one_more_vector(given, centre, spread), spread.shape[1]
        starts = np.array([[1.0], [-1.0]]) if m == 1 else search.rng.standard_normal((n_init, m))
        best = search.ascend(family, starts, search.rounds(n_init)[0])[0].points[:1]
        given = family(best)[0][0]
        bases.append(given)
    return [np.column_stack([inner[:, 0], inner[:, 1:] @ axes.T]) for inner in bases]


def search_next(sample: Sample, given: np.ndarray, free: bool, objective: str) -> np.ndarray:
    """The basis (k+1, d+1) of a spine with one component more than a given spine (k, d+1); all components are optimised again.

    The search starts from the given spine and one more vector, light-like or space-like, along a data point or an axis. It
    has few other starts, so it may miss an optimum that `search_joint` finds.
    """
    k, d, stretched = len(given) + 1, sample.dimension, OBJECTIVES[objective].stretched
    if k == d:  # the spine of all dimensions loses nothing: no search is needed
        whole = np.eye(d, d + 1 + stretched, k=1)
        return whole if free or d == 1 else np.asarray(ideal_spines(ideal_parameters(whole))[0])
    q = sample.take(slice(NEXT_DIRECTIONS)).directions()
    vectors = np.concatenate([np.insert(q, 0, 1.0, axis=1), np.insert(q, 0, 0.0, axis=1), np.eye(d + 1)[1:]])
    starts = np.concatenate([np.broadcast_to(given, (len(vectors), *given.shape)), vectors[:, None]], axis=1)
    search = Search(sample, objective, NEXT_OPTIONS, np.random.default_rng(0))
    return search_spine(search, k, free, _with_stretches(starts) if stretched else starts)[0]
