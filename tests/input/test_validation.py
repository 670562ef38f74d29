"""Error messages of validation, and values just inside the limits: distances, rows of every model."""

import numpy as np
import pytest

from clouds import cloud
from errors import error_message
from horopca._input.arguments import check_distances
from horopca._input.coordinates import Coordinates, check_points
from horopca.geometry import lift

D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (D - 3, "Negative values in data: Y must contain distances >= 0, but its smallest is -3."),
        (D[:2], "Y must be a square matrix of distances for metric='precomputed', but has shape (2, 3). For points pass "
                "metric='hyperbolic'."),
        (D + np.triu(D), "Y must be symmetric, but differs from its transpose by up to 2. Pass (Y + Y.T) / 2."),
        (D + np.diag([0, 0.5, 0]), "Y must be 0 on its diagonal, but has 0.5 there. Pass distances, not similarities."),
    ],
)  # fmt: skip
def test_errors_of_distances(wrong, expected):
    assert error_message(check_distances, wrong, "Y") == expected


def test_tolerance_of_distances():
    """Of float32, relative to the largest distance; whatever need not be square need not be symmetric."""
    for off in (np.array([[0, 0, 1.0], [1e-6, 0, 1.0], [1.0, 1.0, 0]]), np.array([[1e-6, 1.0], [1.0, 0]])):
        for largest in (1.0, 8.0):
            assert check_distances(largest * off).shape == off.shape
            assert error_message(check_distances, largest * np.where(off == 1e-6, 1.1e-6, off)).startswith("X must be ")
    assert check_distances(np.zeros((0, 0))).size == 0 and check_distances(D[:2], symmetric=False).shape == (2, 3)


RIM = "probably by rounding: horopca.geometry.clip(Y, 1e-5{}) moves such rows inside (on the command line, --clip 1e-5)."
COORDINATES = "For Lorentz coordinates pass model='lorentz', or 'lorentz-space' if the time is missing"
EUCLIDEAN = "vectors of a Euclidean model (word2vec, X_pca) are for sklearn.decomposition.PCA."
UNIT = "Y must lie inside the unit ball, but"
TWO = "Y must lie inside the ball of radius 2, but"
FIRST = "Y must lie on the hyperboloid t^2 - |s|^2 = 1, t > 0 (time first), but"
OTHERS = "For ball coordinates pass model='poincare'; for Lorentz coordinates without the time, model='lorentz-space'."
FAR = "Y must lie within hyperbolic distance 175 of the origin (the range of float64), but"
NEARER = "Divide the data by a scale, or pass a curvature closer to 0."
OUT = "Leave such rows out."
HEIGHT = "Y must have heights > 0 in its last column (model='halfspace'), but"
IN = [0.1, 0.2]  # a point of every model without a time


@pytest.mark.parametrize(
    ("model", "curvature", "rows", "expected"),
    [
        ("poincare", -1.0, [IN, [np.nan, 0]],
         "Y must be finite, but row 8 contains NaN or infinity. Drop or repair such rows."),
        ("klein", -1.0, [IN, [0, 1.005], [1, 0]],
         f"{UNIT} 2 of rows 7 to 9 have norm >= 1 (row 8 has norm 1.005). That is on the boundary, or outside it by at most "
         "0.005, " + RIM.format("")),
        ("poincare", -0.25, [[0, 1.9], [0, -2.01]],
         f"{TWO} row 8 has norm 2.01. That is on the boundary, or outside it by at most 0.01, {RIM.format(', radius=2')}"),
        ("poincare", -1.0, [[3, 4]],
         f"{UNIT} row 7 has norm 5. {COORDINATES}; for a larger ball pass its curvature, e.g. "
         f"curvature=-0.0392 (radius 5.05); {EUCLIDEAN}"),
        ("lorentz", -1.0, [[1, 0, 0], [3, 0, 1]],
         f"{FIRST} row 8 has t = 3 and t^2 - |s|^2 = 8. Its curvature would be -0.125. {OTHERS}"),
        ("lorentz", -1.0, [[3, 0, 1], [20, np.sqrt(392), 0]],
         f"{FIRST} 2 of rows 7 to 8 do not (row 7 has t = 3 and t^2 - |s|^2 = 8. Its curvature would be -0.125). "
         "All rows fit this curvature: pass curvature=-0.125."),
        ("lorentz", -1.0, [[2, 2, 3]],
         f"{FIRST} row 7 has t = 2 and t^2 - |s|^2 = -9. They do with the time last: pass "
         "model='lorentz-time-last'."),
        ("lorentz-space", -4.0, [[1e100, 0]], f"{FAR} row 7 is at 231.645. {NEARER}"),
        ("halfspace", -1.0, [IN, [3, 0]], f"{HEIGHT} row 8 has height 0."),
        ("halfspace", -1.0, [[0.2, -np.exp(100), 1]], f"{FAR} row 7 is at 200. {OUT}"),
        ("tangent", -4.0, [[60, 80], IN], f"{FAR} row 7 is at 200. {NEARER}"),
    ],
)  # fmt: skip
def test_errors_of_rows(model, curvature, rows, expected):
    assert error_message(check_points, np.array(rows, dtype=float), Coordinates(model, curvature), 7, "Y") == expected


@pytest.mark.parametrize(
    ("model", "curvature", "rows"),
    [
        ("tangent", -1.0, [[175.0, 0.0]]),
        ("halfspace", -1.0, [[0.0, np.exp(174.9)], [0.9, np.exp(-174.9)], [0.5, 1.0]]),
        ("halfspace", -1.0, np.full((2, 2), 6e4, np.float16)),  # whose sum is not finite
        ("lorentz", -0.25, [[2.0, 0.0], [np.sqrt(5.0), -1.0]]),
        ("lorentz-space", -4.0, [[np.sinh(174.9) / 2, 0.0]]),
    ],
)
def test_rows_at_their_limits(model, curvature, rows):
    check_points(np.asarray(rows), Coordinates(model, curvature), 0, "X")


@pytest.mark.parametrize("curvature", [-1.0, -0.25])
@pytest.mark.parametrize("s", [0.1, 3.0])
def test_tolerance_of_the_hyperboloid(curvature, s):
    coordinates, square = Coordinates("lorentz", curvature), 1 + s * s
    right, wrong = (np.array([[np.sqrt(square + 1e-4 * (1 + square) * off), s]]) / coordinates.scale for off in (0.95, 1.05))
    check_points(right, coordinates, 0, "X")
    assert "must lie on the hyperboloid" in error_message(check_points, wrong, coordinates, 0, "X")
    right, wrong = (np.array([[1 + units * 2.0**-10, 0]], dtype=np.float16) / coordinates.scale for units in (8, 9))
    check_points(right.astype(np.float16), coordinates, 0, "X")  # eight units in the last place
    assert "must lie on the hyperboloid" in error_message(check_points, wrong.astype(np.float16), coordinates, 0, "X")


@pytest.mark.parametrize("curvature", [-1.0, -0.01])
@pytest.mark.parametrize("d", [1, 3])
def test_space_components_that_include_the_time(curvature, d):
    """Eight rows on the hyperboloid, far enough from its cone, are not there by chance."""
    coordinates, radius = Coordinates("lorentz-space", curvature), 1 / np.sqrt(-curvature)
    x, far = (
        radius * p for p in (cloud(8, d, radius=4.0), lift(np.column_stack([np.linspace(40, 50, 20), *[[0.1] * 20] * d])))
    )
    for model, turn in (("lorentz", 0), ("lorentz-time-last", -1)):
        X = np.roll(x, turn, axis=1)
        assert error_message(check_points, X, coordinates, 7, "Y") == (
            "Y must be Lorentz coordinates without the time (model='lorentz-space'), but rows 7 to 14 include it: "
            f"t^2 - |s|^2 is {radius**2:.6g} in all of them. Pass model={model!r}."
        )
        for valid in (X[:7], np.append(X, [2 * X[0]], axis=0), np.roll(far, turn, axis=1), np.full((20, 1), radius)):
            check_points(valid, coordinates, 0, "X")


@pytest.mark.parametrize(("model", "curvature", "x"), [("lorentz", -0.25, [[0.0, -1e5]]), ("halfspace", -1.0, [[1.0, 1e5]])])
def test_images_too_large_for_the_dtype(model, curvature, x):
    coordinates = Coordinates(model, curvature)
    x = coordinates.to_hyperboloid(np.array(x))
    assert error_message(coordinates.from_hyperboloid, x, np.float16) == (
        "The images have coordinates of up to 1e+05, but the largest number in <class 'numpy.float16'> is 6.55e+04. Pass the "
        "points as float64."
    )
    assert coordinates.from_hyperboloid(x, np.float32).dtype == np.float32


@pytest.mark.parametrize("model", ["poincare", "klein"])
@pytest.mark.parametrize("curvature", [-1.0, -0.25])
def test_images_in_a_ball_stay_inside(model, curvature):
    x = lift(np.array([[3e15, 4e15]]))
    for dtype in (np.float32, np.float64):
        Y = Coordinates(model, curvature).from_hyperboloid(x, dtype)
        below = 1 - np.linalg.norm(Y.astype(np.float64)) * np.sqrt(-curvature)
        assert Y.dtype == dtype and 3.5 <= below / np.finfo(dtype).eps <= 4.5  # and the spacing of numbers below 1
        check_points(Y, Coordinates(model, curvature), 0, "Y")
