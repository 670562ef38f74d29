"""The curvature that fits distances best, by the least distortion of points at each of several curvatures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from .._input.arguments import MetricName, check_count
from .._input.threads import one_blas_thread
from ..geometry import ModelName, pairwise_distance, to_hyperboloid
from ..geometry.hyperboloid import squared_differences
from .euclidean import classical_mds
from .hyperbolicity import distances_of

# The curvatures of the profile, given as sqrt(-curvature) times the median distance. Below the first, space is flat to within
# a percent; beyond the last, points are so far out that float64 cannot distinguish them.
CURVATURES = 2.0 ** np.arange(-2, 4.5, 0.5)
HALF_STEP = 2.0**0.5  # The curvatures differ by a factor of 2: the best one may be up to this factor away.
FLAT = 1e-3  # The same quantity for Euclidean space: distances differ from Euclidean ones by less than one in a million.
BOUND = 40.0  # The bound on coordinates, at curvature -1: no point of a profile is as far out, and nothing overflows.
SOFTNESS = 0.01  # |e| is replaced by sqrt(e^2 + SOFTNESS^2), smooth at 0. Usual distortions are ten times as large.
ITERATIONS = 150  # The iterations of each descent: twice as many change the distortions of the paper's trees by less than 2 %.
MAX_ERRORS = 2.0  # The interval has the curvatures whose distortion exceeds the least by at most this many standard errors.


class CurvatureFit(NamedTuple):
    """The curvature that fits distances best; returned by `fit_curvature`."""

    curvature: float  #: the one with the least distortion
    distortion: float  #: average distortion there
    interval: tuple[float, float]  #: the curvatures whose distortion is not significantly larger
    euclidean: float  #: average distortion of the best points in Euclidean space of the same dimension
    curvatures: np.ndarray  #: (m,), the curvatures of the profile, from nearly flat to strongly curved
    distortions: np.ndarray  #: (m,), the average distortion at each


@one_blas_thread()
def fit_curvature(
    X: Any,
    n_components: int = 2,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    metric: MetricName = "hyperbolic",
    n_points: int = 300,
    random_state: Any = 0,
) -> CurvatureFit:
    """The curvature at which hyperbolic space of a given dimension represents distances with the least distortion.

    At each of 13 curvatures, points are moved to minimise the average distortion, the mean over pairs of ``|d' - d| / d``, by
    L-BFGS; every descent starts at the result of the neighbouring curvatures. Euclidean space is treated in the same way.

    Parameters
    ----------
    X : sparse matrix (n, n), array (n, n) or array (n, n_features)
        A graph, whose entries are the lengths of its edges; a matrix of distances, with ``metric="precomputed"``; or points.
    n_components : int, default=2
        The dimension of hyperbolic space.
    model, curvature : str and float
        The coordinates of points.
    metric : {"hyperbolic", "precomputed"}
        Whether points or matrices of distances are passed.
    n_points : int, default=300
        Of more points, a random sample of this size is used. 300 points take about ten seconds.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the sample.

    Returns
    -------
    CurvatureFit
        The ``interval`` contains the curvatures whose distortion exceeds the least by at most two standard errors of the
        difference, over points, and extends half a step of the profile beyond them. If it contains the first or the last of
        ``curvatures``, a flatter or a more curved space may be as good.

    See Also
    --------
    delta_hyperbolicity, flatness : other measures of how hyperbolic data is

    Examples
    --------
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(branching=2, depth=4, random_state=0)
    >>> found = fit_curvature(tree.points, 2)
    >>> bool(found.distortion < found.euclidean)
    True
    """
    D = distances_of(X, model, curvature, metric, check_count("n_points", n_points, 4), random_state)[0]
    K = check_count("n_components", n_components, 1, len(D) - 1, f" (there are {len(D)} points)")
    apart = D > 0
    if not apart.any():
        raise ValueError("X must contain two different points, but all distances are 0.")
    unit = float(np.median(D[apart]))
    D = D / unit
    roots = np.array([FLAT, *CURVATURES])
    found = zip(_profile(D, classical_mds(D, K), roots), roots, strict=True)
    images = np.array([pairwise_distance(to_hyperboloid(root * v, "tangent")) / root for v, root in found])
    errors = np.where(apart, np.abs(images / np.where(apart, D, 1.0) - 1), 0.0)
    means = errors.sum(axis=(1, 2)) / apart.sum()
    best = 1 + int(np.argmin(means[1:]))
    by_point = errors.sum(axis=2) / np.maximum(apart.sum(axis=1), 1)
    noise = 2 * (by_point - by_point[best]).std(axis=1, ddof=1) / np.sqrt(len(D))  # a point is in two of n pairs
    good = np.flatnonzero(means[1:] <= means[best] + MAX_ERRORS * noise[1:])
    curvatures = -((CURVATURES / unit) ** 2)
    return CurvatureFit(
        curvature=float(curvatures[best - 1]),
        distortion=float(means[best]),
        interval=(float(curvatures[good[-1]]) * HALF_STEP, float(curvatures[good[0]]) / HALF_STEP),
        euclidean=float(means[0]),
        curvatures=curvatures,
        distortions=means[1:],
    )


def _profile(D: np.ndarray, flat: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
    """The points with the least distortion for each curvature -root^2, as tangent vectors (n, K) at the origin."""

    def descent(v: np.ndarray, root: float) -> Any:
        box = [(-BOUND / root, BOUND / root)] * v.size
        options = {"maxiter": ITERATIONS}
        return minimize(_loss, v, (D, root), jac=True, method="L-BFGS-B", bounds=box, options=options)

    found = [descent(flat.ravel(), roots[0])]
    for root in roots[1:]:
        found.append(descent(found[-1].x, root))
    for k in range(len(roots) - 2, -1, -1):  # and back again, from the more to the less curved
        found[k] = min(found[k], descent(found[k + 1].x, roots[k]), key=lambda result: result.fun)
    return [result.x.reshape(flat.shape) for result in found]


def _loss(v: np.ndarray, D: np.ndarray, root: float) -> tuple[float, np.ndarray]:
    """The smoothed distortion at curvature -root^2 of the points exp(v), and its gradient; v and the gradient are (n K,)."""
    v = v.reshape(len(D), -1)
    # in polar coordinates no terms cancel: cosh d - 1 = 2 sinh^2((rho - rho')/2) + sinh rho sinh rho' (1 - cos angle)
    r = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)
    u, rho = v / r, root * r
    sinh, versine, away = np.sinh(rho), squared_differences(u, u) / 2, rho - rho.T
    cosh_less_1 = 2 * np.sinh(away / 2) ** 2 + sinh * sinh.T * versine
    apart = (D > 0) & (cosh_less_1 > 0)
    wanted = np.where(apart, root * D, 1.0)
    e = np.where(apart, 2 * np.arcsinh(np.sqrt(cosh_less_1 / 2)) / wanted - 1, 0.0)
    soft, count = np.sqrt(e * e + SOFTNESS**2), max(1, int(apart.sum()))
    A = np.where(apart, 2 * e / (soft * wanted * count), 0.0)  # the gradient by d, divided by sinh d to be that by cosh d
    A /= np.where(apart, np.sqrt(cosh_less_1 * (cosh_less_1 + 2)), 1.0)
    by_rho = np.sum(A * (np.sinh(away) + np.cosh(rho) * sinh.T * versine), axis=1, keepdims=True)
    B = A * sinh * sinh.T
    by_u = B.sum(axis=1, keepdims=True) * u - B @ u
    by_u -= np.sum(by_u * u, axis=1, keepdims=True) * u
    return float((soft - SOFTNESS)[apart].sum() / count), (root * by_rho * u + by_u / r).ravel()
