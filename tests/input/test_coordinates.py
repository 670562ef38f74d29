"""Models and curvatures: Lorentz coordinates with and without time, learnt curvatures, model="auto", half precision."""

import numpy as np
import pytest
from sklearn.base import clone

import horopca
from clouds import cloud
from horopca import HoroPCA, TangentPCA, metrics
from horopca._input.coordinates import CHECKS, Coordinates, check_coordinates
from horopca._input.rows import check_rows, choose_coordinates
from horopca.geometry import MODELS, from_hyperboloid, lift, to_hyperboloid
from horopca.geometry._arrays import to_numpy
from horopca.io import describe, load_fitted, save_fitted

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


@pytest.mark.parametrize("model", MODELS)
def test_curvature_scales_coordinates_except_in_the_half_space(model):
    X = from_hyperboloid(x, model)
    there = Coordinates(model, -0.25)
    assert there.scale == 0.5 and np.allclose(
        there.to_hyperboloid(X if model == "halfspace" else 2 * X), Coordinates(model, -1.0).to_hyperboloid(X)
    )
    assert np.allclose(there.from_hyperboloid(x, float), X if model == "halfspace" else 2 * X)
    assert (there.dimension(X.shape[1]), there.columns(4)) == (4, X.shape[1])
    assert (there.chunk(X).start, there.chunk(X, 7).start) == (0, 7)


def test_errors_of_a_missing_or_misplaced_time():
    last, space = from_hyperboloid(x, "lorentz-time-last"), from_hyperboloid(x, "lorentz-space")
    with pytest.raises(ValueError, match="They do with the time last: pass model='lorentz-time-last'"):
        check_rows(last, Coordinates("lorentz", -1.0))
    with pytest.raises(ValueError, match=r"t > 0 \(time last\).* They do with the time first: pass model='lorentz'"):
        check_rows(x, Coordinates("lorentz-time-last", -1.0))
    with pytest.raises(ValueError, match="for Lorentz coordinates without the time, model='lorentz-space'"):
        check_rows(space, Coordinates("lorentz", -1.0))
    for X, model in ((x, "lorentz"), (last, "lorentz-time-last")):
        with pytest.raises(ValueError, match=rf"without the time .* rows 0 to 39 include it.* Pass model='{model}'"):
            check_rows(X, Coordinates("lorentz-space", -1.0))
    check_rows(x[:7], Coordinates("lorentz-space", -1.0))  # few rows may be there by chance
    far = to_hyperboloid(np.outer(np.linspace(8, 12, 20), [0.5, 0.5]) ** 3, "lorentz-space")  # as near to the cone as any
    check_rows(far[:, 1:], Coordinates("lorentz-space", -1.0))
    with pytest.raises(ValueError, match=r"at least 2 columns for model='lorentz-time-last' \(time and space\)"):
        check_rows([[1.0]], Coordinates("lorentz-time-last", -1.0))


def curvatures():
    import torch

    learnt = torch.nn.Parameter(torch.tensor(-0.5))
    return [np.float32(-0.5), np.array(-0.5), torch.tensor(-0.5), torch.tensor([-0.5]), learnt, -torch.exp(torch.log(-learnt))]


def test_a_learnt_curvature_is_a_number(tmp_path):
    pytest.importorskip("torch")
    for k, curvature in enumerate(curvatures()):
        assert check_coordinates("poincare", curvature) == ("poincare", pytest.approx(-0.5, rel=1e-6))
        X = Coordinates("poincare", -0.5).from_hyperboloid(x, np.float64)
        fit = TangentPCA(2, curvature=curvature).fit(X)
        assert type(fit.curvature_) is float
        assert metrics.frechet_variance(X, curvature=curvature) == pytest.approx(metrics.frechet_variance(X, curvature=-0.5))
        assert type(metrics.unexplained_variance(X, X[::-1], curvature=curvature)) is float
        kept = load_fitted(save_fitted(fit, tmp_path / f"{k}.npz"))
        assert kept.curvature == pytest.approx(-0.5) and np.array_equal(kept.transform(X), fit.transform(X))
    assert clone(TangentPCA(curvature=curvatures()[4])).fit(X).curvature_ == -0.5


def test_errors_of_curvatures():
    torch = pytest.importorskip("torch")
    for curvature in (0.5, torch.nn.Parameter(torch.tensor(0.5))):
        with pytest.raises(ValueError, match=r"but is 0.5.* If c = 0.5 stands for the curvature -c, pass curvature=-0.5"):
            check_coordinates("poincare", curvature)
    for curvature in (0.0, "a", None, torch.tensor([-1.0, -2.0])):
        with pytest.raises(ValueError, match="curvature must be a negative number"):
            check_coordinates("poincare", curvature)


def test_auto_uses_the_only_model_that_fits(xp, tmp_path, curvature=-0.3):
    for model in ("lorentz", "lorentz-time-last"):
        X = Coordinates(model, curvature).from_hyperboloid(x, np.float64)
        fit = TangentPCA(2, model="auto", curvature=curvature).fit(xp.asarray(X))
        assert fit.model_ == model
        expected = TangentPCA(2, model=model, curvature=curvature).fit(X).transform(X)
        assert np.allclose(to_numpy(fit.transform(xp.asarray(X))), expected)
        if xp is np:
            assert load_fitted(save_fitted(fit, tmp_path / f"{model}.npz")).model_ == model
    rim = np.random.default_rng(0).normal(size=(100, 3))
    rim *= np.linspace(0.5, 0.999, 100)[:, None] ** 0.2 / np.linalg.norm(rim, axis=1, keepdims=True) / np.sqrt(-curvature)
    assert choose_coordinates(xp.asarray(rim), "auto", curvature) == ("poincare", curvature)
    with pytest.raises(ValueError, match=r"X must lie on the hyperboloid.* Its curvature would be"):
        TangentPCA(2, model="auto", curvature=2 * curvature).fit(
            Coordinates("lorentz", curvature).from_hyperboloid(x, np.float64)
        )


def test_auto_in_a_metric_and_in_a_stream():
    space = from_hyperboloid(x, "lorentz-space")
    with pytest.raises(ValueError, match=r"model must be one of .* but is 'auto'"):
        metrics.frechet_variance(space, model="auto")
    pca = HoroPCA(model="auto", n_init=1, random_state=0).partial_fit(x[:30])
    assert pca.partial_fit(x[30:32]).model_ == "lorentz"  # that of the batches before


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("model", ["lorentz", "lorentz-time-last"])
def test_auto_recognises_the_time_in_half_precision(model, dtype):
    torch = pytest.importorskip("torch")
    space = np.random.default_rng(0).normal(size=(60, 4))
    half = lambda spread: torch.as_tensor(Coordinates(model, -1.0).from_hyperboloid(lift(spread * space), np.float64)).to(
        getattr(torch, dtype)
    )
    assert choose_coordinates(half(1.0), "auto", -1.0).model == model
    if dtype == "float16":
        assert choose_coordinates(half(1.0).numpy(), "auto", -1.0).model == describe(half(1.0).numpy()).model == model
    with pytest.raises(ValueError, match=rf"the rows of X could be '{model}' or .*'lorentz-space'"):
        choose_coordinates(half(60.0), "auto", -1.0)  # on the cone, in this precision


def test_one_branch_of_a_ball_is_not_taken_for_the_half_space():
    angle = np.pi / 2 + np.random.default_rng(0).uniform(-0.5, 0.5, 60)
    branch = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert choose_coordinates(branch * np.linspace(0.85, 0.99, 60)[:, None], "auto", -1.0).model == "poincare"
    with pytest.raises(ValueError, match=r"could be 'poincare' or .*'halfspace'.* not crowding"):
        HoroPCA(1, model="auto").fit(branch * np.linspace(0.3, 0.6, 60)[:, None])


def test_every_list_of_models_is_complete():
    from typing import get_args

    from horopca.cli.options import MODELS as CHOICES
    from horopca.embed.base import REACH

    names = set(get_args(horopca.geometry.ModelName))
    assert names == set(MODELS) == set(CHOICES) == set(REACH) and {row.domain for row in MODELS.values()} == set(CHECKS)


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
    check_rows(fit.inverse_transform(Y), Coordinates(model, -1.0))  # images are points of their model in few digits too


def test_tensors_with_any_strides_give_the_same_images():
    torch = pytest.importorskip("torch")
    X = torch.as_tensor(from_hyperboloid(x))
    estimator = TangentPCA(2)
    expected = estimator.fit(X).transform(X)
    wide = torch.zeros(40, 8, dtype=torch.float64)
    wide[:, ::2] = X
    leaf = X.clone().requires_grad_()
    for same in (X.T.contiguous().T, wide[:, ::2], leaf, torch.nn.Parameter(X.clone())):
        assert torch.allclose(estimator.transform(same), expected, atol=1e-12)
        assert torch.allclose(estimator.fit(same).transform(X), expected, atol=1e-9)
    assert torch.equal(leaf, X)  # the input is unchanged
    assert torch.allclose(estimator.transform(X[0].expand(5, 4)), expected[0].expand(5, 2))


def test_tensors_that_are_sparse_or_have_no_numbers():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="X must contain numbers, but is on the device 'meta'"):
        TangentPCA(2).fit(torch.zeros(5, 3, device="meta"))
    with pytest.raises(ValueError, match=r"X must be dense, but is a sparse tensor \(torch.sparse_coo\). Pass X.to_dense\(\)"):
        TangentPCA(2).fit(torch.zeros(4, 3).to_sparse())
