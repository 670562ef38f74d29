"""The robust objective: far rows do not turn it, and where no row is far it is the variance."""

import numpy as np
import pytest

from clouds import cloud
from horopca import HoroPCA
from horopca.geometry import distance, lift, pairwise_distance, to_hyperboloid, translate
from horopca.geometry.isometries import Frame, change_of_frame
from horopca.projections import spine_basis
from horopca.statistics.pairs import lower_quartile_distance


def planted(n, d, seed=0):
    """Points about a plane of H^d through a point away from the origin, that point, and the plane's directions there (2, d)."""
    rng = np.random.default_rng(seed)
    turn, mean = np.linalg.qr(rng.standard_normal((d, d)))[0], lift(rng.standard_normal(d) / 2)
    v = rng.standard_normal((n, d)) * np.where(np.arange(d) < 2, 1.0, 0.2)
    return translate(to_hyperboloid(v @ turn, "tangent"), mean), mean, turn


def moved_to_the_rim(x, mean, axis, share, sides=(-1.0, 1.0), radius=30.0):
    """The same points with a share of them moved far out along an axis, to either side or to one."""
    rng, far = np.random.default_rng(1), x.copy()
    rows = rng.permutation(len(x))[: round(share * len(x))]
    u = np.outer(rng.choice(sides, len(rows)), axis) + 0.01 * rng.standard_normal((len(rows), len(axis)))
    far[rows] = translate(lift(np.sinh(radius) * u / np.linalg.norm(u, axis=1, keepdims=True)), mean)
    return far


def turned_from(fit, mean, plane):
    """The largest angle, in degrees, between a plane (2, d) at a point and what a fitted spine spans there."""
    eye = np.eye(len(mean) - 1)
    there = (spine_basis(fit.spine_) @ change_of_frame(Frame(fit._mean, eye), Frame(mean, eye)).T)[:, 1:]
    across = np.linalg.svd(np.linalg.qr(there.T)[0].T @ plane.T, compute_uv=False)
    return np.degrees(np.arccos(min(across[-1], 1.0)))


@pytest.mark.parametrize("spine", ["ideal", "free"])
def test_a_fifth_of_the_rows_at_the_rim_turn_the_plain_spine_and_not_the_robust_one(spine):
    x, mean, turn = planted(100, 5)
    far = moved_to_the_rim(x, mean, turn[2], 0.2)
    fits = {name: HoroPCA(2, spine=spine, objective=name, model="lorentz", n_init=4) for name in ("variance", "robust")}
    assert all(turned_from(fit.fit(x), mean, turn[:2]) < 10 for fit in fits.values())
    assert turned_from(fits["variance"].fit(far), mean, turn[:2]) > 60
    assert turned_from(fits["robust"].fit(far), mean, turn[:2]) < 10


def test_the_middle_of_a_robust_fit_stays_where_most_points_are():
    x, mean, turn = planted(100, 4)
    far = moved_to_the_rim(x, mean, turn[2], 0.2, sides=(1.0,))
    robust, plain = (HoroPCA(1, objective=name, model="lorentz", n_init=2).fit(far) for name in ("robust", "variance"))
    assert distance(robust.mean_, mean) < 0.5 and distance(plain.mean_, mean) > 3
    assert 0 < robust.score(far) < 1  # a mean of shares


def test_it_is_the_same_in_every_unit_of_length():
    """Shrunk data, far below the curvature, has the spine of the data: the reach shrinks with it."""
    v = np.random.default_rng(0).standard_normal((40, 4)) * [1.0, 0.7, 0.3, 0.1]
    large, small = (to_hyperboloid(size * v, "tangent") for size in (1e-3, 1e-5))
    assert lower_quartile_distance(large) == pytest.approx(100 * lower_quartile_distance(small), rel=1e-6)
    first, second = (HoroPCA(2, spine="free", objective="robust", model="lorentz", n_init=4).fit(x) for x in (large, small))
    assert first.converged_ and second.converged_
    assert turned_from(second, np.eye(5)[0], np.linalg.qr(spine_basis(first.spine_)[:, 1:].T)[0].T) < 2


def test_the_usual_distance_is_that_of_most_points():
    x, times = cloud(60, 3), np.random.default_rng(0).integers(1, 4, size=60)
    exact = np.quantile(pairwise_distance(x)[np.triu_indices(60, 1)], 0.25, method="inverted_cdf")
    assert lower_quartile_distance(x) == pytest.approx(exact)
    assert lower_quartile_distance(x, times.astype(float)) == lower_quartile_distance(np.repeat(x, times, axis=0))
    assert lower_quartile_distance(x[:1]) == lower_quartile_distance(x[[0, 0]]) == 1
