"""The Fréchet mean of many rows, in few passes."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..geometry._points import Chunk, Points
from ..geometry.isometries import BOOSTABLE_TIME, boosted_to_origin
from ..statistics.means import Mean, Status, exp_from, frechet_mean, newton_terms, weighted_mean
from .rows import Rows

MANY_ROWS = 1 << 14  # The mean of more rows than this starts from that of a sample.
MEAN_ERROR = 1e-4  # The error of a mean of many rows, as a fraction of the standard error that it has as an estimate.
MOST_PASSES = 16  # If the mean has not converged after this many passes, Newton's method over all rows finds it.


def mean_of(rows: Rows) -> Mean:
    """The Fréchet mean of the rows."""
    n, weights = rows.shape[0], rows.weights
    if n <= MANY_ROWS:
        return frechet_mean(rows, weights=weights)
    chance = None if weights is None else weights / weights.sum()
    some = np.random.default_rng(0).choice(n, size=MANY_ROWS // 4, replace=weights is not None, p=chance)
    return mean_of_many(rows, rows.points(some))


def mean_of_many(rows: Rows, sample: Array, first: Mean | None = None) -> Mean:
    """The Fréchet mean of many rows, in few passes over them, from a random sample (m, d+1) of them.

    `first` is the mean of the sample, if it is known. From there Newton's method takes the gradient of all rows and the Hessian
    of the sample, which Broyden's rule corrects after each step. The first pass (two products with the user's array) divides
    the error by about the square root of the sample size, and later passes divide it by more.
    """
    weights = rows.weights
    first = frechet_mean(sample) if first is None else first
    m, before = to_numpy(first.point), np.inf
    if m[0] > BOOSTABLE_TIME:
        return frechet_mean(rows, start=m, weights=weights)
    inverse = np.linalg.inv(newton_terms(Points(sample), m)[2])
    gradient = step = np.zeros_like(m)  # none yet
    for n_iter in range(1, MOST_PASSES + 1):
        variance, pull = weighted_mean(rows, partial(_sums_about, m), weights)
        if not variance <= before * (1 + 1e-12):
            break
        before, last, last_size = variance, gradient, float(np.linalg.norm(step))
        gradient = boosted_to_origin(pull, m)[1:]
        if last_size > 0:  # Broyden's update of the inverse Hessian by the last step
            change = inverse @ (last - gradient)
            inverse += np.outer(step - change, step @ inverse) / (step @ change)
        step = inverse @ gradient
        size = float(np.linalg.norm(step))
        m = exp_from(m, step)
        next_size = size * min(1.0, size / last_size) if last_size > 0 else size
        if next_size <= 1e-9 + MEAN_ERROR * np.sqrt(variance / rows.shape[0]):
            return Mean(m, variance, n_iter, Status.CONVERGED)
    return frechet_mean(rows, start=to_numpy(first.point), weights=weights)  # the sample does not represent the rows


def _sums_about(m: np.ndarray, chunk: Chunk, weights: Array) -> tuple[float, np.ndarray]:
    """The weighted sums of d^2 and of d / sinh(d) x over the points x of a chunk, where d is the distance from m (d+1,)."""
    xp = array_namespace(chunk.t)
    reflected = from_numpy(np.concatenate([m[:1], -m[1:]]), chunk.t)  # whose Euclidean products are cosh(d) = -<m, x>
    cosh = chunk.products(reflected[None, :])[0, :]
    cosh = xp.where(cosh > 1, cosh, xp.ones_like(cosh))
    sinh = xp.sqrt(cosh - 1) * xp.sqrt(cosh + 1)
    d = xp.log(cosh + sinh)
    ratio = xp.where(sinh > 1e-8, d / xp.where(sinh > 1e-8, sinh, xp.ones_like(sinh)), xp.ones_like(sinh))
    return float(weights @ (d * d)), to_numpy(chunk.weighted_sums((weights * ratio)[None, :]))[0]
