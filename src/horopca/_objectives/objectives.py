"""What HoroPCA maximises, as a value and its gradient in a basis of the spine: one table.

An objective is a projection with a pullback (`projections.horospherical`) composed with a statistic of the images. The data are
a `Sample`; which pairs are counted is said by `pairs`, what is averaged over them by `profiles`, what the answer is worth by
`measures`. To add an objective is to add a row to OBJECTIVES, and its name, if users may ask for it, to ObjectiveName.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from .._input.means import mean_and_more
from .._input.rows import Rows
from ..geometry import pairwise_distance
from ..geometry._arrays import Array, array_namespace
from ..geometry._points import Chunk
from ..projections.horospherical import Products, Slid, slide_with_pullback, stretch_with_pullback
from ..statistics import Mean, frechet_mean, frechet_median, pair_distances, usual_distance
from .frechet import frechet_objective
from .measures import BOUNDED_VARIANCE, DISTORTION, FRECHET_VARIANCE, PAIR_VARIANCE, Merit
from .pairs import AllPairs, Shifts
from .profiles import RATIO, SQUARE, Profile, bounded, closeness, log_variance, mean_over_pairs
from .sample import Objective, Sample

ObjectiveName = Literal["variance", "distortion", "frechet", "robust"]  # Those that users ask for; a stretch is an option.

KEPT_SQUARE = 1024  # The distances of all pairs of up to so many points are kept.
SHARPEST = 1e-3  # In the last climb the corner of a distortion with a stretch is rounded over so little.


class Term(NamedTuple):
    """What a pair adds to an objective: a profile of its images under a slide, times a factor."""

    profile: Profile
    factor: float
    distances: bool = False  # whether the profile asks for the true distances
    slide: Callable[[Products, np.ndarray], Slid] = slide_with_pullback
    on_a_line: bool = False  # whether its mean over all pairs of images on a line is that of `log_variance`


class Goal(NamedTuple):
    """An objective, which most often is a mean over pairs; `softness` rounds the corners of one that has any."""

    term: Callable[[Sample, float], Term] | None  # what a pair adds to it, for a sample and a softness
    measure: Merit  # what `score` says of an answer
    own: Callable[[Sample, AllPairs | Shifts, float], Objective] | None = None  # what is not, or not always, a mean over pairs
    stretched: bool = False  # whether bases have a column more, the stretch
    middle: Callable[[Any], Mean] = frechet_mean  # of points, where the search stands
    # of rows, from a sample and its middle; and what other work comes to that a pass over the rows takes along
    middle_of_many: Callable[[Rows, np.ndarray, Mean, Callable[[Chunk], Any]], tuple[Mean, Any]] = mean_and_more
    prepared: Callable[[Sample], Sample] = lambda sample: sample  # measures what the objective has to know of a sample
    starts: int = 0  # from how many starts it is searched on few points, if it has many optima that are nearly as good

    @property
    def rugged(self) -> bool:
        """Whether it has many optima that are nearly as good."""
        return self.starts > 0

    def over(self, sample: Sample, pairs: AllPairs | Shifts, softness: float = SHARPEST) -> Objective:
        """The objective over some pairs of a sample."""
        if self.own is None and self.term is not None:
            return pair_objective(self.term(sample, softness), sample, pairs)
        assert self.own is not None, "an objective is a mean over pairs, or its own"
        return self.own(sample, pairs, softness)


def variance_objective(sample: Sample, pairs: AllPairs | Shifts, softness: float = 0.0) -> Objective:
    """Mean squared projected distance of the pairs (of all pairs, if K = 1)."""
    over_pairs = pair_objective(VARIANCE, sample, pairs)

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        if len(A) > 1:
            return over_pairs(A)
        beta, eta, pullback = slide_with_pullback(sample, A)
        value, g_eta = log_variance(eta)
        return 4 * value, 4 * pullback(beta, g_eta)

    return objective


def _stretched(_: Sample, softness: float) -> Term:
    """One minus the average distortion with a stretch, which lengthens some distances."""
    return Term(closeness(softness), 1.0, True, stretch_with_pullback)


def _bounded(sample: Sample, _: float) -> Term:
    """d^2 / (d^2 + reach^2): a variance in which no pair counts for more than 1, however far."""
    return Term(bounded(sample.reach), 1.0)


VARIANCE = Term(SQUARE, 4.0, on_a_line=True)
# Mean of (projected distance) / (distance): one minus the distortion, and smooth, since the projection lengthens no distance.
FIDELITY = Term(RATIO, 2.0, True)

OBJECTIVES = {
    "variance": Goal(lambda *_: VARIANCE, PAIR_VARIANCE, variance_objective),
    "distortion": Goal(lambda *_: FIDELITY, DISTORTION, starts=64),
    "stretch": Goal(_stretched, DISTORTION, stretched=True, starts=96),
    "frechet": Goal(None, FRECHET_VARIANCE, frechet_objective),
    "robust": Goal(
        _bounded,
        BOUNDED_VARIANCE,
        middle=frechet_median,
        middle_of_many=lambda rows, _, middle, along: (frechet_median(rows, start=middle.point), rows.fold(along)),
        prepared=lambda sample: sample._replace(reach=usual_distance(sample.points())),
    ),
}


def pair_objective(term: Term, sample: Sample, pairs: AllPairs | Shifts) -> Objective:
    """The mean of what the pairs of a sample add: A -> (value, gradient)."""
    inverse, apart = true_distances(sample, pairs) if term.distances else (None, pairs.total)
    scale = term.factor * pairs.total / max(apart, 1)  # coincident pairs have no distortion: they do not count

    def objective(A: np.ndarray) -> tuple[float, np.ndarray]:
        beta, eta, pullback = term.slide(sample, A)
        value, g_beta, g_eta = mean_over_pairs(beta, eta, pairs, term.profile, inverse)
        return scale * value, scale * pullback(g_beta, g_eta)

    return objective


def true_distances(sample: Sample, pairs: AllPairs | Shifts) -> tuple[Callable[[Any], Any], int]:
    """1 / d for the pairs of a block (0 where the points coincide), and how many pairs of all do not coincide.

    Distances of shifts are kept, one for each pair; those of all pairs are kept up to KEPT_SQUARE points, and above
    computed anew for each block: n^2 of them are never in memory at once.
    """
    x = sample.points()
    xp = array_namespace(x)
    if isinstance(pairs, AllPairs) and pairs.n > KEPT_SQUARE:
        apart = sum(int(xp.count_nonzero(d > 0)) for (d,) in pair_distances(x))
        return lambda tile: inverse(pairwise_distance(x[tile[0], :], x[tile[1], :])), apart
    if isinstance(pairs, AllPairs):
        kept = inverse(pairwise_distance(x))
        apart = int(xp.count_nonzero(kept)) // 2
    else:
        kept = inverse(xp.stack([d for (d,) in pair_distances(x, offsets=pairs.offsets)]))
        apart = int(xp.count_nonzero(kept))
    return lambda where: kept[where], apart


def inverse(d: Array) -> Array:
    """1 / d, and 0 where d is."""
    xp = array_namespace(d)
    return xp.where(d > 0, 1 / xp.where(d > 0, d, xp.ones_like(d)), xp.zeros_like(d))
