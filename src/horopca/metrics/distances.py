"""How well a reduction preserves distances and variance, computed in blocks: O(n) memory.

Every function takes points in a `model` at a `curvature`. Functions of distances alone also take distance matrices, with
``metric="precomputed"``. All pairs of a matrix or of up to 16384 points are counted; for more points, or with `n_pairs`, a
random sample of pairs. Of a Dask array, only the rows of these pairs are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from sklearn.utils import check_array

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_distances, check_generator
from .._input.coordinates import FARTHEST_IMAGE, Coordinates, check_coordinates
from .._input.means import mean_of
from .._input.rows import Rows, check_rows
from ..geometry import ModelName, distance
from ..geometry._arrays import to_numpy
from ..statistics.pairs import mean_of_blocks, pair_distances, random_offsets, relative_change

ALL_PAIRS_ROWS = 1 << 14  # Up to this many rows, all pairs are counted by default: it takes a few seconds.
AUTO_PAIRS = 1 << 22  # For more rows, the number of pairs: the standard error is about a thousandth.
ALL_PAIRS = 1 << 62  # More pairs than any array has.
FEW_ROWS = 1 << 6  # All pairs of this many rows or fewer are counted: a sample would be no faster.
GROUPED_ROWS = 1 << 16  # Above this many rows, pairs are drawn inside groups of rows, so that few rows are read.
GROUPS = 32  # The number of groups: their means give the standard error.
FLAT_RADIUS = 1e-4  # The radius of Euclidean points put into hyperbolic space: distances are off by less than one part in 10^8.
DRAWN_ELEMENTS = 1 << 24  # The largest number of elements of the rows that are drawn: 128 MB.


class SpaceOptions(TypedDict, total=False):
    """The arguments that describe the space of X and Y."""

    model: ModelName
    curvature: float
    metric: MetricName
    flat: bool


class Options(SpaceOptions, total=False):
    """The arguments that functions of pairs share."""

    n_pairs: int | None
    random_state: Any


@overload
def average_distortion(X: Any, Y: Any, *, return_error: Literal[False] = False, **options: Unpack[Options]) -> float: ...
@overload
def average_distortion(X: Any, Y: Any, *, return_error: Literal[True], **options: Unpack[Options]) -> tuple[float, float]: ...
def average_distortion(X: Any, Y: Any, *, return_error: bool = False, **options: Unpack[Options]) -> Any:
    """Mean over pairs of ``|d(Y) - d(X)| / d(X)``. Pairs at distance 0 in X are left out.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after, in the same model and curvature; their dimensions may differ. With
        ``metric="precomputed"``, two distance matrices.
    model, curvature : str and float, default="poincare" and -1.0
        The coordinates of X and Y.
    metric : {"hyperbolic", "precomputed"}, default="hyperbolic"
        Whether points or matrices of distances are passed.
    flat : bool, default=False
        Whether Y has points of Euclidean space, such as those of UMAP.
    n_pairs : int or None, default=None
        The approximate number of random pairs of points to count. None means all pairs of up to 16384 points, and about
        four million of more. Of matrices of distances, all pairs are counted.
    return_error : bool, default=False
        Also return the standard error: 0 if all pairs were counted, and inf if there are too few for one.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the sample of pairs.

    See Also
    --------
    worst_case_distortion : the worst ratio of two distances
    horopca.plots.plot_distortion : draws every pair

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]])
    >>> average_distortion(X, X)
    0.0
    """
    _, blocks, sampled = _pairs((X, Y), **options)
    found = _mean(relative_change, blocks, sampled)
    return found if return_error else found[0]


def worst_case_distortion(
    X: Any, Y: Any, *, model: ModelName = "poincare", curvature: float = -1.0, metric: MetricName = "hyperbolic"
) -> float:
    """The ratio of the largest to the smallest ``d(Y) / d(X)`` over all pairs.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after.
    model, curvature : str and float
        The coordinates of X and Y.
    metric : {"hyperbolic", "precomputed"}
        Whether points or matrices of distances are passed.

    Returns
    -------
    float
        1 if all distances are multiplied by the same number; inf if two different points of X coincide in Y.

    See Also
    --------
    average_distortion : the mean over pairs

    Examples
    --------
    >>> from horopca.metrics import worst_case_distortion
    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    >>> worst_case_distortion(X, X)
    1.0
    """
    low, high = np.inf, 0.0
    for d, e in _pairs((X, Y), model=model, curvature=curvature, metric=metric, n_pairs=ALL_PAIRS)[1]:
        with np.errstate(over="ignore"):  # a ratio beyond float64 is infinite
            ratios = e[d > 0] / d[d > 0]
        low, high = min(low, float(ratios.min(initial=np.inf))), max(high, float(ratios.max(initial=0.0)))
    if low > high:  # all points of X coincide
        return 1.0
    return high / low if low > 0 else float("inf")


def pair_variance(X: Any, **options: Unpack[Options]) -> float:
    """The mean squared distance over all ordered pairs, the variance of the paper. Pairs of a point with itself count.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The points, or a matrix of distances with ``metric="precomputed"``.
    **options
        As in `average_distortion`, except `flat`.

    Returns
    -------
    float

    See Also
    --------
    frechet_variance : about the mean

    Examples
    --------
    >>> from horopca.metrics import pair_variance
    >>> round(pair_variance([[0.5, 0.0], [-0.5, 0.0]]), 6)
    2.413898
    """
    n, blocks, sampled = _pairs((X,), **options)
    return _mean(lambda d: d * d, blocks, sampled)[0] * (n - 1) / n


def frechet_variance(X: Any, *, model: ModelName = "poincare", curvature: float = -1.0) -> float:
    """The mean squared distance to the Fréchet mean.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The points.
    model, curvature : str and float
        The coordinates of X.

    Returns
    -------
    float

    See Also
    --------
    pair_variance : the mean squared distance over pairs
    horopca.statistics.frechet_mean : the mean itself

    Examples
    --------
    >>> from horopca.metrics import frechet_variance
    >>> round(frechet_variance([[0.5, 0.0], [-0.5, 0.0]]), 6)
    1.206949
    """
    rows = check_rows(X, check_coordinates(model, curvature))
    return mean_of(rows).variance / -rows.coordinates.curvature


def unexplained_variance(X: Any, X_back: Any, *, model: ModelName = "poincare", curvature: float = -1.0) -> float:
    """The mean squared distance between points and their reconstructions.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The points.
    X_back : array of shape (n_samples, n_features)
        Their reconstructions, such as ``inverse_transform(transform(X))``.
    model, curvature : str and float
        The coordinates of both.

    Returns
    -------
    float

    See Also
    --------
    average_distortion : the change of distances between points

    Examples
    --------
    >>> from horopca.metrics import unexplained_variance
    >>> round(unexplained_variance([[0.5, 0.0]], [[0.0, 0.0]]), 6)
    1.206949
    """
    coordinates = check_coordinates(model, curvature)
    before, after = check_rows(X, coordinates), check_rows(X_back, coordinates, name="X_back")
    if before.X.shape != after.X.shape:
        raise ValueError(f"X and X_back must have the same shape, but have {tuple(before.X.shape)} and {tuple(after.X.shape)}.")
    if after.remote:
        before, after = after, before
    squares = lambda x, y: float(np.sum(distance(to_numpy(x.points()), to_numpy(y.points())) ** 2))
    return float(before.fold_beside(after, squares) / before.shape[0] / -coordinates.curvature)


Blocks = Iterator[tuple[np.ndarray, ...]]  # distances of the same pairs in one or two sets of points, a block at a time


def _pairs(
    inputs: tuple[Any, ...], *, n_pairs: int | None = None, random_state: Any = None, **space: Unpack[SpaceOptions]
) -> tuple[int, Blocks, bool]:
    """The number of points; the distances of pairs in one or two arrays, in blocks; and whether the pairs are a sample."""
    clouds = check_clouds(inputs, **space)
    n, columns = clouds[0].shape[0], max(cloud.shape[1] for cloud in clouds)
    pairs = check_count("n_pairs", n_pairs, 1) if n_pairs is not None else AUTO_PAIRS if n > ALL_PAIRS_ROWS else ALL_PAIRS
    if isinstance(clouds[0], np.ndarray):
        return n, (tuple(D[i, i + 1 :] for D in clouds) for i in range(n - 1)), False
    groups = GROUPS if n > GROUPED_ROWS or any(rows.remote for rows in clouds) else 1
    if pairs >= n * (n - 1) // 2 or n <= max(FEW_ROWS, 4 * groups):
        return n, _in_units(clouds, pair_distances(*(rows.all() for rows in clouds))), False
    rng = check_generator(random_state)
    size = n if groups == 1 else max(4, min(n, DRAWN_ELEMENTS // columns, pairs) // groups)
    order = rng.choice(n, size=size * groups, replace=False)
    offsets = random_offsets(size, max(2 if groups == 1 else 1, pairs // (size * groups)), rng)
    return n, _in_units(clouds, _sampled([rows.take(order) for rows in clouds], size, offsets)), True


def _sampled(points: list[np.ndarray], size: int, offsets: tuple[int, ...]) -> Blocks:
    """Blocks of distances in groups of `size` rows, between every row of a group and the rows at some offsets from it."""
    for start in range(0, len(points[0]), size):
        blocks = pair_distances(*(x[start : start + size] for x in points), offsets=offsets)
        yield from blocks if size == len(points[0]) else [tuple(map(np.concatenate, zip(*blocks, strict=True)))]


def _in_units(clouds: list[Rows], blocks: Blocks) -> Blocks:
    """Blocks of distances, converted from curvature -1 to the curvatures of the arrays of points."""
    for block in blocks:
        yield tuple(to_numpy(d).ravel() / rows.coordinates.scale for d, rows in zip(block, clouds, strict=True))


def check_clouds(
    inputs: tuple[Any, ...],
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    flat: bool = False,
) -> list[Any]:
    """Validate X, or X and Y with the same number of rows: points, or distances. If `flat`, Y has points of Euclidean space."""
    check_choice("metric", metric, METRICS)
    coordinates = check_coordinates(model, curvature)
    clouds: list[Any] = []
    for X, name in zip(inputs, "XY", strict=False):
        if metric == "precomputed":
            clouds.append(check_distances(check_array(X, dtype=np.float64, input_name=name), name))
        else:
            own = _flat_coordinates(X) if flat and name == "Y" else coordinates
            clouds.append(check_rows(X, own, name=name, min_rows=2, reach=FARTHEST_IMAGE))
    n, other = clouds[0].shape[0], clouds[-1].shape[0]
    if n != other:
        raise ValueError(f"X and Y must have the same number of rows, but have {n} and {other}.")
    return clouds


def _flat_coordinates(Y: Any) -> Coordinates:
    """Coordinates in which points of Euclidean space keep their distances: tangent vectors at a curvature close to 0."""
    size = float(np.max(np.abs(to_numpy(Y)), initial=0.0))
    return Coordinates("tangent", -((FLAT_RADIUS / size) ** 2) if 0 < size < np.inf else -1.0)


def _mean(function: Callable[..., np.ndarray], blocks: Blocks, sampled: bool) -> tuple[float, float]:
    """Mean of a function of the distances over the pairs, and its standard error: 0 if all pairs are counted."""
    with np.errstate(over="ignore"):
        value, error = mean_of_blocks((np.abs(function(*block)) for block in blocks), sampled)
    if not np.isfinite(value):
        raise ValueError("The ratios of distances overflow float64. Remove rows of X that nearly coincide.")
    return value, error if value else 0.0  # a value of 0: all points coincide


def best_scale(ratios: np.ndarray) -> float:
    """The scale s > 0 at which the mean of |ratio / s - 1| is least: a median of the ratios, weighted by themselves."""
    order = np.sort(ratios)
    middle = np.searchsorted(np.cumsum(order), order.sum() / 2)
    return float(order[middle]) if order.size and order[middle] > 0 else 1.0
