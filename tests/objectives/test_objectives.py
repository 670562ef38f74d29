"""Objectives: hand gradients against autograd and Taylor, pair sets against double loops, families against their claims."""

from __future__ import annotations

import numpy as np
import pytest

from clouds import cloud, directions
from horopca._objectives import objectives
from horopca._objectives.pairs import AllPairs, Shifts, some_offsets, some_pairs
from horopca._objectives.profiles import SQUARE, log_variance, mean_over_pairs
from horopca._objectives.sample import as_sample
from horopca._search.climb import Heat, climb, race
from horopca._search.families import FreeSpines, IdealSpines, OneMore, compose, ideal_cone, whole_space
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.projections import slide, spine_from_basis
from horopca.statistics import mean_relative_change, mean_square_distance

variance_objective, fidelity_objective, robust_objective = OBJECTIVES = [
    objectives.OBJECTIVES[name].over for name in ("variance", "distortion", "robust")
]
KINDS = ["ideal", "merged", "beyond"]


def basis_of(kind, K, d=5, seed=0):
    """A basis with g < 0, g = 0 or g > 0."""
    rng = np.random.default_rng(seed)
    if kind == "ideal" and K > 1:
        return np.column_stack([np.ones(K), directions(K, d, seed=seed)])
    if kind != "beyond":
        A = np.zeros((K, d + 1))
        A[0, 0], A[:, 1:] = 1, np.linalg.qr(rng.standard_normal((d, K)))[0].T
        return A
    return rng.standard_normal((K, d + 1)) * [0.3, *[1] * d]


def longhand(objective, x, A):
    """The objective in torch, from Minkowski products alone, for a basis with g != 0."""
    torch = pytest.importorskip("torch")
    J = torch.diag(torch.tensor([-1.0, *[1.0] * (x.shape[1] - 1)], dtype=torch.float64))
    x = torch.asarray(x)
    y, N = x @ J @ A.T, A @ J @ A.T
    inverse = torch.linalg.inv(N)
    inside = y @ inverse @ y.T
    timelike = torch.linalg.eigvalsh(N.detach())[0] < 0
    side = torch.sqrt(torch.abs(torch.diagonal(inside) + 1))
    cosh = -inside + (-1 if timelike else 1) * side[:, None] * side[None, :]
    i, j = torch.triu_indices(len(x), len(x), 1)
    d = torch.acosh(cosh[i, j])
    if objective is variance_objective:
        return torch.mean(d**2)
    if objective is robust_objective:
        return torch.mean(d**2 / (d**2 + 1))
    before = torch.acosh(-(x @ J @ x.T)[i, j])
    return torch.mean(d / before)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("kind", "K"), [("ideal", 2), ("ideal", 4), ("beyond", 1), ("beyond", 2), ("beyond", 4)])
def test_value_and_gradient_are_autograds(objective, kind, K):
    torch = pytest.importorskip("torch")
    x, A = cloud(25, 5), basis_of(kind, K)
    value, gradient = objective(as_sample(x), AllPairs(25))(A)
    tensor = torch.tensor(A, requires_grad=True)
    expected = longhand(objective, x, tensor)
    expected.backward()
    assert value == pytest.approx(expected.item(), rel=1e-9)
    assert np.allclose(gradient, tensor.grad.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("pairs", [AllPairs(30), Shifts(30, (2, 7, 11))])
def test_taylor_remainder_is_of_second_order(objective, kind, K, pairs):
    f = objective(as_sample(cloud(30, 5)), pairs)
    A, step = basis_of(kind, K), np.random.default_rng(1).standard_normal((K, 6))
    if K == 1:
        step = step * 0.1
    value, gradient = f(A)
    sizes = np.array([1e-3, 1e-4])
    remainders = [abs(f(A + h * step)[0] - value - h * np.sum(gradient * step)) for h in sizes]
    slope = np.log(remainders[0] / remainders[1]) / np.log(sizes[0] / sizes[1])
    assert 1.7 < slope < 2.3, remainders


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("K", [1, 3])
def test_depends_on_the_span_alone(objective, K):
    f = objective(as_sample(cloud(30, 5)), AllPairs(30))
    A, L = basis_of("beyond", K), np.random.default_rng(2).standard_normal((K, K))
    value, gradient = f(A)
    other, other_gradient = f(L @ A)
    assert other == pytest.approx(value, rel=1e-11)
    assert np.allclose(L.T @ other_gradient, gradient, atol=1e-9)
    assert np.allclose(gradient @ A.T, 0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 3])
def test_objectives_are_the_reported_statistics(kind, K):
    """The search maximises what `explained_variance_` and the metrics measure, through other code."""
    x, A = cloud(31, 5), basis_of(kind, K)
    images = to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    variance, _ = variance_objective(as_sample(x), AllPairs(31))(A)
    assert variance * 30 / 31 == pytest.approx(mean_square_distance(images), rel=1e-9)
    fidelity, _ = fidelity_objective(as_sample(x), AllPairs(31))(A)
    assert 1 - fidelity == pytest.approx(mean_relative_change(x, images)[0], abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_pair_sets_hold_what_they_say(n, monkeypatch):
    monkeypatch.setattr("horopca._objectives.pairs.BLOCK_PAIRS", 7)  # many blocks, with ragged ends
    x = cloud(n, 3)
    x[-1] = x[n // 3]  # points that coincide are a pair as well
    d = pairwise_distance(x)
    A = np.eye(4)[1:]  # K = d, beyond infinity: the projection is the identity
    offsets = tuple(range(1, (n - 1) // 2 + 1))
    value, _ = variance_objective(as_sample(x), AllPairs(n))(A)
    assert value == pytest.approx(np.mean(d[np.triu_indices(n, 1)] ** 2), rel=1e-9)
    if offsets:
        rows = np.arange(n)
        shifted = np.mean([d[rows, (rows + o) % n] ** 2 for o in offsets])
        value, _ = variance_objective(as_sample(x), Shifts(n, offsets))(A)
        assert value == pytest.approx(shifted, rel=1e-9)


def test_some_pairs_are_all_when_there_are_no_more():
    rng = np.random.default_rng(0)
    assert some_pairs(9, 4, rng) == AllPairs(9) and some_pairs(9, 3, rng).total == 27
    drawn = some_pairs(100, 45, rng)
    assert len(set(drawn.offsets)) == 45
    assert max(drawn.offsets) < 50


def test_shifts_are_all_below_half():
    rng = np.random.default_rng(0)
    assert [some_offsets(n, 99, rng) for n in (3, 4, 9, 10)] == [(1,), (1,), (1, 2, 3, 4), (1, 2, 3, 4)]


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_the_variance_on_a_line_is_that_of_its_pairs(n):
    eta = np.exp(np.random.default_rng(n).standard_normal(n))
    value, gradient = log_variance(eta)
    mean = lambda eta: np.sum((np.log(eta)[:, None] - np.log(eta)) ** 2) / 8 / max(n * (n - 1) / 2, 1)
    assert value == pytest.approx(mean(eta), abs=1e-15)
    slopes = [(mean(eta + e) - mean(eta - e)) / 2e-6 for e in 1e-6 * np.eye(n)]
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


def test_coincident_points_give_finite_values_and_gradients():
    x = np.repeat(cloud(5, 3), 4, axis=0)
    for objective in OBJECTIVES:
        for kind in KINDS:
            value, gradient = objective(as_sample(x), AllPairs(20))(basis_of(kind, 2, d=3))
            assert np.isfinite(value)
            assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("pairs", [AllPairs(24), Shifts(24, tuple(range(1, 12)))])
def test_coincident_pairs_have_no_distortion(pairs):
    """Every point twice: the pairs of a point with its double count neither above nor below."""
    x, A = np.repeat(cloud(12, 3), 2, axis=0), basis_of("ideal", 2, d=3)
    images = to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    fidelity, _ = fidelity_objective(as_sample(x), pairs)(A)
    offsets = None if isinstance(pairs, AllPairs) else pairs.offsets
    assert 1 - fidelity == pytest.approx(mean_relative_change(x, images, offsets)[0], abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pairs", [AllPairs(20), Shifts(20, (1, 5))])
def test_every_array_library_has_the_same_objective(xp, objective, pairs):
    x, A = cloud(20, 3), basis_of("ideal", 2, d=3)
    value, gradient = objective(as_sample(x), pairs)(A)
    other, other_gradient = objective(as_sample(xp.asarray(x)), pairs)(A)
    assert other == pytest.approx(value, rel=1e-12)
    assert np.allclose(other_gradient, gradient, atol=1e-12)


# ---- families


FAMILIES = [
    (FreeSpines(), (3, 6)),
    (IdealSpines(), (3, 5)),
    (OneMore(basis_of("ideal", 2), *ideal_cone(5)), (5,)),
    (OneMore(np.zeros((0, 6)), *ideal_cone(5)), (5,)),
    (OneMore(basis_of("beyond", 2), *whole_space(5)), (6,)),
]


@pytest.mark.parametrize(("family", "shape"), FAMILIES)
def test_pullback_of_a_family_is_its_derivative(family, shape):
    f = compose(variance_objective(as_sample(cloud(20, 5)), AllPairs(20)), family)
    theta, step = (np.random.default_rng(s).standard_normal(shape) for s in (7, 8))
    slope = (f(theta + 1e-6 * step)[0] - f(theta - 1e-6 * step)[0]) / 2e-6
    assert np.sum(f(theta)[1] * step) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0, 2.0, 1e3])
def test_ideal_spines_never_pass_infinity(size):
    theta = np.random.default_rng(0).standard_normal((2, 4))
    theta[0] *= size / np.linalg.norm(theta[0])
    assert spine_from_basis(IdealSpines().basis(theta)[0]).kappa >= -1e-15


def test_ideal_spines_reach_the_boundary_smoothly():
    theta = np.array([[1.0, 0, 0], [0, 1.0, 0]])  # |P| = 1: merged
    assert spine_from_basis(IdealSpines().basis(theta)[0]).kappa == pytest.approx(0, abs=1e-15)


# ---- the optimiser


def quadratic(point):
    return -float(np.sum((point - 1) ** 2)), -2 * (point - 1)


def test_climb_finds_the_top_and_says_so():
    top = climb(quadratic, np.zeros((2, 3)), max_iter=50, tol=1e-12)
    assert top.converged
    assert top.status == "converged"
    assert np.allclose(top.point, 1)


def test_climb_says_when_it_stopped_early():
    banana = lambda p: (-float((1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2),
                        -np.array([-2 * (1 - p[0]) - 400 * p[0] * (p[1] - p[0] ** 2), 200 * (p[1] - p[0] ** 2)]))  # fmt: skip
    ended = climb(banana, np.array([-1.2, 1.0]), max_iter=2, tol=1e-12)
    assert not ended.converged
    assert ended.status == "stopped after 2 iterations"


def test_race_keeps_the_best_and_survives_a_start_that_is_not_a_number():
    def two_hills(p):
        a, b = np.exp(-((p[0] + 2) ** 2)), 2 * np.exp(-((p[0] - 2) ** 2))
        return float(a + b), np.array([-2 * (p[0] + 2) * a - 2 * (p[0] - 2) * b])

    starts = [np.array([-2.5]), np.array([2.5]), np.array([np.nan])]
    seen = []
    heats = [Heat(two_hills, 0, 2), Heat(two_hills, 50, 1)]
    (best,) = race(starts, heats, tol=1e-12, report=lambda *a: seen.append(a[:2]))
    assert best.point == pytest.approx([2], abs=1e-4)
    assert seen == [(1, 3), (2, 2)]


@pytest.mark.parametrize("spread", [1e-4, 1e-6, 1e-8])
def test_pairs_of_points_close_together_keep_their_digits(spread):
    """log(a + c) in place of asinh(a) would leave a of size 1e-8 no more than eight of them."""
    rng = np.random.default_rng(0)
    beta, eta = 3 + spread * rng.standard_normal((2, 40)), 1 + spread * rng.standard_normal(40)
    value, _, g_eta = mean_over_pairs(beta, eta, AllPairs(40), SQUARE)
    i, j = np.triu_indices(40, 1)
    gap = (np.sum((beta[:, i] - beta[:, j]) ** 2, axis=0) + (eta[i] - eta[j]) ** 2) / (4 * eta[i] * eta[j])
    assert value / np.mean(np.arcsinh(np.sqrt(gap)) ** 2) == pytest.approx(1, abs=1e-13)
    assert np.all(np.isfinite(g_eta))
