"""What images are worth: each measure longhand, over all pairs and over some."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud
from horopca._optimize.measures import BOUNDED_VARIANCE, DISTORTION, FRECHET_VARIANCE, PAIR_VARIANCE, RESIDUAL, Images
from horopca.geometry import distance, origin
from horopca.statistics import frechet_mean


@pytest.mark.parametrize("offsets", [None, (1, 4, 7)])
def test_measures_are_those_of_the_pairs_that_are_counted(offsets):
    n, (x, y) = 20, (cloud(20, 4, seed=1), cloud(20, 2, seed=2))
    i, j = np.triu_indices(n, 1)
    if offsets:
        i, j = np.tile(np.arange(n), 3), np.add.outer(offsets, np.arange(n)).ravel() % n
    before, after = distance(x[i], x[j]), distance(y[i], y[j])
    images = Images(x, y, lambda y: np.broadcast_to(origin(4), x.shape), offsets)
    # the pairs of a point with itself are among the n^2
    assert PAIR_VARIANCE.of(images) == pytest.approx((n - 1) / n * np.mean(after**2), rel=1e-9)
    assert DISTORTION.of(images) == pytest.approx(-np.mean(np.abs(after / before - 1)), rel=1e-9)
    assert FRECHET_VARIANCE.of(images) == pytest.approx(np.mean(distance(y, frechet_mean(y).point) ** 2), rel=1e-9)
    assert RESIDUAL.of(images) == pytest.approx(-np.mean(distance(x, origin(4)) ** 2), rel=1e-9)
    reach = np.quantile(distance(x[:, None], x)[np.triu_indices(n, 1)], 0.25, method="inverted_cdf")
    assert BOUNDED_VARIANCE.of(images) == pytest.approx(np.mean(after**2 / (after**2 + reach**2)), rel=1e-9)
    assert [m.power for m in (PAIR_VARIANCE, FRECHET_VARIANCE, RESIDUAL, DISTORTION, BOUNDED_VARIANCE)] == [2, 2, 2, 0, 0]
