"""Points to test with."""

import numpy as np

from horopca.geometry import distance, from_hyperboloid, lift, to_hyperboloid


def cloud(n: int, d: int, *, radius: float = 3.0, seed: int = 0) -> np.ndarray:
    """n points of H^d on the hyperboloid, uniformly distributed in direction and in radius up to `radius`."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((n, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return lift(u * np.sinh(radius * rng.uniform(size=(n, 1))))


def clusters(n: int, d: int, seed: int = 0, ordered: bool = False) -> np.ndarray:
    """Points of the ball around 12 centres; if ordered, one cluster after another."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((12, d)) * np.linspace(1.5, 0.2, d)
    labels = rng.integers(12, size=n)
    v = centres[np.sort(labels) if ordered else labels] + 0.3 * rng.standard_normal((n, d))
    return from_hyperboloid(to_hyperboloid(v, "tangent"))


def directions(K: int, d: int, *, seed: int = 0) -> np.ndarray:
    """K ideal points of H^d."""
    q = np.random.default_rng(seed).standard_normal((K, d))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def rotation(d: int, *, seed: int = 0) -> np.ndarray:
    """An orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def turned(x: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Points of the hyperboloid turned about the origin."""
    return lift(x[:, 1:] @ Q.T)


def spread(pga, X, model="poincare"):
    """The objective of PGA: the mean squared distance of the projections from the base point."""
    back, base = (to_hyperboloid(P, model) for P in (pga.inverse_transform(pga.transform(X)), pga.base_point_))
    return np.mean(distance(back, base) ** 2)
