"""Arithmetic in the Poincaré ball with float64 coordinates, as in the paper's experiments, with its rounding near the rim.

It serves to explain published numbers; the package itself computes on the hyperboloid.
"""

from __future__ import annotations

import numpy as np

from horopca.embed.graphs import Graph, centre, rooted

from ..paper import SARKAR_SCALE

CLIP = 1 - 1e-5  # largest norm in the ball that the paper's embeddings were optimised in: radius 12.2
RIM = 1 - 1e-15  # norms beyond count as this, in the paper's distances: nothing is farther than 35.2 from the origin


def capped(z: np.ndarray, rim: float = RIM) -> np.ndarray:
    """Points (n, d) with norms limited to the rim."""
    size = np.linalg.norm(z, axis=1, keepdims=True)
    return np.where(size > rim, z * (rim / np.maximum(size, rim)), z)


def moebius(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Moebius addition of points (..., d) of the ball."""
    xx, yy, xy = (np.sum(a * b, axis=-1, keepdims=True) for a, b in ((x, x), (y, y), (x, y)))
    return ((1 + 2 * xy + yy) * x + (1 - xx) * y) / np.maximum(1 + 2 * xy + xx * yy, 1e-15)


def ball_distances(z: np.ndarray) -> np.ndarray:
    """All distances (n, n), through Moebius addition: no two points are farther apart than 35.2."""
    rows = [np.linalg.norm(moebius(-point, z), axis=-1) for point in z]
    return 2 * np.arctanh(np.minimum(rows, RIM))


def inverted(v: np.ndarray, m: np.ndarray) -> np.ndarray:
    """v (n, d) under the inversions of the ball that exchange each m (n, d) and the origin; unchanged if m is the origin."""
    mm = np.sum(m * m, axis=-1, keepdims=True)
    a = m / np.maximum(mm, 1e-15)
    u = v - a
    image = (np.sum(a * a, axis=-1, keepdims=True) - 1) / np.maximum(np.sum(u * u, axis=-1, keepdims=True), 1e-15) * u + a
    return np.where(mm > 0, image, v)


def sarkar_in_ball(graph: Graph, d: int, scale: float = SARKAR_SCALE, seed: int = 0) -> np.ndarray:
    """Sarkar's construction as the paper's: children in random directions, placed by inversions of float64 coordinates."""
    tree = rooted(graph.adjacency, centre(graph.adjacency))
    rng = np.random.default_rng(seed)
    z = np.zeros((graph.size, d))
    for level in range(1, int(tree.depth.max()) + 1):
        children = np.flatnonzero(tree.depth == level)
        v = rng.standard_normal((len(children), d))
        v *= np.tanh(scale / 2) / np.linalg.norm(v, axis=1, keepdims=True)
        z[children] = inverted(v, z[tree.parent[children]])
    return z
