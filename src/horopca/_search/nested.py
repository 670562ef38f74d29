"""Spines of 1, 2, ... components, each search beginning where the one before it ended: for a curve over their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._objectives.objectives import OBJECTIVES, SHARPEST
from .._objectives.pairs import some_pairs
from .._objectives.sample import Sample
from .climb import climb
from .families import Family, FreeSpines, IdealSpines, compose, parameters_in_ideal
from .flock import climb_many
from .spines import AXES_PER_COMPONENT, MANY_AXES, SCREENED_ROWS, STRETCHED, Plan, Search, search_joint
from .starts import light_like, sure_starts

THOROUGH = 3  # Up to so many components, which cost little, each search is as thorough as one of its own.
CANDIDATES = 32  # So many points' own directions are looked at for one more component,
GROWN = 3  # and so many vectors are climbed from.
STEPS = ((SCREENED_ROWS, 8, 0.1), (1 << 12, 16, 0.03))  # First steps: on so many points, evaluations, softness.
SHIFTS = 8  # Pairs for each point in the first steps,
LAST_SHIFTS = 16  # and in the last climb,
LAST_STEPS = 50  # which has so many iterations
ENOUGH = 1e-5  # and goes on to no better than this: parts of the data differ by far more.


def search_nested(sample: Sample, K: int, spine: str, objective: str, plan: Callable[[int], Plan]) -> list[np.ndarray]:
    """Bases (k, d+1) of spines of k = 1 .. K components (with a stretch (k, d+2)), those of each searched together.

    Up to THOROUGH components they are what `search_joint` finds with the plan for so many. From there on a search starts from
    the spine before it and one vector of the data more, and from those of tangent PCA and hyperbolic MDS: a few starts, where
    that one has a hundred and more, so that it may miss an optimum that that one finds.
    """
    d = sample.dimension
    found = [np.zeros((0, d + 1))]
    for k in range(1, K + 1):
        rng = np.random.default_rng(0)
        if k <= THOROUGH and k < d:
            found.append(search_joint(sample, k, spine, objective, plan(k), rng).bases[-1])
        else:
            found.append(search_next(sample, found[-1][:, : d + 1], spine, objective, rng))
    return found[1:]


def search_next(sample: Sample, given: np.ndarray, spine: str, objective: str, rng: np.random.Generator) -> np.ndarray:
    """The basis (k+1, d+1) of a spine of one component more than a given one (k, d+1), all of them searched anew."""
    k, d = len(given) + 1, sample.dimension
    free, stretched = spine == "free", OBJECTIVES[objective].stretched
    if k == d:  # nothing is lost: there is nothing to search
        whole = np.eye(d, d + 1 + stretched, k=1)
        return whole if free or d == 1 else np.asarray(IdealSpines().basis(parameters_in_ideal(whole))[0])
    m = d if d <= MANY_AXES else min(d, max(MANY_AXES, AXES_PER_COMPONENT * k))
    search = Search(sample.first_axes(m), objective, Plan(GROWN, LAST_SHIFTS, LAST_STEPS, ENOUGH, lambda *_: None), rng)
    starts = [*_grown(search, given[:, : m + 1]), *sure_starts(search.sample, k)]
    if stretched:
        starts = [np.hstack([basis, np.full((k, 1), np.log(STRETCHED[0]) / k)]) for basis in starts]
    ahead = _ahead(search, starts)
    family: Family = FreeSpines() if free else IdealSpines()
    basis = _climbed(search, family, ahead if free else parameters_in_ideal(ahead))
    return np.hstack([basis[:, : m + 1], np.zeros((k, d - m)), basis[:, m + 1 :]])


def _grown(search: Search, given: np.ndarray) -> list[np.ndarray]:
    """The most promising spines that hold a given one and one vector more: light-like or space-like, a point's or an axis."""
    few = search.sample.head(SCREENED_ROWS)
    q = few.directions()[:CANDIDATES]
    pool = np.concatenate([light_like(q), np.pad(q, ((0, 0), (1, 0))), np.eye(few.dimension + 1)[1:]])
    bases = [np.vstack([given, vector]) for vector in pool]
    return search.unstretched().screened(bases, GROWN)


def _ahead(search: Search, starts: Sequence[np.ndarray]) -> np.ndarray:
    """Where the first steps of some bases lead, all kinds of spines allowed."""
    field = np.stack(starts)
    for rows, evaluations, softness in STEPS:
        points, values = climb_many(search.many(rows, SHIFTS, softness), field, evaluations)
        field = points[np.argsort(-values, kind="stable")[:2]]
    return np.asarray(field[0])


def _climbed(search: Search, family: Family, start: np.ndarray) -> np.ndarray:
    """The basis at the top of the last climb in a family."""
    pairs = some_pairs(search.sample.size, search.plan.shifts, search.rng)
    over = OBJECTIVES[search.objective].over(search.sample, pairs, SHARPEST)
    return family.basis(climb(compose(over, family), start, max_iter=LAST_STEPS, tol=ENOUGH).point)[0]
