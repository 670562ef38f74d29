"""Where a search for spines begins: bases (K, d+1) made of the data's own directions, of its principal axes, and of both.

Embeddings trained in a clipped ball have maxima far narrower than any shaking: the ideal points there are directions of data
points to many digits. So half of the starts are made of directions as they are; the others are shaken, for maxima between.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from .._objectives.sample import Sample
from ..geometry._arrays import to_numpy
from .families import IdealSpines, parameters_in_ideal

SHAKEN = 0.05  # Shaken directions are off by so much in every coordinate.
POOL = 96  # So many points' directions are candidates when one vector of a spine is exchanged for a better one.
SWEEPS = 2  # Every vector of a spine is exchanged so many times at most.


def light_like(q: np.ndarray) -> np.ndarray:
    """The vectors (1, q) of R^{1,d} for directions q (n, d)."""
    return np.column_stack([np.ones(len(q)), q])


def some_directions(sample: Sample, shape: tuple[int, ...], rng: np.random.Generator, shaken: bool) -> np.ndarray:
    """Directions (*shape, d) of different points (in the last axis of `shape`), as they are or shaken."""
    n, all_of_them = sample.size, sample.directions()
    picks = rng.random((*shape[:-1], n)).argpartition(shape[-1] - 1, axis=-1)[..., : shape[-1]] if shape[-1] < n else None
    if picks is None:
        picks = rng.integers(n, size=shape)
    u = all_of_them[picks] + (SHAKEN if shaken else 1e-9) * rng.standard_normal((*shape, sample.dimension))
    return np.asarray(u / np.linalg.norm(u, axis=-1, keepdims=True))


def random_starts(sample: Sample, K: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Bases of spines of three kinds: through K directions; with the pole towards or away from a direction, across others; and
    space-like, tilted in time. And the principal axes, each of them as the pole."""
    found: list[np.ndarray] = []
    for shaken in (False, True):
        corners = some_directions(sample, (count // 6, K), rng, shaken)
        found += [light_like(q) for q in corners]
        poles = some_directions(sample, (count // 6, K), rng, shaken)
        poles[:, 0] *= rng.uniform(-1, 1, size=(len(poles), 1))
        found += list(IdealSpines().basis(poles)[0])
        q = some_directions(sample, (count // 6, K), rng, shaken)
        tilt = rng.uniform(-1, 1, size=(*q.shape[:2], 1)) * (rng.uniform(size=(len(q), 1, 1)) < 0.5)
        found += list(np.concatenate([tilt, q], axis=2))
    return [*found, *_axes(sample.dimension, K)]


def _axes(d: int, K: int) -> list[np.ndarray]:
    """Spines along the principal axes with one of them as the pole, on either side."""
    axes = np.eye(d)[: min(d, K + 1)]
    turned = (np.roll(axes, -k, axis=0)[:K] for k in range(len(axes)))
    poles = [theta * np.where(np.arange(K) == 0, side, 1.0)[:, None] for theta in turned for side in (0.5, -0.5)]
    return list(IdealSpines().basis(np.stack(poles))[0])


def sure_starts(sample: Sample, K: int) -> list[np.ndarray]:
    """The spines of other methods: of the first principal axes (tangent PCA), and of hyperbolic multidimensional scaling."""
    return [np.eye(K, sample.dimension + 1, k=1), spectral_basis(sample, K)]


def spectral_basis(sample: Sample, K: int) -> np.ndarray:
    """The spine of hyperbolic MDS: the first K eigenvectors of M J, where M holds the second moments of the points."""
    x = to_numpy(sample.columns)
    sizes, axes = eigh(x @ x.T / x.shape[1])
    root = (axes * np.sqrt(sizes.clip(0))) @ axes.T
    mixed = root[:, 1:] @ root[:, 1:].T - np.outer(root[:, 0], root[:, 0])
    top = eigh(mixed, subset_by_index=[len(x) - K, len(x) - 1])[1]
    basis = (root @ top).T
    sizes = np.linalg.norm(basis, axis=1, keepdims=True)
    return basis / sizes if sizes.min() > 1e-12 else np.eye(K, len(x), k=1)  # so few points span no more


def exchanged(
    sample: Sample, K: int, value: Callable[[list[np.ndarray]], np.ndarray], rng: np.random.Generator, free: bool
) -> np.ndarray:
    """A spine of vectors of the data, grown from the best direction and then improved one vector at a time.

    The vectors are light-like, (1, q), or space-like, (0, q), for directions q of points and the principal axes.
    """
    q = sample.directions()[rng.permutation(sample.size)[:POOL]]
    light = light_like(q)
    level = np.concatenate([np.pad(q, ((0, 0), (1, 0))), np.eye(sample.dimension + 1)[1:]])
    pool = np.concatenate([light, level])
    basis = light[[int(np.argmax(value(list(light[:, None]))))]]
    best, unmoved = -np.inf, 1  # how many vectors in a row are the best beside the others
    while len(basis) < K:
        bases = [np.vstack([basis, v]) for v in pool]
        found = value(bases)
        best, basis = float(found.max()), bases[int(found.argmax())]
    for k in [*range(K)] * SWEEPS:
        if unmoved == K:
            break
        rest = np.delete(basis, k, axis=0)
        bases = [np.vstack([rest[:k], v, rest[k:]]) for v in (pool if free or rest[:, 0].any() else light)]
        found = value(bases)
        unmoved += 1
        if found.max() > best:
            best, basis, unmoved = float(found.max()), bases[int(found.argmax())], 1
    return basis


def drawn_back(bases: np.ndarray) -> np.ndarray:
    """Bases (S, K, d+1) of the same spines, or of the nearest with merged ideal points where they lie beyond infinity."""
    return np.asarray(IdealSpines().basis(parameters_in_ideal(bases))[0])
