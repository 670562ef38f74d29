"""Wrapped normal distributions on H^d, and mixtures of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_count, check_number, seeded_generator
from ..geometry import from_hyperboloid, to_hyperboloid, translate
from .hierarchy import make_hierarchy

FARTHEST_DRAWN = 30.0  # Largest radius of a cluster, at which coordinates of the ball still have a few digits.


class Clusters(NamedTuple):
    """Points of the Poincaré ball around some centres."""

    points: np.ndarray  #: (n, d)
    labels: np.ndarray  #: (n,) row of each point's centre
    centres: np.ndarray  #: (m, d)


def wrapped_normal(mean: np.ndarray, scale: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Points (size, d+1) of a wrapped normal distribution: a normal tangent vector at the origin, carried to the mean
    (d+1,) along the geodesic and followed from there. `scale` is a standard deviation, or one for each axis."""
    v = rng.standard_normal((size, len(mean) - 1)) * scale
    return translate(to_hyperboloid(v, "tangent"), mean)


def make_wrapped_normals(
    n_samples: int = 300,
    n_features: int = 10,
    *,
    n_clusters: int = 3,
    distance: float = 3.0,
    scale: float = 0.5,
    random_state: Any = None,
) -> Clusters:
    """A mixture of wrapped normal distributions with equal shares.

    Parameters
    ----------
    n_samples, n_features : int
        Number of points and dimension of the ball.
    n_clusters : int
    distance : float
        Of the centres from the origin, in random directions.
    scale : float
        Standard deviation of the normal distributions along every axis.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Clusters
        ``points`` (n, n_features), ``labels`` (n,), ``centres`` (n_clusters, n_features).

    Examples
    --------
    >>> blobs = make_wrapped_normals(30, 4, random_state=0)
    >>> blobs.points.shape, blobs.labels.tolist()[:6]
    ((30, 4), [0, 1, 2, 0, 1, 2])
    """
    n, d = check_count("n_samples", n_samples, 1), check_count("n_features", n_features, 1)
    m = check_count("n_clusters", n_clusters, 1)
    _check_lengths(distance, scale, d)
    rng = seeded_generator(random_state)
    directions = rng.standard_normal((m, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return _around(to_hyperboloid(distance * directions, "tangent"), np.arange(n) % m, scale, rng)


def make_hierarchical_normals(
    n_samples: int = 500,
    n_features: int = 10,
    *,
    branching: int = 3,
    depth: int = 2,
    step: float = 2.0,
    scale: float = 0.3,
    random_state: Any = None,
) -> Clusters:
    """A mixture of wrapped normal distributions whose centres are the nodes of a random tree, with equal shares.

    Parameters
    ----------
    n_samples, n_features : int
        Number of points and dimension of the ball, at least 2.
    branching, depth, step : int, int, float
        Of the tree: see `make_hierarchy`. Row i of ``centres`` is the parent of rows i * branching + 1 ...
    scale : float
        Standard deviation of the normal distributions along every axis.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Clusters
        ``points`` (n, n_features), ``labels`` (n,), ``centres`` (m, n_features).

    Examples
    --------
    >>> make_hierarchical_normals(40, 4, random_state=0).centres.shape
    (13, 4)
    """
    n, d = check_count("n_samples", n_samples, 1), check_count("n_features", n_features, 2)
    _check_lengths(step * depth, scale, d)
    rng = seeded_generator(random_state)
    tree = make_hierarchy(branching, depth, d, step=step, random_state=rng)
    return _around(to_hyperboloid(tree.points), np.arange(n) % len(tree.points), scale, rng)


def _around(centres: np.ndarray, labels: np.ndarray, scale: float, rng: np.random.Generator) -> Clusters:
    x = np.empty((len(labels), centres.shape[1]))
    for k, centre in enumerate(centres):
        x[labels == k] = wrapped_normal(centre, scale, int(np.sum(labels == k)), rng)
    return Clusters(from_hyperboloid(x, "poincare"), labels, from_hyperboloid(centres, "poincare"))


def _check_lengths(distance: float, scale: float, d: int) -> None:
    if not 0 <= distance < np.inf:
        raise ValueError(f"The centres must be 0 or more from the origin, but are {distance}.")
    check_number("scale", scale, "a positive number", above=0)
    if distance + scale * (np.sqrt(d) + 6) > FARTHEST_DRAWN:
        raise ValueError(
            f"Centres at distance {distance:g} with scale {scale:g} in {d} dimensions put points beyond radius "
            f"{FARTHEST_DRAWN:g}, where they round to the boundary of the ball. Take smaller ones."
        )
