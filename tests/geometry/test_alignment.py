"""Procrustes in hyperbolic space: `align` recovers isometries and minimises its objective."""

import mpmath as mp
import numpy as np
import pytest

from clouds import cloud, rotation
from horopca.geometry import Alignment, align, distance, lift, origin, translate
from horopca.geometry._arrays import to_numpy


def isometry(d, *, radius=2.0, seed=0):
    """A random isometry: those of even seeds preserve orientation, the others reverse it."""
    v, turn = np.random.default_rng(seed).standard_normal(d), rotation(d, seed=seed)
    turn[0] *= np.linalg.det(turn) * (-1) ** seed
    return Alignment(origin(d), turn, lift(np.sinh(radius) * v / np.linalg.norm(v)))


def shaken(x, seed=0, by=0.5):
    """Points of a cloud moved each on its own."""
    return lift(x[:, 1:] + by * np.random.default_rng(seed).standard_normal(x[:, 1:].shape))


def cosh_sum(g, x, y, w=1.0):
    return float(np.sum(w * np.cosh(distance(g.move(x), y))))


def square_sum(g, x, y, w=1.0):
    return float(np.sum(w * distance(g.move(x), y) ** 2))


@pytest.mark.parametrize(("d", "squares"), [(1, False), (2, True), (5, False)])
def test_recovers_an_isometry_in_every_array_library(xp, d, squares):
    x = cloud(12, d)
    for seed in range(2):
        g = isometry(d, seed=seed)
        found = align(xp.asarray(x), xp.asarray(g.move(x)), squares=squares)
        # rounding of points at radius 5, e^5 times that of 1
        assert distance(to_numpy(found.move(xp.asarray(x))), g.move(x)).max() < 1e-12
        assert np.allclose(found.matrix(), g.matrix(), atol=1e-10)


@pytest.mark.parametrize("d", [2, 3, 6])
def test_far_points_and_thin_clouds(d):
    s = 0.1 * np.random.default_rng(0).standard_normal((50, d))
    s[:, 0] = np.sinh(np.linspace(-12, 12, 50))  # the moments along are 1e12 times those across
    thin = isometry(d, seed=1).move(lift(s))
    small = translate(cloud(50, d, radius=1.0), lift(np.sinh(15.0) * np.eye(d)[0]))  # a cloud far from the origin
    there = Alignment(small[0], rotation(d, seed=4), small[1]).move(small)
    # one unit in the last place of a point at radius 17 is e^17 1e-16, or 3e-9
    for x, y, error in ((thin, isometry(d, seed=2).move(thin), 1e-6), (small, there, 1e-7)):
        assert distance(align(x, y).move(x), y).max() < error


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("radius", [1.0, 15.0])
def test_the_sum_is_that_of_mpmath(d, radius):
    """The least sum is s_0 - s_1 - .. of the Minkowski singular values, roots of eigenvalues: in 120 digits."""
    x = cloud(12, d, radius=radius, seed=1)
    y = isometry(d, seed=3).move(translate(x, shaken(np.tile(origin(d), (12, 1)))))
    w = np.random.default_rng(0).uniform(0.5, 2, size=12)
    with mp.workdps(120):
        exact = [
            mp.matrix([[mp.sqrt(1 + mp.fsum(mp.mpf(c) ** 2 for c in row[1:]))] + [mp.mpf(c) for c in row[1:]]])
            for row in (*x, *y)
        ]
        M = sum((mp.mpf(float(w[i])) * exact[12 + i].T * exact[i] for i in range(12)), mp.zeros(d + 1))
        J = mp.diag([-1] + [1] * d)
        sizes = sorted((mp.sqrt(abs(mp.re(s))) for s in mp.eig(J * M.T * J * M)[0]), reverse=True)
        least = float(sizes[0] - sum(sizes[1:]))
    assert cosh_sum(align(x, y, w), x, y, w) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_no_other_isometry_is_nearer(d):
    x, rng = cloud(30, d), np.random.default_rng(0)
    y = isometry(d, seed=5).move(shaken(x))
    w = rng.uniform(size=30)
    best, squared = align(x, y, w), align(x, y, w, squares=True)
    others = [Alignment(origin(d), np.eye(d), origin(d)), *(isometry(d, seed=s) for s in range(20))]
    for near in (1e-3, 1e-2, 0.1):  # and those close by
        turn = np.linalg.qr(best.turn + near * rng.standard_normal((d, d)))
        step = lift(near * rng.standard_normal(d))
        others.append(best._replace(turn=turn[0] * np.sign(np.diag(turn[1])), there=translate(step, best.there)))
    assert all(cosh_sum(best, x, y, w) <= cosh_sum(g, x, y, w) * (1 + 1e-12) for g in others)
    assert all(square_sum(squared, x, y, w) <= square_sum(g, x, y, w) * (1 + 1e-6) for g in [best, *others])


def test_one_outlier_dominates_the_sum_of_cosh_but_not_of_squares():
    x = cloud(60, 2)
    y = x.copy()
    y[0] = lift(np.sinh(12.0) * np.array([1.0, 0.0]))
    moved = [np.median(distance(align(x, y, squares=squares).move(x), x)) for squares in (False, True)]
    assert moved[1] < 0.2 < 1 < moved[0]


def test_weights_are_repeats():
    x = cloud(20, 3)
    y, times = isometry(3).move(shaken(x)), np.random.default_rng(0).integers(0, 4, size=20)
    rows = np.repeat(np.arange(20), times)
    for squares in (False, True):
        weighted, repeated = align(x, y, times, squares=squares), align(x[rows], y[rows], squares=squares)
        assert np.allclose(weighted.matrix(), repeated.matrix(), rtol=1e-6)
        assert np.allclose(weighted.matrix(), align(x, y, 7.0 * times, squares=squares).matrix(), rtol=1e-6)


def test_clouds_that_do_not_determine_it():
    x, y, move = cloud(1, 3), cloud(1, 3, seed=1), isometry(3).move
    line = move(lift(np.outer(np.sinh(np.linspace(-3, 3, 9)), np.eye(3)[0])))
    for a, b in ((x, y), (line, isometry(3, seed=2).move(line)), (np.repeat(x, 5, axis=0), np.repeat(y, 5, axis=0))):
        for squares in (False, True):
            assert distance(align(a, b, squares=squares).move(a), b).max() < 1e-11


def test_lists_rows_of_weight_zero_and_rounded_times():
    x = cloud(4, 2)
    y = isometry(2).move(x)
    found = align(x, y)
    assert np.array_equal(align(x.tolist(), y.tolist()).matrix(), found.matrix())
    missing = np.vstack([x, np.full((1, 3), np.nan)])
    assert np.allclose(align(missing, np.vstack([y, y[:1]]), np.r_[1, 1, 1, 1, 0]).matrix(), found.matrix())
    far = lift(np.array([[0.0, 80.0], [1.0, 2.0], [0.0, 0.0]]))
    assert distance(align(far * [1 + 5e-3, 1, 1], far).move(far), far).max() < 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: (x[:0], x[:0]), r"x and y must be points .* shapes \(0, 3\)"),
        (lambda x: (x, x[:3]), r"x and y must be points .* shapes \(4, 3\) and \(3, 3\)"),
        (lambda x: (np.where(x == x[2, 1], np.nan, x), x), "x must hold points of the hyperboloid.* but row 2 is .*nan"),
        (
            lambda x: (x, x * [1 + 2e-2, 1, 1]),
            "y must hold points of the hyperboloid.* but row 0 is .* with to_hyperboloid",
        ),
        (
            lambda x: (lift(np.sinh(200.0) * np.eye(2)), x[:2]),
            "x must hold points .* within radius 175 of the origin, but row 0 is",
        ),
        (lambda x: (x, x, np.ones(3)), "weights must be one number for each of the 4 points"),
        (lambda x: (x, x, np.zeros(4)), "weights must be finite and non-negative"),
        (lambda x: (x, x, np.array([1.0, -1, 1, 1])), "weights must be finite and non-negative"),
    ],
)
def test_errors_of_align(change, message):
    with pytest.raises(ValueError, match=message):
        align(*change(cloud(4, 2)))
