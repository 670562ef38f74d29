"""HyperbolicMDS: spectral multidimensional scaling, from points or from distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from .._input.arguments import METRICS, MetricName, check_choice, check_distances
from .._input.coordinates import FARTHEST_IMAGE
from .._input.rows import Rows
from .._optimize.result import Ending
from ..geometry import lift, translate
from ..geometry._arrays import Array, array_namespace, concat_time, from_numpy, to_numpy
from ..geometry._points import Chunk, Points, TranslatedPoints
from ..geometry.isometries import boosted_to_origin
from ..statistics.means import frame_of
from .fitting import (
    as_fitted,
    check_components,
    in_model,
    mean_ending,
    measured_rows,
    nested_variances,
    store_mean,
    store_variances,
    warn_caller,
)
from .linear import IMAGE_ERROR, LinearReduction

EPS = float(np.finfo(float).eps)
NEAR_COSH = 10.0  # If cosh(distance of the new centre) is larger, R is computed again; below, it loses at most two digits.
LARGE_ROUNDING = 1e-2  # A warning is issued if the rounding error of the largest coordinate exceeds this.


def _has_points(estimator: HyperbolicMDS) -> bool:
    if as_fitted(estimator, "metric") == "precomputed":
        raise AttributeError("inverse_transform and score need points, but with metric='precomputed' there are only distances.")
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class HyperbolicMDS(LinearReduction):
    """Multidimensional scaling in hyperbolic space: the spectrum of the matrix of -cosh(distance) [1]_.

    On the hyperboloid -cosh d(x, y) is the Minkowski product of x and y, so the eigenvectors of the K largest eigenvalues are
    coordinates. From points (t, s), translated such that sum t s = 0, they are the K principal components of the space parts s:
    a linear map that also applies to new points. It is one of the projections of ``HoroPCA(spine="free")``, so it lengthens no
    distance.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data (and at most the number of points). A float between 0
        and 1 selects the fewest components that keep that fraction of the variance; None keeps all.
    metric : {"hyperbolic", "precomputed"}, default="hyperbolic"
        "hyperbolic": X holds points. "precomputed": X is a symmetric matrix of distances (of curvature `curvature`);
        `transform` then takes the distances of new points (rows) to the points of the fit (columns).
    model : str, default="poincare"
        Coordinates of the points and of the output. "auto" recognises the model of points; with distances, pass one.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        The K largest, as fractions of the largest.
    centre_ : ndarray of shape (n_features_in_,)
        The point, in the estimator's model, around which sum t s = 0: that with the least sum of cosh^2 d.
        Only with points.
    components_ : ndarray of shape (n_components_, n_dimensions)
        Orthonormal directions at the centre, carried to the origin. Only with points.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean, in the estimator's model. Only with points.
    n_components_, explained_variance_, explained_variance_ratio_, total_variance_
        As in `HoroPCA`.
    departure_ : float
        How far given distances are from hyperbolic: the fraction of the sum of absolute eigenvalues, except the time-like one,
        that has the wrong sign. 0 with points.
    metric_ : str
        The metric of the fit.
    n_iter_, converged_, status_
        How the fit ended.
    objective_, model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`. A fit to distances has no ``objective_``.

    See Also
    --------
    HoroPCA : optimises the projection by a search.
    horopca.embed.DistortionEmbedding : points from a graph, by the distances along its edges.

    References
    ----------
    .. [1] Sala, F., De Sa, C., Gu, A., and Ré, C. (2018). Representation tradeoffs for hyperbolic embeddings. Proceedings of
       the 35th International Conference on Machine Learning.

    Examples
    --------
    >>> from horopca import HyperbolicMDS
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> HyperbolicMDS(n_components=2).fit_transform(X).shape
    (121, 2)
    >>> D = [[0, 1, 6], [1, 0, 5], [6, 5, 0]]                     # three points on a line
    >>> HyperbolicMDS(1, metric="precomputed", model="tangent").fit_transform(D).round(2)
    array([[-2.33],
           [-1.33],
           [ 3.67]])
    """

    metric: MetricName = "hyperbolic"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    def _takes_points(self) -> bool:
        check_choice("metric", self.metric, METRICS)
        return self.metric == "hyperbolic"

    def _fit_rows(self, rows: Rows, **options: Any) -> Ending:
        self.metric_ = self.metric
        return super()._fit_rows(rows) if self.metric == "hyperbolic" else self._fit_distances(rows)

    def _transform_rows(self, rows: Rows) -> Any:
        if self.metric_ == "hyperbolic":
            return super()._transform_rows(rows)
        Y = self._frame.enter(self._located(_check_distances(rows, symmetric=False)))
        return rows.coordinates.from_hyperboloid(from_numpy(Y, rows.X), rows.X.dtype)

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        mean = store_mean(self, rows)
        centre, R, reach = _balance_point(rows, self._mean)
        _, sizes, axes = np.linalg.svd(R[:, 1:], full_matrices=False)
        self.eigenvalues_ = np.square(sizes[:K] / max(sizes[0], 1e-300))
        self.centre_ = in_model(self, centre)
        self.departure_ = 0.0
        self._store_map(rows, centre, axes[:K])
        unseen = 10 * EPS * sizes[0]  # smaller singular values are rounding error
        _warn_of_rounding(int(np.sum(sizes[:K] > unseen)), K, EPS * np.exp(reach), reach)
        return mean_ending(mean)

    def _is_accurate(self, t: Array, b: Array, rest: Array, error: Array) -> Array:
        return error < IMAGE_ERROR / 4

    def _fit_distances(self, rows: Rows) -> Ending:
        D = _check_distances(rows, symmetric=True)
        n = len(D)
        asked = check_components(self.n_components, None, n)
        self._reach = float(D.max())
        values, vectors = np.linalg.eigh(-np.cosh(D) / np.exp(self._reach))  # of size 1: its sums cannot overflow
        noise = n * EPS * abs(values[0])
        most = max(1, int(np.sum(values > noise))) if self.n_components is None or asked < 1 else int(asked)
        top = values[::-1][:most]
        self._weights = -vectors[:, ::-1][:, :most] / np.where(top > noise, np.sqrt(np.abs(top)), np.inf)
        nested = self._located(D)[:, 1:]
        order = measured_rows(n)
        kept = nested_variances([lift(nested[order, :k]) for k in range(1, most + 1)])
        total = float(np.mean(D * D))
        K = most if asked >= 1 else int(np.argmax(kept >= min(asked * total, kept[-1]))) + 1
        self._weights, self.eigenvalues_ = self._weights[:, :K], np.maximum(top[:K], 0) / max(top[0], 1e-300)
        self.n_components_, self._n_features_out = K, rows.coordinates.columns(K)
        store_variances(self, kept[:K], total)
        self._frame = frame_of(lift(nested[:, :K]))
        _warn_of_rounding(int(np.sum(top[:K] > noise)), K, np.sqrt(n * EPS) * np.exp(self._reach / 2), self._reach / 2)
        wrong, right = -values[1:][values[1:] < -noise].sum(), values[values > noise].sum()
        self.departure_ = float(wrong / (wrong + right)) if wrong > 0 else 0.0
        apart = f"{self.departure_:.2%} of the spectrum has the wrong sign: the distances fit no hyperbolic space exactly"
        return Ending(1, True, apart if self.departure_ else "the distances are hyperbolic, to rounding")

    def _located(self, D: np.ndarray) -> np.ndarray:
        """Points (m, K+1) at distances D (m, n) from the points of the fit."""
        # coordinates read off the eigenvectors would all have the rounding error of the farthest point
        return lift(np.cosh(D) / np.exp(self._reach / 2) @ self._weights)

    inverse_transform = available_if(_has_points)(LinearReduction.inverse_transform)
    score = available_if(_has_points)(LinearReduction.score)


def _check_distances(rows: Rows, *, symmetric: bool) -> np.ndarray:
    """Validate rows of distances, and return them at curvature -1."""
    D = check_distances(check_array(to_numpy(rows.X), dtype=np.float64), symmetric=symmetric)
    scale = rows.coordinates.scale
    if D.max() * scale > FARTHEST_IMAGE:
        raise ValueError(
            f"X must hold distances of at most {FARTHEST_IMAGE / scale:g} (float64 holds no more), but its largest is "
            f"{D.max():.6g}. Divide the distances by a scale, or pass a curvature nearer to 0."
        )
    return D * scale


def _balance_point(rows: Rows, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The point (d+1,) around which sum t s = 0, R of the points relative to it (see `_qr_factor`), and the largest radius."""
    # the accuracy of the point decreases with its distance from the centre for which R was computed: if it is far, iterate
    R, reach = _qr_factor(rows)
    centre, last = _time_like_point(R), np.inf
    if centre[0] < NEAR_COSH:
        return centre, boosted_to_origin(R, centre), reach
    centre = start
    for _ in range(20):
        R, reach = _qr_factor(TranslatedPoints(rows, centre))
        step = _time_like_point(R)
        size = float(np.linalg.norm(step[1:]))
        if size < 1e-9 or (size < 1e-3 and size > last / 2):  # converged, or no longer shrinking because of rounding
            break
        centre, last = translate(step, centre), size
    return centre, R, reach


def _time_like_point(R: np.ndarray) -> np.ndarray:
    """The point (d+1,) around which sum t s = 0, from R of the points."""
    step = np.eye(1, R.shape[1])[0]
    for _ in range(50):
        moved = boosted_to_origin(R, step)
        u = np.linalg.eigh(moved[:, 1:] @ moved[:, 1:].T - np.outer(moved[:, 0], moved[:, 0]))[1][:, 0]
        f = u @ moved
        k = f[1:] / f[0]  # in the Klein ball
        size = float(np.linalg.norm(k))
        if size < 1e-12:
            break
        k = k * min(1, (1 - 1e-9) / size)  # inside the ball
        step = translate(lift(k / np.sqrt(1 - k @ k)), step)
    return np.asarray(step)


def _qr_factor(x: Points) -> tuple[np.ndarray, float]:
    """R (m, d+1) of the QR decomposition of the points, m at most d+1, up to a scale; and the largest radius of the points."""

    def factor(chunk: Chunk) -> tuple[float, np.ndarray]:
        peak = float(array_namespace(chunk.t).max(chunk.t))
        block = to_numpy(concat_time(chunk.t / peak, chunk.X * (chunk.factor / peak)[:, None]))
        return peak, np.asarray(np.linalg.qr(block, mode="r"))

    def together(a: tuple[float, np.ndarray], b: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
        peak = max(a[0], b[0])
        return peak, np.asarray(np.linalg.qr(np.concatenate([R * (size / peak) for size, R in (a, b)]), mode="r"))

    peak, R = x.fold(factor, together)
    return R, float(np.log(2 * peak))


def _warn_of_rounding(seen: int, K: int, hidden: float, reach: float) -> None:
    """Warn if rounding error hides components: only `seen` of K exceed it, and coordinates up to `hidden` may be lost."""
    if seen < K and hidden > LARGE_ROUNDING:
        warn_caller(
            f"HyperbolicMDS: the rounding error of cosh at points {reach:.0f} from the centre hides smaller components, and "
            f"only {seen} of the {K} components are accurate. Leave out the farthest points, or use HoroPCA."
        )
