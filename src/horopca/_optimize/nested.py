"""Spines of 1, 2, ... components, each search beginning where the one before it ended: for a curve over their number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .families import Family, FreeSpines, IdealSpines, ideal_parameters
from .multi_start import AXES_PER_COMPONENT, FEW_ROWS, MANY_AXES, STRETCHES, Round, Search, SearchOptions, search_joint
from .objectives import OBJECTIVES, SHARPEST
from .sample import Sample
from .starts import light_like, spectral_starts

THOROUGH = 3  # Up to this many components, which cost little, each search is as thorough as one of its own.
CANDIDATES = 32  # Data directions that are looked at for one more component,
GROWN = 3  # and vectors that are climbed from.
ROUNDS = (Round(FEW_ROWS, 8, 8, 2, 0.1), Round(1 << 12, 8, 16, 1, 0.03))
LAST_SHIFTS = 16  # Pairs of each point in the last round: folds and copies of the data differ by more than pairs do.
LAST_OPTIONS = SearchOptions(GROWN, LAST_SHIFTS, 50, 1e-5)


def search_nested(
    sample: Sample, K: int, spine: str, objective: str, options: Callable[[int], SearchOptions]
) -> list[np.ndarray]:
    """Bases (k, d+1) of spines of k = 1 .. K components (with a stretch (k, d+2)), those of each searched together.

    Up to THOROUGH components they are those of `search_joint`, with the options for that number. From there on a search starts
    from the spine before it and one more vector of the data, and from those of tangent PCA and hyperbolic MDS: a few starts
    instead of a hundred, so that it may miss an optimum that `search_joint` finds.
    """
    d = sample.dimension
    found = [np.zeros((0, d + 1))]
    for k in range(1, K + 1):
        rng = np.random.default_rng(0)
        if k <= THOROUGH and k < d:
            found.append(search_joint(sample, k, spine, objective, options(k), rng).bases[-1])
        else:
            found.append(search_next(sample, found[-1][:, : d + 1], spine, objective, rng))
    return found[1:]


def search_next(sample: Sample, given: np.ndarray, spine: str, objective: str, rng: np.random.Generator) -> np.ndarray:
    """The basis (k+1, d+1) of a spine of one component more than a given one (k, d+1), all of them searched again."""
    k, d = len(given) + 1, sample.dimension
    free, stretched = spine == "free", OBJECTIVES[objective].stretched
    if k == d:  # nothing is lost: there is nothing to search
        whole = np.eye(d, d + 1 + stretched, k=1)
        return whole if free or d == 1 else np.asarray(IdealSpines().basis(ideal_parameters(whole))[0])
    m = d if d <= MANY_AXES else min(d, max(MANY_AXES, AXES_PER_COMPONENT * k))
    search = Search(sample if m == d else sample.along(np.eye(d, m)), objective, LAST_OPTIONS, rng)
    starts = np.concatenate([_grown(search, given[:, : m + 1]), spectral_starts(search.sample, k)])
    if stretched:
        column = np.full((len(starts), k, 1), np.log(STRETCHES[0]) / k)
        starts = np.concatenate([starts, column], axis=2)
    ahead = search.climbed(FreeSpines(), starts, ROUNDS).points
    family: Family = FreeSpines() if free else IdealSpines()
    last = Round(sample.size, LAST_SHIFTS, LAST_OPTIONS.max_iter, 1, SHARPEST)
    best = search.climbed(family, ahead if free else ideal_parameters(ahead), [last])
    basis = family.basis(best.points)[0][0]
    return np.hstack([basis[:, : m + 1], np.zeros((k, d - m)), basis[:, m + 1 :]])


def _grown(search: Search, given: np.ndarray) -> np.ndarray:
    """The most promising spines of a given one and one more vector: light-like or space-like, of a point or an axis."""
    few = search.sample.head(FEW_ROWS)
    q = few.directions()[:CANDIDATES]
    pool = np.concatenate([light_like(q), np.pad(q, ((0, 0), (1, 0))), np.eye(few.dimension + 1)[1:]])
    bases = np.concatenate([np.broadcast_to(given, (len(pool), *given.shape)), pool[:, None]], axis=1)
    plain = search._replace(objective="distortion") if OBJECTIVES[search.objective].stretched else search
    return plain.screened(bases, GROWN)
