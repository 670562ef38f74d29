"""Neighbours before and after a reduction, by hyperbolic distance.

A reduction makes two kinds of errors: distant points become neighbours (false neighbours, a loss of trustworthiness), and
neighbours become distant (a loss of continuity). The definitions are those of `sklearn.manifold.trustworthiness` (Venna and
Kaski), with hyperbolic distances on both sides. Memory is O(n). For many points the mean over a random sample is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypedDict, Unpack, overload

import numpy as np

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_generator
from .._input.coordinates import check_coordinates
from ..geometry import ModelName, distance, pairwise_distance
from ..geometry._arrays import to_numpy
from ..geometry._points import row_slices
from ..geometry.hyperboloid import BLOCK_ELEMENTS
from ..neighbors.estimator import nearest_neighbours
from ..statistics import standard_error
from .distances import check_clouds

EXACT_POINTS = 1 << 13  # Up to this many points, the mean over all of them is returned by default: it takes a few seconds.
SAMPLED_POINTS = 1 << 11  # For more points, the size of the sample: its standard error is about one hundredth.
TIE = 1 + 1e-12  # Distances that differ by less are equal: the same distance rounds differently in two formulas.

Found = float | tuple[float, float]  # the mean over points, alone or with its standard error


class NearOptions(TypedDict, total=False):
    """The arguments that all functions share."""

    n_neighbors: int
    model: ModelName
    curvature: float
    metric: MetricName
    flat: bool
    n_points: int | None
    random_state: Any


@overload
def neighbours_kept(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[NearOptions]) -> float: ...
@overload
def neighbours_kept(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[NearOptions]) -> tuple[float, float]: ...
def neighbours_kept(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    flat: bool = False,
    n_points: int | None = None,
    return_error: bool = False,
    random_state: Any = None,
) -> Found:
    """The mean fraction of a point's nearest neighbours in Y that are among its nearest neighbours in X.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after, in the same model and curvature; their dimensions may differ. With
        ``metric="precomputed"``, two distance matrices.
    n_neighbors : int
        The number of neighbours of each point, fewer than n / 2.
    model, curvature : of X and Y
    metric : {"hyperbolic", "precomputed"}
    flat : bool
        Whether Y has points of Euclidean space, such as those of UMAP.
    n_points : int or None
        The number of random points whose neighbours (among all n) are compared. None means all of up to 8192 points, and
        2048 of more.
    return_error : bool
        Also return the standard error, which is 0 if all points were compared.
    random_state : int, RandomState, Generator or None
        Seeds the sample of points.

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
    options: NearOptions = {"n_neighbors": n_neighbors, "model": model, "curvature": curvature, "metric": metric}
    options |= {"flat": flat, "n_points": n_points, "random_state": random_state}
    found = _mean((X, Y), neighbours_shared, **options)
    return found if return_error else found[0]


@overload
def trustworthiness(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[NearOptions]) -> float: ...
@overload
def trustworthiness(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[NearOptions]) -> tuple[float, float]: ...
def trustworthiness(X: Any, Y: Any, *, return_error: bool = False, **options: Unpack[NearOptions]) -> Found:
    """How far neighbours in Y are neighbours in X, from 0 to 1: false neighbours count by their rank in X.

    Arguments are as in `neighbours_kept`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> trustworthiness(X, X[[4, 1, 2, 3, 0]], n_neighbors=1).__round__(3)  # the ends exchanged
    0.533
    """
    found = _mean((X, Y), trust_of_points, **options)
    return found if return_error else found[0]


@overload
def continuity(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[NearOptions]) -> float: ...
@overload
def continuity(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[NearOptions]) -> tuple[float, float]: ...
def continuity(X: Any, Y: Any, *, return_error: bool = False, **options: Unpack[NearOptions]) -> Found:
    """How far neighbours in X are neighbours in Y, from 0 to 1: lost neighbours count by their rank in Y.

    It is the trustworthiness with X and Y exchanged. Arguments are as in `neighbours_kept`.
    """
    found = _mean((Y, X), trust_of_points, ("Y", "X"), **options)
    return found if return_error else found[0]


def false_neighbours(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    flat: bool = False,
) -> dict[str, np.ndarray]:
    """How far the nearest neighbours of each point in Y can be trusted. Arguments are as in `neighbours_kept`.

    Returns
    -------
    dict of arrays of shape (n,)
        ``"false"``: the number of its nearest neighbours in Y that are not among its nearest neighbours in X; ``"kept"``: the
        fraction that are; ``"trust"`` and ``"continuity"``: its contributions to `trustworthiness` and `continuity`;
        ``"distortion"``: the mean relative change of its distances to all other points.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> false_neighbours(X, X[[4, 1, 2, 3, 0]], n_neighbors=2)["false"]
    array([1, 1, 0, 0, 1])
    """
    before, after, k = _check_clouds((X, Y), n_neighbors, model, curvature, metric, flat)
    points = np.arange(len(before))
    kept = neighbours_shared(before, after, points, k)
    return {
        "false": np.rint(k * (1 - kept)).astype(int),
        "kept": kept,
        "trust": trust_of_points(before, after, points, k),
        "continuity": trust_of_points(after, before, points, k),
        "distortion": _mean_change(before, after, points),
    }


def _check_clouds(
    inputs: tuple[Any, Any],
    k: int,
    model: ModelName,
    curvature: float,
    metric: MetricName,
    flat: bool,
    names: tuple[str, str] = ("X", "Y"),
) -> tuple[Cloud, Cloud, int]:
    """Validate two arrays and the number of neighbours."""
    check_choice("metric", metric, METRICS)
    arrays = check_clouds(inputs, check_coordinates(model, curvature), metric, names, flat=flat)
    n = arrays[0].shape[0]
    if n < 3:
        raise ValueError(f"There must be at least 3 points to compare neighbours, but there are {n}.")
    k = check_count("n_neighbors", k, 1, (n - 1) // 2, f" (fewer than half of the {n} points)")
    if metric == "precomputed":
        return DistanceRows(arrays[0]), DistanceRows(arrays[1]), k
    before, after = (PointCloud(to_numpy(rows.all()), rows.coordinates.scale) for rows in arrays)
    return before, after, k


def _mean(
    inputs: tuple[Any, Any],
    measure: Callable[[Cloud, Cloud, np.ndarray, int], np.ndarray],
    names: tuple[str, str] = ("X", "Y"),
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    flat: bool = False,
    n_points: int | None = None,
    random_state: Any = None,
) -> tuple[float, float]:
    """The mean of a measure over all points or a sample, and its standard error."""
    before, after, k = _check_clouds(inputs, n_neighbors, model, curvature, metric, flat, names)
    n = len(before)
    wanted = SAMPLED_POINTS if n_points is None and n > EXACT_POINTS else n_points
    count = n if wanted is None else min(n, check_count("n_points", wanted, 2))
    points = np.arange(n) if count == n else check_generator(random_state).choice(n, size=count, replace=False)
    values, left = measure(before, after, points, k), 1 - count / n
    error = standard_error(values.tolist()) * float(np.sqrt(left)) if left else 0.0  # the sample is without replacement
    return float(np.mean(values)), error


# ---------------------------------------------------------------- measures of single points


class Cloud(Protocol):
    """n points whose distances are known."""

    def __len__(self) -> int: ...

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Distances (m, n) from some points to all; infinite to themselves."""

    def distances_to(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Distances (m, k) from some points to others (m, k)."""

    def nearest(self, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest of some points and the distance of the farthest of them, shapes (m, k) and (m, 1)."""


class PointCloud:
    """Points x (n, d+1) of the hyperboloid, whose distances are divided by `scale`."""

    def __init__(self, x: np.ndarray, scale: float = 1.0) -> None:
        self.x, self.scale = x, scale

    def __len__(self) -> int:
        return len(self.x)

    def distances(self, points: np.ndarray) -> np.ndarray:
        d: np.ndarray = pairwise_distance(self.x[points], self.x) / self.scale
        d[np.arange(len(points)), points] = np.inf
        return d

    def distances_to(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.stack([distance(self.x[points], self.x[column]) for column in others.T], axis=1) / self.scale

    def nearest(self, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        indices, distances = nearest_neighbours(self.x, k, points)
        return indices, distances[:, -1:] / self.scale


class DistanceRows:
    """Points that are known by their distances: a matrix, or an object whose ``[points]`` are rows of it."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def distances(self, points: np.ndarray) -> np.ndarray:
        d: np.ndarray = self.rows[points]
        d[np.arange(len(points)), points] = np.inf
        return d

    def distances_to(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        return in_blocks(self, points, lambda rows, d: np.take_along_axis(d, others[rows], axis=1))

    def nearest(self, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        indices = in_blocks(self, points, lambda rows, d: np.argpartition(d, k - 1, axis=1)[:, :k])
        return indices, self.distances_to(points, indices).max(axis=1, keepdims=True)


def in_blocks(cloud: Cloud, points: np.ndarray, function: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
    """function(rows, distances of these points to all others), concatenated; a block fits into a core's cache."""
    parts = row_slices(len(points), max(1, BLOCK_ELEMENTS // len(cloud)))
    return np.concatenate([function(rows, cloud.distances(points[rows])) for rows in parts])


def neighbours_shared(before: Cloud, after: Cloud, points: np.ndarray, k: int) -> np.ndarray:
    """The fraction (m,) of the k nearest after that are no farther before than the k nearest before."""
    d = before.distances_to(points, after.nearest(points, k)[0])
    return np.asarray(np.mean(d <= before.nearest(points, k)[1] * TIE, axis=1))


def trust_of_points(before: Cloud, after: Cloud, points: np.ndarray, k: int) -> np.ndarray:
    """Contributions (m,) to trustworthiness, by the ranks before of the k nearest after."""
    n, near = len(before), after.nearest(points, k)[0]

    def excess(rows: slice, d: np.ndarray) -> np.ndarray:
        far = np.take_along_axis(d, near[rows], axis=1)
        # points at the same distance share the lowest rank
        ranks = np.stack([1 + np.count_nonzero(d * TIE < far[:, j, None], axis=1) for j in range(k)])
        return np.asarray(np.maximum(ranks - k, 0).sum(axis=0))

    return np.asarray(1 - in_blocks(before, points, excess) * 2 / (k * (2 * n - 3 * k - 1)))


def _mean_change(before: Cloud, after: Cloud, points: np.ndarray) -> np.ndarray:
    """The mean relative change (m,) of distances; those that were 0 are left out."""

    def change(rows: slice, d: np.ndarray) -> np.ndarray:
        apart = np.isfinite(d) & (d > 0)
        ratios = np.where(apart, after.distances(points[rows]), 0.0) / np.where(apart, d, 1.0)
        return np.asarray(np.abs(ratios - apart).sum(axis=1) / np.maximum(apart.sum(axis=1), 1))

    return in_blocks(before, points, change)
