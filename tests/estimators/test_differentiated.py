"""Every estimator that maps points propagates the gradients of tensors."""

import numpy as np
import pytest
import sklearn

import horopca
from horopca import geometry
from horopca._input.coordinates import Coordinates
from horopca.datasets import make_hierarchy
from quick import REDUCTIONS, quick

torch = pytest.importorskip("torch")

X = make_hierarchy(branching=3, depth=3, n_features=4, random_state=0).points
FITS = {
    **{name: (name, {}) for name in REDUCTIONS},
    "one component": ("HoroPCA", {"n_components": 1}),
    "free": ("HoroPCA", {"spine": "free"}),
    "stretched": ("HoroPCA", {"stretch": True}),
    "more directions than dimensions": ("BusemannWhitener", {"n_components": 6}),
}


def made(name, **place):
    kind, options = FITS[name]
    return quick(kind, **options, **place)


def some(model, curvature=-1.0, rows=slice(3, 8)):
    """Points of the fit, the origin and a point twice."""
    x = geometry.to_hyperboloid(X[rows])
    x[0], x[1] = geometry.origin(4), x[2]
    return torch.as_tensor(Coordinates(model, curvature).from_hyperboloid(x, np.float64))


def agrees(function, points):
    return torch.autograd.gradcheck(function, (points.detach().clone().requires_grad_(),), fast_mode=True)


@pytest.mark.parametrize("name", FITS)
def test_there_and_back_with_gradients(name):
    fit = made(name).fit(X)
    points = some("poincare").requires_grad_()
    Y = fit.transform(points)
    assert Y.requires_grad and np.allclose(Y.detach().numpy(), fit.transform(points.detach().numpy()), atol=1e-12)
    (g,) = torch.autograd.grad(Y.sum(), points)
    assert torch.isfinite(g).all()
    assert agrees(fit.transform, points[1:])
    assert agrees(fit.inverse_transform, Y[1:])
    assert fit.inverse_transform(Y).requires_grad and not fit.transform(points.detach()).requires_grad
    with torch.no_grad():
        assert not fit.transform(points).requires_grad
    if name == "HoroPCA":  # a fit, a score and a metric use the values alone
        assert type(fit.score(points)) is float and isinstance(horopca.metrics.average_distortion(points, points), float)
        assert fit.partial_fit(points).transform(points, n_components=1).requires_grad


@pytest.mark.parametrize("model", geometry.MODELS)
def test_in_every_model_and_precision(model):
    X_there = Coordinates(model, -0.4).from_hyperboloid(geometry.to_hyperboloid(X), np.float64)
    fit = made("HoroPCA", model=model, curvature=-0.4).fit(X_there)
    points = some(model, -0.4)
    space = geometry.MODELS[model].space  # of Lorentz coordinates only the space part is read

    def images(part):
        whole = points.clone()
        whole[:, space] = part
        return fit.transform(whole)

    if model in ("lorentz", "lorentz-time-last"):  # a step off the hyperboloid is an error: compare Jacobians
        bare = made("HoroPCA", model="lorentz-space", curvature=-0.4).fit(X_there[:, space])
        direct, through = (
            torch.autograd.functional.jacobian(lambda p, f=f, m=m: f(p)[:, geometry.MODELS[m].space], points[:, space])
            for f, m in ((images, model), (bare.transform, "lorentz-space"))
        )
        assert torch.allclose(direct, through, atol=1e-9)
    else:
        assert agrees(fit.transform, points)
        assert agrees(fit.busemann, points)
    single = points.float().requires_grad_()
    fit.transform(single).sum().backward()
    assert single.grad.dtype == torch.float32 and torch.isfinite(single.grad).all()


def test_rows_that_are_taken_the_careful_way_have_gradients_too():
    far = torch.nn.functional.normalize(torch.as_tensor(np.random.default_rng(0).normal(size=(30, 3))), dim=1)
    far = far * torch.linspace(0.1, 150, 30, dtype=torch.float64)[:, None]
    for fit in (made("HoroPCA", model="tangent"), made("TangentPCA", model="tangent")):
        fit.fit(far)
        points = far.clone().requires_grad_()
        Y = fit.transform(points)
        Y.sum().backward()
        assert torch.isfinite(points.grad).all()
        assert agrees(fit.transform, far[:5])


@pytest.mark.parametrize("name", ["HoroPCA", "TangentPCA", "BusemannWhitener"])
def test_data_frames_are_of_numbers(name):
    fit, leaf = made(name).fit(X), torch.tensor(X, requires_grad=True)
    frame = fit.set_output(transform="pandas").transform(leaf)
    assert np.allclose(frame, fit.transform(X)) and list(frame.columns) == list(fit.get_feature_names_out())
    with sklearn.config_context(transform_output="pandas"):
        assert np.allclose(made(name).fit(X).transform(leaf), frame)
    assert fit.set_output(transform="default").transform(leaf).requires_grad
