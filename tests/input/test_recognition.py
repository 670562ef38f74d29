"""Models are recognised by evidence, if there is enough of it: `describe`, and the model "auto"."""

import numpy as np
import pytest

from errors import error_message, is_valid
from horopca import HoroPCA, TangentPCA
from horopca.geometry import from_hyperboloid, lift, radius, to_hyperboloid
from horopca.io import describe, load, save

Z = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 4))
x = to_hyperboloid(Z)
RIM = np.random.default_rng(2).normal(size=(200, 4))  # points of a ball that reach its rim
RIM *= np.random.default_rng(3).uniform(0.1, 0.999, (200, 1)) ** 0.2 / np.linalg.norm(RIM, axis=1, keepdims=True)
SIGNS = np.array([[-1.0, -2.0, 3.0], [1.0, 2.0, 4.0]] * 10)  # all columns but the last have both
FAR = lift(np.linspace(1e9, 1e10, 30)[:, None] * [[0.6, -0.8]])
ANGLE = np.pi / 2 + np.random.default_rng(0).uniform(-0.5, 0.5, 60)
BRANCH = np.stack([np.cos(ANGLE), np.sin(ANGLE)], axis=1)  # whose last column is positive


def ring(*sizes: float) -> np.ndarray:
    """Points of the plane with these norms, in all directions."""
    angle = 2.4 * np.arange(len(sizes))
    return np.array(sizes)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


SPACE, HEIGHT = ("lorentz-space", "tangent"), ("halfspace", "lorentz-space", "tangent")
INSIDE, OUTSIDE = ": all below 1, but not crowding there", ": outside the unit ball"
CROWD = ", 3 between 0.9 and 1 and none beyond; a Klein ball would look the same"
CASES = {
    "a ball": (Z, ("poincare", *SPACE), "norms from 0.215 to 0.719" + INSIDE),
    "one sign": (np.abs(2 * Z) + 1, HEIGHT, "norms from 2.4 to 3.43" + OUTSIDE),
    "long": (500 * Z, ("lorentz-space",),
             f"norms from 107 to 360{OUTSIDE}, and too long for tangent vectors at this curvature"),
    "one row 30 times": ([[2.0, 1.0, 0.5]] * 30, ("lorentz", *HEIGHT), "norms from 2.29 to 2.29" + OUTSIDE),
    "one row off the hyperboloid": (np.append(x, [[1.1, 0, 0, 0, 0]], axis=0), SPACE, "norms from 1.1 to 4.33" + OUTSIDE),
    "Lorentz": (x, ("lorentz",), "t^2 - |s|^2 is 1 in every row, time first"),
    "time last": (2 * from_hyperboloid(x, "lorentz-time-last"), ("lorentz-time-last",),
                  "t^2 - |s|^2 is 4 in every row, time last"),
    "a half-space": (SIGNS, ("halfspace",), "the last column is positive in every row, all others have both signs"),
    "a column without negative numbers": (np.where(SIGNS == -2, 0, SIGNS), HEIGHT, "norms from 3.16 to 4.58" + OUTSIDE),
    "a crowd at the rim": (ring(0.1, 0.85, 0.85, 0.85, 0.95, 0.95, 0.95), ("poincare",), "norms from 0.1 to 0.95" + CROWD),
    "a larger crowd before it": (ring(0.1, 0.85, 0.85, 0.85, 0.85, 0.95, 0.95, 0.95), ("poincare", *SPACE),
                                 "norms from 0.1 to 0.95" + INSIDE),
    "two are no crowd": (ring(0.1, 0.95, 0.95), ("poincare", *SPACE), "norms from 0.1 to 0.95" + INSIDE),
    "one branch of a ball": (BRANCH * np.linspace(0.85, 0.99, 60)[:, None], ("poincare",), None),
    "one branch of a small ball": (BRANCH * np.linspace(0.3, 0.6, 60)[:, None], ("poincare", *HEIGHT), None),
    # far out, rounding moves rows to the cone t = |s|
    "on the cone": (FAR, ("lorentz", "lorentz-space"), None),
    "on the cone, time last": (np.roll(FAR, -1, axis=1), ("lorentz-time-last", "halfspace", "lorentz-space"), None),
    "float16 beside the cone": ((2e-6 * FAR * [1 + 1e-3, 1, 1]).astype(np.float16), ("lorentz", "lorentz-space"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_candidates_and_evidence(name):
    """Space components with small norms are not taken for a ball, nor larger ones for tangent vectors."""
    X, candidates, evidence = CASES[name]
    found = describe(X)
    assert found.candidates == candidates and evidence in (None, found.evidence)
    assert found.model == (candidates[0] if len(candidates) == 1 else None)


def test_blocks_change_nothing():
    """A million elements are examined at a time."""
    few, many = (describe(np.tile(x, (n, 1))) for n in (1, 1 << 13))
    assert (many.candidates, many.evidence, many.fits, many.n_rows) == (few.candidates, few.evidence, few.fits, 50 << 13)
    assert describe(np.append(np.tile(Z, (1 << 13, 1)), [[1.0, 0, 0, 0]], axis=0)).candidates == SPACE


@pytest.mark.parametrize("curvature", [-1.0, -0.25])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_a_time_imply_their_curvature_up_to_the_largest_radius(curvature, dtype):
    found = describe((x / np.sqrt(-curvature)).astype(dtype))
    assert found.model == "lorentz"
    assert found.curvature == pytest.approx(curvature, rel=1e-6 if dtype == np.float32 else 1e-12)
    for r, fits in ((174.9, True), (175.1, False)):
        rows = np.array([[1.0, 0.0], [np.cosh(r), np.sinh(r)]]) / np.sqrt(-curvature)
        assert describe(rows).fits["lorentz"] == describe(rows[:, ::-1]).fits["lorentz-time-last"] == fits


@pytest.mark.parametrize("size", [1.0, 170.0, 180.0, 1e4, 1e154, 1e200, 1.7e308])
def test_recognised_models_pass_validation(size):
    far = np.array([[1.0, 0.5], [size, 1.0], [2.0, size], [size, size]])
    for X in (far, far[:1].repeat(2, axis=0), far[2:3].repeat(2, axis=0), -far, far[:, ::-1], 1 / far):
        found = describe(X)
        for model, fits in found.fits.items():
            curvature = found.curvature if model.startswith("lorentz") and model != "lorentz-space" else -1.0
            assert fits == is_valid(X, model, curvature)


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


def test_auto_uses_the_only_model_that_fits(xp, curvature=-0.25):
    for model in ("lorentz", "lorentz-time-last"):
        X = 2 * from_hyperboloid(x, model)
        fit = TangentPCA(2, model="auto", curvature=curvature).fit(xp.asarray(X))
        assert (fit.model_, fit.curvature_) == (model, curvature)
    assert TangentPCA(2, model="auto", curvature=curvature).fit(xp.asarray(2 * RIM)).model_ == "poincare"


def test_auto_of_whole_numbers_and_streams():
    assert TangentPCA(1, model="auto").fit([[3, 2, 2], [9, 8, 4]]).model_ == "lorentz"
    pca = HoroPCA(model="auto", n_init=1, random_state=0).partial_fit(x[:30])
    assert pca.partial_fit(x[30:32]).model_ == "lorentz"  # that of the batches before


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (2 * Z, "model='auto' is ambiguous: the rows of X could be 'lorentz-space' or 'tangent' (norms from 0.429"),
        (1e80 * Z, "model='auto' found no model that the rows of X fit (norms from "),
        (2 * x, "X must lie on the hyperboloid t^2 - |s|^2 = 1, t > 0 (time first), but 50 of rows 0 to 49 do not"),
        (np.append(x, [[np.nan, 0, 0, 0, 0]], axis=0), "X must be finite, but row 50"),
        (Z[:0], "X must have at least 1 row"),
    ],
)
def test_errors_of_auto(X, expected):
    assert error_message(TangentPCA(model="auto").fit, X).startswith(expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("model", ["lorentz", "lorentz-time-last"])
def test_auto_recognises_the_time_in_half_precision(model, dtype):
    torch = pytest.importorskip("torch")
    space = np.random.default_rng(0).normal(size=(60, 4))
    half = lambda spread: torch.as_tensor(from_hyperboloid(lift(spread * space), model)).to(getattr(torch, dtype))
    assert TangentPCA(2, model="auto").fit(half(1.0)).model_ == model
    assert dtype == "bfloat16" or describe(half(1.0).numpy()).model == model
    with pytest.raises(ValueError, match=rf"the rows of X could be '{model}' or .*'lorentz-space'"):
        TangentPCA(2, model="auto").fit(half(60.0))  # on the cone, in this precision
