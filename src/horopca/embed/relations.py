"""Relations u -> v ("a cat is a mammal"): their closure, their look-up, and how well points reproduce them."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import seeded_generator
from .._input.coordinates import check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, distance_blocks
from ..geometry._arrays import to_numpy

MOST_RANKED = 1 << 14  # Above this many nodes with relations, a random sample of this size is ranked.


class Pairs(NamedTuple):
    """Related pairs (m, 2) of n nodes, sorted, each once."""

    pairs: np.ndarray
    n: int

    @property
    def keys(self) -> np.ndarray:
        """One number for each pair, in rising order."""
        return np.asarray(self.pairs[:, 0] * self.n + self.pairs[:, 1])


def unique_pairs(pairs: np.ndarray, n: int) -> Pairs:
    """The pairs without repetitions, in order."""
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return Pairs(np.stack(np.divmod(keys, n), axis=1), n)


def closure_of(pairs: np.ndarray, names: list[Any]) -> np.ndarray:
    """All (u, v) such that a path of pairs leads from u to v. Raises ValueError if there is a cycle."""
    above: dict[int, set[int]] = {node: set() for node in range(len(names))}
    for u, v in pairs.tolist():
        above[u].add(v)
    ancestors: dict[int, set[int]] = {}
    try:
        for node in TopologicalSorter(above).static_order():  # every node after all those above it
            ancestors[node] = above[node].union(*(ancestors[v] for v in above[node]))
    except CycleError as error:
        raise ValueError(
            f"The closure of relations needs them without circles, but {names[error.args[1][0]]!r} is in one."
        ) from error
    return np.array([(u, v) for u in above for v in sorted(ancestors[u])], dtype=np.int64)


class Reconstruction(NamedTuple):
    """How well distances separate related nodes from others."""

    mean_rank: float  #: of a related node among the unrelated ones and itself, 1 at best
    mean_average_precision: float  #: 1 at best


def reconstruction(
    X: Any, pairs: Any, *, model: ModelName = "poincare", curvature: float = -1.0, random_state: Any = None
) -> Reconstruction:
    """Rank the nodes related to each node among all others by their distance from it (Nickel and Kiela, 2017).

    Parameters
    ----------
    X : array of shape (n_nodes, .)
        Points in a model and a curvature.
    pairs : array of int, shape (m, 2)
        Rows (u, v) of X that are related.
    model, curvature : of X
    random_state : int, RandomState, Generator or None
        Seeds the sample of 16384 nodes that stand for all where more have relations.

    Returns
    -------
    Reconstruction
        ``mean_rank``: the mean over pairs (u, v) of one more than the number of nodes unrelated to u that are nearer to
        it than v; ``mean_average_precision``: the mean over nodes u of the average precision of their relations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [0.6, 0.0]])
    >>> reconstruction(X, [[0, 1], [2, 1]])
    Reconstruction(mean_rank=1.0, mean_average_precision=1.0)
    """
    rows = check_rows(X, check_coordinates(model, curvature))
    x, n = to_numpy(rows.all()), rows.shape[0]
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(f"pairs must be whole numbers of shape (m, 2), but have shape {pairs.shape} and dtype {pairs.dtype}.")
    if pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"pairs must be rows of X, from 0 to {n - 1}, but run from {pairs.min()} to {pairs.max()}.")
    return ranked(x, unique_pairs(pairs, n), seeded_generator(random_state))


def ranked(x: np.ndarray, related: Pairs, rng: np.random.Generator) -> Reconstruction:
    """The same for points of the hyperboloid (n, d+1)."""
    pairs, n = related
    nodes, start = np.unique(pairs[:, 0], return_index=True)
    stop = np.append(start[1:], len(pairs))
    chosen = np.sort(rng.choice(len(nodes), MOST_RANKED, replace=False)) if len(nodes) > MOST_RANKED else np.arange(len(nodes))
    ranks, total, precision = 0.0, 0, 0.0
    for rows, block in distance_blocks(x[nodes[chosen]], x):
        for k, d in zip(chosen[rows], block, strict=True):
            others = np.ones(n, dtype=bool)
            positive = pairs[start[k] : stop[k], 1]
            others[positive] = others[nodes[k]] = False
            nearer = np.searchsorted(np.sort(d[others]), np.sort(d[positive]))
            place = np.arange(1, len(nearer) + 1)
            ranks += float(np.sum(nearer + 1))
            total += len(nearer)
            precision += float(np.mean(place / (place + nearer)))
    return Reconstruction(ranks / total, precision / len(chosen))
