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
    x = np.asarray(coordinates.to_hyperboloid(np.asarray(X.detach() if hasattr(X, "detach") else X, dtype=np.float64)))
    return distance(x[: len(x) // 2], x[len(x) // 2 :]) / coordinates.scale


def vectors(seed=0, n=20, d=3):
    return torch.as_tensor(np.random.default_rng(seed).normal(size=(n, d)))


@pytest.mark.parametrize(
    ("make", "model", "curvature"),
    [
        (lambda g: g.PoincareBall(c=torch.tensor(0.5, dtype=torch.float64)), "poincare", -0.5),
        (lambda g: g.PoincareBall(c=torch.tensor(2.0, dtype=torch.float64), learnable=True), "poincare", -2.0),
        (lambda g: g.Stereographic(k=torch.tensor(-0.3, dtype=torch.float64)), "poincare", -0.3),
        (lambda g: g.Lorentz(k=torch.tensor(2.0, dtype=torch.float64), learnable=True), "lorentz", -0.5),
    ],
)
def test_geoopt(make, model, curvature):
    geoopt = pytest.importorskip("geoopt")
    manifold = make(geoopt)
    d = 4 if model == "lorentz" else 3
    points = manifold.expmap0(0.5 * vectors(d=d) * torch.tensor([0.0] + [1.0] * (d - 1)))
    found = horopca.from_geoopt(points, manifold)
    assert found[1] == model and found[2] == pytest.approx(curvature, rel=1e-6)  # softplus of an inverse softplus
    theirs = manifold.dist(points[:10], points[10:]).detach().numpy()
    assert np.allclose(distances(*found), theirs, rtol=1e-6)  # arcosh loses digits where points are close
    kept = geoopt.ManifoldParameter(points.detach(), manifold=manifold)
    tensor, *place = horopca.from_geoopt(kept)
    assert type(tensor) is torch.Tensor and tensor.data_ptr() == kept.data_ptr() and tuple(place) == found[1:]
    assert tensor.requires_grad
    pca = horopca.HoroPCA(1, model=model, curvature=manifold.k if model == "poincare" else -1 / manifold.k, n_init=1)
    assert pca.fit(points.detach()).curvature_ == found[2]


def test_an_estimator_takes_the_curvature_of_a_geoopt_parameter():
    geoopt = pytest.importorskip("geoopt")
    X = 0.3 * np.random.default_rng(0).uniform(-1, 1, (30, 3))
    ball = geoopt.PoincareBall(c=torch.tensor(2.0, dtype=torch.float64))
    points = geoopt.ManifoldParameter(torch.as_tensor(X), manifold=ball)
    expected = horopca.TangentPCA(2, curvature=-2.0).fit(X)
    for options in ({}, {"curvature": -2.0}, {"model": "auto"}):
        found = horopca.TangentPCA(2, **options).fit(points)
        assert (found.model_, found.curvature_) == ("poincare", -2.0)
        Y = found.transform(points)
        assert type(Y) is torch.Tensor and np.allclose(Y.detach(), expected.transform(X))
    lorentz = geoopt.Lorentz(k=torch.tensor(2.0, dtype=torch.float64))
    on_hyperboloid = geoopt.ManifoldTensor(lorentz.expmap0(vectors(d=4) * torch.tensor([0.0, 1.0, 1.0, 1.0])), manifold=lorentz)
    assert horopca.TangentPCA(2).fit(on_hyperboloid).model_ == "lorentz"
    plain = geoopt.ManifoldTensor(torch.as_tensor(X))  # whose manifold is Euclidean by default
    assert horopca.TangentPCA(2, curvature=-0.5).fit(plain).curvature_ == -0.5


def test_arguments_that_contradict_the_manifold_of_a_parameter_are_an_error():
    geoopt = pytest.importorskip("geoopt")
    points = geoopt.ManifoldParameter(0.1 * vectors(), manifold=geoopt.PoincareBall(c=2.0))
    plain = points.detach().as_subclass(torch.Tensor)
    for call in (
        lambda: horopca.TangentPCA(2, curvature=-0.5).fit(points),
        lambda: horopca.TangentPCA(2, model="klein").fit(points),
        lambda: horopca.TangentPCA(2).fit(plain).transform(points),
        lambda: horopca.metrics.frechet_variance(points),
        lambda: horopca.HoroPCA(1).partial_fit(plain).partial_fit(points),
    ):
        with pytest.raises(ValueError, match=r"curvature must .*(agree with the manifold|those of the batches before)"):
            call()


def test_hypll():
    pytest.importorskip("hypll")
    from hypll.manifolds.poincare_ball import Curvature, PoincareBall
    from hypll.tensors import TangentTensor

    manifold = PoincareBall(Curvature(0.7, requires_grad=True))
    points = manifold.expmap(TangentTensor(vectors().T, man_dim=0, manifold=manifold))
    X, model, curvature = horopca.from_hypll(points)
    assert X.shape == (20, 3) and model == "poincare" and curvature == -manifold.c().item()
    fit = horopca.TangentPCA(2).fit(points)
    assert fit.curvature_ == curvature and torch.equal(fit.transform(points), fit.transform(X))
    theirs = manifold.dist(points[:, :10], points[:, 10:]).detach().numpy()
    assert np.allclose(distances(X, model, curvature), theirs, rtol=1e-5)  # their c is a float32


def manifold(library, name, bases=(), **given):
    """A stand-in for a manifold of a library that may not be installed."""
    return type(name, bases, {"__module__": f"{library}.manifolds", **given})()


def test_manifolds_are_recognised_by_the_names_of_their_classes():
    X = vectors()
    ball = manifold("geoopt", "Stereographic", k=-0.5)
    for found in (ball, manifold("geoopt", "PoincareBall", (type(ball),)), manifold("mine", "Ball", (type(ball),))):
        assert horopca.from_geoopt(X, found) == (X, "poincare", -0.5)
    assert horopca.from_geoopt(X, manifold("geoopt", "Lorentz", k=4.0))[1:] == ("lorentz", -0.25)
    for other in (manifold("mine", "Lorentz", k=4.0), manifold("geoopt", "Sphere", k=4.0)):
        assert error_message(horopca.from_geoopt, X, other) == (
            f"manifold must be one of geoopt's Stereographic, Lorentz, but is {type(other).__name__}. For a product, pass the "
            "coordinates of its hyperbolic factor with that factor."
        )


def test_the_axis_of_the_coordinates_becomes_the_last():
    ball = manifold("hypll", "PoincareBall", c=lambda self: torch.tensor(0.5))
    tensor = torch.arange(24.0).reshape(2, 3, 4)
    for axis, expected in ((0, (3, 4, 2)), (1, (2, 4, 3)), (2, (2, 3, 4)), (-1, (2, 3, 4))):
        points = manifold("hypll", "ManifoldTensor", manifold=ball, tensor=tensor, man_dim=axis)
        X, *place = horopca.from_hypll(points)
        assert X.shape == expected and torch.equal(X, tensor.movedim(axis, -1)) and place == ["poincare", -0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: horopca.from_geoopt(vectors()), "manifold must be one of geoopt's Stereographic, Lorentz, but is NoneType."),
        (lambda: horopca.from_hypll(vectors()), "manifold must be one of hypll's PoincareBall, but is NoneType."),
        (lambda: horopca.from_geoopt(vectors(), manifold("geoopt", "Stereographic", k=0.5)),
         "manifold must have one negative curvature, but this Stereographic of geoopt has 0.5."),
        (lambda: horopca.from_geoopt(vectors(), manifold("geoopt", "Stereographic", k=-torch.ones(3))),
         "manifold must have one negative curvature, but this Stereographic of geoopt has tensor([-1., -1., -1.])."),
    ],
)  # fmt: skip
def test_errors_of_manifolds(call, message):
    assert error_message(call).startswith(message)
