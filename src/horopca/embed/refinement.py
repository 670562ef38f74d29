"""Refinement of a picture: free coordinates that keep the original distances better than any map of the points can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_array

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_distances, check_generator, check_number
from .._input.coordinates import Coordinates, check_coordinates
from .._input.rows import check_rows
from .._input.threads import one_blas_thread
from ..geometry import ModelName, distance_blocks, from_hyperboloid, radius, to_hyperboloid
from ..geometry._arrays import to_numpy
from .ball import to_ball
from .distortion import BALL_HOLDS, Runner, Search
from .relaxation import Adam
from .stress import stress
from .targets import MOST_NODES, TARGET_PAIRS, Targets

DistancesFrom: TypeAlias = Callable[[np.ndarray], np.ndarray]  # rows (m,) to their distances (m, n) to all rows

CHECKED_ROWS = 64  # Above MOST_NODES rows, the distances of this many unseen rows to all decide whether Y improved: 1 % error.
STEPS = 1000  # Twice as many steps change the distortion by less than 1 % on the paper's four data sets.
SOFTNESS = 0.01  # A tenth of the distortions that pictures have: the kinks of |e| are smooth, the objective nearly the same.
# First steps of the descents in tangent coordinates, each from the best points so far. On a deep hierarchy (the mammals) the
# first gains most, on shallow ones the last.
RATES = (0.05, 0.02, 0.01)
SHRINKAGE = 1e-4  # The last step is this fraction of the first: after it, points move by less than a pixel.


def refine(
    X: Any,
    Y: Any,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    max_iter: int = 10000,
    tol: float = 0.02,
    random_state: Any = 0,
) -> np.ndarray:
    """Move the points of a picture Y so that their distances are closer to those of the original X.

    Minimises the average distortion, the mean over pairs of ``|d(Y) - d(X)| / d(X)``, over the coordinates of all points,
    starting from Y. The result is never worse than Y. It typically has a distortion 6 to 20 % lower than
    ``HoroPCA(stretch=True)`` and keeps more neighbours.

    New points cannot be added to a refined picture: unlike a fitted estimator, it has no ``transform``.

    Parameters
    ----------
    X : array of shape (n, d), matrix of distances (n, n), or callable
        The original points, in the same model and curvature as Y; their distances, with ``metric="precomputed"``; or a
        function that takes row numbers (m,) and returns their distances (m, n) to all n points, such as shortest paths in
        a graph.
    Y : array of shape (n, K)
        The picture, in any number of dimensions: usually ``HoroPCA(2, stretch=True).fit_transform(X)``.
    model, curvature : the coordinates of X and Y
    metric : {"hyperbolic", "precomputed"}
        Whether X contains points or distances.
    max_iter : int, default=10000
        The largest number of steps of a descent.
    tol : float, default=0.02
        The search has converged when 500 further steps improve the distortion by less than this fraction.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the samples of pairs. With the default the result is always the same.

    Returns
    -------
    ndarray of shape (n, K)
        The refined points in float64, in the model and curvature of Y.

    Notes
    -----
    All pairs count up to 2048 points. Above, about four million pairs count, those of a random sample of rows with all; the
    result is returned only if the distances of other rows improve as well, and Y is returned otherwise.

    Examples
    --------
    >>> from horopca import HoroPCA, refine
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import average_distortion
    >>> X = make_hierarchy(random_state=0).points
    >>> Y = HoroPCA(2, spine="free", objective="distortion", stretch=True, random_state=0).fit_transform(X)
    >>> bool(average_distortion(X, refine(X, Y)) < average_distortion(X, Y))
    True
    """
    check_count("max_iter", max_iter, 0)
    check_number("tol", tol, "a number of at least 0", least=0)
    coordinates, rng = check_coordinates(model, curvature), check_generator(random_state)
    Y = to_numpy(Y)
    y = np.asarray(check_rows(Y, coordinates, name="Y", min_rows=2).all())
    if (far := float(np.max(radius(y)))) > BALL_HOLDS:
        raise ValueError(
            f"Y must lie within distance {BALL_HOLDS:g} of the origin (at curvature -1), but reaches {far:.1f}. "
            "Centre it on its Fréchet mean first."
        )
    distances = _check_original(X, len(y), coordinates, metric)
    order = rng.permutation(len(y))
    sources = order if len(y) <= MOST_NODES else order[: max(CHECKED_ROWS, TARGET_PAIRS // len(y))]
    unseen = order if len(y) <= MOST_NODES else order[len(sources) : len(sources) + CHECKED_ROWS]
    targets = Targets(_rows_of(distances, sources, len(y))[:, order], order)
    if not targets.distances.any():
        raise ValueError("X must contain two different points, but all its distances are 0.")
    with one_blas_thread():
        best = _search(y[order], targets, coordinates, rng, max_iter, tol)
    refined = coordinates.from_hyperboloid(best.x[np.argsort(order)], np.float64)
    wanted = _rows_of(distances, unseen, len(y))
    if _distortion(coordinates.to_hyperboloid(refined), unseen, wanted) < _distortion(y, unseen, wanted):
        return np.asarray(refined)
    return np.array(Y)


def _check_original(X: Any, n: int, coordinates: Coordinates, metric: MetricName) -> DistancesFrom:
    """Validate X. Returns a function from rows to their distances, at curvature -1, to all n rows."""
    check_choice("metric", metric, METRICS)
    if callable(X):
        return lambda rows: coordinates.scale * np.asarray(X(rows), dtype=np.float64)
    if metric == "precomputed":
        x = coordinates.scale * check_distances(check_array(X, dtype=np.float64, input_name="X"), "X")
    else:
        x = np.asarray(to_numpy(check_rows(X, coordinates, min_rows=2).all()), dtype=np.float64)
    if len(x) != n:
        raise ValueError(f"X and Y must have the same number of rows, but have {len(x)} and {n}.")
    if metric == "precomputed":
        return lambda rows: x[rows]
    return lambda rows: np.concatenate([block for _, block in distance_blocks(x[rows], x)])


def _rows_of(distances: DistancesFrom, rows: np.ndarray, n: int) -> np.ndarray:
    """Distances (m, n) from some rows to all. Raises ValueError where a function of the user returned something else."""
    found = distances(rows)
    if found.shape != (len(rows), n) or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(
            f"X(rows) must return finite distances >= 0 of shape ({len(rows)}, {n}) for {len(rows)} rows, "
            f"but returned an array of shape {found.shape}."
        )
    found[np.arange(len(rows)), rows] = 0.0  # rounding must not make a point a pair with itself
    return found


def _search(
    y: np.ndarray, targets: Targets, coordinates: Coordinates, rng: np.random.Generator, max_iter: int, tol: float
) -> Runner:
    """The points y (n, K+1), in the order of the targets, after the best of the descents and further steps."""
    search = Search(targets, coordinates, BALL_HOLDS, 1.0, rng)
    size = min(1.0, float(targets.distances.mean()))  # steps on nearly flat points are shorter
    best = search.runner(y)
    for rate in RATES:
        turned = search.runner(_turned(search, best.x, rate * size, min(STEPS, max_iter)))
        best = min(best, turned, key=lambda runner: runner.fit.distortion)
    return search.settled(best, max_iter, tol)


def _turned(search: Search, y: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """The points y (n, K+1) after a descent by Adam in the tangent space at the origin.

    A small step there turns a deep point past many others. Steps in the frames of the points, as `Descent` takes them,
    leave the order of the branches around the origin as it is, and with it most false neighbours.
    """
    v = np.asarray(from_hyperboloid(y, "tangent"))
    mover = Adam((v.shape[0], v.shape[1]))
    for k in range(steps):
        r = np.linalg.norm(v, axis=1, keepdims=True)
        u = v / np.maximum(r, 1e-300)
        tiles = search.descent.tiling.shifted(int(search.rng.integers(len(search.descent.tiling.tiles))))
        gradient = stress(to_ball(to_hyperboloid(v, "tangent")), 0.0, tiles, SOFTNESS).gradient
        along = np.sum(gradient * u, axis=1, keepdims=True) * u
        # the exponential map keeps radial lengths and multiplies those across by sinh(r) / r
        across = (gradient - along) * np.where(r > 0, np.sinh(r) / np.maximum(r, 1e-300), 1.0)
        v += rate * SHRINKAGE ** (k / steps) * mover.step(along + across)
    return np.asarray(to_hyperboloid(v, "tangent"))


def _distortion(y: np.ndarray, rows: np.ndarray, wanted: np.ndarray) -> float:
    """Average distortion of some rows of points y (n, K+1) with all, whose wanted distances are (m, n)."""
    total = 0.0
    for block, found in distance_blocks(y[rows], y):
        d = wanted[block]
        total += float(np.abs(found[d > 0] / d[d > 0] - 1).sum())
    return total
