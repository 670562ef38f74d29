"""Geodesic submanifolds: gradients against autograd, optima against grids and lists, planted answers, and how a search ends."""

import numpy as np
import pytest
import torch

from clouds import cloud, spread
from horopca import BSA, PGA, geometry, metrics
from horopca._optimize.lbfgs import compose, maximise
from horopca._optimize.multi_start import SearchOptions
from horopca._optimize.objectives import as_sample
from horopca._optimize.submanifolds import (
    mean_over_points,
    search_bsa,
    space_form_pca,
    squared_distance_to,
    submanifold_objective,
    submanifolds,
)
from horopca.geometry import from_hyperboloid, lift, pairwise_distance, to_hyperboloid
from horopca.geometry.hulls import lorentz_frame
from horopca.statistics import frechet_mean


def longhand(kind, x, A):
    """The objectives in torch, from Minkowski products alone."""
    J = torch.diag(torch.tensor([-1.0, *[1.0] * (x.shape[1] - 1)], dtype=torch.float64))
    x = torch.asarray(x)

    def sinh_squared(B):
        y, N = x @ J @ B.T, B @ J @ B.T
        return -1 - torch.sum(y @ torch.linalg.inv(N) * y, dim=1)

    if kind == "variance":  # cosh(distance from the origin) = cosh(within) cosh(to)
        return torch.mean(torch.acosh(x[:, 0] / torch.sqrt(1 + sinh_squared(A))) ** 2)
    parts = [A[:k] for k in range(2, len(A) + 1)] if kind == "flag" else [A]
    total = torch.mean(torch.acosh(x[:, 0]) ** 2)
    return sum(total - torch.mean(torch.asinh(torch.sqrt(sinh_squared(part))) ** 2) for part in parts)


@pytest.mark.parametrize("kind", ["residual", "flag", "variance"])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_objectives_against_autograd(kind, K):
    x = cloud(40, 5, radius=3, seed=1)
    rng = np.random.default_rng(K)
    A = np.pad(rng.standard_normal((K + 1, 5)), ((0, 0), (1, 0)))
    A[0] = [2, 0.3, -0.2, 0.1, 0, 0.4] if kind != "variance" else [1, 0, 0, 0, 0, 0]
    (value,), (gradient,) = submanifold_objective(as_sample(x), kind)(A[None])
    leaf = torch.tensor(A, requires_grad=True)
    theirs = longhand(kind, x, leaf)
    theirs.backward()
    assert value == pytest.approx(float(theirs.detach()), rel=1e-10)
    rows = slice(1, None) if kind == "variance" else slice(None)  # only through the origin does it measure within
    columns = slice(1, None) if kind == "variance" else slice(None)
    assert np.allclose(gradient[rows, columns], leaf.grad.numpy()[rows, columns], atol=1e-9)


@pytest.mark.parametrize("kind", ["residual", "flag", "variance"])
def test_families_pull_gradients_back(kind):
    sample, rng = as_sample(cloud(30, 4, radius=2, seed=2)), np.random.default_rng(0)
    for through in (True, False)[: 1 + (kind != "variance")]:
        theta, step = rng.standard_normal((1, 4, 4)), rng.standard_normal((1, 4, 4))
        fixed = 2 if through else 1
        theta[:, :2] *= not through
        f = compose(submanifold_objective(sample, kind), submanifolds(np.eye(5), through))
        step[:, :fixed] = 0  # the point about which the others move
        slope = np.sum(f(theta)[1] * step)
        central = (f(theta + 1e-5 * step)[0][0] - f(theta - 1e-5 * step)[0][0]) / 2e-5
        assert slope == pytest.approx(central, rel=1e-6)


def test_optima_against_a_grid():
    x = cloud(30, 2, radius=3, seed=4)
    sample, X = as_sample(x), from_hyperboloid(x, "poincare")
    pga, bsa = PGA(1, random_state=0).fit(X), BSA(1, random_state=0).fit(X)
    moved = as_sample(geometry.translate_to_origin(x, to_hyperboloid(pga.mean_)))
    turns = np.stack([np.cos(a := np.linspace(0, np.pi, 361)), np.sin(a)], axis=1)
    most = submanifold_objective(moved, "variance")(np.array([[[1, 0, 0], [0, *u]] for u in turns]))[0].max()
    assert most * (1 - 1e-9) <= spread(pga, X) <= most * (1 + 1e-4)
    lines = [[[1, -r * u[1], r * u[0]], [0, *u]] for u in turns[::6] for r in np.linspace(-0.9, 0.9, 37)]
    least = np.mean(geometry.radius(x) ** 2) - submanifold_objective(sample, "residual")(np.array(lines))[0].max()
    assert least * (1 - 0.05) <= bsa.unexplained_variance_[0] <= least * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["variance", "residual", "last"])
def test_the_best_of_many_valleys_is_found(kind):
    rng = np.random.default_rng(7)
    u = rng.standard_normal((12, 6))[rng.integers(12, size=100)] + 0.02 * rng.standard_normal((100, 6))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x = lift(u * np.sinh(rng.uniform(9, 12, size=(100, 1))))  # a dozen far clusters: a valley for each set of them
    make = {"last": lambda seed: BSA(2, strategy="last", model="lorentz", random_state=seed)}.get(
        kind, lambda seed: PGA(2, objective=kind, model="lorentz", random_state=seed)
    )
    goal = (lambda pga: spread(pga, x, "lorentz")) if kind == "variance" else (lambda fitted: fitted.score(x))
    scores = [goal(make(seed).fit(x)) for seed in range(2)]
    assert np.allclose(scores, scores[0], rtol=1e-3)
    seen = geometry.translate_to_origin(x, frechet_mean(x).point)
    family = submanifolds(np.eye(7), through=kind != "last")
    f = compose(submanifold_objective(as_sample(seen), "variance" if kind == "variance" else "residual"), family)
    theta = rng.standard_normal((8, 4, 6))
    theta[:, :2] *= kind == "last"  # else the fixed point and the point are the origin
    climbs = maximise(f, theta, max_iter=200, tol=1e-9).values
    total = 0 if kind == "variance" else np.mean(geometry.radius(seen) ** 2)  # a score is minus what is left unexplained
    assert climbs.max() - total <= scores[0] + 1e-3 * abs(scores[0])


@pytest.mark.parametrize("radius", [1.0, 8.0])
def test_a_planted_submanifold_is_found(radius):
    flat = cloud(80, 2, radius=radius, seed=5)
    rng = np.random.default_rng(5)
    hull = lorentz_frame(submanifolds(np.eye(7), False)(rng.standard_normal((1, 4, 6)))[0][0])
    x = lift((flat @ hull)[:, 1:])
    for options in ({}, {"strategy": "last"}):
        bsa = BSA(2, model="lorentz", random_state=0, **options).fit(x)
        assert bsa.unexplained_variance_[-1] < 1e-6 * metrics.frechet_variance(x, model="lorentz")
        if options:
            assert np.allclose(pairwise_distance(bsa.transform(x)), pairwise_distance(x), atol=1e-2)
    # the mean of points of a submanifold lies in it, so PGA finds it as well
    assert PGA(2, model="lorentz", objective="residual", random_state=0).fit(x).unexplained_variance_[-1] < 1e-6


OPTIONS = SearchOptions(4, 0, 300, 1e-9)


def on_a_clip(n: int = 60, d: int = 4, radius: float = 9.0):
    """Most points at one large radius, in clusters: the data that leaves narrow valleys."""
    rng = np.random.default_rng(3)
    u = rng.standard_normal((n, d)) * [3, 2, 1, 1]
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return as_sample(lift(u * np.sinh(np.where(rng.uniform(size=n) < 0.8, radius, 3.0))[:, None]))


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("sample", [on_a_clip(), as_sample(cloud(60, 4))], ids=["clip", "cloud"])
def test_the_last_submanifold_is_never_farther_than_the_eigen_solution(sample, K):
    searches = (search_bsa(sample, K, anchored, True, OPTIONS, np.random.default_rng(0)) for anchored in (False, True))
    found, through = (search.bases[-1] for search in searches)
    eigen = [space_form_pca(sample, K, False, power) for power in (0.0, 0.5, 1.0)]
    near, *others = mean_over_points(sample, np.stack([found, through, *eigen]), squared_distance_to)[0]
    assert near <= min(others) * (1 + 1e-6)
