"""What images are worth, by what a fit was for, larger being better: what `score` of a reduction returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..geometry import distance
from ..geometry._arrays import array_namespace
from ..statistics import (
    frechet_mean,
    mean_of_blocks,
    mean_relative_change,
    mean_square_distance,
    pair_distances,
    sampled_mean_square_distance,
    usual_distance,
)


class Images(NamedTuple):
    """Points x (n, d+1), their images y (n, K+1), where these lead back to, and the pairs to count: all, or some offsets."""

    x: Any
    y: Any
    back: Callable[[Any], Any]
    offsets: Sequence[int] | None


class Measure(NamedTuple):
    """A number for images, the larger the better, and its power of a length."""

    of: Callable[[Images], float]
    power: int


def _pairs(images: Images) -> float:
    y, offsets = images.y, images.offsets
    return mean_square_distance(y) if offsets is None else sampled_mean_square_distance(y, offsets)[0]


def _residual(images: Images) -> float:
    far = distance(images.x, images.back(images.y))
    return -float(array_namespace(far).mean(far * far))


def _bounded(images: Images) -> float:
    reach = usual_distance(images.x)
    blocks = (d * d / (d * d + reach * reach) for (d,) in pair_distances(images.y, offsets=images.offsets))
    return mean_of_blocks(blocks, sampled=False)[0]


PAIR_VARIANCE = Measure(_pairs, 2)
FRECHET_VARIANCE = Measure(lambda images: frechet_mean(images.y).variance, 2)
DISTORTION = Measure(lambda images: -mean_relative_change(images.x, images.y, images.offsets)[0], 0)
BOUNDED_VARIANCE = Measure(_bounded, 0)
RESIDUAL = Measure(_residual, 2)
