"""How HoroPCA learns from points: prepare, search, settle, measure.

The search runs on a sample of the points as seen from its mean; what it found is then seen from the mean of all of them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .._objectives.objectives import KEPT_SQUARE, OBJECTIVES, SHARPEST
from .._objectives.pairs import AllPairs
from .._objectives.sample import Sample, as_sample
from .._objectives.variances import measured_variances, slid
from .._objectives.whole import Whole
from .._points.cuda import usable_for
from .._points.means import mean_of_many
from .._points.memory import Rows
from .._search.climb import Report
from .._search.ending import Ending
from .._search.spines import Flag, Plan, search_greedy, search_joint
from ..geometry import Chunk, Frame, between, translate_ideal, translate_ideal_to_origin
from ..geometry._arrays import to_numpy
from ..projections.spines import Spine, nested_ideal_points, spine_from_basis
from ..statistics import Seen, frame_of, frechet_mean, principal_axes
from .fitting import check_starts, ending_after

STRATEGIES = {"joint": search_joint, "greedy": search_greedy}

STAND_ROWS = 1 << 12  # The search stands at the mean, and in the principal axes, of so many points of a sample.
LAST_PAIRS = 1 << 20  # The last climb counts so many pairs for each evaluation.
SAMPLE_PAIRS = 1 << 17  # On a sample, whose answer is corrected afterwards, it counts so many pairs.
SAMPLE_TOL = 1e-7  # Where not all pairs are counted it goes on to no better than this: some say less of all of them.
DISTANCES_KEPT = 128  # The distortion of more than KEPT_SQUARE points counts so many pairs for each, whose distances are kept.
AUTO_STARTS = 16  # So many starts are climbed from by default on a thousand points or more.
MOST_AUTO_STARTS = 64  # Up to so many starts are climbed from by default on fewer points, where they cost little.
RUGGED_ROWS = 1 << 12  # Up to so many points, an objective that has many optima says how many starts it needs.


class Wish(NamedTuple):
    """What is searched for, and how hard: the parameters of `HoroPCA` that the search has to know."""

    spine: Literal["ideal", "free"]
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
        shifts = self._shifts(n, K, sampled)
        tol = max(self.tol, SAMPLE_TOL) if shifts < n and self.pairs == "auto" else self.tol
        return Plan(check_starts(self.n_init, auto), shifts, self.max_iter, tol, self.report)

    def _shifts(self, n: int, K: int, sampled: bool) -> int:
        """Pairs of each of n points in the last climb."""
        if self.pairs == "auto" or (self.pairs == "all" and sampled):
            if self.goal in ("distortion", "stretch") and n > KEPT_SQUARE:
                return DISTANCES_KEPT // 4 if sampled else DISTANCES_KEPT
            return n if n <= 2048 and K <= 8 else max(1, (SAMPLE_PAIRS if sampled else LAST_PAIRS) // (n * max(1, K // 4)))
        return n if self.pairs == "all" else int(self.pairs)


class Answer(NamedTuple):
    """What a search found: bases (k, d+1), k = 1 .. K, of nested spines, as seen from a frame."""

    frame: Frame
    bases: list[np.ndarray]


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
    warm: Answer | None = None,
) -> Learnt:
    """Fit K components to the points `some` (m, d+1); if they are a random sample of `rows`, to all of these.

    They stand for so many `seen`; `warm` is an earlier answer to begin from.
    """
    mean = frechet_mean(some if rows is None else some[:STAND_ROWS])
    # the search stands at the mean of the sample, which is the same to the last bit wherever the rows are
    frame = Frame(mean.point, principal_axes(Seen(some[:STAND_ROWS], mean.point))[0])
    sample = as_sample(frame.enter(some))
    if rows is None:
        order = sample.order()
        some, sample = some[order], sample.take(order)
    whole = None if rows is None else Whole(rows, some, frame, sample, rng)
    plan = wish.plan(sample, K, rows is not None)._replace(warm=_as_seen(warm, frame, K, wish.goal))
    if whole is not None:
        plan = _over_all(plan, whole, wish)
    flag = STRATEGIES[wish.strategy](sample, K, wish.spine, wish.goal, plan, rng)
    if rows is not None:
        mean = mean_of_many(rows, some[:STAND_ROWS], mean)
    point = to_numpy(mean.point)
    spines, directions, stretch = _settled(flag, frame, point, moved=rows is not None, ideal=wish.spine == "ideal")
    x = Seen(some, point).map(Chunk.points)
    across = None if whole is None else whole.variances(flag.bases[-1])
    variances, error = measured_variances(x, spines, rng, seen, across)
    remedy = f"Raise max_iter (now {wish.max_iter}) or tol (now {wish.tol:g})."
    ending = ending_after(mean, Ending.of(flag.ascent, remedy))
    frames = [frame_of(slid(x, spine)) for spine in spines]
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


def _as_seen(warm: Answer | None, frame: Frame, K: int, goal: str) -> list[np.ndarray] | None:
    """The bases of an earlier answer as seen from a frame, if it is one to the same question."""
    d = len(frame.axes)
    if warm is None or len(warm.bases) != K or warm.bases[-1].shape[1] != d + 1 + (goal == "stretch"):
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
