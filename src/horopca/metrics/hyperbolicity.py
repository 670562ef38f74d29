"""Is the data hyperbolic? Gromov's delta of a metric space, and how far points are from flat."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist
from sklearn.utils import check_array

from .._input.arguments import METRICS, MetricName, check_choice, check_count, check_distances, check_generator
from .._input.coordinates import check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, pairwise_distance, radius, translate_to_origin
from ..geometry.models import hyperboloid_to_tangent
from ..statistics import frechet_mean
from ..statistics.pairs import mean_of_blocks, relative_change

ROUNDING = 1e-9  # Relative to the diameter: distances that differ by less are equal.
GENERAL_POINTS = 16  # If none of this many points lies between two others, all points are assumed to be in general position.
SAMPLE = 1000  # Points whose pairs `flatness` compares: the error of the mean is below 0.01 %.
# Where flat distances are off by less than this on average, which is a median radius of 0.9, the distortion of HoroPCA and of
# tangent PCA differs by at most 1 % (normal points in 10 and 64 dimensions; at a median radius of 2 by 8 to 15 %).
NEARLY_FLAT = 0.06


class Hyperbolicity(NamedTuple):
    """Gromov's delta of a metric space; returned by `delta_hyperbolicity`."""

    delta: float  #: delta, or a lower bound of it if not `exact`
    upper: float  #: an upper bound; equal to `delta` if `exact`, infinite if nothing is known
    diameter: float  #: the largest distance
    exact: bool  #: whether `delta` is exact
    n_points: int  #: the number of points that were compared

    @property
    def relative(self) -> float:
        """2 delta / diameter: 0 for a tree, at most 1."""
        return 2 * self.delta / self.diameter if self.diameter > 0 else 0.0


def delta_hyperbolicity(
    X: Any,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    n_points: int | None = None,
    max_quadruples: int = 10**9,
    random_state: Any = 0,
) -> Hyperbolicity:
    """Gromov's delta by the four-point condition: how far a metric space is from a tree.

    Of four points there are three sums of distances of opposite pairs, d(a,b) + d(c,d) and so on. delta is half of the largest
    difference between the largest and the second largest of these sums, over all quadruples. It is 0 for a tree, log 2 for the
    hyperbolic plane of curvature -1, and unbounded for the Euclidean plane. (Some authors define it without the half.)

    Parameters
    ----------
    X : sparse matrix (n, n), array (n, n) or array (n, n_features)
        A graph, whose entries are the lengths of its edges; a matrix of distances, with ``metric="precomputed"``; or points.
    model, curvature : str and float
        The coordinates of points.
    metric : {"hyperbolic", "precomputed"}
        Whether points or matrices of distances are passed.
    n_points : int, optional
        Use only this many random points. The result is a lower bound.
    max_quadruples : int, default=10**9
        Stop after this many quadruples, about ten seconds. The result is then a lower bound, and `upper` an upper bound.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the sample of points.

    Returns
    -------
    Hyperbolicity
        ``delta``, ``upper``, ``diameter``, ``relative`` (2 delta / diameter), ``exact`` and ``n_points``.

    See Also
    --------
    flatness, fit_curvature : other measures of how hyperbolic data is

    Notes
    -----
    Pairs are taken in order of decreasing distance, and a quadruple is examined when the shorter of its two longest opposite
    pairs is reached; the search ends when no shorter pair can exceed the delta found (Cohen, Coudert and Lancin, 2015). Pairs
    that a geodesic extends are left out: some longer pair has at least their delta.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> cycle = csr_array(np.roll(np.eye(8), 1, axis=1))
    >>> found = delta_hyperbolicity(cycle)
    >>> found.delta, found.diameter, found.relative, found.exact
    (2.0, 4.0, 1.0, True)
    """
    most = check_count("max_quadruples", max_quadruples, 1)
    wanted = None if n_points is None else check_count("n_points", n_points, 4)
    D, bound, sampled = distances_of(X, model, curvature, metric, wanted, random_state)
    delta, upper = _delta(D, None if sampled or not issparse(X) else coo_array(X), most)
    upper = max(delta, min(bound, np.inf if sampled else upper))
    return Hyperbolicity(delta, float(upper), float(D.max(initial=0.0)), bool(delta == upper), len(D))


def distances_of(
    X: Any, model: ModelName, curvature: float, metric: MetricName, n_points: int | None, random_state: Any
) -> tuple[np.ndarray, float, bool]:
    """Validate X. Returns distances of at most `n_points` random points, a bound of delta, and whether they are a sample."""
    check_choice("metric", metric, METRICS)
    bound = np.inf
    if issparse(X):
        graph = csr_array(X, dtype=np.float64)
        if graph.shape[0] != graph.shape[1] or not (np.isfinite(graph.data).all() and (graph.data >= 0).all()):
            raise ValueError(f"X, as a graph, must be a square sparse matrix of lengths >= 0, but has shape {graph.shape}.")
        D = np.asarray(shortest_path(graph, directed=False))
        if not np.isfinite(D).all():
            raise ValueError("X, as a graph, must be connected, but is not. Pass its largest component.")
    elif metric == "precomputed":
        D = check_distances(check_array(X, dtype=np.float64))
        D = (D + D.T) / 2
    else:
        rows = check_rows(X, check_coordinates(model, curvature))
        D = pairwise_distance(rows.take(np.arange(rows.shape[0]))) / rows.coordinates.scale
        bound = np.log(2) / rows.coordinates.scale  # delta of hyperbolic space itself
    if n_points is None or n_points >= len(D):
        return D, bound, False
    some = np.sort(check_generator(random_state).choice(len(D), size=n_points, replace=False))
    return D[np.ix_(some, some)], bound, True


def _far_apart(D: np.ndarray, graph: coo_array | None, rounding: float) -> np.ndarray:
    """A mask (n, n) of the pairs u, v such that no geodesic from u to v extends to a third point beyond either end."""
    far = ~np.eye(len(D), dtype=bool)
    if graph is not None:  # in a graph, a geodesic is extended by an edge
        for v, w in zip(*np.concatenate([graph.coords, graph.coords[::-1]], axis=1), strict=True):
            far[:, v] &= (D[v, w] <= rounding) | (D[:, v] + D[v, w] > D[:, w] + rounding)
        return far & far.T
    for v, row in enumerate(D):
        if v == GENERAL_POINTS and far.sum() == far.size - len(D):  # no geodesic passes through a third point
            break
        between = (row[:, None] + row[None, :] <= D + rounding) & (row > rounding)  # u - v - w
        far[:, v] &= ~between.any(axis=1)
    return far & far.T


def _delta(D: np.ndarray, graph: coo_array | None, max_quadruples: int) -> tuple[float, float]:
    """delta of a matrix of distances: a lower and an upper bound."""
    rounding = ROUNDING * float(D.max(initial=0.0))
    a, b = np.nonzero(np.triu(_far_apart(D, graph, rounding), 1))
    order = np.argsort(-D[a, b], kind="stable")
    a, b = a[order], b[order]
    length, reach = D[a, b], D.max(axis=1)
    twice, spent = 0.0, 0  # 2 delta so far, and the quadruples examined
    for k in range(1, len(a)):
        if length[k] <= twice + rounding:
            break
        if spent > max_quadruples:
            return twice / 2, max(twice, float(length[k])) / 2
        to_a, to_b = D[a[k]], D[b[k]]
        # by the triangle inequality, a quadruple exceeds 2 delta only if c and d satisfy two conditions
        useful = (length[k] - np.abs(to_a - to_b) > twice) & (length[k] + 2 * reach - to_a - to_b > 2 * twice)
        pairs = np.flatnonzero(useful[a[:k]] & useful[b[:k]])
        c, d = a[pairs], b[pairs]
        others = np.maximum(to_a[c] + to_b[d], to_a[d] + to_b[c])
        spent += k
        twice = max(twice, float(np.max(length[k] + length[pairs] - others, initial=0.0)))
    return twice / 2, twice / 2


class Flatness(NamedTuple):
    """How much curvature changes the distances of points; returned by `flatness`."""

    median_radius: float  #: the median distance from the Fréchet mean, at curvature -1
    tangent_distortion: float  #: the average distortion of distances between tangent vectors at the mean
    sentence: str  #: the conclusion for the choice of a method


def flatness(X: Any, *, model: ModelName = "poincare", curvature: float = -1.0) -> Flatness:
    """Whether points are curved enough for hyperbolic methods to matter.

    The points are compared with their tangent vectors at the Fréchet mean, the data of tangent PCA: if these have the same
    distances, tangent PCA keeps as much as any hyperbolic method. At most 1000 points are compared, evenly spaced rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    model, curvature : str and float
        The coordinates of X.

    Returns
    -------
    Flatness
        ``median_radius``, ``tangent_distortion`` and a ``sentence``.

    See Also
    --------
    delta_hyperbolicity, fit_curvature : other measures of how hyperbolic data is

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(0, 0.01, (100, 5))
    >>> flatness(X).sentence  # doctest: +ELLIPSIS
    'median radius 0.042 about the mean: nearly flat, tangent PCA keeps as much as HoroPCA (...)'
    """
    rows = check_rows(X, check_coordinates(model, curvature), min_rows=2)
    x = rows.take(np.arange(0, rows.shape[0], -(-rows.shape[0] // SAMPLE)))
    y = translate_to_origin(x, frechet_mean(x).point)
    d, flat = pairwise_distance(y)[np.triu_indices(len(x), 1)], pdist(hyperboloid_to_tangent(y))
    off = mean_of_blocks([relative_change(d, flat)], sampled=False)[0]
    middle = float(np.median(radius(y)))
    unit = "" if curvature == -1 else ", at curvature -1"
    verdict = "nearly flat, tangent PCA keeps as much as HoroPCA"
    if off >= NEARLY_FLAT:
        verdict = "curved, HoroPCA can keep more than tangent PCA"
    off_by = f"flat distances are off by {100 * off:.2g} % on average"
    return Flatness(middle, off, f"median radius {middle:.2g} about the mean{unit}: {verdict} ({off_by})")
