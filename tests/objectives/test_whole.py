"""The objectives over all rows: the pairs they say, the gradient of their value, and the answer of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, clusters, rotation
from horopca._input.coordinates import Coordinates
from horopca._input.rows import Rows
from horopca._objectives import whole as whole_rows
from horopca._objectives.frechet import frechet_objective
from horopca._objectives.objectives import OBJECTIVES
from horopca._objectives.pairs import Across, AllPairs
from horopca._objectives.profiles import SQUARE, mean_over_pairs
from horopca._objectives.sample import as_sample
from horopca._objectives.whole import Whole
from horopca.geometry import Frame, distance, lift, to_hyperboloid, translate
from horopca.geometry._points import TranslatedPoints
from horopca.projections import slide, spine_from_basis
from horopca.statistics import frechet_mean, principal_axes


@pytest.mark.parametrize(("first", "others", "offsets"), [(23, 7, (0, 3, 5)), (5, 9, (0, 2, 3, 8)), (4, 4, (1,))])
@pytest.mark.parametrize("block", [1 << 13, 7])
def test_pairs_across_are_the_pairs_they_say(first, others, offsets, block, monkeypatch):
    monkeypatch.setattr("horopca._objectives.pairs.BLOCK_PAIRS", block)  # of 7: many blocks, with ragged ends
    rng, n = np.random.default_rng(0), first + others
    y, pairs = np.concatenate([rng.standard_normal((2, n)), rng.uniform(0.5, 2, (1, n))]), Across(first, others, offsets)
    value, g_beta, g_eta = mean_over_pairs(y[:-1], y[-1], pairs, SQUARE)
    assert (pairs.n, pairs.total) == (n, first * len(offsets))

    def mean(y):
        i = np.tile(np.arange(first), len(offsets))
        j = first + (i + np.repeat(offsets, first)) % others
        gap = ((y[:, i] - y[:, j]) ** 2).sum(axis=0) / (4 * y[-1, i] * y[-1, j])
        return np.mean(np.arcsinh(np.sqrt(gap)) ** 2)

    assert np.isclose(value, mean(y), rtol=1e-12)
    slopes = np.reshape([(mean(y + e) - mean(y - e)) / 2e-6 for e in 1e-6 * np.eye(3 * n).reshape(-1, 3, n)], (3, n))
    np.testing.assert_allclose(np.concatenate([g_beta, g_eta[None]]), slopes, atol=1e-8)  # differences of h^2 and eps / h


def whole_of(X, m, seed=0, model="poincare"):
    rows, rng = Rows(X, Coordinates(model, -1.0)), np.random.default_rng(seed)
    some = rows.take(rng.choice(len(X), size=m, replace=False))
    mean = frechet_mean(some).point
    axes, _ = principal_axes(TranslatedPoints(some, mean))
    frame = Frame(mean, axes)
    return Whole(rows, some, frame, as_sample(frame.enter(some)), rng), as_sample(frame.enter(rows.all()))


def basis(name, d, K=2):
    return np.random.default_rng(2).standard_normal((K, d + 2 if name == "stretch" else d + 1)) / 2


def images(x, A):
    d = x.shape[1] - 1
    return to_hyperboloid(slide(x, spine_from_basis(A[:, : d + 1], np.exp(A[:, d + 1 :].sum()))), "halfspace")


@pytest.mark.parametrize(("name", "K"), [("variance", 1), ("distortion", 3), ("stretch", 2), ("robust", 2)])
def test_a_row_is_paired_with_the_points_opposite(name, K, monkeypatch):
    """The value longhand, over chunks; a row that is in the sample has no distortion with itself, and does not count."""
    monkeypatch.setattr("horopca._input.rows.CHUNK_ELEMENTS", 64)
    most, _ = whole_of(clusters(150, 3), 20)
    monkeypatch.setattr(whole_rows, "LEAST_PAIRS_ACROSS", 1050)
    whole, everything = whole_of(clusters(150, 3), 20)
    assert len(most.offsets) == 10  # of few rows, each with half of the sample
    assert len(whole.offsets) == 7 and len(list(whole.rows.chunks())) > 2
    A, x, some = basis(name, 3, K), everything.points(), whole.sample.points()
    i, j = np.tile(np.arange(150), 7), (np.arange(150) + np.array(whole.offsets)[:, None]).ravel() % 20
    kept, true = distance(images(x, A)[i], images(some, A)[j]), distance(x[i], some[j])
    apart = true > 1e-5
    assert 0 < np.count_nonzero(~apart) < 100
    ratio = kept[apart] / true[apart]
    expected = {"variance": np.mean(kept**2), "distortion": ratio.mean(), "stretch": 1 - np.hypot(ratio - 1, 1e-3).mean()}
    expected["robust"] = np.mean(kept**2 / (kept**2 + 1))
    # of a stretch, a pair that coincides adds 1 - sqrt(1 + softness^2)
    assert whole.objective(name)(A)[0] == pytest.approx(expected[name], rel=1e-7 if name == "stretch" else 1e-9)
    for most, pairs in ((1 << 20, 1050), (599, 450), (149, 150)):
        monkeypatch.setattr(whole_rows, "MEASURED_ACROSS", most)
        squares = pairs, np.sum(kept[:pairs] ** 2), np.sum(true[:pairs] ** 2)
        assert whole.rows.fold(whole.squares(A)) == pytest.approx(squares, rel=1e-9)


@pytest.mark.parametrize("name", ["variance", "distortion"])
def test_twice_the_rows_less_the_sample_is_all_pairs(name):
    """Value and gradient: what is peculiar to the sample cancels."""
    make = OBJECTIVES[name].over
    X, A = clusters(3000, 4), np.random.default_rng(1).standard_normal((2, 5))
    whole, everything = whole_of(X, 300)
    exact, g_exact = make(everything, AllPairs(3000))(A)
    value, gradient = whole.objective(name)(A)
    alone, g_alone = make(whole.sample, AllPairs(300))(A)
    assert abs(2 * value - alone - exact) < 0.2 * abs(alone - exact) + 1e-3 * exact
    assert np.linalg.norm(2 * gradient - g_alone - g_exact) < 0.3 * np.linalg.norm(g_alone - g_exact)
    np.testing.assert_allclose(whole.tilt(name)(A, g_alone), 2 * (gradient - g_alone))


@pytest.mark.parametrize("name", ["variance", "distortion", "stretch", "frechet", "robust"])
def test_the_gradient_over_rows_is_one(name):
    whole, _ = whole_of(clusters(500, 3), 50)
    objective, A = whole.objective(name), basis(name, 3)
    _, gradient = objective(A)
    # that of the variance about the mean is of a mean that stands still, and is one step from the sample's
    atol = 1e-7 if name != "frechet" else 1e-2 * np.abs(gradient).max()
    for entry in np.ndindex(A.shape):
        step = 1e-5 * np.eye(A.size)[np.ravel_multi_index(entry, A.shape)].reshape(A.shape)
        assert np.isclose(gradient[entry], (objective(A + step)[0] - objective(A - step)[0]) / 2e-5, atol=atol)


def test_the_variance_about_the_mean_over_rows_is_that_of_all():
    """The mean of all images comes from one step from the sample's: what is left of the difference is of second order."""
    whole, everything = whole_of(clusters(3000, 4), 300)
    A = np.random.default_rng(1).standard_normal((2, 5))
    value, gradient = whole.objective("frechet")(A)
    exact, g_exact = frechet_objective(everything, AllPairs(3000))(A)
    assert np.isclose(value, exact, rtol=1e-5)
    assert np.linalg.norm(gradient - g_exact) < 1e-2 * np.linalg.norm(g_exact)
    np.testing.assert_allclose(whole.tilt("frechet")(A, 0.5 * gradient), 0.5 * gradient)


@pytest.mark.parametrize("radius", [1.0, 12.0, 25.0])
def test_rows_far_from_the_origin_are_seen_from_their_mean(radius):
    """Where a boost of the rows' coordinates holds their digits, and where it does not and they are moved first."""
    x = to_hyperboloid(clusters(200, 3))
    far = translate(x, lift(np.sinh(radius) * np.array([0.6, 0.0, 0.8])))
    (near, _), (moved, _) = (whole_of(points, 40, model="lorentz") for points in (x, far))
    for name in ("variance", "distortion", "frechet", "robust"):
        # the axes of the two frames are those of the same points, up to their signs
        L = moved.sample.points().T @ np.linalg.pinv(near.sample.points().T)
        A = basis(name, 3)
        value, gradient = near.objective(name)(A)
        J = np.diag([-1.0, 1, 1, 1])
        value_moved, gradient_moved = moved.objective(name)(A @ J @ L.T @ J)
        assert value_moved == pytest.approx(value, rel=1e-5)
        np.testing.assert_allclose(gradient_moved @ (J @ L @ J), gradient, atol=1e-3 * np.abs(gradient).max())


@pytest.mark.parametrize("mean", [(0.2, -0.1, 0.3), (0.1, 70.0, 0.0), (0.1, 1e4, 0.0)])
def test_a_row_next_to_the_pole_keeps_its_digits(mean):
    """c = v0 t - s.w of a row far out in the direction of w, from its light-cone coordinates: as the sample has it."""
    frame = Frame(lift(np.array(mean)), rotation(3))
    far = lift(np.outer([1e2, 3e2, 1e3, 1e4, 1e6], [0.0, 1.0, 0.0]))
    x = translate(np.concatenate([cloud(30, 3), far]), frame.mean)
    task = whole_rows.Task(frame, frame.matrix(), x[:5], (0,))
    placed, _ = task.placed(Coordinates("lorentz", -1.0).chunk(x))
    seen = as_sample(frame.enter(x))
    pole = np.concatenate([[1.0], unit := frame.enter(x)[-1, 1:] / np.linalg.norm(frame.enter(x)[-1, 1:])])
    M = pole * [1, -1, -1, -1]
    assert np.allclose(placed.products(M[None]), seen.products(M[None]), atol=1e-9 * seen.columns.max())
    assert np.allclose(placed.gather(np.ones((2, 35))), seen.gather(np.ones((2, 35))), rtol=1e-9)
    expected = seen.sharpened(seen.products(M[None])[0], 1.0, unit)
    assert expected[-1] < 1e-5  # of terms of size 1e6
    c = placed.products(M[None])[0]
    for scale in (2.0**-27, 1.0, 2.0**27):  # a pole may be of any length
        np.testing.assert_allclose(placed.sharpened(scale * c, scale, scale * unit), scale * expected, rtol=1e-6)
