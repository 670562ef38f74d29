"""How well a reduction keeps what it was given: distortions and variances, blocked, in O(n) memory.

Every function takes points in a `model` at a `curvature`. Those that need distances only also take distance matrices,
with ``metric="precomputed"``. All pairs are counted up to 16384 points; of more, or with `n_pairs`, a random sample of pairs
stands for all. Of a Dask array only the rows of these pairs leave their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from .._points.door import FARTHEST_IMAGE, check_choice, check_count, check_door
from .._points.means import mean_of
from .._points.places import check_rows
from ..geometry import Chunk, distance
from ..geometry._arrays import to_numpy
from ..statistics import pair_distances, standard_error

__all__ = [
    "average_distortion",
    "frechet_variance",
    "mean_squared_error",
    "pair_variance",
    "squared_distortion",
    "unexplained_variance",
    "worst_case_distortion",
]

METRICS = ("hyperbolic", "precomputed")
EXACT_ROWS = 1 << 14  # up to here all pairs are counted unless told otherwise,
AUTO_PAIRS = 1 << 22  # above so many
EVERY_PAIR = 1 << 62  # is more than there are
GROUPED_ROWS = 1 << 16  # from more than this only some rows are drawn, in
GROUPS = 32  # groups, pairs inside which are counted
DRAWN_ELEMENTS = 1 << 24  # of all rows drawn


def average_distortion(
    X: Any,
    Y: Any,
    *,
    model: str = "poincare",
    curvature: float = -1.0,
    metric: str = "hyperbolic",
    n_pairs: int | None = None,
    return_error: bool = False,
    random_state: Any = None,
) -> float | tuple[float, float]:
    """Mean over pairs of ``|d(Y) - d(X)| / d(X)``. Pairs at distance 0 in X are left out.

    Parameters
    ----------
    X, Y : arrays of shape (n, .) with the same number of rows
        The points before and after, in the same model and curvature, of any two dimensions; or two
        distance matrices, with ``metric="precomputed"``.
    model, curvature : of X and Y
    metric : {"hyperbolic", "precomputed"}
    n_pairs : int or None
        Count only about so many random pairs; None: all those of up to 16384 points, about four million of more.
    return_error : bool
        Also return the standard error (0 where all pairs were counted).
    random_state : int, RandomState or None, for the sample of pairs

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]])
    >>> average_distortion(X, X)
    0.0
    """
    sampling = _Sampling(n_pairs, random_state)
    value, error = _mean(_ratios(X, Y, model, curvature, metric, sampling), lambda d, e: np.abs(e - d) / d)
    return (value, error if sampling.sampled else 0.0) if return_error else value


def squared_distortion(
    X: Any,
    Y: Any,
    *,
    model: str = "poincare",
    curvature: float = -1.0,
    metric: str = "hyperbolic",
    n_pairs: int | None = None,
    random_state: Any = None,
) -> float:
    """Mean over pairs of ``|d(Y)^2 - d(X)^2| / d(X)^2``. Arguments as in `average_distortion`."""
    pairs = _ratios(X, Y, model, curvature, metric, _Sampling(n_pairs, random_state))
    return _mean(pairs, lambda d, e: np.abs(e * e - d * d) / (d * d))[0]


def worst_case_distortion(
    X: Any, Y: Any, *, model: str = "poincare", curvature: float = -1.0, metric: str = "hyperbolic"
) -> float:
    """Largest over smallest ratio ``d(Y) / d(X)`` over all pairs: 1 for a scaled isometry, inf where two points merge."""
    low, high = np.inf, 0.0
    for d, e in _ratios(X, Y, model, curvature, metric, _Sampling(EVERY_PAIR, None)):
        if len(d):
            low, high = min(low, float(np.min(e / d))), max(high, float(np.max(e / d)))
    if high == 0.0:
        return 1.0 if low == np.inf else float("inf")
    return high / low if low > 0 else float("inf")


def mean_squared_error(
    X: Any,
    Y: Any,
    *,
    model: str = "poincare",
    curvature: float = -1.0,
    metric: str = "hyperbolic",
    n_pairs: int | None = None,
    random_state: Any = None,
) -> float:
    """Mean over pairs of ``(d(Y) - d(X))^2``. Arguments as in `average_distortion`."""
    pairs = _pairs((X, Y), model, curvature, metric, _Sampling(n_pairs, random_state))
    return _mean(pairs, lambda d, e: (e - d) ** 2)[0]


def pair_variance(
    X: Any,
    *,
    model: str = "poincare",
    curvature: float = -1.0,
    metric: str = "hyperbolic",
    n_pairs: int | None = None,
    random_state: Any = None,
) -> float:
    """Mean squared distance over all ordered pairs, a point with itself included: the paper's variance."""
    pairs = _pairs((X,), model, curvature, metric, _Sampling(n_pairs, random_state))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return _mean(pairs, lambda d: d * d)[0] * (n - 1) / n


def frechet_variance(X: Any, *, model: str = "poincare", curvature: float = -1.0) -> float:
    """Mean squared distance to the Fréchet mean."""
    rows = check_rows(X, check_door(model, curvature))
    return mean_of(rows).variance / -curvature


def unexplained_variance(X: Any, X_back: Any, *, model: str = "poincare", curvature: float = -1.0) -> float:
    """Mean squared distance between points and what is left of them, e.g. ``inverse_transform(transform(X))``."""
    door = check_door(model, curvature)
    before, after = check_rows(X, door), check_rows(X_back, door, name="X_back")
    if before.X.shape != after.X.shape:
        raise ValueError(f"X and X_back must have one shape, but have {tuple(before.X.shape)} and {tuple(after.X.shape)}.")
    if after.remote:
        before, after = after, before
    total = before.fold_beside(after, _squares)
    return total / before.shape[0] / -curvature


def _squares(before: Chunk, after: Chunk) -> float:
    """The sum of the squared distances between points and points."""
    return float(np.sum(distance(to_numpy(before.points()), to_numpy(after.points())) ** 2))


class _Sampling:
    """Whether to count all pairs, or shifts of the shuffled rows."""

    def __init__(self, n_pairs: int | None, random_state: Any) -> None:
        self.n_pairs = None if n_pairs is None else check_count("n_pairs", n_pairs, 1)
        self.random_state = random_state
        self.sampled = False

    def wanted(self, n: int) -> int | None:
        """How many pairs of n points to sample, or None for all."""
        pairs = AUTO_PAIRS if self.n_pairs is None and n > EXACT_ROWS else self.n_pairs
        return None if pairs is None or pairs >= n * (n - 1) // 2 else pairs

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray] | None:
        """An order of the rows and the shifts to take, or None for all pairs."""
        pairs = self.wanted(n)
        if pairs is None or n < 4:
            return None
        self.sampled = True
        rng = check_random_state(self.random_state)
        most = (n - 1) // 2
        return rng.permutation(n), 1 + rng.permutation(most)[: min(most, max(2, pairs // n))]

    def draw_groups(self, n: int, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """At most so many rows, in independent groups, and the shifts to take in each group; or None for all pairs."""
        pairs = self.wanted(n)
        if pairs is None or n < 4 * GROUPS:
            return None
        self.sampled = True
        rng = check_random_state(self.random_state)
        size = max(4, min(n, most, pairs) // GROUPS)
        shifts = max(1, min((size - 1) // 2, pairs // (size * GROUPS)))
        chosen = np.random.default_rng(rng.randint(2**31)).choice(n, size=size * GROUPS, replace=False)
        return chosen.reshape(GROUPS, size), 1 + rng.permutation((size - 1) // 2)[:shifts]


def _pairs(inputs: tuple, model: str, curvature: float, metric: str, sampling: _Sampling) -> Iterator[tuple[np.ndarray, ...]]:
    """Distances of the same pairs in each input, a block at a time."""
    check_choice("metric", metric, METRICS)
    names = ("X", "Y")
    checked: list[Any]
    if metric == "precomputed":
        checked = [_check_distances(D, name) for D, name in zip(inputs, names, strict=False)]
    else:
        door = check_door(model, curvature)
        checked = [
            check_rows(P, door, name=name, min_rows=2, reach=FARTHEST_IMAGE) for P, name in zip(inputs, names, strict=False)
        ]
    n, other = checked[0].shape[0], checked[-1].shape[0]
    if n != other:
        raise ValueError(f"X and Y must have as many rows as each other, but have {n} and {other}.")
    if metric == "precomputed":
        return _matrix_pairs(checked, sampling.draw(n))
    if n > GROUPED_ROWS or any(rows.remote for rows in checked):
        drawn = sampling.draw_groups(n, DRAWN_ELEMENTS // max(rows.shape[1] for rows in checked))
        return _point_pairs(checked, None, door.scale) if drawn is None else _group_pairs(checked, *drawn, door.scale)
    return _point_pairs(checked, sampling.draw(n), door.scale)


def _point_pairs(checked: list, draw: tuple | None, scale: float) -> Iterator[tuple[np.ndarray, ...]]:
    order, offsets = draw if draw is not None else (None, None)
    clouds = [rows.all() if order is None else rows.take(order) for rows in checked]
    for distances in pair_distances(*clouds, offsets=offsets):
        yield tuple(to_numpy(d).ravel() / scale for d in distances)


def _group_pairs(checked: list, groups: np.ndarray, offsets: np.ndarray, scale: float) -> Iterator[tuple[np.ndarray, ...]]:
    """Pairs inside groups of rows: a block for each group, so that the blocks are independent."""
    clouds = [rows.take(groups.ravel()) for rows in checked]
    for start in range(0, groups.size, groups.shape[1]):
        group = [x[start : start + groups.shape[1]] for x in clouds]
        blocks = zip(*pair_distances(*group, offsets=offsets.tolist()), strict=True)
        yield tuple(np.concatenate([to_numpy(d) for d in block]) / scale for block in blocks)


def _matrix_pairs(checked: list, draw: tuple | None) -> Iterator[tuple[np.ndarray, ...]]:
    n = len(checked[0])
    if draw is None:
        for i in range(n - 1):
            yield tuple(D[i, i + 1 :] for D in checked)
    else:
        order, offsets = draw
        for o in offsets:
            yield tuple(D[order, np.roll(order, -o)] for D in checked)


def _ratios(X: Any, Y: Any, model: str, curvature: float, metric: str, sampling: _Sampling) -> Iterator:
    """Pairs of distances, without those that are 0 in X."""
    for d, e in _pairs((X, Y), model, curvature, metric, sampling):
        apart = d > 0
        yield d[apart], e[apart]


def _mean(pairs: Iterator, function: Callable) -> tuple[float, float]:
    """Mean of a function of the pairs, and the standard error if the blocks were drawn independently."""
    sums, counts = [], []
    for distances in pairs:
        sums.append(float(np.sum(function(*distances))))
        counts.append(len(distances[0]))
    filled = [s / c for s, c in zip(sums, counts, strict=True) if c]
    return sum(sums) / max(sum(counts), 1), standard_error(filled)


def _check_distances(D: Any, name: str) -> np.ndarray:
    """D as a distance matrix, or a sentence."""
    D = check_array(D, dtype=np.float64, input_name=name)
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"{name} must be a square distance matrix, but has shape {D.shape}.")
    if (D < 0).any():
        raise ValueError(f"{name} must hold distances >= 0, but its smallest entry is {D.min():.6g}.")
    largest = float(D.max()) or 1.0
    skew, own = float(np.abs(D - D.T).max()), float(np.abs(np.diag(D)).max())
    if skew > 1e-8 * largest:
        raise ValueError(f"{name} must be symmetric, but differs from its transpose by up to {skew:.6g}. Take (D + D.T) / 2.")
    if own > 1e-8 * largest:
        raise ValueError(f"{name} must be 0 on its diagonal, but holds {own:.6g} there.")
    return D
