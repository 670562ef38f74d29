"""Gradients are finite everywhere, and agree with finite differences."""

import numpy as np
import pytest

from horopca import geometry as geo
from horopca.geometry import MODELS, from_hyperboloid, lift, to_hyperboloid
from horopca.geometry.isometries import translate_ideal

torch = pytest.importorskip("torch")


def space(n=6, d=3, seed=0, at_origin=()):
    s = torch.as_tensor(np.random.default_rng(seed).normal(size=(n, d)))
    s[list(at_origin)] = 0
    return s.requires_grad_()


def tangent(s, v):
    """The tangent vector at lift(s) whose space part is v."""
    x = lift(s)
    return torch.cat([((s * v).sum(-1) / x[:, 0])[:, None], v], -1)


def agrees(function, *inputs):
    return torch.autograd.gradcheck(function, tuple(a.detach().clone().requires_grad_() for a in inputs))


Q = torch.nn.functional.normalize(space(1, seed=3).detach(), dim=1)[0]
X, Y = space(at_origin=[1, 4]), space(seed=1, at_origin=[2])  # of each pair both, one or none at the origin
BOTH = {
    "distance": lambda s, y: geo.distance(lift(s), lift(y)),
    "pairwise_distance": lambda s, y: geo.pairwise_distance(lift(s[:4]), lift(y[2:])),
    "log": lambda s, y: geo.log(lift(s), lift(y)),
    "exp": lambda s, v: geo.exp(lift(s), tangent(s, v)),
    "ideal_endpoint": lambda s, v: geo.ideal_endpoint(lift(s), tangent(s, v + 4)),
    "translate_ideal": lambda s, y: translate_ideal(Q + 0 * s, lift(y)) * lift(s)[:, :1],
    "transport": lambda s, y: geo.transport(lift(s), lift(y), tangent(s, torch.ones_like(s))),
    "geodesic": lambda s, y: geo.geodesic(lift(s), lift(y), 0.3),
    "busemann": lambda s, y: geo.busemann(lift(s), Q) - geo.busemann(lift(y), Q),
    "horosphere": lambda s, y: geo.horosphere(Q, lift(s))[1] + geo.horosphere(-Q, lift(y))[1],
    "translate": lambda s, y: geo.translate(lift(s), lift(y)),
    "translate_to_origin": lambda s, y: geo.translate_to_origin(lift(s), lift(y)),
}


@pytest.mark.parametrize("name", BOTH)
def test_gradients_are_those_of_differences_at_the_origin_too(name):
    assert agrees(BOTH[name], X, Y)


@pytest.mark.parametrize("name", ["log", "transport", "geodesic"])
def test_smooth_functions_have_their_gradients_at_coinciding_points(name):
    assert agrees(BOTH[name], X, X)


@pytest.mark.parametrize("model", MODELS)
def test_maps_between_models_have_their_gradients_at_the_origin(model):
    points = from_hyperboloid(lift(X.detach()), model)
    assert agrees(lambda z: to_hyperboloid(z, model)[:, 1:], points)
    assert agrees(lambda s: from_hyperboloid(lift(s), model), X)


def gradient(function, *inputs):
    inputs = [a.detach().clone().requires_grad_() for a in inputs]
    return torch.autograd.grad(function(*inputs).sum(), inputs)


def test_the_gradient_of_a_distance_between_points_that_meet_is_zero():
    s = space(at_origin=[1])
    for g in gradient(BOTH["distance"], s, s):
        assert torch.equal(g, torch.zeros_like(s))
    (g,) = gradient(lambda a: geo.pairwise_distance(lift(a)), torch.cat([s, s]))
    assert torch.isfinite(g).all() and torch.allclose(g[:6], g[6:])  # copies pull alike, and not at one another
    assert torch.equal(gradient(lambda a: geo.radius(lift(a)), torch.zeros(1, 3, dtype=torch.float64))[0], torch.zeros(1, 3))


@pytest.mark.parametrize("name", ["distance", "log", "geodesic", "translate_to_origin"])
@pytest.mark.parametrize("scale", [1e-3, 1e-9, 1e-12])
def test_gradients_near_the_origin_tend_to_those_at_it(name, scale):
    near, far = space(seed=5).detach(), space(seed=6).detach()
    at, beside = (gradient(BOTH[name], s, far) for s in (0 * near, scale * near))
    for a, b in zip(at, beside, strict=True):
        assert torch.allclose(a, b, atol=20 * scale + 1e-12)  # they change by about as much as the points


@pytest.mark.parametrize("scale", [1e-3, 1e-9])
def test_the_gradient_of_the_distance_of_points_that_nearly_meet_is_a_unit_vector(scale):
    s, v = space(seed=5).detach(), space(seed=6).detach()
    g = gradient(BOTH["distance"], s, s + scale * v)[1]
    square = (g * g).sum(-1) + (g * s).sum(-1) ** 2  # the dual norm in space coordinates
    assert torch.allclose(square, torch.ones(6, dtype=torch.float64), atol=100 * scale + 1e-6)


@pytest.mark.parametrize("radius", [1.0, 10.0, 100.0, 170.0])
def test_gradients_far_out_are_finite(radius):
    v = torch.nn.functional.normalize(space(8, seed=2).detach(), dim=1) * radius
    v[1] = v[0]
    for function in (
        lambda a: geo.pairwise_distance(to_hyperboloid(a, "tangent")),
        lambda a: geo.distance(to_hyperboloid(a, "tangent"), to_hyperboloid(a.flip(0), "tangent")),
        lambda a: geo.translate_to_origin(*(to_hyperboloid(b, "tangent") for b in (a, a.flip(0))))[:, 1:].asinh(),
    ):
        (g,) = gradient(function, v)
        assert torch.isfinite(g).all()
    (g,) = gradient(lambda a: geo.distance(to_hyperboloid(a, "tangent"), lift(torch.zeros_like(a))), v)
    assert torch.allclose(g.norm(dim=1), torch.ones(8, dtype=torch.float64))  # distance from the origin: 1 for 1
