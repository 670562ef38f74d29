"""Parallel analysis: how much variance each component would add by chance, one component after another.

Copies of the points have the same distances from the mean and the same images on the previous components, and random directions
otherwise. Rows of one group are rotated together, so that a group of similar rows is not mistaken for a component. A component
is supported if it adds more to the points than to any copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial import cKDTree
from scipy.stats import ortho_group

from .._input.threads import one_blas_thread
from .._optimize.multi_start import search_next
from .._optimize.objectives import as_sample
from ..geometry import from_hyperboloid, lift, translate_to_origin
from ..projections.spines import spine_of
from ..statistics import frechet_mean
from .fitting import pair_variances
from .horopca_fit import spine_images

MAX_COPIED = 1 << 11  # Copies are made of at most this many rows: a fit to them takes about a second.
MEASURED_PAIRS = 1 << 16  # Variances are measured on this many pairs: their error is below a hundredth of a percent.
# The size of a gap is such that a fraction RARE of independent rows has one. Rows look dependent if a larger fraction has one,
# by at least EXCESS standard errors, a test at 5 %. `python -m benchmarks.trust dependence` prints error rates.
RARE, EXCESS = 0.1, 1.645
FAMILY = 32  # Families have at most this many rows, and at most a tenth of all rows: larger ones count as clusters.
GAP_ROWS = 1 << 9  # Gaps are measured for this many random rows: the standard error of their fraction is below 0.02.
DEPENDENT = "Rows look dependent, as in families of similar rows: pass groups= (the family or subtree of each row)"
DEPENDENT_COMPONENTS = f"{DEPENDENT}, or families may be taken for components."


def compare_with_chance(
    x: np.ndarray, K: int, copies: int, groups: np.ndarray | None, rng: np.random.Generator, run: Callable[..., list[Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """The share of the variance that each component adds (K,), and what it adds to copies (copies, m).

    m counts the components up to the first that adds no more than to a copy. `groups` (n,) are the numbers of the groups of the
    rows; each group has the same weight in the centre of the rotations. ``run(function, arguments)`` returns the results of
    calls.
    """
    if not copies:
        return np.full(K, np.nan), np.empty((0, 0))
    some = rng.permutation(len(x))[:MAX_COPIED]
    members = None if groups is None else np.unique(groups[some], return_inverse=True)[1]
    # the mean of rows is near a large group, and opposite to the others: around it, groups would not have random directions
    weights = None if members is None else 1 / np.bincount(members)[members]
    x = translate_to_origin(x[some], frechet_mean(x[some], weights=weights).point)
    ((bases, added),) = run(_added, [(x, K)])
    null: list[list[float]] = []
    most = min(K, x.shape[1] - 2)  # after d - 1 components, one direction is left and there is nothing to compare
    while len(null) < most and (not null or added[len(null) - 1] > max(null[-1])):
        k = len(null)
        null.append(run(_added_by_chance, [(x, bases[k], members, seed) for seed in rng.spawn(copies)]))
    return added, np.array(null).reshape(-1, copies).T


@one_blas_thread()
def _added(x: np.ndarray, K: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Bases (k, d+1) of free spines of k = 0 .. K components of points x around their mean, and the share (K,) each adds."""
    # free spines, because a single ideal point keeps little variance of any data, so that the second would seem to add much
    bases, shares = [np.zeros((0, x.shape[1]))], [0.0]
    for _ in range(K):
        bases.append(_next_basis(x, bases[-1]))
        shares.append(_variance_kept(x, bases[-1]))
    return bases, np.diff(shares)


@one_blas_thread()
def _added_by_chance(x: np.ndarray, before: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator) -> float:
    """The share of the variance that one more component adds to a spine, on a copy of points x."""
    copy = _without_direction(x, before, rng, groups)
    return _variance_kept(copy, _next_basis(copy, before)) - _variance_kept(copy, before)


def _without_direction(x: np.ndarray, basis: np.ndarray, rng: np.random.Generator, groups: np.ndarray | None) -> np.ndarray:
    """A copy of points x (n, d+1) with random directions perpendicular to a spine, for each row or for each group."""
    Q = _directions(basis)
    along = x[:, 1:] @ Q.T @ Q
    rest = x[:, 1:] - along
    if groups is None:
        u = rng.standard_normal(along.shape)
        u -= u @ Q.T @ Q
        turned = np.linalg.norm(rest, axis=1, keepdims=True) * u / np.linalg.norm(u, axis=1, keepdims=True)
    else:
        across = np.linalg.svd(Q)[2][len(Q) :] if len(Q) else np.eye(rest.shape[1])
        m = len(across)
        turns = ortho_group.rvs(m, size=int(groups.max()) + 1, random_state=rng).reshape(-1, m, m)
        turned = np.einsum("nij,nj->ni", turns[groups], rest @ across.T) @ across
    return lift(along + turned)


def look_dependent(x: np.ndarray) -> bool:
    """Whether points x (n, d+1) lie in small families: whether too many rows have a gap between near and far neighbours.

    Let r_k be the distance of a row to its k-th neighbour. For independent rows of a density that is smooth near the row, the
    spacings k log(r_{k+1} / r_k) are independent exponential variables of the same mean. At the end of a family one of them is
    much larger than the others, and the row is as near to the farthest row of its family as that one is to its own. The second
    condition excludes a row far out, whose neighbours all lie towards the centre. Large clusters of independent rows have no
    gap among the neighbours that are compared. Distances are those of tangent vectors at the mean.
    """
    v = from_hyperboloid(translate_to_origin(x, frechet_mean(x).point), "tangent")
    most = min(len(v) // 10, FAMILY)
    if most < 2 or v.shape[1] < 2:
        return False
    v = v / (np.abs(v).max() or 1.0)
    tree, some = cKDTree(v), np.random.default_rng(0).permutation(len(v))[:GAP_ROWS]
    r, rows = tree.query(v[some], np.arange(2, 2 * most + 4))  # without the row itself
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 among copies is no gap, and after the last copy it is infinite
        spacings = np.nan_to_num(np.log(r[:, 1:] / r[:, :-1]), nan=0.0, posinf=1e9) * np.arange(1, r.shape[1])
    each, k = np.arange(len(some)), spacings[:, :most].argmax(axis=1)
    gap, others = spacings[each, k], r.shape[1] - 2
    # P(one spacing > t times the mean of m others) = (1 + t / m)^-m, and `most` spacings are compared
    bound = others * ((most / RARE) ** (1 / others) - 1)
    wide = gap > bound * (spacings.sum(axis=1) - gap) / others
    back = tree.query(v[rows[each, k]], np.arange(2, most + 2))[0]
    mutual = back[each, k] >= r[each, k] * (1 - 1e-9)  # equal distances may differ by rounding
    return bool(np.mean(wide & mutual) > RARE + EXCESS * np.sqrt(RARE * (1 - RARE) / len(some)))


def _directions(basis: np.ndarray) -> np.ndarray:
    """Orthonormal directions (k, d) that the space parts of a basis (k, d+1) span."""
    return np.asarray(np.linalg.qr(basis[:, 1:].T)[0].T)


def _next_basis(x: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The basis (k+1, d+1) of a free spine of points x (n, d+1) with one more component than another (k, d+1)."""
    Q = _directions(before)
    v = from_hyperboloid(x, "tangent")
    rest = v - v @ Q.T @ Q
    axes = np.vstack([Q, np.linalg.eigh(rest.T @ rest)[1].T[::-1][: len(v.T) - len(Q)]])
    turn = block_diag(1.0, axes.T)
    sample = as_sample(x @ turn)
    found = search_next(sample.take(sample.shuffled_order()), before @ turn, True, "variance")
    return np.asarray(found @ turn.T)


def _variance_kept(x: np.ndarray, basis: np.ndarray) -> float:
    """The share of the pair variance of points x (n, d+1) that their images on a spine keep."""
    if not len(basis):
        return 0.0
    images = spine_images(x, spine_of(basis))
    kept, total = pair_variances([images, x], np.random.default_rng(0), MEASURED_PAIRS)[0]
    return float(kept / total) if total > 0 else 1.0
