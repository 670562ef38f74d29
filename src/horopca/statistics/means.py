"""Fréchet mean and median, variances about a point, principal axes, and the frames that these define."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..geometry import distance, lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy, norm, to_numpy, unit
from ..geometry._points import Chunk, Points, as_point, as_points, as_weights
from ..geometry.hyperboloid import polar
from ..geometry.isometries import Frame
from ..geometry.models import hyperboloid_to_tangent

NEAR_START = 1e-2  # A given start of the median is assumed to be within this distance of it, in units of the spread.
VALUE_ROUNDING = 1e-14  # A relative change of a variance below this is rounding error.
NO_GAIN = 1e-12  # A search that finds no better point has converged if the predicted gain is below this fraction.
BATCHED_STEPS = 12  # Newton's method usually takes five.
LEAST_START = 1e-6  # Keeps the start of the search, a point of the Klein ball, within radius 7.6, if all points are far out.
MANY_DIMENSIONS = 512  # In more dimensions d, n < d points are rotated into H^n first: matrices of n x n, not d x d.
MOST_HALVINGS = 40  # A step that was halved this often is below rounding error.
SYMMETRIC = 1e-6  # Data is symmetric about an axis if the third moment is below this fraction of the absolute third moment.

Sides = tuple[np.ndarray, ...]  # What the signs of axes are chosen by: see `sides_of_axes`.


class Status(Enum):
    """How the search for a mean or a median ended."""

    CONVERGED = "converged"
    AT_ROUNDING = "converged to rounding"
    NOT_UNIQUE = "converged: other points are equally good"
    NO_DESCENT = "stopped where no step lowered the objective"
    MAX_ITER = "stopped at max_iter"


class Mean(NamedTuple):
    """A Fréchet mean or geometric median, and how the search for it ended; returned by `frechet_mean` and `frechet_median`."""

    point: Any  #: (d+1,), in the array library of the points, float64
    variance: float  #: mean squared distance to it
    n_iter: int  #: steps of the search
    status: Status  #: how it ended

    @property
    def converged(self) -> bool:
        """Whether the point is a minimum."""
        return self.status not in (Status.NO_DESCENT, Status.MAX_ITER)


def frechet_mean(
    x: Array | Points,
    *,
    weights: Any = None,
    start: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-12,
) -> Mean:
    """The Fréchet mean, which minimises the mean squared distance to the points.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    weights : array of shape (n,), optional
        Non-negative weights.
    start : array of shape (d + 1,), optional
        A point near the mean, which saves passes over many points.
    max_iter : int, default=100
        The largest number of Newton steps.
    tol : float, default=1e-12
        The search ends with a step shorter than `tol` times (1 + the spread of the points), where the spread is the root mean
        squared distance.

    Returns
    -------
    Mean
        The point and its variance.

    See Also
    --------
    frechet_median : robust to outliers
    horopca.metrics.frechet_variance : the variance about the mean, for points of any model

    Notes
    -----
    The Hessian of half the squared distance is 1 along the geodesic to a point and d coth d across it. It is known in closed
    form, and four or five steps of Newton's method are enough. A step that does not lower the variance is halved.

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import lift
    >>> from horopca.statistics import frechet_mean
    >>> frechet_mean(lift(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]))).point.round(6) + 0.0
    array([1., 0., 0.])
    """
    points = as_points(x)
    weights = as_weights(weights, points.shape[0])
    m = None if start is None else as_point(start, points.shape[1], "start")
    if m is None and (span := _span(points)) is not None:  # the span contains the mean
        mean = frechet_mean(_in_span(points, span), weights=weights, max_iter=max_iter, tol=tol)
        point = np.concatenate([mean.point[:1], span @ mean.point[1:]])
        return mean._replace(point=from_numpy(point, next(points.chunks()).t))
    return _newton(points, _start(points, weights) if m is None else m, max_iter, tol, weights=weights)


def frechet_median(
    x: Array | Points,
    *,
    weights: Any = None,
    start: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-9,
) -> Mean:
    """The geometric median, which minimises the mean distance to the points.

    The median is robust: if fewer than half of the points are moved, however far, it moves at most a distance that the spread
    of the other points determines.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    weights : array of shape (n,), optional
        Non-negative weights.
    start : array of shape (d + 1,), optional
        A point near the median, which saves passes over many points.
    max_iter : int, default=100
        The largest number of Newton steps for each value of the smoothing.
    tol : float, default=1e-9
        The last value of the smoothing, relative to the spread of the points.

    Returns
    -------
    Mean
        The point and the mean squared distance to it.

    See Also
    --------
    frechet_mean : minimises squared distances

    Notes
    -----
    Newton's method minimises the mean of sqrt(d^2 + e^2), which is smooth. The smoothing e falls by factors of ten from the
    mean distance to `tol` times the mean distance, so a median that is one of the points is found to within that. If all points
    lie on one geodesic, half of them on either side of a gap, every point of the gap is a median.

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import lift
    >>> from horopca.statistics import frechet_median
    >>> x = lift(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 1e6], [0.0, 1e7]]))
    >>> bool(abs(frechet_median(x).point[1:]).max() < 1)
    True
    """
    points = as_points(x)
    weights = as_weights(weights, points.shape[0])
    m = _start(points, weights) if start is None else as_point(start, points.shape[1], "start")
    spread, steps = float(np.sqrt(newton_terms(points, m, weights=weights)[0])), 0
    rounding = 1e-14 * m[0]  # of the points, as a distance
    if start is not None and rounding > tol * spread:  # seen from the start, rounding hides how the points differ
        return frechet_median(points, weights=weights, max_iter=max_iter, tol=tol)
    least = max(tol * spread, rounding)
    if spread <= rounding:  # all points coincide
        return Mean(from_numpy(m, next(points.chunks()).t), spread * spread, 0, Status.AT_ROUNDING)
    smoothing = spread if start is None else NEAR_START * spread
    while True:
        smoothing = max(smoothing / 10, least)
        found = _newton(points, m, max_iter, 1e-3, smoothing, weights)
        m, steps = to_numpy(found.point), steps + found.n_iter
        if not found.converged or smoothing <= least:
            return found._replace(n_iter=steps, variance=variance_about(points, found.point, weights))


def _newton(points: Points, m: np.ndarray, max_iter: int, tol: float, smoothing: float = np.inf, weights: Any = None) -> Mean:
    """The mean, or the median if `smoothing` is finite, from a start m; the search ends with a step below `tol`."""
    like = next(points.chunks()).t
    value, gradient, hessian = newton_terms(points, m, smoothing, weights)
    median, before = smoothing < np.inf, np.inf
    # `tol` is relative to `unit`. Newton steps shorter than `near` shrink quadratically, or else they are rounding error
    unit, near = (smoothing, smoothing) if median else (1 + np.sqrt(value), 1e-2)
    status = Status.MAX_ITER
    n_iter = 0
    while n_iter < max_iter:
        # the median of points on a geodesic has no curvature along it, except from the smoothing
        step = np.linalg.lstsq(hessian, gradient)[0] if median else np.linalg.solve(hessian, gradient)
        size = float(np.linalg.norm(step))
        farthest = 2 * (value if median else np.sqrt(value))  # twice the mean distance: no minimum is farther away
        if size > farthest > 0:
            step, size = step * (farthest / size), farthest
        if size <= tol * unit:
            status = Status.CONVERGED
            break
        gain = gradient @ step
        blind = gain <= VALUE_ROUNDING * value  # rounding hides the change of the value, so the step is taken without a check
        if size > before / 2 and (size < near or blind):  # Newton steps shrink fast until rounding stops them
            status = Status.AT_ROUNDING
            break
        before = size
        # a step that is long, but does not change the value: the minimum is a segment, as between two halves of a line
        if blind and smoothing < size and size > 1e-6 * value:
            status = Status.NOT_UNIQUE
            break
        for _ in range(MOST_HALVINGS):
            with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long is halved
                candidate = exp_from(m, step)
                terms = newton_terms(points, candidate, smoothing, weights)
            if blind or terms[0] <= value * (1 + VALUE_ROUNDING):
                break
            step, before = step / 2, np.inf
        else:
            status = Status.AT_ROUNDING if gain <= NO_GAIN * value else Status.NO_DESCENT
            break
        m, (value, gradient, hessian) = candidate, terms
        n_iter += 1
    return Mean(from_numpy(m, like), value, n_iter, status)


def _start(points: Points, weights: Any) -> np.ndarray:
    """A start of the search: the mean of x / t, a point of the Klein ball. It is bounded, so outliers cannot dominate it."""
    k = weighted_mean(points, lambda chunk, w: to_numpy(w @ ((x := chunk.points())[:, 1:] / x[:, :1])), weights)
    return to_numpy(lift(k / np.sqrt(max(1 - float(k @ k), LEAST_START))))


def weighted_mean(points: Points, function: Callable[[Chunk, Any], Any], weights: np.ndarray | None = None) -> Any:
    """The sums of function(chunk, weights of its points) over all chunks, divided by the total weight (1 each by default).

    The function returns a number, an array or a tuple of these.
    """

    def weigh(chunk: Chunk) -> Any:
        if weights is None:
            return function(chunk, array_namespace(chunk.t).ones_like(chunk.t))
        return function(chunk, from_numpy(weights[chunk.start : chunk.start + chunk.t.shape[0]], like=chunk.t))

    total = points.shape[0] if weights is None else float(weights.sum())
    found = points.fold(weigh)
    return tuple(part / total for part in found) if isinstance(found, tuple) else found / total


def newton_terms(
    points: Points, m: np.ndarray, smoothing: float = np.inf, weights: Any = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """The variance about m, minus half its gradient, and half its Hessian, in the tangent space at m translated to the origin.

    With a finite smoothing e, the mean of sqrt(d^2 + e^2), minus its gradient, and its Hessian.
    """

    def terms(chunk: Chunk, weight: Any) -> tuple[float, np.ndarray, np.ndarray]:
        _, sinh, u = polar(translate_to_origin(chunk.points(), from_numpy(m, chunk.t)))
        xp = array_namespace(u)
        r = xp.asinh(sinh)
        c = xp.where(r > 0, r / xp.tanh(xp.where(r > 0, r, xp.ones_like(r))), xp.ones_like(r))
        value, along = weight * (r * r), xp.ones_like(r)
        if smoothing < np.inf:
            root = xp.sqrt(r * r + smoothing**2)
            value, weight, along = weight * root, weight / root, (smoothing / root) ** 2
        pull = to_numpy(xp.sum((weight * r)[:, None] * u, axis=0))
        curve = to_numpy((u * (weight * (along - c))[:, None]).T @ u)
        return float(xp.sum(value)), pull, float(xp.sum(weight * c)) * np.eye(len(pull)) + curve

    return weighted_mean(points, terms, weights)


def frechet_means(x: Array, w: Array) -> Array:
    """The Fréchet means (S, d+1) of several sets of points x (S, n, d+1), which have the same weights w (n,) of sum 1.

    Full steps of Newton's method, in all sets at once. Where they do not converge, `frechet_mean` shortens them.
    """
    xp = array_namespace(x)
    k = xp.sum(w[:, None] * x[..., 1:] / x[..., :1], axis=1)
    rest = 1 - xp.sum(k * k, axis=1)[:, None]
    m = lift(k / xp.sqrt(xp.where(rest > LEAST_START, rest, xp.full_like(rest, LEAST_START))))
    eye = xp.eye(k.shape[1], dtype=k.dtype, device=device(k))
    for _ in range(BATCHED_STEPS):
        _, sinh, u = polar(translate_to_origin(x, m[:, None, :]))
        r = xp.asinh(sinh)
        c = xp.where(r > 0, r / xp.tanh(xp.where(r > 0, r, xp.ones_like(r))), xp.ones_like(r))
        hessian = (u * (w * (1 - c))[..., None]).mT @ u + xp.sum(w * c, axis=1)[:, None, None] * eye
        gradient = xp.sum((w * r)[..., None] * u, axis=1)[..., None]
        step = (xp.linalg.inv(hessian) @ gradient)[..., 0]  # array-api-compat 1.9 has no `solve` for torch
        size, spread = norm(step), xp.sqrt(xp.sum(w * r * r, axis=1))
        m = translate(lift(unit(step) * xp.sinh(size)[:, None]), m)
        lost = ~(size <= 1e-9 * (1 + spread))
        if not bool(xp.any(lost)):
            break
    for s in np.flatnonzero(to_numpy(lost & xp.all(xp.isfinite(x), axis=(1, 2)))):
        m[s, :] = frechet_mean(x[s, ...], weights=w).point
    return m


def exp_from(m: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The point exp_m(v'), where v' is a tangent vector v (d,) at the origin, translated to m (d+1,)."""
    size = np.linalg.norm(v)
    return to_numpy(translate(lift(v * (np.sinh(size) / size if size > 0 else 1.0)), m))


def variance_about(x: Array | Points, point: Array, weights: Any = None) -> float:
    """The mean squared distance of points to a point.

    Parameters
    ----------
    x : array of shape (n, d + 1)
        Points of the hyperboloid.
    point : array of shape (d + 1,)
        A point of the hyperboloid.
    weights : array of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float

    See Also
    --------
    frechet_mean : the point with the smallest variance
    mean_square_distance : over pairs

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import origin, to_hyperboloid
    >>> from horopca.statistics import variance_about
    >>> round(variance_about(to_hyperboloid(np.array([[0.5], [-0.5]])), origin(1)), 6)
    1.206949
    """
    points = as_points(x)
    centre = as_point(point, points.shape[1], "point")
    weights = as_weights(weights, points.shape[0])
    squares = lambda chunk, w: float(w @ distance(chunk.points(), from_numpy(centre, chunk.t)) ** 2)
    return float(weighted_mean(points, squares, weights))


def principal_axes(x: Array | Points, weights: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Axes (rows, d x d) and variances (d,) of the tangent PCA at the origin of points x (n, d+1), in decreasing order.

    The data fixes the signs: along each axis the third moment is positive. If it vanishes, the farthest point is on the
    positive side. A rotation of the data therefore rotates the axes with it.
    """
    points = as_points(x)
    if (span := _span(points)) is not None:
        axes, few = principal_axes(_in_span(points, span), weights)
        others = np.linalg.qr(span, mode="complete")[0][:, len(axes) :]
        return np.concatenate([axes @ span.T, others.T]), np.concatenate([few, np.zeros(others.shape[1])])
    moments = lambda chunk, w: to_numpy(((v := hyperboloid_to_tangent(chunk.points())) * w[:, None]).T @ v)
    variances, columns = np.linalg.eigh(weighted_mean(points, moments, weights))
    variances, columns = variances[::-1].clip(0), columns[:, ::-1].copy()

    def sides(chunk: Chunk) -> Sides:
        v = hyperboloid_to_tangent(chunk.points())
        own = None if weights is None else weights[chunk.start : chunk.start + v.shape[0]]
        return sides_of_axes(v @ from_numpy(columns, v), own)

    joined = lambda a, b: (a[0] + b[0], a[1] + b[1], np.maximum(a[2], b[2]), np.minimum(a[3], b[3]))
    return columns.T * axis_signs(points.fold(sides, joined))[:, None], variances


def sides_of_axes(along: Array, weights: np.ndarray | None = None) -> Sides:
    """For `axis_signs`, of coordinates (n, K) along axes: sums of the cubes, sums of their absolute values, maxima, minima."""
    xp = array_namespace(along)
    w = xp.ones_like(along[:, 0]) if weights is None else from_numpy(weights, like=along)
    cubes = along * along * along
    return tuple(map(to_numpy, (w @ cubes, w @ xp.abs(cubes), xp.max(along, axis=0), xp.min(along, axis=0))))


def axis_signs(sides: Sides) -> np.ndarray:
    """Signs (K,) that make the third moment along each axis positive or, if it vanishes, the farthest coordinate."""
    third, size, largest, least = sides
    return np.where(np.where(np.abs(third) > SYMMETRIC * size, third, largest + least) < 0, -1.0, 1.0)


def _span(points: Points) -> np.ndarray | None:
    """An orthonormal basis (d, n) of the span of the space parts of n points, if d is large and n < d; else None."""
    n, d = points.shape[0], points.shape[1] - 1
    if d <= max(n, MANY_DIMENSIONS):
        return None
    return np.asarray(np.linalg.qr(to_numpy(points.take(np.arange(n)))[:, 1:].T)[0])


def _in_span(points: Points, span: np.ndarray) -> np.ndarray:
    """The points as points (n, n+1) of the H^n of a span (d, n) that contains them: an isometry."""
    x = to_numpy(points.take(np.arange(points.shape[0])))
    return np.concatenate([x[:, :1], x[:, 1:] @ span], axis=1)


def frame_of(y: Array, centre: np.ndarray | None = None, weights: Any = None) -> Frame:
    """The canonical frame of points y (n, K+1): mean at the origin, axes in decreasing order of variance, signs fixed.

    If a `centre` (K+1,) is given, it takes the place of the mean.
    """
    centre = to_numpy(frechet_mean(y, weights=weights).point if centre is None else centre)
    return Frame(centre, principal_axes(translate_to_origin(y, from_numpy(centre, y)), weights)[0])


def rotated_towards(frame: Frame, y: np.ndarray, wanted: np.ndarray) -> Frame:
    """The frame, rotated about its origin so that the coordinates of points y (n, K+1) are closest to the points `wanted`.

    Closest in the sense of least squares in tangent coordinates. The rotation or reflection has a closed form (Procrustes).
    """
    seen, there = (hyperboloid_to_tangent(x) for x in (frame.enter(y), wanted))
    left, _, right = np.linalg.svd(there.T @ seen)
    return Frame(frame.mean, left @ right @ frame.axes)
