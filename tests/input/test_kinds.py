"""What may be passed as points and curvatures, and the messages for what may not."""

from typing import get_args

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from horopca import TangentPCA, metrics
from horopca._input.coordinates import Coordinates
from horopca.cli.options import MODELS as CHOICES
from horopca.geometry import clip, distance, from_hyperboloid, ideal_endpoint, lift, pairwise_distance, to_hyperboloid
from horopca.geometry.hulls import geodesic_hull
from horopca.geometry.models import MODELS, ModelName
from horopca.io import load_fitted, save_fitted
from horopca.projections import horospherical_projection, spine_from_basis, spine_from_ideal_points

X = np.random.default_rng(0).uniform(-0.4, 0.4, (20, 3))
HOLE = np.ma.masked_array(X, mask=np.arange(60).reshape(20, 3) == 10)
NUMBERS = "X must be an array of numbers with rows of equal length, but is not: "
x = to_hyperboloid(X)


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ("points.npy", ValueError, "X must be an array of points, but is 'points.npy'. Read a file with horopca.io.load."),
        (["a", "b"], ValueError, NUMBERS + "could not convert string to float: 'a'"),
        ([[1, 2], [3]], ValueError, NUMBERS + "setting an array element with a sequence"),
        (np.array([[object(), 1]]), TypeError, NUMBERS),
        ([[10**400, 1], [2, 3]], ValueError, NUMBERS + "int too large"),
        (np.zeros((3, 2), "M8[D]"), ValueError, "X must be an array of numbers, but has datetime64[D]. Drop or convert"),
        (None, ValueError, "X must be an array of numbers, but is None."),
        (X + 1j, ValueError, "Complex data not supported: X must be real, but has dtype complex128."),
        (csr_array(X), TypeError, "X must be dense, but is a sparse csr_array. Pass X.toarray()."),
    ],
)
@pytest.mark.parametrize("model", ["poincare", "auto"])
def test_what_is_no_array_of_points_is_an_error(wrong, kind, message, model):
    with pytest.raises(kind) as error:
        TangentPCA(1, model=model).fit(wrong)
    assert str(error.value).startswith(message)


def test_the_column_of_a_data_frame_that_holds_no_numbers_is_named():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"could not convert string to float: 'x'\. Drop or convert the column 'kind'\."):
        TangentPCA(1).fit(pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind="x"))


def test_public_geometry_takes_lists_data_frames_and_whole_numbers():
    assert np.isnan(to_hyperboloid(HOLE)[3]).all() and np.isfinite(to_hyperboloid(HOLE)[4:]).all()  # a missing value
    pd = pytest.importorskip("pandas")
    for same in (X.tolist(), pd.DataFrame(X), np.ma.masked_array(X)):
        assert np.array_equal(to_hyperboloid(same), x) and np.array_equal(clip(same, 1e-5), X)
    assert np.array_equal(from_hyperboloid(x.tolist(), "klein"), from_hyperboloid(x, "klein"))
    assert np.allclose(clip([[1, 0], [0, 0]], 1e-5), [[0.99999, 0], [0, 0]])
    for model in ("lorentz", "lorentz-time-last"):  # whose time may be rounded
        assert np.allclose(to_hyperboloid(from_hyperboloid(x, model).astype(np.float16), model), x, atol=1e-2)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: distance(x.tolist(), x), TypeError, "list is not a supported array type"),
        (lambda: pairwise_distance(x[0]), ValueError, "x and y must be matrices"),
        (lambda: from_hyperboloid(x[:, :1]), ValueError, "x must have at least 2 columns"),
        (lambda: to_hyperboloid(X, "sphere"), ValueError, "model must be one of 'poincare', .*, but is 'sphere'"),
        (lambda: to_hyperboloid([[1.2, 0.0], [0.1, 0.1]]), ValueError, "inside the unit ball for model='poincare', but .* 1.2"),
        *((lambda m=m, p=p: to_hyperboloid(p, m), ValueError, f"for model='{m}', but a point has the time 5, .* give 1")
          for m, p in (("lorentz", [5, 0, 0]), ("lorentz-time-last", [0, 0, 5]))),
        (lambda: to_hyperboloid([[1.0, -2.0]], "halfspace"), ValueError, "heights > 0 in its last column, but has -2"),
        (lambda: to_hyperboloid([[400.0, 0.0]], "tangent"), ValueError, "within radius 355 of the origin"),
        (lambda: to_hyperboloid([[1e160, 0.0]], "lorentz-space"), ValueError, "within radius 355 of the origin"),
        (lambda: ideal_endpoint(x, 0 * x), ValueError, "v must contain tangent vectors that are not 0"),
        *((lambda m=m: clip(X, m), ValueError, "^margin must be a fraction") for m in (2.0, 1.0, -0.1, np.nan)),
        *((lambda r=r: clip(X, 0.1, radius=r), ValueError, "^radius must be a positive number") for r in (0.0, -1.0)),
        (lambda: clip([[0.1, 0.2], [np.inf, 0.0]], 0.1), ValueError, "^X must be finite, but row 1 contains NaN or infinity"),
        (lambda: geodesic_hull(np.nan * x[:2]), ValueError, "points must be points"),
        (lambda: spine_from_ideal_points(np.zeros((0, 3))), ValueError, "Ideal points must be unit vectors in an array"),
        (lambda: spine_from_basis(x), ValueError, "A must hold from 1 to d"),
        (lambda: horospherical_projection(x, np.eye(2)), ValueError, "q must have one column fewer than x"),
    ],
)  # fmt: skip
def test_errors_of_public_geometry(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_distances_of_no_points_and_in_half_precision():
    torch = pytest.importorskip("torch")
    assert pairwise_distance(x[:0], x).shape == (0, 20)
    half = torch.as_tensor(x).bfloat16()
    assert np.allclose(pairwise_distance(half).double(), pairwise_distance(lift(half.double().numpy()[:, 1:])), atol=0.1)


def test_a_learnt_curvature_is_a_number(tmp_path):
    torch = pytest.importorskip("torch")
    learnt = torch.nn.Parameter(torch.tensor(-0.5))
    for curvature in (np.float32(-0.5), np.array(-0.5), torch.tensor([-0.5]), learnt, -torch.exp(torch.log(-learnt))):
        fit = TangentPCA(2, curvature=curvature).fit(X)
        assert type(fit.curvature_) is float
        assert metrics.frechet_variance(X, curvature=curvature) == pytest.approx(metrics.frechet_variance(X, curvature=-0.5))
        assert type(metrics.unexplained_variance(X, X[::-1], curvature=curvature)) is float
        kept = load_fitted(save_fitted(fit, tmp_path / "fit.npz", force=True))
        assert kept.curvature == pytest.approx(-0.5) and np.array_equal(kept.transform(X), fit.transform(X))
    assert clone(TangentPCA(curvature=learnt)).fit(X).curvature_ == -0.5


def test_every_list_of_models_is_complete():
    assert set(get_args(ModelName)) == set(MODELS) == set(CHOICES)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(model, dtype):
    torch = pytest.importorskip("torch")
    dtype, coordinates = getattr(torch, dtype), Coordinates(model, -1.0)
    half = torch.as_tensor(coordinates.from_hyperboloid(x, np.float64)).to(dtype).requires_grad_()
    fit = TangentPCA(2, model=model).fit(half)
    Y = fit.transform(half)
    assert Y.dtype == dtype and Y.requires_grad
    # with the time of its space part
    exact = coordinates.from_hyperboloid(coordinates.to_hyperboloid(half.detach()), torch.float64)
    expected = TangentPCA(2, model=model).fit(exact).transform(exact).to(dtype)
    assert torch.allclose(Y.double(), expected.double(), rtol=1e-2, atol=1e-2)
    Y.double().sum().backward()
    assert half.grad.dtype == dtype and torch.isfinite(half.grad).all()
    if dtype == torch.float16:  # which NumPy has too
        there = TangentPCA(2, model=model).fit(half.detach().numpy()).transform(half.detach().numpy())
        assert there.dtype == np.float16 and np.array_equal(there, Y.detach().numpy())
    fit.transform(fit.inverse_transform(Y))  # images are points of their model in few digits too
