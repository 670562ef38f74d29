"""Explained and total variance of a fit, over all pairs or over some, with a standard error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..geometry import pairwise_distance, to_hyperboloid
from ..geometry._points import Chunk
from ..projections.horospherical import Slide, slide
from ..projections.spines import Spine
from ..statistics import mean_square_distance, pair_distances
from .pairs import some_offsets

EXACT_ROWS = 3000  # Variances of up to so many points are taken over all of their pairs, if those are few enough.
EXACT_PAIRS = 1 << 26  # All pairs are few enough if they are no more than so many for all clouds together.
REPORTED_PAIRS = 1 << 19  # Of more points, so many pairs are counted.
RESIDUAL_ROWS = 512  # The pairs of so many points say how far an estimate of the variance may be off.


def pair_variances(clouds: Sequence[np.ndarray], rng: np.random.Generator, pairs: int) -> tuple[np.ndarray, float]:
    """Mean squared distances of different points in several clouds (n, k+1) of as many each, and the number of pairs counted.

    All pairs of few points are counted, and their number is infinite: nothing is left to chance. Of more, rows being in random
    order, about as many `pairs` as are asked for, the same in every cloud.
    """
    n = len(clouds[0])
    if n <= EXACT_ROWS and n * n * len(clouds) <= EXACT_PAIRS:
        return np.array([mean_square_distance(y) for y in clouds]) * n / (n - 1), np.inf
    offsets = some_offsets(n, max(1, pairs // n), rng)
    return np.array([_shifted_mean(y, offsets) for y in clouds]), n * len(offsets)


def measured_variances(
    x: np.ndarray, spines: list[Spine], rng: np.random.Generator, seen: int, across: tuple[int, float, float] | None
) -> tuple[np.ndarray, float]:
    """Pair variances of the images of points x (m, d+1) under nested spines, and of x itself (last); a standard error.

    Over all pairs of x if they are few; else over some. If x is a sample of `seen` rows, `across` are a number of pairs of a
    row and a point of x, and the sums of their squared distances, projected and true: twice their means less those of x
    alone are the means over all rows.
    """
    images, m = [*(slid(x, spine) for spine in spines), x], len(x)
    own, residual = _deviations(images[-2][:RESIDUAL_ROWS])
    values, counted = pair_variances(images, rng, REPORTED_PAIRS)
    error = residual / np.sqrt(counted)
    if across is not None:
        count, kept, true = across[0], across[1] / across[0], across[2] / across[0]
        last, values[-1] = values[-2], 2 * true - values[-1]
        values[:-1] *= (2 * kept - last) / last if last > 0 else 1.0
        rest = seen / m % 1  # that share of the sample stood opposite one row more than the others
        uneven = 2 * own * np.sqrt(rest * (1 - rest) / m) * m / seen
        error = np.sqrt(error**2 + 4 * residual**2 / count + uneven**2)
    elif seen > m:
        error = np.hypot(error, 2 * own * np.sqrt(1 / m - 1 / seen))
    return values * (seen - 1) / seen, float(error)  # the pairs of a point with itself are among the n^2


def slid(x: np.ndarray, spine: Spine) -> np.ndarray:
    """Images (n, K+1) on the hyperboloid of H^K of points x (n, d+1)."""
    images, lost = Slide.along(spine).images(Chunk.of(x))
    images[lost] = to_hyperboloid(slide(x[lost], spine), "halfspace")
    return np.asarray(images)


def _shifted_mean(y: np.ndarray, offsets: tuple[int, ...]) -> float:
    """Mean squared distance of the pairs (i, i + o mod n) of points y (n, k+1), rows in random order."""
    return float(np.mean([np.mean(d**2) for (d,) in pair_distances(y, offsets=offsets)]))


def _deviations(y: np.ndarray) -> tuple[float, float]:
    """Standard deviations of the two parts of a squared distance between points of y: what each point brings to all its
    pairs, and what is left to the pair itself. A mean over pairs in which all points are equally often has only the latter."""
    squares = pairwise_distance(y) ** 2
    own = squares.mean(axis=1)  # and a constant, which is in no deviation
    return float(own.std()), float((squares - own - own[:, None]).std())
