"""The limits of float64: points next to the rim, points at the largest valid radius, points close together."""

import numpy as np
import pytest

from errors import is_valid
from horopca import EuclideanPCA, RadialPCA, TangentPCA, metrics
from horopca._input.coordinates import LARGEST_RADIUS, Coordinates
from horopca._input.rows import check_rows
from horopca.geometry import distance, from_hyperboloid, radius, to_hyperboloid, translate
from horopca.statistics import frechet_mean
from quick import REDUCTIONS, quick


def next_to_the_rim(d: int, n: int = 100, seed: int = 0) -> np.ndarray:
    """Points of the ball whose squared norm is 1 to a unit in the last place, one way or the other."""
    u = np.random.default_rng(seed).standard_normal((n, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return np.concatenate([u, np.nextafter(u, 0), u * (1 - 2.0**-53)])


@pytest.mark.parametrize("model", ["poincare", "klein"])
@pytest.mark.parametrize("d", [2, 33])
def test_points_next_to_the_rim_are_finite_or_errors(model, d):
    """In memory of any order, and in a ball of any radius."""
    coordinates, X = Coordinates(model, -1.0), next_to_the_rim(d)
    inside = [is_valid(row[None], model, -1.0) for row in X]
    for size in (2.0, 0.25):
        assert inside == [is_valid(size * row[None], model, -1 / size**2) for row in X]
    assert 0 < sum(inside) < len(X)
    for order in ("C", "F"):
        P = np.asarray(X[inside], order=order)
        rows = check_rows(P, coordinates)
        for x in (rows.all(), rows.take(np.arange(len(P))), to_hyperboloid(P, model), next(rows.chunks()).points()):
            # 1 - |z|^2 is 2^-53 at the least: radius 38 in the Poincaré ball, 19 in Klein's
            assert np.isfinite(x).all() and radius(x).max() < 38.2
        assert np.isfinite(next(rows.chunks()).products(np.ones((2, d + 1)))).all()


def far_points(kind: str, reach: float = LARGEST_RADIUS * (1 - 1e-12)) -> np.ndarray:
    """Tangent vectors of points as far out as they may be: around the origin, on one side of it, alone, or all together."""
    rng = np.random.default_rng(0)
    u, r = rng.standard_normal((12, 3)), reach * rng.uniform(0.3, 1, size=(12, 1))
    if kind == "on one side":
        u[:, 0] = 2 + np.abs(u[:, 0])
        u[-1], r[-1] = [-1, 0, 0], reach
    elif kind == "three":
        u, r = u[:3], reach * np.array([[1.0], [0.7], [0.46]])
    elif kind == "one outlier":
        r = np.where(np.arange(12)[:, None] == 0, reach, 0.5)
    elif kind == "together":
        u, r = 1e-3 * u + [1, 0, 0], np.full((12, 1), reach)
    return r * u / np.linalg.norm(u, axis=1, keepdims=True)


KINDS = ["around", "on one side", "three", "one outlier", "together"]
FAR_MODELS = ["lorentz", "tangent", "halfspace"]
FITS = [*((name, {}) for name in REDUCTIONS), ("HoroPCA", {"spine": "free", "objective": "distortion"})]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "options"), FITS, ids=str)
@pytest.mark.filterwarnings("ignore:HyperbolicMDS:UserWarning")
def test_every_method_and_metric_works_at_the_largest_valid_radius(kind, name, options):
    """In one of the models, so that every kind of points and every method is tried in each of them."""
    model = FAR_MODELS[(KINDS.index(kind) + FITS.index((name, options))) % len(FAR_MODELS)]
    X = from_hyperboloid(to_hyperboloid(far_points(kind), "tangent"), model)
    estimator = quick(name, model=model, **options).fit(X)
    Y = estimator.transform(X)
    found = [
        Y,
        estimator.inverse_transform(Y),
        *(getattr(estimator, f"{part}_variance_", 0.0) for part in ("explained", "total")),
    ]
    for metric in (metrics.average_distortion, metrics.worst_case_distortion, metrics.unexplained_variance):
        found.append(metric(X, X[::-1].copy(), model=model))
    assert all(np.isfinite(part).all() for part in found)
    assert 0 <= metrics.frechet_variance(X, model=model) <= metrics.pair_variance(X, model=model) / 2 * (1 + 1e-9)


@pytest.mark.parametrize("method", [TangentPCA, EuclideanPCA, RadialPCA])
@pytest.mark.parametrize("r", [20.0, 48.7, LARGEST_RADIUS - 1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_points_close_together_far_from_the_origin(method, r):
    """Where products with the rows leave nothing but rounding, of either sign."""
    rng = np.random.default_rng(0)
    for seed in range(2):
        u = rng.standard_normal((1, 1 + 2 * seed))
        centre = to_hyperboloid(r * u / np.linalg.norm(u), "tangent")
        near = translate(to_hyperboloid(rng.choice([0.0, 1e-3, 0.1]) * rng.standard_normal((5, u.shape[1])), "tangent"), centre)
        fit = method(1, model="lorentz").fit(near)
        images = to_hyperboloid(fit.transform(near), "lorentz")
        assert distance(images, fit._project(near)).max() < 1e-8  # point by point, without products


@pytest.mark.parametrize("scale", [1e-2, 1e-7, 1e-200, 0.0])
def test_the_mean_of_points_close_together_is_found_in_a_few_steps(scale):
    for seed in range(5):
        v = scale * (np.random.default_rng(seed).standard_normal((5, 3)) + [3.0 * (seed % 2), 0, 0])
        mean = frechet_mean(to_hyperboloid(v, "tangent"))
        assert mean.converged and mean.n_iter <= 4
        # so close together space is flat, but for the square of the scale
        assert np.allclose(mean.point[1:], v.mean(axis=0), atol=20 * scale**3 + 1e-15 * scale)


def test_rows_that_are_not_finite_are_named(xp):
    for model, d in (("poincare", 2), ("tangent", 2), ("halfspace", 2), ("lorentz", 3)):
        X = np.full((5, d), 0.1)
        X[1, 0], X[3, 1] = np.nan, np.inf
        with pytest.raises(ValueError, match=r"but 2 of rows 0 to 4 contain NaN or infinity \(row 1 contains"):
            check_rows(xp.asarray(X), Coordinates(model, -1.0))
