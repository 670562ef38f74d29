"""Models are recognised by evidence, if there is enough of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from errors import error_message
from horopca._input.coordinates import Coordinates
from horopca._input.recognition import Recognised, recognise
from horopca._input.rows import check_rows, choose_coordinates
from horopca.geometry import MODELS, from_hyperboloid, lift, to_hyperboloid

Z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 4))
x = to_hyperboloid(Z)
RIM = np.random.default_rng(2).normal(size=(200, 4))  # points of a ball that reach its rim
RIM *= np.random.default_rng(3).uniform(0.1, 0.999, (200, 1)) ** 0.2 / np.linalg.norm(RIM, axis=1, keepdims=True)
SIGNS = np.array([[-1.0, -2.0, 3.0], [1.0, 2.0, 4.0]] * 10)  # all columns but the last have both


def recognised(X, eps: float = 0.0, step: int = 1000) -> Recognised:
    X = np.asarray(X, dtype=np.float64)
    return recognise(lambda: (X[k : k + step] for k in range(0, len(X) + step, step)), X.shape[1], eps)


def ring(*sizes: float) -> np.ndarray:
    """Points of the plane with these norms, in all directions."""
    angle = 2.4 * np.arange(len(sizes))
    return np.array(sizes)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


CROWD = ring(0.1, 0.85, 0.85, 0.85, 0.85, 0.95, 0.95, 0.95)  # more of them before the last tenth than in it


# ---------------------------------------------------------------- the evidence


@pytest.mark.parametrize("model", ["poincare", "lorentz", "lorentz-time-last", "halfspace"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_model_is_recognised_by_its_evidence(model, dtype):
    X = from_hyperboloid(to_hyperboloid(RIM), model).astype(dtype)
    found = recognised(X, np.finfo(dtype).eps)
    assert (found.n, found.candidates, found.coordinates) == (200, (model,), Coordinates(model, -1.0))
    assert found.largest_norm == pytest.approx(np.linalg.norm(X, axis=1).max())
    assert choose_coordinates(X, "auto", -1.0) == found.coordinates


@pytest.mark.parametrize(
    ("X", "candidates", "evidence"),
    [
        (Z, ("poincare", "lorentz-space", "tangent"), "norms from 0.215 to 0.719: all below 1, but not crowding there"),
        (2 * Z, ("lorentz-space", "tangent"), "norms from 0.429 to 1.44: outside the unit ball"),
        (np.abs(Z), ("poincare", "halfspace", "lorentz-space", "tangent"),
         "norms from 0.215 to 0.719: all below 1, but not crowding there"),
        (np.abs(2 * Z) + 1, ("halfspace", "lorentz-space", "tangent"), "norms from 2.4 to 3.43: outside the unit ball"),
        (500 * Z, ("lorentz-space",),
         "norms from 107 to 360: outside the unit ball, and too long for tangent vectors at this curvature"),
        ([[2.0, 1.0, 0.5]] * 30, ("lorentz", "halfspace", "lorentz-space", "tangent"),  # one row, 30 times
         "norms from 2.29 to 2.29: outside the unit ball"),
        (np.append(x, [[1.1, 0, 0, 0, 0]], axis=0), ("lorentz-space", "tangent"),
         "norms from 1.1 to 4.33: outside the unit ball"),
        (x, ("lorentz",), "t^2 - |s|^2 is 1 in every row, time first"),
        (x[:2] / 2, ("lorentz",), "t^2 - |s|^2 is 0.25 in every row, time first"),
        (2 * from_hyperboloid(x, "lorentz-time-last"), ("lorentz-time-last",), "t^2 - |s|^2 is 4 in every row, time last"),
        (SIGNS, ("halfspace",), "the last column is positive in every row, all others have both signs"),
        (SIGNS[1:], ("halfspace", "lorentz-space", "tangent"), "norms from 3.74 to 4.58: outside the unit ball"),
        (np.where(SIGNS == -2, 0, SIGNS), ("halfspace", "lorentz-space", "tangent"),
         "norms from 3.16 to 4.58: outside the unit ball"),
        (np.where(SIGNS == 2, 0, SIGNS), ("halfspace", "lorentz-space", "tangent"),
         "norms from 3.74 to 4.12: outside the unit ball"),
        (np.where(SIGNS == -1, 1, SIGNS), ("halfspace", "lorentz-space", "tangent"),
         "norms from 3.74 to 4.58: outside the unit ball"),
        (SIGNS[:, 2:], ("halfspace", "lorentz-space", "tangent"), "norms from 3 to 4: outside the unit ball"),
        (ring(0.1, 0.85, 0.85, 0.85, 0.95, 0.95, 0.95), ("poincare",),
         "norms from 0.1 to 0.95, 3 between 0.9 and 1 and none beyond; a Klein ball would look the same"),
        (CROWD, ("poincare", "lorentz-space", "tangent"),
         "norms from 0.1 to 0.95: all below 1, but not crowding there"),
        ([[0.9, 0], [-0.9, 0], [0, -0.9]], ("poincare",),
         "norms from 0.9 to 0.9, 3 between 0.9 and 1 and none beyond; a Klein ball would look the same"),
        (ring(0.1, 0.95, 0.95), ("poincare", "lorentz-space", "tangent"),
         "norms from 0.1 to 0.95: all below 1, but not crowding there"),
    ],
)  # fmt: skip
def test_candidates_and_evidence(X, candidates, evidence):
    """Space components with small norms are not taken for a ball, nor larger ones for tangent vectors."""
    found = recognised(X)
    assert (found.candidates, found.evidence) == (candidates, evidence)
    assert found.coordinates == (found.fitting[candidates[0]] if len(candidates) == 1 else None)


@pytest.mark.parametrize("X", [Z, x, RIM, SIGNS, 500 * Z, from_hyperboloid(x, "lorentz-time-last"), CROWD, CROWD[::-1]])
def test_blocks_change_nothing(X):
    one, few, all_ = (recognised(X, step=step) for step in (1, 7, 1000))
    assert (one.n, one.largest_norm, *one[3:], one.coordinates) == (few.n, few.largest_norm, *few[3:], few.coordinates)
    assert (few.n, few.largest_norm, *few[3:], few.coordinates) == (all_.n, all_.largest_norm, *all_[3:], all_.coordinates)


def test_no_rows():
    assert recognised(np.zeros((0, 3))) == (0, 0.0, dict.fromkeys(MODELS), (), "no finite row")


# ---------------------------------------------------------------- rows with a time


@pytest.mark.parametrize("curvature", [-0.1, -2.0, -4.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lorentz_rows_imply_their_curvature(curvature, dtype):
    found = recognised((x / np.sqrt(-curvature)).astype(dtype), np.finfo(dtype).eps)
    assert found.candidates == ("lorentz",)
    assert found.coordinates.curvature == pytest.approx(curvature, rel=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("curvature", [-1.0, -0.25, -4.0])
def test_the_largest_radius_of_rows_with_a_time(curvature):
    for r, fits in ((174.9, True), (175.1, False)):
        rows = np.array([[1.0, 0.0], [np.cosh(r), np.sinh(r)]]) / np.sqrt(-curvature)
        for X, model in ((rows, "lorentz"), (rows[:, ::-1], "lorentz-time-last")):
            assert recognised(X).fitting[model] == (Coordinates(model, curvature) if fits else None)


def test_rows_that_are_on_no_hyperboloid():
    for X in (
        [[2.0], [2.0]],  # time alone
        [[2.0, 1.0], [-2.0, 1.0]],
        [[0.0, 0.0], [2.0, 1.0]],
        [[1.0, 1.0], [2.0, 2.0]],  # on the cone
        [[1e60, 0.0], [2e60, 1.0]],  # of a curvature below the least
        [[2.0, 1.0], [3.0, 1.0]],
    ):
        assert recognised(X).fitting["lorentz"] is None
    assert recognised([[2.0, 1.0], [2.0, -1.0]]).coordinates == ("lorentz", pytest.approx(-1 / 3))


def test_rows_that_rounding_moves_to_the_cone_may_have_a_time():
    far = lift(np.linspace(1e9, 1e10, 30)[:, None] * [[0.6, -0.8]])
    assert recognised(far).candidates == ("lorentz", "lorentz-space")
    assert recognised(np.roll(far, -1, axis=1)).candidates == ("lorentz-time-last", "halfspace", "lorentz-space")
    for other in (far[:1].repeat(30, axis=0), far * [-1, 1, 1], far * [1.01, 1, 1], np.append(far, [[0, 0, 0]], axis=0)):
        assert "lorentz" not in recognised(other).candidates
    assert "lorentz" in recognised(1e-10 * far).candidates
    for off, eps, there in ((3e-5, 1e-5, True), (5e-5, 1e-5, False), (3e-5, 0.0, False)):
        nearly = far * [1 + off, 1, 1]  # t^2 - |s|^2 is so much of t^2 + |s|^2
        assert ("lorentz" in recognised(nearly, eps).candidates) == there


# ---------------------------------------------------------------- and others


def test_vectors_that_fit_nothing_else_are_space_components_or_tangent():
    X = np.random.default_rng(0).normal(size=(50, 4)) * 10
    fits = lambda X: [name for name, coordinates in recognised(X).fitting.items() if coordinates is not None]
    assert fits(X) == ["lorentz-space", "tangent"] and fits(100 * X) == ["lorentz-space"]
    assert fits(1e80 * X) == [] and recognised(1e80 * X).coordinates is None  # beyond what float64 holds of hyperbolic space
    assert recognised(1e80 * X).largest_norm == pytest.approx(1e80 * recognised(X).largest_norm)
    assert recognised(np.array([[-3.0], [1e200]])).largest_norm == 1e200


@pytest.mark.parametrize("size", [1.0, 170.0, 180.0, 1e4, 1e154, 1e200, 1.7e308])
def test_recognised_models_pass_validation(size):
    far = np.array([[1.0, 0.5], [size, 1.0], [2.0, size], [size, size]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X in (far, far[:1], far[2:3], -far, far[:, ::-1], 1 / far):
            for model, coordinates in recognised(X).fitting.items():
                assert (coordinates is not None) == is_valid(X, coordinates or Coordinates(model, -1.0))


def is_valid(X, coordinates):
    try:
        check_rows(X, coordinates)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------- the model "auto"


def test_auto_needs_a_matrix_in_memory():
    elsewhere = type("Array", (), {"__module__": "dask.array.core", "ndim": 2, "shape": (50, 5)})()
    for X in (x[0], x[None], np.zeros((0, 3)), np.zeros((3, 0)), elsewhere):
        assert error_message(choose_coordinates, X, "auto", -1.0, "Y") == (
            "model='auto' needs the rows of Y in memory, as a matrix. Pass a model."
        )


def test_errors_of_auto():
    for X, could in (
        (2 * Z, "'lorentz-space' or 'tangent' (norms from 0.429 to 1.44: outside the unit ball)"),
        (1e80 * Z - 1e79, "of no model at this curvature (norms from "),
    ):
        message = error_message(choose_coordinates, X, "auto", -1.0, "Y")
        assert message.startswith(f"model='auto' is ambiguous: the rows of Y could be {could}")
    with pytest.raises(ValueError, match="curvature must be a negative number"):
        choose_coordinates(x, "auto", 1.0)
    with pytest.raises(ValueError, match=r"model must be one of .*'tangent', 'auto', but is 'Auto'"):
        choose_coordinates(x, "Auto", -1.0)


def test_auto_leaves_out_what_is_not_finite_and_keeps_the_curvature_that_is_passed():
    hole = np.append(x, [[np.nan, 0, 0, 0, 0], [0, np.inf, 0, 0, 0]], axis=0)
    for X in (x, hole, hole.tolist(), np.array([[3, 2, 2], [9, 8, 4]])):
        assert choose_coordinates(X, "auto", -1.0).model == "lorentz"
    assert (
        choose_coordinates(2 * x, "auto", -0.25) == ("lorentz", -0.25)
        and choose_coordinates(2 * RIM, "auto", -0.25).model == "poincare"
    )
    assert choose_coordinates(1.01 * x, "auto", -1.0) == (
        "lorentz",
        -1.0,
    )  # and validation says what their curvature would be
