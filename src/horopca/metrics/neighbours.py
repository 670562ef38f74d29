"""Who is whose neighbour before and after a reduction, by hyperbolic distance: what a picture may be trusted for.

A reduction errs in two ways: it draws strangers as neighbours (false neighbours, a loss of trustworthiness) and it tears
neighbours apart (a loss of continuity). The definitions are scikit-learn's (`sklearn.manifold.trustworthiness`, after Venna
and Kaski), with hyperbolic distances on both sides. Memory is O(n); of many points the mean is that of a random sample.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_generator
from .._input.coordinates import check_coordinates
from ..geometry import ModelName, pairwise_distance
from ..geometry._arrays import to_numpy
from ..geometry.hyperboloid import BLOCK_ELEMENTS
from ..statistics import standard_error
from .distances import check_clouds

EXACT_POINTS = 1 << 13  # Of at most so many points the neighbours of all are compared, unless told otherwise.
SAMPLED_POINTS = 1 << 11  # Of more points, those of so many.


Found = float | tuple[float, float]  # the mean over points, alone or with its standard error
Names = tuple[str, str]


class NearOptions(TypedDict, total=False):
    """What is said of the arrays, and of the points to look at."""

    n_neighbors: int
    model: ModelName
    curvature: float
    metric: MetricName
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
    n_points: int | None = None,
    return_error: bool = False,
    random_state: Any = None,
) -> Found:
    """The mean share of a point's nearest neighbours in X that are still among its nearest in Y: 1 if all are.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after, in the same model and curvature, of any two dimensions; or two distance matrices, with
        ``metric="precomputed"``.
    n_neighbors : int
        How many neighbours of a point are looked at: fewer than n / 2.
    model, curvature : of X and Y
    metric : {"hyperbolic", "precomputed"}
    n_points : int or None
        Look at the neighbours of only so many random points (among all n); None: of all up to 8192, else of 2048.
    return_error : bool
        Also return the standard error (0 where all points were looked at).
    random_state : int, RandomState, Generator or None, for the sample of points

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
    options |= {"n_points": n_points, "random_state": random_state}
    found = _mean((X, Y), "kept", **options)
    return found if return_error else found[0]


@overload
def trustworthiness(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[NearOptions]) -> float: ...
@overload
def trustworthiness(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[NearOptions]) -> tuple[float, float]: ...
def trustworthiness(X: Any, Y: Any, *, return_error: bool = False, **options: Unpack[NearOptions]) -> Found:
    """How far neighbours in Y may be trusted to be neighbours in X, from 0 to 1: strangers cost by their rank in X.

    Arguments as in `neighbours_kept`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> trustworthiness(X, X[[4, 1, 2, 3, 0]], n_neighbors=1).__round__(3)  # the ends exchanged
    0.533
    """
    found = _mean((X, Y), "trust", **options)
    return found if return_error else found[0]


@overload
def continuity(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[NearOptions]) -> float: ...
@overload
def continuity(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[NearOptions]) -> tuple[float, float]: ...
def continuity(X: Any, Y: Any, *, return_error: bool = False, **options: Unpack[NearOptions]) -> Found:
    """How far neighbours in X are still neighbours in Y, from 0 to 1: those torn apart cost by their rank in Y.

    The trustworthiness of X as a picture of Y. Arguments as in `neighbours_kept`.
    """
    found = _mean((Y, X), "trust", ("Y", "X"), **options)
    return found if return_error else found[0]


def false_neighbours(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
) -> dict[str, np.ndarray]:
    """For each point, how far its nearest neighbours in Y can be trusted. Arguments as in `neighbours_kept`.

    Returns
    -------
    dict of arrays of shape (n,)
        ``"false"``: how many of its nearest neighbours in Y are strangers, not among its nearest in X; ``"kept"``: the share
        that are no strangers; ``"trust"`` and ``"continuity"``: what it contributes to `trustworthiness` and `continuity`;
        ``"distortion"``: the mean relative change of its distances to all other points.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.1], [0.2], [0.3], [0.4], [0.8]])
    >>> false_neighbours(X, X[[4, 1, 2, 3, 0]], n_neighbors=2)["false"]
    array([1, 1, 0, 0, 1])
    """
    there = _checked((X, Y), n_neighbors, model, curvature, metric)
    points, back = np.arange(there.n), Compared(there.clouds[::-1], there.k, there.precomputed)
    kept, trust, distortion = there.values(points)
    false = np.rint(there.k * (1 - kept)).astype(int)
    continuity = back.values(points)[1]
    return {"false": false, "kept": kept, "trust": trust, "continuity": continuity, "distortion": distortion}


def _checked(
    pictures: tuple[Any, Any],
    k: int,
    model: ModelName,
    curvature: float,
    metric: MetricName,
    names: Names = ("X", "Y"),
) -> Compared:
    """What a user passed, before and after, ready to be compared, or a sentence."""
    check_choice("metric", metric, METRICS)
    clouds = check_clouds(pictures, check_coordinates(model, curvature), metric, names)
    k = check_neighbours(k, clouds[0].shape[0])
    precomputed = metric == "precomputed"
    return Compared(clouds if precomputed else [to_numpy(rows.all()) for rows in clouds], k, precomputed)


def check_neighbours(k: int, n: int) -> int:
    """How many neighbours of each of n points are looked at, or a sentence."""
    if n < 3:
        raise ValueError(f"There must be at least 3 points to compare neighbours, but there are {n}.")
    return check_count("n_neighbors", k, 1, (n - 1) // 2, f" (fewer than half of the {n} points)")


def chosen_points(n: int, n_points: int | None, random_state: Any) -> np.ndarray:
    """The points whose neighbours are looked at: all, or so many random ones."""
    wanted = SAMPLED_POINTS if n_points is None and n > EXACT_POINTS else n_points
    count = n if wanted is None else min(n, check_count("n_points", wanted, 2))
    return np.arange(n) if count == n else check_generator(random_state).choice(n, size=count, replace=False)


class Compared:
    """Two clouds of n points on the hyperboloid (or their distances), before and after, and k neighbours of each to compare."""

    def __init__(self, clouds: list[np.ndarray], k: int, precomputed: bool = False) -> None:
        self.clouds, self.k, self.precomputed, self.n = clouds, k, precomputed, len(clouds[0])

    def values(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For some of the points: the share of neighbours kept, trustworthiness, and the mean relative change of distances."""
        step = max(1, BLOCK_ELEMENTS // self.n)
        blocks = [self._block(points[start : start + step]) for start in range(0, len(points), step)]
        kept, trust, change = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return kept, trust, change

    def _block(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, k = self.n, self.k
        before, after = (self._distances(cloud, points) for cloud in self.clouds)
        near = np.argpartition(after, k - 1, axis=1)[:, :k]
        far = np.take_along_axis(before, near, axis=1)
        # the rank in X of each neighbour in Y: points at one distance share the lowest
        rank = np.stack([1 + np.count_nonzero(before < far[:, j, None], axis=1) for j in range(k)], axis=1)
        excess = np.maximum(rank - k, 0)
        apart = np.isfinite(before) & (before > 0)
        change = np.abs(np.where(apart, after, 0.0) / np.where(apart, before, 1.0) - apart).sum(axis=1)
        trust = 1 - excess.sum(axis=1) * 2 / (k * (2 * n - 3 * k - 1))
        return np.mean(excess == 0, axis=1), trust, change / np.maximum(apart.sum(axis=1), 1)

    def _distances(self, cloud: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Distances (m, n) from some points to all; infinite to themselves."""
        d: np.ndarray = cloud[points] if self.precomputed else pairwise_distance(cloud[points], cloud)
        d[np.arange(len(points)), points] = np.inf
        return d


def _mean(
    pictures: tuple[Any, Any],
    which: Literal["kept", "trust"],
    names: Names = ("X", "Y"),
    *,
    n_neighbors: int = 10,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    n_points: int | None = None,
    random_state: Any = None,
) -> tuple[float, float]:
    """The mean of one of the values over all points or some, and its standard error."""
    compared = _checked(pictures, n_neighbors, model, curvature, metric, names)
    points = chosen_points(compared.n, n_points, random_state)
    values, left = compared.values(points)[0 if which == "kept" else 1], 1 - len(points) / compared.n
    # the points are drawn without replacement: of all of them, nothing is left to chance
    error = standard_error(values.tolist()) * float(np.sqrt(left)) if left else 0.0
    return float(np.mean(values)), error
