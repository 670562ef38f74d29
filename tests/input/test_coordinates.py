"""Models and curvatures: Lorentz coordinates with and without time, learnt curvatures, half precision, strides."""

import numpy as np
import pytest
from sklearn.base import clone

import horopca
from clouds import cloud
from horopca import HoroPCA, TangentPCA, metrics
from horopca._input.coordinates import Coordinates
from horopca.geometry import MODELS
from horopca.geometry._arrays import to_numpy
from horopca.io import load_fitted, save_fitted

x = cloud(40, 4)
LORENTZ = ("lorentz", "lorentz-space", "lorentz-time-last")


def test_the_three_kinds_of_lorentz_coordinates_agree(xp, curvature=-0.3):
    images, back, scores = [], [], []
    for model in LORENTZ:
        X = xp.asarray(Coordinates(model, curvature).from_hyperboloid(x, np.float64))
        pca = HoroPCA(2, model=model, curvature=curvature, n_init=1, random_state=0).fit(X)
        Y = pca.transform(X)
        images.append(Coordinates(model, curvature).to_hyperboloid(to_numpy(Y)))
        back.append(Coordinates(model, curvature).to_hyperboloid(to_numpy(pca.inverse_transform(Y))))
        scores.append(metrics.average_distortion(X, Y, model=model, curvature=curvature))
        assert Y.shape[1] == (2 if model == "lorentz-space" else 3)
    for found in (images, back, scores):
        assert np.allclose(found[1], found[0], atol=1e-12) and np.allclose(found[2], found[0], atol=1e-12)


def curvatures():
    import torch

    learnt = torch.nn.Parameter(torch.tensor(-0.5))
    return [np.float32(-0.5), np.array(-0.5), torch.tensor(-0.5), torch.tensor([-0.5]), learnt, -torch.exp(torch.log(-learnt))]


def test_a_learnt_curvature_is_a_number(tmp_path):
    pytest.importorskip("torch")
    for k, curvature in enumerate(curvatures()):
        X = Coordinates("poincare", -0.5).from_hyperboloid(x, np.float64)
        fit = TangentPCA(2, curvature=curvature).fit(X)
        assert type(fit.curvature_) is float
        assert metrics.frechet_variance(X, curvature=curvature) == pytest.approx(metrics.frechet_variance(X, curvature=-0.5))
        assert type(metrics.unexplained_variance(X, X[::-1], curvature=curvature)) is float
        kept = load_fitted(save_fitted(fit, tmp_path / f"{k}.npz"))
        assert kept.curvature == pytest.approx(-0.5) and np.array_equal(kept.transform(X), fit.transform(X))
    assert clone(TangentPCA(curvature=curvatures()[4])).fit(X).curvature_ == -0.5


def test_every_list_of_models_is_complete():
    from typing import get_args

    from horopca.cli.options import MODELS as CHOICES

    names = set(get_args(horopca.geometry.ModelName))
    assert names == set(MODELS) == set(CHOICES)


# ---------------------------------------------------------------- tensors


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(model, dtype):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, dtype)
    whole = torch.as_tensor(
        Coordinates(model, -1.0).from_hyperboloid(x[np.argsort(x[:, 0])[:30]], np.float64)
    )  # as far out as bfloat16 tells
    half = whole.to(dtype).requires_grad_()
    fit = TangentPCA(2, model=model).fit(half)
    Y = fit.transform(half)
    assert Y.dtype == dtype and Y.requires_grad
    exact = Coordinates(model, -1.0).from_hyperboloid(
        Coordinates(model, -1.0).to_hyperboloid(half.detach()), torch.float64
    )  # with the time of its space part
    expected = TangentPCA(2, model=model).fit(exact).transform(exact).to(dtype)
    assert torch.allclose(Y.double(), expected.double(), rtol=1e-2, atol=1e-2)
    Y.double().sum().backward()
    assert half.grad.dtype == dtype and torch.isfinite(half.grad).all()
    if dtype == torch.float16:  # which NumPy has too
        there = TangentPCA(2, model=model).fit(half.detach().numpy()).transform(half.detach().numpy())
        assert there.dtype == np.float16 and np.array_equal(there, Y.detach().numpy())
    fit.transform(fit.inverse_transform(Y))  # images are points of their model in few digits too
