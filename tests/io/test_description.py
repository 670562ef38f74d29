"""`describe` says what rows could be, measures them as that, and counts what was done to them."""

import numpy as np
import pytest

from horopca.geometry import from_hyperboloid, radius, to_hyperboloid
from horopca.io import describe, load, save

Z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 4))
x = to_hyperboloid(Z)


RIM = np.random.default_rng(2).normal(size=(200, 4))  # points of a ball that reach its rim
RIM *= np.random.default_rng(3).uniform(0.1, 0.999, (200, 1)) ** 0.2 / np.linalg.norm(RIM, axis=1, keepdims=True)


@pytest.mark.parametrize("model", ["poincare", "lorentz", "lorentz-time-last", "halfspace"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_models_are_recognised(model, dtype):
    points = to_hyperboloid(RIM)
    found = describe(from_hyperboloid(points, model).astype(dtype))
    assert (found.model, found.candidates, found.curvature) == (model, (model,), -1.0)
    assert found.fits[model]
    assert np.isclose(found.radius[model][1.0], radius(points).max(), rtol=1e-4)
    assert np.isclose(found.radius[model][0.5], np.median(radius(points)), rtol=1e-4)


def test_tensors_and_missing_values(tmp_path):
    torch, pandas = pytest.importorskip("torch"), pytest.importorskip("pandas")
    for X in (torch.tensor(Z, requires_grad=True), torch.tensor(Z).to(torch.bfloat16)):
        assert describe(X).n_rows == len(load(save(tmp_path / "a.npy", X, force=True)).X) == 50
    for dtype in ("Float64", object):
        frame = pandas.DataFrame({"x": pandas.array([0.1, None, 0.3], dtype=dtype), "y": [0.1, 0.2, 0.3]})
        assert describe(frame).n_nonfinite == 1
        found = load(save(tmp_path / "a.npy", frame, force=True), allow_nonfinite=True).X
        assert np.array_equal(found, [[0.1, 0.1], [np.nan, 0.2], [0.3, 0.3]], equal_nan=True)
    with pytest.raises(ValueError, match=r"X must be a matrix of numbers, but it has shape .* and dtype object"):
        describe(pandas.DataFrame({"x": ["a", "b"]}))


def test_radii_of_every_candidate():
    X = np.random.default_rng(0).normal(size=(50, 4)) * 10
    found = describe(X)
    assert [name for name, fit in found.fits.items() if fit] == ["lorentz-space", "tangent"]
    assert np.isclose(found.radius["tangent"][1.0], found.largest_norm)
    assert np.isclose(found.radius["lorentz-space"][1.0], np.arcsinh(found.largest_norm))
    far = describe(1e80 * X)  # beyond what float64 holds of hyperbolic space
    assert far.model is None and far.radius == {} and not any(far.fits.values())


def test_counts():
    X = np.concatenate([Z, Z[:3], [[np.nan, 0, 0, 0], [0, np.inf, 0, 0]]])
    assert describe(X).n_clipped == 0
    X[10:17] *= 0.99999 / np.linalg.norm(X[10:17], axis=1, keepdims=True)
    found = describe(X)
    assert (found.n_rows, found.n_nonfinite, found.n_duplicates, found.n_clipped) == (55, 2, 3, 7)
    assert describe(X.astype(np.float32)).n_clipped == 7


def test_one_row_and_no_rows():
    assert describe([[0.5, 0.0]]).n_clipped == 0
    assert describe([[0.0, 0.0], [0.0, 0.0]]).n_duplicates == 1
    with pytest.raises(ValueError, match="at least one finite row"):
        describe([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="must be a matrix"):
        describe([0.5, 0.5])
