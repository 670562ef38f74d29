"""Nearest neighbours in hyperbolic space."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..geometry import distance, distance_blocks, radius
from ..geometry._points import CHUNK_ROWS

FEW = 4096  # Of up to so many points all distances are computed.
DEEPEST = 12.5  # Up to this radius a Euclidean search tells hyperbolic neighbours apart.
SPARE = 8  # So many more candidates than neighbours are looked at, for those that rounding exchanges.


def nearest_neighbours(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k points nearest to each of x (n, d+1): their rows and distances, both (n, k), nearest first.

    >>> from horopca.geometry import lift
    >>> nearest_neighbours(lift(np.array([[0.0], [1.0], [5.0]])), 1)[0].ravel()
    array([1, 0, 1])
    """
    if len(x) <= FEW or radius(x).max() > DEEPEST:
        return _from_all_distances(x, k)
    return _from_candidates(x, k)


def _from_all_distances(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = np.empty((len(x), k), dtype=np.int64), np.empty((len(x), k))
    for rows, d in distance_blocks(x):
        d[np.arange(len(d)), np.arange(rows.start, rows.stop)] = np.inf
        found = np.argpartition(d, k - 1, axis=1)[:, :k]
        indices[rows], distances[rows] = _sorted(found, np.take_along_axis(d, found, axis=1))
    return indices, distances


def _from_candidates(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    # cosh d(x, y) = t t' - s.s' grows with the Euclidean distance from (-t, s, 0) to (t', s', c') where c' makes
    # all of these equally long.  Its square is about e^(2 radius): hence the limit on the radius.
    squares = np.sum(x * x, axis=1)
    search = NearestNeighbors(algorithm="brute").fit(np.column_stack([x, np.sqrt(squares.max() - squares)]))
    count = min(k + 1 + SPARE, len(x))
    indices, distances = np.empty((len(x), k), dtype=np.int64), np.empty((len(x), k))
    for start in range(0, len(x), CHUNK_ROWS):
        rows = slice(start, min(start + CHUNK_ROWS, len(x)))
        here = x[rows]
        query = np.column_stack([-here[:, 0], here[:, 1:], np.zeros(len(here))])
        found = search.kneighbors(query, count, return_distance=False)
        d = distance(here[:, None, :], x[found])
        d[found == np.arange(rows.start, rows.stop)[:, None]] = np.inf
        found, d = _sorted(found, d)
        indices[rows], distances[rows] = found[:, :k], d[:, :k]
    return indices, distances


def _sorted(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((indices, distances), axis=1)
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)


def false_neighbour_shares(x: np.ndarray, here: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """The share (n,) of the neighbours `here` (n, k) that are farther from a point of x (n, d+1) than its `reach` (n,).

    With the distance of the k-th nearest for a reach: the share of false neighbours, for as many points as can be searched.

    >>> from horopca.geometry import lift
    >>> false_neighbour_shares(lift(np.array([[0.0], [1.0], [5.0]])), np.array([[1], [2], [1]]), np.array([1.0, 1.0, 9.0]))
    array([0., 1., 0.])
    """
    edge = reach * (1 + 1e-12)  # the k-th itself may round beyond its own distance
    return np.asarray(np.mean([distance(x, x[column]) > edge for column in here.T], axis=0))
