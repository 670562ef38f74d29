"""Variances of images, and the score of a reduction: one measure for each objective, the same for all reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._input.rows import Rows
from .._optimize.sample import some_offsets, some_pairs
from ..geometry import distance, pairwise_distance, to_hyperboloid
from ..geometry._arrays import Array, array_namespace, to_numpy
from ..geometry._points import Chunk
from ..projections.horospherical import Slide, slide
from ..projections.spines import Spine
from ..statistics import (
    frechet_mean,
    lower_quartile_distance,
    mean_of_blocks,
    mean_relative_change,
    mean_square_distance,
    pair_distances,
    sampled_mean_square_distance,
)

MEASURED_ROWS = 1 << 14  # Variances are measured on at most this many rows: their standard error is then below 1 %.
EXACT_ROWS = 3000  # Variances of up to this many points use all pairs,
EXACT_PAIRS = 1 << 26  # if all sets of points together have at most this many pairs (two seconds);
REPORTED_PAIRS = 1 << 18  # otherwise this many pairs: a standard error of about 0.2 %.
ERROR_ROWS = 512  # The standard error is estimated from all pairs of this many points.


def _pair_variance(x: Array, y: Array, offsets: Sequence[int] | None) -> float:
    return mean_square_distance(y) if offsets is None else sampled_mean_square_distance(y, offsets)[0]


def _distortion(x: Array, y: Array, offsets: Sequence[int] | None) -> float:
    return -mean_relative_change(x, y, offsets)[0]


def _bounded_variance(x: Array, y: Array, offsets: Sequence[int] | None) -> float:
    reach = lower_quartile_distance(x)
    blocks = (d * d / (d * d + reach * reach) for (d,) in pair_distances(y, offsets=offsets))
    return mean_of_blocks(blocks, sampled=False)[0]


MEASURES: dict[str, tuple[Callable[[Any, Any, Sequence[int] | None], float], int]] = {
    "variance": (_pair_variance, 2),
    "frechet": (lambda x, y, offsets: frechet_mean(y).variance, 2),
    "distortion": (_distortion, 0),
    "robust": (_bounded_variance, 0),
}
"""For each objective: a function of points x (n, d+1), their images y (n, K+1) and the offsets of the pairs (None: all pairs)
that returns the score, and the exponent of the unit of length in the score."""


def score_of(rows: Rows, objective: str, project: Callable[[Any], Any], back: Callable[[Any], Any]) -> float:
    """The value of the objective of a map on rows, in their unit of length; for many rows, on a fixed sample."""
    n, rng = rows.shape[0], np.random.default_rng(0)
    x = rows.all() if n <= EXACT_ROWS else rows.take(rng.choice(n, size=min(n, MEASURED_ROWS), replace=False))
    offsets = None if n <= EXACT_ROWS else some_offsets(len(x), max(8, REPORTED_PAIRS // len(x)), rng)
    if objective == "residual":
        far = distance(x, back(project(x)))
        return -float(array_namespace(far).mean(far * far)) / rows.coordinates.scale**2
    measure, power = MEASURES[objective]
    return measure(x, project(x), offsets) / rows.coordinates.scale**power


def pair_variances(
    clouds: Sequence[Array], rng: np.random.Generator, pairs: int = REPORTED_PAIRS, weights: Any = None
) -> tuple[np.ndarray, float]:
    """Mean squared distances over pairs of different points in several sets (n, k+1), and the number of pairs counted.

    For few points all pairs are used, and their number is given as infinite, since there is no sampling error. For more
    points, which must be in random order, about `pairs` pairs are used, the same in every set.
    """
    n = clouds[0].shape[0]
    w = np.ones(n) if weights is None else to_numpy(weights)
    if n <= EXACT_ROWS and n * n * len(clouds) <= EXACT_PAIRS:
        share = 1 - float(w @ w) / float(w.sum()) ** 2  # the weight of the pairs of different points
        return np.array([mean_square_distance(y, weights) for y in clouds]) / max(share, 1e-300), np.inf
    some = some_pairs(n, max(1, pairs // n), rng)
    sums, mass = np.zeros(len(clouds)), 0.0
    for o in range(some.first, some.last + 1):
        met = w * np.roll(w, -o) / (2 if 2 * o == n else 1)  # pairs of the offset n/2 occur twice
        (squares,) = [[float(met @ to_numpy(d) ** 2) for d in block] for block in pair_distances(*clouds, offsets=[o])]
        sums, mass = sums + squares, mass + float(met.sum())
    return sums / max(mass, 1e-300), some.total


def measured_variances(
    x: Array, spines: list[Spine], rng: np.random.Generator, seen: int, weights: Any = None
) -> tuple[np.ndarray, float]:
    """Pair variances of the images of points x (m, d+1) under nested spines, and of x itself (last); and a standard error.

    The points are a random sample of `seen` rows, or all of them.
    """
    images, m = [*(slid(x, spine) for spine in spines), x], x.shape[0]
    values, counted = pair_variances(images, rng, weights=weights)
    own, residual = _deviations(_typical_rows(images[-2], rng, weights))
    error = residual / np.sqrt(counted)
    if seen > m:
        error = np.hypot(error, 2 * own * np.sqrt(1 / m - 1 / seen))
    w = np.ones(m) if weights is None else to_numpy(weights)
    lost = 1 / seen if weights is None or seen > m else float(w @ w) / float(w.sum()) ** 2
    return values * (1 - lost), float(error)  # the n^2 pairs of the definition include those of a point with itself


def slid(x: Array, spine: Spine) -> Any:
    """Images (n, K+1) on the hyperboloid of H^K of points x (n, d+1)."""
    images, lost = Slide.along(spine).images(Chunk.of(x))
    if bool(array_namespace(lost).any(lost)):
        images[lost] = to_hyperboloid(slide(x[lost], spine), "halfspace")
    return images


def _typical_rows(y: Array, rng: np.random.Generator, weights: Any) -> np.ndarray:
    """Some of the points, drawn by their weights."""
    if weights is None:
        return to_numpy(y[:ERROR_ROWS, :])
    w = to_numpy(weights)
    return to_numpy(y)[rng.choice(len(w), size=min(len(w), ERROR_ROWS), p=w / w.sum())]


def _deviations(y: np.ndarray) -> tuple[float, float]:
    """Standard deviations of the two parts of a squared distance between points of y: the main effects of the two points, and
    the residual. In a mean over pairs in which all points occur equally often, only the residual varies."""
    squares = pairwise_distance(y) ** 2
    own = squares.mean(axis=1)  # plus a constant, which does not change a standard deviation
    return float(own.std()), float((squares - own - own[:, None]).std())
