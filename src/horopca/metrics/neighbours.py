"""Neighbours before and after a reduction, by hyperbolic distance.

A reduction makes two kinds of errors: distant points become neighbours (false neighbours, a loss of trustworthiness), and
neighbours become distant (a loss of continuity). The definitions are those of `sklearn.manifold.trustworthiness` (Venna and
Kaski), with hyperbolic distances on both sides. Nearest neighbours are those of `horopca.neighbors`. Memory is O(n). For many
points the mean over a random sample is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from .._input.arguments import MetricName, check_count, check_generator
from .._input.progress import Progress, logged
from ..geometry import ModelName, pairwise_distance
from ..geometry._arrays import row_slices, to_numpy
from .distances import SpaceOptions, check_clouds

EXACT_POINTS = 1 << 13  # Up to this many points, the mean over all of them is returned by default: it takes a few seconds.
SAMPLED_POINTS = 1 << 9  # The smallest sample of more points: its standard error is about 0.02.
BLOCK_DISTANCES = 1 << 21  # Distances at a time. In smaller blocks, computing the directions of all points would dominate.
# The measures, with the names of their contributions from each point.
NEAR_MEASURES = {"neighbours_kept": "kept", "trustworthiness": "trust", "continuity": "continuity"}
TIE = 1 + 1e-12  # Distances whose ratio is less count as equal: the same distance rounds differently in two formulas.

DistancesFrom = Callable[[np.ndarray], np.ndarray]  # distances (m, n) from some of n points to all of them


class NearOptions(SpaceOptions, total=False):
    """The arguments that all functions share."""

    n_neighbors: int
    n_points: int | None
    random_state: Any
    progress: Progress


def neighbours_kept(X: Any, Y: Any, **options: Unpack[NearOptions]) -> float:
    """The mean fraction of a point's nearest neighbours in Y that are among its nearest neighbours in X.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after, in the same model and curvature; their dimensions may differ. With
        ``metric="precomputed"``, two distance matrices.
    n_neighbors : int, default=10
        The number of neighbours of each point, fewer than n / 2.
    model, curvature : str and float, default="poincare" and -1.0
        The coordinates of X and Y.
    metric : {"hyperbolic", "precomputed"}, default="hyperbolic"
        Whether points or matrices of distances are passed.
    flat : bool, default=False
        Whether Y has points of Euclidean space, such as those of UMAP.
    n_points : int or None, default=None
        The number of random points whose neighbours (among all n) are compared. None means all of up to 8192 points, and
        of more points as many as take the same time, but at least 512.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the sample of points.
    progress : callable, optional
        Called as ``progress(done, total)`` after each block of points.

    See Also
    --------
    false_neighbours : for each point
    trustworthiness, continuity : count false and lost neighbours by their rank

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> neighbours_kept(X, X)
    1.0
    >>> 0.3 < neighbours_kept(X, HoroPCA(2, random_state=0).fit_transform(X)) < 1
    True
    """
    return _logged_mean("neighbours_kept", X, Y, options)


def trustworthiness(X: Any, Y: Any, **options: Unpack[NearOptions]) -> float:
    """Trustworthiness of Y, from 0 to 1: false neighbours, those in Y but not in X, count by their rank in X.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after.
    **options
        As in `neighbours_kept`.

    Returns
    -------
    float

    See Also
    --------
    continuity : the same with X and Y exchanged
    sklearn.manifold.trustworthiness : the same for Euclidean points

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.metrics import trustworthiness
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> round(trustworthiness(X, X[[4, 1, 2, 3, 0]], n_neighbors=1), 3)  # the ends exchanged
    0.533
    """
    return _logged_mean("trustworthiness", X, Y, options)


def continuity(X: Any, Y: Any, **options: Unpack[NearOptions]) -> float:
    """Continuity of Y, from 0 to 1: lost neighbours, those in X but not in Y, count by their rank in Y.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after.
    **options
        As in `neighbours_kept`.

    Returns
    -------
    float

    See Also
    --------
    trustworthiness : the same with X and Y exchanged

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.metrics import continuity
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> continuity(X, X, n_neighbors=1)
    1.0
    """
    return _logged_mean("continuity", X, Y, options)


def false_neighbours(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    flat: bool = False,
    progress: Progress = lambda done, total: None,
) -> dict[str, np.ndarray]:
    """Errors in the nearest neighbours of each point in Y.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after.
    n_neighbors, model, curvature, metric, flat, progress
        As in `neighbours_kept`.

    Returns
    -------
    dict of arrays of shape (n,)
        For each point, ``"false"``: the number of nearest neighbours in Y that are not among those in X; ``"kept"``: the
        fraction that are; ``"trust"`` and ``"continuity"``: the contributions to `trustworthiness` and `continuity`;
        ``"distortion"``: the mean relative change of the distances to all other points.

    See Also
    --------
    neighbours_kept : the mean over all points

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.metrics import false_neighbours
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> false_neighbours(X, X[[4, 1, 2, 3, 0]], n_neighbors=2)["false"]
    array([1, 1, 0, 0, 1])
    """
    space: SpaceOptions = {"model": model, "curvature": curvature, "metric": metric, "flat": flat}
    progress = logged("false_neighbours", progress)
    found = _point_measures(X, Y, n_neighbors=n_neighbors, progress=progress, every=True, **space)
    return {"false": np.rint(n_neighbors * (1 - found["kept"])).astype(int), **found}


def _logged_mean(name: str, X: Any, Y: Any, options: NearOptions) -> float:
    options["progress"] = logged(name, options.get("progress", lambda done, total: None))
    return near_measures(X, Y, **options)[name]


def near_measures(X: Any, Y: Any, **options: Unpack[NearOptions]) -> dict[str, float]:
    """`neighbours_kept`, `trustworthiness` and `continuity` by their names, for the same neighbours."""
    found = _point_measures(X, Y, **options)
    return {name: float(np.mean(found[key])) for name, key in NEAR_MEASURES.items()}


def _point_measures(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    n_points: int | None = None,
    random_state: Any = None,
    progress: Progress = lambda done, total: None,
    every: bool = False,
    **space: Unpack[SpaceOptions],
) -> dict[str, np.ndarray]:
    """The measures of each point of a sample; if `every`, of all points, and their distortion too."""
    clouds = check_clouds((X, Y), **space)
    n = clouds[0].shape[0]
    k = check_count("n_neighbors", n_neighbors, 1, (n - 1) // 2, f" (fewer than half of the {n} points)")
    wanted = max(SAMPLED_POINTS, EXACT_POINTS**2 // n) if n_points is None else check_count("n_points", n_points, 2)
    some = np.arange(n) if every or wanted >= n else check_generator(random_state).choice(n, size=wanted, replace=False)
    before, after = map(_distances_from, clouds)
    parts = []
    for part in row_slices(len(some), max(1, BLOCK_DISTANCES // n)):
        d, e = (_to_others(distances, some[part]) for distances in (before, after))
        near, now_near = (np.argpartition(distances, k - 1, axis=1)[:, :k] for distances in (d, e))
        added, lost = neighbour_ranks(d, now_near), neighbour_ranks(e, near)
        found = {"kept": np.mean(added <= k, axis=1), "trust": trust_of_ranks(added, n), "continuity": trust_of_ranks(lost, n)}
        if every:
            found["distortion"] = np.nan_to_num(mean_changes(d, e), posinf=np.inf)
        parts.append(found)
        progress(part.stop, len(some))
    return {name: np.concatenate([found[name] for found in parts]) for name in parts[0]}


def _distances_from(cloud: Any) -> DistancesFrom:
    if isinstance(cloud, np.ndarray):  # a matrix of distances
        return cloud.__getitem__
    x, scale = to_numpy(cloud.all()), cloud.coordinates.scale
    return lambda some: np.asarray(pairwise_distance(x[some], x) / scale)


def _to_others(distances: DistancesFrom, some: np.ndarray) -> np.ndarray:
    """Distances (m, n) of some points, infinite to themselves: no point is its own neighbour."""
    d = distances(some)
    d[np.arange(len(some)), some] = np.inf
    return d


def neighbour_ranks(d: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The ranks (m, k) of points `found` (m, k) among points at distances d (m, n); equal distances share a rank."""
    reached, d = np.take_along_axis(d, found, axis=1), d * TIE
    return np.stack([1 + np.count_nonzero(d < reach[:, None], axis=1) for reach in reached.T], axis=1)


def trust_of_ranks(ranks: np.ndarray, n: int) -> np.ndarray:
    """Contributions (m,) to trustworthiness of points whose k neighbours have the ranks (m, k) among n points."""
    k = ranks.shape[1]
    return np.asarray(1 - np.maximum(ranks - k, 0).sum(axis=1) * 2 / (k * (2 * n - 3 * k - 1)))


def trust_by_rank(distances: DistancesFrom, some: np.ndarray, found: np.ndarray, n: int) -> np.ndarray:
    """Contributions (m,) to trustworthiness of some of n points, whose neighbours in the other space are `found` (m, k)."""
    parts = row_slices(len(some), max(1, BLOCK_DISTANCES // n))
    return trust_of_ranks(np.concatenate([neighbour_ranks(_to_others(distances, some[p]), found[p]) for p in parts]), n)


def mean_changes(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """The mean (m,) of |e - d| / d over the positive, finite distances d of each row (m, n); NaN if there are none."""
    apart = (d > 0) & np.isfinite(d)
    change, count = np.where(apart, np.abs(e / np.where(apart, d, 1.0) - 1), 0.0), apart.sum(axis=1)
    return np.where(count > 0, change.sum(axis=1) / np.maximum(count, 1), np.nan)
