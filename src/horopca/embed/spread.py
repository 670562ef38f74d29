"""Unit vectors that keep as far from each other as the dimension allows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

MOST_OPTIMISED = 256  # More vectors than this are random ones, which are nearly as good.
SHARPNESS = (3.0, 30.0)  # Of the repulsion, first and last; at a large one only the smallest distance counts.


@lru_cache(maxsize=512)
def spread_directions(count: int, d: int) -> np.ndarray:
    """`count` unit vectors (count, d), d >= 2, well apart. The array is shared: do not write to it.

    A regular polygon in the plane. Above it, up to d+1 vectors are a regular simplex; up to 2d they are simplices in
    orthogonal subspaces (no more than d+1 vectors can be at obtuse angles); more are found by repulsion.

    >>> (spread_directions(3, 3) @ spread_directions(3, 3).T).round(6)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    if d == 2:
        angle = 2 * np.pi * np.arange(count) / count
        vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    elif count <= 2 * d:
        vectors = _simplices(count, d)
    else:
        vectors = _repelled(count, d)
    vectors.setflags(write=False)
    return vectors


def _simplices(count: int, d: int) -> np.ndarray:
    """Regular simplices in orthogonal subspaces, as few as have `count` vertices."""
    parts = max(1, count - d)
    dimensions = [len(part) for part in np.array_split(np.arange(min(d, count - 1)), parts)]
    vectors, row, column = np.zeros((count, d)), 0, 0
    for k in dimensions:
        vectors[row : row + k + 1, column : column + k] = _simplex(k)
        row, column = row + k + 1, column + k
    return vectors if count > 1 else np.eye(1, d)


def _simplex(k: int) -> np.ndarray:
    """The k+1 vertices of a regular simplex in R^k, unit vectors."""
    centred = np.eye(k + 1) - 1 / (k + 1)
    vertices = centred @ np.linalg.qr(centred[:, :k])[0]
    return vertices / np.linalg.norm(vertices, axis=1, keepdims=True) if k else np.ones((1, 0))


def _repelled(count: int, d: int) -> np.ndarray:
    vectors = np.random.default_rng(0).standard_normal((count, d))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if count > MOST_OPTIMISED:
        return vectors
    for sharpness in SHARPNESS:
        result = minimize(_repulsion, vectors.ravel(), (count, d, sharpness), "L-BFGS-B", jac=True, options={"maxiter": 100})
        vectors = result.x.reshape(count, d)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _repulsion(flat: np.ndarray, count: int, d: int, sharpness: float) -> tuple[float, np.ndarray]:
    """A smooth maximum of the cosines between the vectors, and its gradient."""
    v = flat.reshape(count, d)
    size = np.linalg.norm(v, axis=1, keepdims=True)
    u = v / size
    cosine = u @ u.T
    np.fill_diagonal(cosine, -np.inf)
    largest = cosine.max()
    share = np.exp(2 * sharpness * (cosine - largest))
    total = share.sum()
    pull = 2 * (share / total) @ u
    across = pull - np.sum(pull * u, axis=1, keepdims=True) * u
    return float(largest + np.log(total) / (2 * sharpness)), (across / size).ravel()
