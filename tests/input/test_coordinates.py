"""Learnt curvatures, the lists of models, half precision."""

import numpy as np
import pytest
from sklearn.base import clone

import horopca
from clouds import cloud
from horopca import TangentPCA, metrics
from horopca._input.coordinates import Coordinates
from horopca.geometry import MODELS
from horopca.io import load_fitted, save_fitted

x = cloud(40, 4)


def test_a_learnt_curvature_is_a_number(tmp_path):
    torch = pytest.importorskip("torch")
    learnt = torch.nn.Parameter(torch.tensor(-0.5))
    X = Coordinates("poincare", -0.5).from_hyperboloid(x, np.float64)
    for curvature in (np.float32(-0.5), np.array(-0.5), torch.tensor([-0.5]), learnt, -torch.exp(torch.log(-learnt))):
        fit = TangentPCA(2, curvature=curvature).fit(X)
        assert type(fit.curvature_) is float
        assert metrics.frechet_variance(X, curvature=curvature) == pytest.approx(metrics.frechet_variance(X, curvature=-0.5))
        assert type(metrics.unexplained_variance(X, X[::-1], curvature=curvature)) is float
        kept = load_fitted(save_fitted(fit, tmp_path / "fit.npz", force=True))
        assert kept.curvature == pytest.approx(-0.5) and np.array_equal(kept.transform(X), fit.transform(X))
    assert clone(TangentPCA(curvature=learnt)).fit(X).curvature_ == -0.5


def test_every_list_of_models_is_complete():
    from typing import get_args

    from horopca.cli.options import MODELS as CHOICES

    names = set(get_args(horopca.geometry.ModelName))
    assert names == set(MODELS) == set(CHOICES)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(model, dtype):
    torch = pytest.importorskip("torch")
    dtype, coordinates = getattr(torch, dtype), Coordinates(model, -1.0)
    near = x[np.argsort(x[:, 0])[:30]]  # as far out as bfloat16 tells
    half = torch.as_tensor(coordinates.from_hyperboloid(near, np.float64)).to(dtype).requires_grad_()
    fit = TangentPCA(2, model=model).fit(half)
    Y = fit.transform(half)
    assert Y.dtype == dtype and Y.requires_grad
    exact = coordinates.from_hyperboloid(
        coordinates.to_hyperboloid(half.detach()), torch.float64
    )  # with the time of its space part
    expected = TangentPCA(2, model=model).fit(exact).transform(exact).to(dtype)
    assert torch.allclose(Y.double(), expected.double(), rtol=1e-2, atol=1e-2)
    Y.double().sum().backward()
    assert half.grad.dtype == dtype and torch.isfinite(half.grad).all()
    if dtype == torch.float16:  # which NumPy has too
        there = TangentPCA(2, model=model).fit(half.detach().numpy()).transform(half.detach().numpy())
        assert there.dtype == np.float16 and np.array_equal(there, Y.detach().numpy())
    fit.transform(fit.inverse_transform(Y))  # images are points of their model in few digits too
