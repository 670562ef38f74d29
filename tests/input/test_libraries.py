"""Points of other libraries: with the model and curvature that we name, distances are those of the library."""

import numpy as np
import pytest

import horopca
from errors import error_message
from horopca._input.coordinates import Coordinates
from horopca.geometry import distance

torch = pytest.importorskip("torch")


def distances(X, model, curvature):
    """Between each of the first half of the points and its partner in the second, in the units of the library."""
    coordinates = Coordinates(model, curvature)
    x = coordinates.to_hyperboloid(X.detach().double().numpy())
    return distance(x[: len(x) // 2], x[len(x) // 2 :]) / coordinates.scale


def vectors(n=20, d=3):
    return torch.as_tensor(np.random.default_rng(0).normal(size=(n, d)))


def double(value):
    return torch.tensor(value, dtype=torch.float64)


@pytest.mark.parametrize(
    ("make", "model", "curvature"),
    [
        (lambda g: g.PoincareBall(c=double(0.5)), "poincare", -0.5),
        (lambda g: g.PoincareBall(c=double(2.0), learnable=True), "poincare", -2.0),
        (lambda g: g.Stereographic(k=double(-0.3)), "poincare", -0.3),
        (lambda g: g.Lorentz(k=double(2.0), learnable=True), "lorentz", -0.5),
    ],
)
def test_geoopt(make, model, curvature):
    geoopt = pytest.importorskip("geoopt")
    manifold = make(geoopt)
    d = 4 if model == "lorentz" else 3
    points = manifold.expmap0(0.5 * vectors(d=d) * torch.tensor([0.0] + [1.0] * (d - 1)))
    X, *place = horopca.from_geoopt(points, manifold)
    assert place == [model, pytest.approx(curvature, rel=1e-6)]  # softplus of an inverse softplus
    theirs = manifold.dist(points[:10], points[10:]).detach().numpy()
    assert np.allclose(distances(X, *place), theirs, rtol=1e-6)  # arcosh loses digits where points are close
    kept = geoopt.ManifoldParameter(points.detach(), manifold=manifold)
    tensor, *same = horopca.from_geoopt(kept)
    assert type(tensor) is torch.Tensor and tensor.data_ptr() == kept.data_ptr() and same == place and tensor.requires_grad
    expected = horopca.TangentPCA(2, model=model, curvature=place[1]).fit(points.detach())
    for options in ({}, {"curvature": manifold.k if model == "poincare" else -1 / manifold.k}, {"model": "auto"}):
        fit = horopca.TangentPCA(2, **options).fit(kept)
        assert [fit.model_, fit.curvature_] == [model, pytest.approx(curvature, rel=1e-6)]
        Y = fit.transform(kept)
        assert type(Y) is torch.Tensor and np.allclose(Y.detach(), expected.transform(points.detach()))


def test_arguments_that_contradict_the_manifold_of_a_parameter_are_an_error(tmp_path):
    geoopt = pytest.importorskip("geoopt")
    points = geoopt.ManifoldParameter(0.1 * vectors(d=2), manifold=geoopt.PoincareBall(c=2.0))
    plain = points.detach().as_subclass(torch.Tensor)
    for call in (
        lambda: horopca.TangentPCA(2, curvature=-0.5).fit(points),
        lambda: horopca.TangentPCA(2, model="klein").fit(points),
        lambda: horopca.TangentPCA(2).fit(plain).transform(points),
        lambda: horopca.metrics.frechet_variance(points),
        lambda: horopca.HoroPCA(1).partial_fit(plain).partial_fit(points),
        lambda: horopca.plots.plot_plane(points),
        lambda: horopca.explore(points),
        lambda: horopca.io.save(tmp_path / "points.npz", points, curvature=-0.5),
    ):
        with pytest.raises(ValueError, match=r"curvature must .*(agree with the manifold|those of the previous batches)"):
            call()
    found, table = horopca.io.describe(points), horopca.io.load(horopca.io.save(tmp_path / "points.npz", points))
    assert (found.model, found.curvature) == (table.model, table.curvature) == ("poincare", pytest.approx(-2.0))
    assert found.radius["poincare"][1.0] == pytest.approx(float(points.manifold.dist0(points).detach().max()))
    euclidean = geoopt.ManifoldTensor(0.1 * vectors())  # the default, which states no model
    assert horopca.TangentPCA(2, curvature=-0.5).fit(euclidean).curvature_ == -0.5


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_hypll(axis):
    pytest.importorskip("hypll")
    from hypll.manifolds.poincare_ball import Curvature, PoincareBall
    from hypll.tensors import TangentTensor

    manifold = PoincareBall(Curvature(0.7, requires_grad=True))
    v = vectors() if axis else vectors().T
    points = manifold.expmap(TangentTensor(v, man_dim=axis, manifold=manifold))
    X, model, curvature = horopca.from_hypll(points)
    assert X.shape == (20, 3) and model == "poincare" and curvature == -manifold.c().item()
    fit = horopca.TangentPCA(2).fit(points)
    assert fit.curvature_ == curvature and torch.equal(fit.transform(points), fit.transform(X))
    theirs = manifold.dist(points[:, :10], points[:, 10:]) if axis == 0 else manifold.dist(points[:10, :], points[10:, :])
    assert np.allclose(distances(X, model, curvature), theirs.detach().numpy(), rtol=1e-5)  # their c is a float32
    with pytest.raises(TypeError, match="not 'TangentTensor'"):
        fit.transform(manifold.logmap(None, points))


def manifold(library, name, **given):
    """A stand-in for a manifold of a library that may not be installed."""
    return type(name, (), {"__module__": f"{library}.manifolds", **given})()


ONE_OF = "manifold must be one of geoopt's Stereographic, Lorentz, but is"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: horopca.from_geoopt(vectors()), f"{ONE_OF} NoneType. For a product, pass the coordinates of its hyperbolic"),
        (lambda: horopca.from_geoopt(vectors(), manifold("mine", "Lorentz", k=4.0)), f"{ONE_OF} Lorentz."),
        (lambda: horopca.from_geoopt(vectors(), manifold("geoopt", "Sphere", k=4.0)), f"{ONE_OF} Sphere."),
        (lambda: horopca.from_hypll(vectors()), "manifold must be one of hypll's PoincareBall, but is NoneType."),
        (lambda: horopca.from_geoopt(vectors(), manifold("geoopt", "Stereographic", k=0.5)),
         "manifold must have one negative curvature, but this Stereographic of geoopt has 0.5."),
        (lambda: horopca.from_geoopt(vectors(), manifold("geoopt", "Stereographic", k=-torch.ones(3))),
         "manifold must have one negative curvature, but this Stereographic of geoopt has tensor([-1., -1., -1.])."),
    ],
)  # fmt: skip
def test_errors_of_manifolds(call, message):
    assert error_message(call).startswith(message)
