"""Objectives: values and gradients against autograd, longhand sums and each other."""

import numpy as np
import pytest

from clouds import cloud, directions, rotation
from horopca._optimize.lbfgs import compose
from horopca._optimize.objectives import OBJECTIVES, Pairs, as_sample, mean_over_pairs, objective_over
from horopca.geometry import pairwise_distance, to_hyperboloid
from horopca.projections import slide, spine_from_basis
from horopca.projections.spines import extended_spines, free_spines, ideal_parameters, ideal_spines
from horopca.statistics import frechet_mean, mean_square_distance
from horopca.statistics.pairs import mean_relative_change, pair_offsets

KINDS = ["ideal", "merged", "beyond"]
SOFT = 0.05  # softness of the stretch's objective


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


def at(sample, name, A, pairs=None):
    """The value and the gradient of an objective at one basis."""
    value, G = objective_over(sample, name, pairs or pair_offsets(sample.size), SOFT)(A[None])
    return value[0], G[0]


def stretched(A, name, log_stretch=0.5):
    """A basis with the column of a stretch, if the objective has one."""
    return np.column_stack([A, np.full(len(A), log_stretch / len(A))]) if OBJECTIVES[name].stretched else A


def longhand(name, x, A, weights=None):
    """The objective in torch, from Minkowski products alone, for a basis with g != 0."""
    torch = pytest.importorskip("torch")
    d = x.shape[1]
    J = torch.diag(torch.tensor([-1.0, *[1.0] * (d - 1)], dtype=torch.float64))
    x, sigma = torch.asarray(x), torch.exp(A[:, d:].sum())
    y, N = x @ J @ A[:, :d].T, A[:, :d] @ J @ A[:, :d].T
    inside = sigma**2 * (y @ torch.linalg.inv(N) @ y.T)
    timelike = torch.linalg.eigvalsh(N.detach())[0] < 0
    side = torch.sqrt(torch.abs(torch.diagonal(inside) + 1))
    cosh = -inside + (-1 if timelike else 1) * side[:, None] * side[None, :]
    i, j = torch.triu_indices(len(x), len(x), 1)
    image, true = torch.acosh(cosh[i, j]), torch.acosh(-(x @ J @ x.T)[i, j])
    w = torch.ones(len(x), dtype=torch.float64) if weights is None else torch.asarray(weights)
    terms = {
        "variance": image**2,
        "robust": image**2 / (image**2 + 1),
        "distortion": image / true,
        "stretch": np.sqrt(1 + SOFT**2) - torch.sqrt((image / true - 1) ** 2 + SOFT**2),
    }[name]
    return torch.sum(w[i] * w[j] * terms) / torch.sum(w[i] * w[j])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["variance", "distortion", "robust", "stretch"])
@pytest.mark.parametrize(("kind", "K"), [("ideal", 2), ("ideal", 4), ("beyond", 1), ("beyond", 2), ("beyond", 4)])
def test_value_and_gradient_are_autograds(name, kind, K, weighted):
    torch = pytest.importorskip("torch")
    if name == "stretch" and kind == "ideal":
        return  # a stretch is defined for space-like spines
    x, A = cloud(25, 5), stretched(basis_of(kind, K), name)
    weights = np.random.default_rng(4).exponential(size=25) if weighted else None
    value, gradient = at(as_sample(x, weights), name, A)
    tensor = torch.tensor(A, requires_grad=True)
    expected = longhand(name, x, tensor, weights)
    expected.backward()
    assert value == pytest.approx(expected.item(), rel=1e-9)
    np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("pairs", [pair_offsets(30), range(2, 8)])
def test_the_taylor_remainder_is_of_second_order(name, kind, K, pairs):
    A = stretched(basis_of(kind, K), name)
    step = np.random.default_rng(1).standard_normal(A.shape) * (0.1 if K == 1 else 1)
    sample, sizes = as_sample(cloud(30, 5)), np.array([1e-3, 1e-4])
    value, gradient = at(sample, name, A, pairs)
    remainders = [abs(at(sample, name, A + h * step, pairs)[0] - value - h * np.sum(gradient * step)) for h in sizes]
    assert 1.6 < np.log(remainders[0] / remainders[1]) / np.log(10) < 2.4, remainders


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("K", [1, 2, 3])
def test_many_bases_at_once_are_each_alone(name, K):
    rng, x = np.random.default_rng(0), cloud(90, 5, radius=4.0, seed=2)
    x[:20] = x[0]  # some coincide
    objective = objective_over(as_sample(x), name, range(3, 9), SOFT)
    bases = rng.standard_normal((7, K, 7 if name == "stretch" else 6)) / 2
    values, gradients = objective(bases)
    for A, value, G in zip(bases, values, gradients, strict=True):
        alone, G_alone = objective(A[None])
        assert value == pytest.approx(alone[0], rel=1e-10)
        np.testing.assert_allclose(G, G_alone[0], rtol=1e-7, atol=1e-9 * np.abs(G).max())
    only, none = objective(bases, gradient=False)
    np.testing.assert_allclose(only, values, rtol=1e-12)
    assert not none.any()


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("K", [1, 2])
def test_whole_weights_are_copies_and_a_common_factor_changes_nothing(name, K):
    """Over all pairs: pairs of a point with its own copies have no length, and do not count where lengths are compared."""
    rng, x = np.random.default_rng(0), cloud(20, 4)
    times = rng.integers(1, 4, size=20)
    A = stretched(basis_of("beyond", K, d=4), name)
    value, gradient = at(as_sample(x, times.astype(float)), name, A)
    copies, G_copies = at(as_sample(np.repeat(x, times, axis=0)), name, A)
    n, own = times.sum(), (times**2).sum()
    share = 1.0
    if name in ("variance", "robust"):  # copies add pairs of length 0 to the mean
        share = (n**2 - own) / (n * (n - 1))
    assert copies == pytest.approx(share * value, rel=1e-9)
    np.testing.assert_allclose(G_copies, share * gradient, rtol=1e-6, atol=1e-9)
    scaled, G_scaled = at(as_sample(x, 1e5 * times), name, A)
    assert scaled == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(G_scaled, gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 2, 3])
def test_objectives_are_the_reported_statistics(kind, K):
    """The search maximises what `explained_variance_` and the metrics measure, through other code."""
    x, A = cloud(31, 5), basis_of(kind, K)
    images = to_hyperboloid(slide(x, spine_from_basis(A)), "halfspace")
    assert at(as_sample(x), "variance", A)[0] * 30 / 31 == pytest.approx(mean_square_distance(images), rel=1e-9)
    assert 1 - at(as_sample(x), "distortion", A)[0] == pytest.approx(mean_relative_change(x, images)[0], abs=1e-9)
    assert at(as_sample(x), "frechet", A)[0] == pytest.approx(frechet_mean(images).variance, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10, 11, 300])
def test_pairs_are_those_they_say(n):
    x = cloud(n, 3)
    x[-1] = x[n // 3]  # coincident points are a pair too
    d, A, rows = pairwise_distance(x), np.eye(4)[1:], np.arange(n)  # K = d: the projection is an isometry
    assert at(as_sample(x), "variance", A)[0] == pytest.approx(np.mean(d[np.triu_indices(n, 1)] ** 2), rel=1e-9)
    for offsets in (pair_offsets(n), range(max(1, n // 3), max(1, (n - 1) // 2) + 1)):
        met = [(d[rows, (rows + o) % n] ** 2, np.full(n, 0.5 if 2 * o == n else 1.0)) for o in offsets]
        expected = sum(np.sum(s * w) for s, w in met) / sum(np.sum(w) for _, w in met)
        assert Pairs(x, offsets, None, distances=False).total == sum(np.sum(w) for _, w in met)
        assert at(as_sample(x), "variance", A, offsets)[0] == pytest.approx(expected, rel=1e-9)


def test_a_basis_that_overflows_has_the_value_minus_infinity_and_harms_no_other():
    sample, bases = as_sample(cloud(20, 3)), np.random.default_rng(0).standard_normal((3, 2, 4))
    objective = objective_over(sample, "variance", pair_offsets(20))
    values, gradients = objective(bases)
    bases[1, 0] = np.nan
    found, slopes = objective(bases)
    assert found[1] == -np.inf
    np.testing.assert_array_equal(found[[0, 2]], values[[0, 2]])
    np.testing.assert_array_equal(slopes[[0, 2]], gradients[[0, 2]])


@pytest.mark.parametrize("xp", ["torch", "cuda"], indirect=True)
@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("pairs", [pair_offsets(20), range(1, 6)])
def test_other_libraries_and_devices_have_the_same_objective(name, pairs, xp):
    x, A, w = cloud(20, 3), stretched(basis_of("beyond", 2, d=3), name), np.arange(1.0, 21.0)
    value, gradient = at(as_sample(x, w), name, A, pairs)
    other, other_gradient = at(as_sample(xp.asarray(x), w), name, A, pairs)
    assert other == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(other_gradient, gradient, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("spread", [1e-4, 1e-6, 1e-8])
def test_pairs_of_points_close_together_keep_their_digits(spread):
    """log(a + c) in place of asinh(a) would leave a of size 1e-8 no more than eight digits."""
    rng, (i, j) = np.random.default_rng(0), np.triu_indices(40, 1)
    y = np.concatenate([3 + spread * rng.standard_normal((2, 40)), 1 + spread * rng.standard_normal((1, 40))])
    pairs = Pairs(cloud(40, 3), pair_offsets(40), None, distances=False)
    value, gradient = mean_over_pairs(y[None], 1 / y[-1:], pairs, OBJECTIVES["variance"].profile(None, 0.0))
    gap = np.sum((y[:, i] - y[:, j]) ** 2, axis=0) / (4 * y[-1, i] * y[-1, j])
    assert value[0] / np.mean(np.arcsinh(np.sqrt(gap)) ** 2) == pytest.approx(1, abs=1e-13)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["variance", "distortion", "frechet", "robust"])
def test_spines_along_some_axes_need_no_others(m, name):
    """The objective of a spine inside some axes, from the coordinates along these, is that of all coordinates."""
    sample, Q = as_sample(cloud(20, 4)), rotation(4)[:, :m]
    A = np.random.default_rng(0).standard_normal((2, m + 1)) if m > 1 else np.array([[0.3, 1.0]])
    seen = sample.along(Q)
    assert seen.dimension == m
    np.testing.assert_array_equal(seen.points(), sample.points())
    assert at(seen, name, A)[0] == pytest.approx(at(sample, name, np.c_[A[:, :1], A[:, 1:] @ Q.T])[0], rel=1e-9)


# ---- families


FAMILIES = [
    (free_spines, (3, 6)),
    (ideal_spines, (3, 5)),
    (extended_spines(basis_of("ideal", 2), free=False), (5,)),
    (extended_spines(np.zeros((0, 6)), free=False), (5,)),
    (extended_spines(basis_of("beyond", 2), free=True), (6,)),
]


@pytest.mark.parametrize(("family", "shape"), FAMILIES)
def test_the_pullback_of_a_family_is_its_derivative(family, shape):
    f = compose(objective_over(as_sample(cloud(20, 5)), "variance", pair_offsets(20)), family)
    theta, step = (np.random.default_rng(s).standard_normal((4, *shape)) for s in (7, 8))  # four at once
    slopes = (f(theta + 1e-6 * step)[0] - f(theta - 1e-6 * step)[0]) / 2e-6
    np.testing.assert_allclose(np.sum((f(theta)[1] * step).reshape(4, -1), axis=1), slopes, rtol=1e-5)


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0, 2.0, 1e3])
def test_ideal_spines_have_ideal_points_or_limits_of_them(size):
    theta = np.random.default_rng(0).standard_normal((2, 4))
    theta[0] *= size / np.linalg.norm(theta[0])
    kappa = spine_from_basis(ideal_spines(theta)[0]).kappa
    assert kappa >= -1e-15
    if size == 1:  # P is perpendicular to the directions after QR only in part
        theta = np.array([[1.0, 0, 0], [0, 1.0, 0]])
        assert spine_from_basis(ideal_spines(theta)[0]).kappa == pytest.approx(0, abs=1e-15)


def test_the_ideal_parameters_of_a_spine_lead_back_to_it_or_to_the_nearest():
    beyond, inside = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0]]), np.array([[1.0, 0.3, 0, 0], [0, 0, 1, 0]])
    back = [spine_from_basis(ideal_spines(ideal_parameters(A))[0]).kappa for A in (beyond, inside)]
    assert back[0] == pytest.approx(0, abs=1e-12)
    assert back[1] == pytest.approx(spine_from_basis(inside).kappa)
