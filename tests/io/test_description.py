"""`describe` recognises each model by what its rows satisfy."""

import warnings

import numpy as np
import pytest

from horopca._points.door import Door
from horopca._points.places import check_rows
from horopca.geometry import from_hyperboloid, radius, to_hyperboloid
from horopca.io.description import describe

Z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 4))
x = to_hyperboloid(Z)


RIM = np.random.default_rng(2).normal(size=(200, 4))  # points of a ball that reach its rim
RIM *= np.random.default_rng(3).uniform(0.1, 0.999, (200, 1)) ** 0.2 / np.linalg.norm(RIM, axis=1, keepdims=True)


@pytest.mark.parametrize("model", ["poincare", "lorentz", "lorentz-time-last", "halfspace"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_model_is_recognised_by_its_evidence_and_measured(model, dtype):
    points = to_hyperboloid(RIM)
    found = describe(from_hyperboloid(points, model).astype(dtype))
    assert (found.model, found.candidates, found.curvature) == (model, (model,), -1.0)
    assert found.fits[model]
    assert np.isclose(found.radius[model][1.0], radius(points).max(), rtol=1e-4)
    assert np.isclose(found.radius[model][0.5], np.median(radius(points)), rtol=1e-4)


@pytest.mark.parametrize(
    ("X", "candidates", "evidence"),
    [
        (Z, ("poincare", "lorentz-space", "tangent"), "all below 1, but not crowding there"),
        (2 * Z, ("lorentz-space", "tangent"), "beyond the unit ball"),
        (np.abs(Z), ("poincare", "halfspace", "lorentz-space", "tangent"), "all below 1"),
        (np.abs(2 * Z) + 1, ("halfspace", "lorentz-space", "tangent"), "beyond the unit ball"),
        (500 * Z, ("lorentz-space",), "too long for tangent vectors"),
        ([[2.0, 1.0, 0.5]] * 30, ("lorentz", "halfspace", "lorentz-space", "tangent"), "beyond"),  # one row, 30 times
        (np.append(x, [[1.1, 0, 0, 0, 0]], axis=0), ("lorentz-space", "tangent"), "beyond"),
    ],
)
def test_where_several_models_fit_none_is_guessed(X, candidates, evidence):
    """Space components with small norms are not taken for a ball, nor larger ones for tangent vectors."""
    found = describe(X)
    assert found.candidates == candidates and evidence in found.evidence and set(found.radius) == set(candidates)
    assert found.model == (candidates[0] if len(candidates) == 1 else None)


@pytest.mark.parametrize("curvature", [-0.1, -2.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lorentz_rows_imply_their_curvature(curvature, dtype):
    found = describe((x / np.sqrt(-curvature)).astype(dtype))
    assert found.model == "lorentz"
    assert np.isclose(found.curvature, curvature, rtol=1e-3)
    assert np.isclose(found.radius["lorentz"][1.0], radius(x).max() / np.sqrt(-curvature), rtol=1e-3)


def test_wide_lorentz_rows_in_single_precision_are_recognised():
    far = to_hyperboloid(np.random.default_rng(1).normal(size=(100, 4)) * 4, "tangent")
    assert describe(far.astype(np.float32)).model == "lorentz"


def test_vectors_that_fit_nothing_else_are_space_components_or_tangent():
    X = np.random.default_rng(0).normal(size=(50, 4)) * 10
    found = describe(X)
    assert [name for name, fit in found.fits.items() if fit] == ["lorentz-space", "tangent"]
    assert np.isclose(found.radius["tangent"][1.0], found.largest_norm)
    assert np.isclose(found.radius["lorentz-space"][1.0], np.arcsinh(found.largest_norm))
    assert [name for name, fit in describe(100 * X).fits.items() if fit] == ["lorentz-space"]
    far = describe(1e80 * X)  # beyond what float64 holds of hyperbolic space
    assert far.model is None and far.radius == {} and not any(far.fits.values())


@pytest.mark.parametrize("size", [1.0, 170.0, 180.0, 1e4, 1e154, 1e200, 1.7e308])
def test_a_model_that_is_named_is_one_that_a_reduction_takes(size):
    far = np.array([[1.0, 0.5], [size, 1.0], [2.0, size], [size, size]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X in (far, far[:1], far[2:3], -far, far[:, ::-1], 1 / far):
            found = describe(X)
            for model, fits in found.fits.items():
                curvature = found.curvature if model in ("lorentz", "lorentz-time-last") else -1.0
                assert fits == taken(X, Door(model, curvature))


def taken(X, door):
    try:
        check_rows(X, door)
    except ValueError:
        return False
    return True


def test_clips_duplicates_and_nonfinite_rows_are_counted():
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
