"""How HoroPCA learns from points: prepare, search, settle, measure.

The search runs on a sample of the points as seen from its mean; what it found is then seen from the mean of all of them.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from .._input.arguments import check_choice, check_count
from .._input.cuda import usable_for
from .._input.rows import Rows
from .._objectives.objectives import KEPT_SQUARE, OBJECTIVES, SHARPEST, ObjectiveName
from .._objectives.pairs import AllPairs
from .._objectives.sample import Sample, as_sample
from .._objectives.variances import measured_variances, slid
from .._objectives.whole import Whole
from .._search.climb import Report
from .._search.ending import Ending
from .._search.spines import Flag, Plan, search_greedy, search_joint
from ..geometry import Frame, between, translate_ideal, translate_ideal_to_origin
from ..geometry._arrays import to_numpy
from ..geometry._points import Chunk, TranslatedPoints
from ..projections.spines import Spine, nested_ideal_points, spine_from_basis
from ..statistics import Mean, frame_of, principal_axes, turned_to
from .fitting import check_climb, check_starts, ending_after

STRATEGIES = {"joint": search_joint, "greedy": search_greedy}

SpineName = Literal["ideal", "free"]

STAND_ROWS = 1 << 12  # The search stands at the mean, and in the principal axes, of so many points of a sample.
LAST_PAIRS = 1 << 20  # The last climb counts so many pairs for each evaluation.
SAMPLE_PAIRS = 1 << 17  # On a sample, whose answer is corrected afterwards, it counts so many pairs.
PART_TOL = 1e-7  # Where not all pairs are counted it goes on to no better than this: some say less of all of them.
SAMPLE_TOL = 1e-6  # Where not all rows are searched it goes on to no better than this: a sample says less.
DISTANCES_KEPT = 128  # The distortion of more than KEPT_SQUARE points counts so many pairs for each, whose distances are kept,
DISTANCES_OF_SAMPLE = 16  # and so many on a sample, whose answer is corrected afterwards.
AUTO_STARTS = 16  # So many starts are climbed from by default on a thousand points or more.
MOST_AUTO_STARTS = 64  # Up to so many starts are climbed from by default on fewer points, where they cost little.
RUGGED_ROWS = 1 << 12  # Up to so many points, an objective that has many optima says how many starts it needs.


class Wish(NamedTuple):
    """What is searched for, and how hard: the parameters of `HoroPCA` that the search has to know."""

    spine: SpineName
    strategy: str  # a row of STRATEGIES
    goal: str  # a row of OBJECTIVES
    n_init: int | Literal["auto"]
    pairs: int | Literal["auto", "all"]
    max_iter: int
    tol: float
    report: Report

    def plan(self, sample: Sample, K: int, sampled: bool) -> Plan:
        """How to search a sample of other rows, or one that is all there is."""
        n = sample.size
        auto = min(MOST_AUTO_STARTS, max(AUTO_STARTS, AUTO_STARTS * 1024 // n))
        if n <= RUGGED_ROWS:
            auto = max(auto, OBJECTIVES[self.goal].starts)
        shifts = self._shifts(sample, K, sampled)
        tol = max(self.tol, SAMPLE_TOL if sampled else PART_TOL) if shifts < n and self.pairs == "auto" else self.tol
        return Plan(check_starts(self.n_init, auto), shifts, self.max_iter, tol, self.report)

    def _shifts(self, sample: Sample, K: int, sampled: bool) -> int:
        """Pairs of each point in the last climb."""
        n, term = sample.size, OBJECTIVES[self.goal].term
        if self.pairs == "auto" or (self.pairs == "all" and sampled):
            if term is not None and term(sample, SHARPEST).distances and n > KEPT_SQUARE:
                return DISTANCES_OF_SAMPLE if sampled else DISTANCES_KEPT
            return n if n <= 2048 and K <= 8 else max(1, (SAMPLE_PAIRS if sampled else LAST_PAIRS) // (n * max(1, K // 4)))
        return n if self.pairs == "all" else int(self.pairs)


def check_search(estimator: Any) -> None:
    """Refuse parameters of `HoroPCA` that make no sense."""
    check_choice("spine", estimator.spine, get_args(SpineName))
    check_choice("strategy", estimator.strategy, STRATEGIES)
    check_choice("objective", estimator.objective, get_args(ObjectiveName))
    for name, more in (("stretch", " How much is learnt: see stretch_."), ("warm_start", "")):
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise ValueError(f"{name} must be True or False, but is {getattr(estimator, name)!r}.{more}")
    if estimator.warm_start and isinstance(estimator.n_components, float | np.floating):
        raise ValueError(f"n_components must be a whole number or None if warm_start=True, but is {estimator.n_components!r}.")
    if estimator.stretch and (estimator.spine, estimator.objective, estimator.strategy) != ("free", "distortion", "joint"):
        raise ValueError(
            "stretch=True needs spine='free', objective='distortion' and strategy='joint' (it pays back distortion, in a "
            f"space-like spine), but these are {estimator.spine!r}, {estimator.objective!r} and {estimator.strategy!r}."
        )
    check_climb(estimator)
    check_starts(estimator.n_init, AUTO_STARTS)
    if not (isinstance(estimator.pairs, str) and estimator.pairs in ("auto", "all")):
        check_count("pairs", estimator.pairs, 1, why=", 'auto' or 'all'")
    whole = isinstance(estimator.n_jobs, numbers.Integral) and not isinstance(estimator.n_jobs, bool)
    if estimator.n_jobs is not None and not (whole and estimator.n_jobs):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for one per core, but is {estimator.n_jobs!r}.")


class Answer(NamedTuple):
    """What a search found: bases (k, d+1), k = 1 .. K, of nested spines, as seen from a frame."""

    frame: Frame
    bases: list[np.ndarray]


class Last(NamedTuple):
    """What was learnt before: where the next search begins, and the picture that the next one resembles."""

    answer: Answer
    mean: np.ndarray  # (d+1,)
    spines: list[Spine]
    frames: list[Frame]

    @classmethod
    def of(cls, estimator: Any) -> Last | None:
        """What an estimator has learnt, if it is kept: version 0.1.0 kept less."""
        names = ("_answer", "_mean", "nested_spines_", "_frames")
        return cls(*(getattr(estimator, name) for name in names)) if all(hasattr(estimator, name) for name in names) else None

    def picture(self, x: np.ndarray, k: int) -> np.ndarray:
        """Images (n, k+1) of points x (n, d+1) on the first k components."""
        return self.frames[k - 1].enter(slid(TranslatedPoints(x, self.mean).map(Chunk.points), self.spines[k - 1]))


class Learnt(NamedTuple):
    """What HoroPCA learns."""

    answer: Answer
    mean: np.ndarray  # (d+1,)
    spines: list[Spine]  # nested, as seen from the mean
    directions: np.ndarray | None  # (K, d), of the ideal points as seen from the mean, if there are any
    stretch: float
    frames: list[Frame]  # of the images, for each of the spines
    variances: np.ndarray  # (K+1,), of the images for each of the spines, and of the points
    variance_error: float
    ending: Ending


def learn(
    wish: Wish,
    some: np.ndarray,
    rows: Rows | None,
    seen: int,
    K: int,
    rng: np.random.Generator,
    last: Last | None = None,
    centre: np.ndarray | None = None,
) -> Learnt:
    """Fit K components to the points `some` (m, d+1); if they are a random sample of `rows`, to all of these.

    They stand for so many `seen`; `last` is what was learnt before; `centre` (d+1,) is in the middle of the picture, if it
    is given, and the mean of the images otherwise.
    """
    goal = OBJECTIVES[wish.goal]
    mean = goal.middle(some if rows is None else some[:STAND_ROWS])
    # the search stands at the mean of the sample, which is the same to the last bit wherever the rows are
    frame = Frame(mean.point, principal_axes(TranslatedPoints(some[:STAND_ROWS], mean.point))[0])
    sample = goal.prepared(as_sample(frame.enter(some)))
    if rows is None:
        order = sample.order()
        some, sample = some[order], sample.take(order)
    whole = None if rows is None else Whole(rows, some, frame, sample, rng)
    plan = wish.plan(sample, K, rows is not None)._replace(warm=_as_seen(last, frame, K, wish.goal))
    if whole is not None:
        plan = _over_all(plan, whole, wish)
    flag = STRATEGIES[wish.strategy](sample, K, wish.spine, wish.goal, plan, rng)
    across = None
    if whole is not None:
        mean, across = goal.middle_of_many(whole.rows, some[:STAND_ROWS], mean, whole.squares(flag.bases[-1]))
    point = to_numpy(mean.point)
    spines, directions, stretch = _settled(flag, frame, point, moved=rows is not None, ideal=wish.spine == "ideal")
    x = TranslatedPoints(some, point).map(Chunk.points)
    variances, error = measured_variances(x, spines, rng, seen, across)
    remedy = f"Raise max_iter (now {wish.max_iter}) or tol (now {wish.tol:g})."
    ending = ending_after(mean, Ending.of(flag.ascent, remedy))
    known = 0 if last is None or len(last.mean) != len(point) else min(K, len(last.spines))
    before = [] if last is None else [last.picture(some, k) for k in range(1, known + 1)]
    frames = _framed(
        x, spines, before, None if centre is None else TranslatedPoints(centre[None], point).map(Chunk.points), goal.middle
    )
    return Learnt(Answer(frame, flag.bases), point, spines, directions, stretch, frames, variances, error, ending)


def in_own_order(x: np.ndarray) -> np.ndarray:
    """Points (n, d+1) in an order that depends on them alone, so that all that follows is the same to the last bit."""
    return x[np.argsort(x @ np.sqrt(1 + np.arange(x.shape[1])), kind="stable")]


def _over_all(plan: Plan, whole: Whole, wish: Wish) -> Plan:
    """A plan whose answer for a sample is taken to all rows afterwards."""
    rows, goal = whole.rows, OBJECTIVES[wish.goal]
    plan = plan._replace(tilt=whole.tilt(wish.goal))
    if usable_for(rows.X):
        plan = plan._replace(place=lambda sample: sample.beside(rows.X))
    if wish.pairs == "all":
        everything = as_sample(whole.frame.enter(rows.all()))
        plan = plan._replace(exact=goal.over(everything, AllPairs(everything.size), SHARPEST))
    return plan


def _framed(
    x: np.ndarray,
    spines: list[Spine],
    before: list[np.ndarray],
    centre: np.ndarray | None,
    middle: Callable[[np.ndarray], Mean],
) -> list[Frame]:
    """The frames of the images of points x (n, d+1), for each of the spines, turned as in the pictures `before`."""
    frames = []
    for k, spine in enumerate(spines):
        y = slid(x, spine)
        frame = frame_of(y, middle(y).point if centre is None else slid(centre, spine)[0])
        frames.append(turned_to(frame, y, before[k]) if k < len(before) else frame)
    return frames


def _as_seen(last: Last | None, frame: Frame, K: int, goal: str) -> list[np.ndarray] | None:
    """The bases of an earlier answer as seen from a frame, if it is one to the same question."""
    d = len(frame.axes)
    if last is None:
        return None
    warm = last.answer
    if len(warm.bases) != K or warm.bases[-1].shape[1] != d + 1 + OBJECTIVES[goal].stretched:
        return None
    there = between(warm.frame, frame).T
    return [np.hstack([basis[:, : d + 1] @ there, basis[:, d + 1 :]]) for basis in warm.bases]


def _settled(
    flag: Flag, frame: Frame, mean: np.ndarray, *, moved: bool, ideal: bool
) -> tuple[list[Spine], np.ndarray | None, float]:
    """The nested spines and their ideal points as seen from the mean, and the stretch.

    If the mean is not where the search stood, they are `moved` there.
    """
    d = len(frame.axes)
    stretch = float(np.exp(flag.bases[-1][:, d + 1 :].sum()))
    bases = [basis[:, : d + 1] for basis in flag.bases]
    q = nested_ideal_points(bases)
    directions = None if q is None else q @ frame.axes
    if not moved:
        return [_turned(spine_from_basis(basis, stretch), frame.axes) for basis in bases], directions, stretch
    there = between(frame, Frame(mean, np.eye(d))).T
    spines = [spine_from_basis(basis @ there, stretch) for basis in bases]
    if ideal:  # rounding must not carry it beyond infinity
        spines = [spine._replace(kappa=max(spine.kappa, 0.0) if k else 0.0) for k, spine in enumerate(spines)]
    if directions is not None:
        directions = translate_ideal_to_origin(translate_ideal(directions, frame.mean), mean)
    return spines, directions, stretch


def _turned(spine: Spine, axes: np.ndarray) -> Spine:
    """The spine in the frame whose axes are the rows of `axes`, brought back to the frame they are given in."""
    return spine._replace(n=spine.n @ axes, U=spine.U @ axes)
