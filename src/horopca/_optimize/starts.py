"""Where a search for spines begins: bases (S, K, d+1) made of directions of the data, of its principal axes, and of both.

Embeddings trained in a clipped ball have maxima far narrower than any perturbation: the ideal points there are directions of
data points to many digits. So half of the starts use such directions unchanged; the others are perturbed.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..geometry._arrays import to_numpy
from .families import IdealSpines
from .sample import Sample

PERTURBED = 0.05  # Standard deviation of the perturbation of a direction, in every coordinate.


def light_like(q: np.ndarray) -> np.ndarray:
    """The vectors (1, q) of R^{1,d} for directions q (..., d)."""
    return np.concatenate([np.ones((*q.shape[:-1], 1)), q], axis=-1)


def some_directions(sample: Sample, shape: tuple[int, int], rng: np.random.Generator, perturbed: bool) -> np.ndarray:
    """Directions (*shape, d) of random points, different ones along the last axis of `shape`, unchanged or perturbed."""
    n, directions, (count, K) = sample.size, sample.directions(), shape
    if K < n:
        picks = rng.random((count, n)).argpartition(K - 1, axis=-1)[:, :K]
    else:
        picks = rng.integers(n, size=shape)
    u = directions[picks] + (PERTURBED if perturbed else 1e-9) * rng.standard_normal((*shape, sample.dimension))
    return np.asarray(u / np.linalg.norm(u, axis=-1, keepdims=True))


def random_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Bases of three kinds: through K directions; with the pole towards or away from a direction, across others; and
    space-like, tilted in time. And the principal axes, each of them as the pole."""
    found = []
    for perturbed in (False, True):
        corners, poles, q = (some_directions(sample, (count // 6, K), rng, perturbed) for _ in range(3))
        poles[:, 0] *= rng.uniform(-1, 1, size=(len(poles), 1))
        tilt = rng.uniform(-1, 1, size=(*q.shape[:2], 1)) * (rng.uniform(size=(len(q), 1, 1)) < 0.5)
        found += [light_like(corners), IdealSpines().basis(poles)[0], np.concatenate([tilt, q], axis=2)]
    return np.concatenate([*found, _axes(sample.dimension, K)])


def _axes(d: int, K: int) -> np.ndarray:
    """Spines along the principal axes with one of them as the pole, on either side."""
    axes = np.eye(d)[: min(d, K + 1)]
    turned = [np.roll(axes, -k, axis=0)[:K] for k in range(len(axes))]
    poles = [theta * np.where(np.arange(K) == 0, side, 1.0)[:, None] for theta in turned for side in (0.5, -0.5)]
    return np.asarray(IdealSpines().basis(np.stack(poles))[0])


def spectral_starts(sample: Sample, K: int) -> np.ndarray:
    """The spines of other methods: of the first principal axes (tangent PCA), and of hyperbolic multidimensional scaling."""
    return np.stack([np.eye(K, sample.dimension + 1, k=1), spectral_basis(sample, K)])


def spectral_basis(sample: Sample, K: int) -> np.ndarray:
    """The spine of hyperbolic MDS: the first K eigenvectors of M J, where M holds the second moments of the points."""
    x = to_numpy(sample.columns)
    weighted = x if sample.weights is None else x * to_numpy(sample.weights)
    sizes, axes = eigh(weighted @ x.T / x.shape[1])
    root = (axes * np.sqrt(sizes.clip(0))) @ axes.T
    mixed = root[:, 1:] @ root[:, 1:].T - np.outer(root[:, 0], root[:, 0])
    top = eigh(mixed, subset_by_index=[len(x) - K, len(x) - 1])[1]
    basis = (root @ top).T
    sizes = np.linalg.norm(basis, axis=1, keepdims=True)
    return basis / sizes if sizes.min() > 1e-12 else np.eye(K, len(x), k=1)  # so few points span no more
