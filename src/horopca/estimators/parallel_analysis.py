"""What a component adds by chance: a parallel analysis, one component after another.

Copies of the points keep their distances from the mean and all that the components before show of them, and have random
directions across these. A component that adds more to the points than to any copy is not of chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from .._input.threads import one_blas_thread
from .._optimize.nested import search_next
from .._optimize.sample import as_sample
from .._optimize.variances import pair_variances, slid
from ..geometry import from_hyperboloid, lift, translate_to_origin
from ..projections.spines import spine_from_basis
from ..statistics import frechet_mean

MOST_COPIED = 1 << 11  # Copies are made of at most so many rows.
MEASURED_PAIRS = 1 << 16  # Variances of many rows and their copies are taken over so many pairs.


def beside_chance(
    x: np.ndarray, K: int, copies: int, rng: np.random.Generator, run: Callable[..., list[Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """What each component adds (K,), and what it adds to copies (copies, m), up to the first that adds no more than that.

    `run` takes a function, a list of the arguments of its calls, and what they are called while they are made.
    """
    if not copies:
        return np.full(K, np.nan), np.empty((0, 0))
    x = x[rng.permutation(len(x))[:MOST_COPIED]]
    x = translate_to_origin(x, frechet_mean(x).point)
    ((bases, added),) = run(_added, [(x, K)], "all rows")
    null: list[list[float]] = []
    most = min(K, x.shape[1] - 2)  # what is left of d dimensions after d - 1 has no direction to compare
    while len(null) < most and (not null or added[len(null) - 1] > max(null[-1])):
        k = len(null)
        null.append(run(_added_by_chance, [(x, bases[k], seed) for seed in rng.spawn(copies)], f"copies, k = {k + 1}"))
    return added, np.array(null).reshape(-1, copies).T


@one_blas_thread()
def _added(x: np.ndarray, K: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Bases (k, d+1) of spines of k = 0 .. K components of points x, as seen from their mean, and the share (K,) each adds.

    The spines are free: a single ideal point shows little of any points, and the second then more than its share.
    """
    bases, shares = [np.zeros((0, x.shape[1]))], [0.0]
    for _ in range(K):
        bases.append(_next(x, bases[-1]))
        shares.append(_share(x, bases[-1]))
    return bases, np.diff(shares)


@one_blas_thread()
def _added_by_chance(x: np.ndarray, before: np.ndarray, rng: np.random.Generator) -> float:
    """The share that a component more than a spine has adds, if what that does not show of points x has no direction."""
    copy = without_direction(x, before, rng)
    return _share(copy, _next(copy, before)) - _share(copy, before)


def without_direction(x: np.ndarray, basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points x (n, d+1) with the same images on the spine of a basis (k, d+1), whose direction is random beside that.

    They keep their distances from the origin, and their parts along the k directions of the spine as it is seen from there; the
    rest of each is turned to a direction that is uniform among those across the spine.
    """
    Q = _directions(basis)
    along = x[:, 1:] @ Q.T @ Q
    rest = np.linalg.norm(x[:, 1:] - along, axis=1, keepdims=True)
    u = rng.standard_normal(along.shape)
    u -= u @ Q.T @ Q
    return lift(along + rest * u / np.linalg.norm(u, axis=1, keepdims=True))


def _directions(basis: np.ndarray) -> np.ndarray:
    """Orthonormal directions (k, d) that the space parts of a basis (k, d+1) span."""
    return np.asarray(np.linalg.qr(basis[:, 1:].T)[0].T)


def _next(x: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The basis (k+1, d+1) of a free spine of points x (n, d+1) that has one component more than another (k, d+1).

    Searched along the directions of the other and the principal axes of the rest, for points and copies of them alike.
    """
    Q = _directions(before)
    v = from_hyperboloid(x, "tangent")
    rest = v - v @ Q.T @ Q
    axes = np.vstack([Q, np.linalg.eigh(rest.T @ rest)[1].T[::-1][: len(v.T) - len(Q)]])
    turn = block_diag(1.0, axes.T)
    sample = as_sample(x @ turn)
    found = search_next(sample.take(sample.canonical_order()), before @ turn, "free", "variance", np.random.default_rng(0))
    return np.asarray(found @ turn.T)


def _share(x: np.ndarray, basis: np.ndarray) -> float:
    """The share of the pair variance of points x (n, d+1) that their images on a spine keep."""
    if not len(basis):
        return 0.0
    images = slid(x, spine_from_basis(basis))
    kept, total = pair_variances([images, x], np.random.default_rng(0), MEASURED_PAIRS)[0]
    return float(kept / total) if total > 0 else 1.0
