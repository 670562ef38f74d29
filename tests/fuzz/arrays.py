"""Arrays of every kind, given to what takes arrays: each has a finite result or raises a clear error; no warnings."""

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import horopca
from fuzz.rounds import Attempt
from horopca import metrics
from horopca._input.coordinates import LARGEST_RADIUS, Coordinates, check_coordinates
from horopca.geometry import MODELS, busemann, exp, from_hyperboloid, log, pairwise_distance, to_hyperboloid
from horopca.geometry.isometries import translate, translate_to_origin
from horopca.io import describe
from horopca.statistics import frechet_mean

CURVATURES = (-1.0, -1.0, -0.3, -1e-6, -1e6, -1e-100, -1e100)
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-160, 1e-308, 1e154, 1e160, -1e200, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan]


def any_numbers(rng: np.random.Generator, columns: int) -> np.ndarray:
    """Whatever float64 holds, and a few numbers that are worse than others."""
    shape = (int(rng.integers(1, 7)), columns)
    X = rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(*sorted(rng.uniform(-320, 308, 2)), shape)
    odd = rng.random(shape) < rng.choice([0.0, 0.1, 0.6])
    return np.where(odd, rng.choice(NUMBERS, shape), X)


def any_points(rng: np.random.Generator, columns: int, coordinates: Coordinates, size: int | None = None) -> np.ndarray:
    """Points of a model, from one another as near and as far as float64 can tell: in the ball up to its rim."""
    d, n = coordinates.dimension(columns), int(rng.integers(2, 9)) if size is None else size
    u = rng.standard_normal((n, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    share = 1 if coordinates.model.startswith("lorentz") or coordinates.model == "tangent" else 2
    most = np.log10(LARGEST_RADIUS * (1 - 1e-12) / share)
    radii = 10.0 ** rng.uniform(*sorted(rng.uniform(rng.choice([-300, -8, -1]), most, 2)), (n, 1))
    if rng.random() < 0.3:
        u = u[:1] + rng.choice([0.0, 1e-12, 1e-3]) * u  # all in one direction
        u /= np.linalg.norm(u, axis=1, keepdims=True)
    if rng.random() < 0.3:
        radii[:] = radii[0]
    X = coordinates.from_hyperboloid(to_hyperboloid(radii * u, "tangent"), np.float64)
    return X[rng.integers(0, n, n)] if rng.random() < 0.2 else X  # some of them several times


def any_coordinates(rng: np.random.Generator) -> Coordinates:
    return check_coordinates(str(rng.choice(list(MODELS))), float(rng.choice(CURVATURES)))


def some_points(rng: np.random.Generator, coordinates: Coordinates, columns: int | None = None) -> np.ndarray:
    """Points as float64 or, if their numbers fit, as float32."""
    d = int(rng.integers(1, 5)) if columns is None else coordinates.dimension(columns)
    X = any_points(rng, coordinates.columns(d), coordinates)
    single = rng.random() < 0.25 and np.abs(X).max() < 1e38
    return X.astype(np.float32) if single else X


def on_hyperboloid(rng: np.random.Generator) -> np.ndarray:
    coordinates = any_coordinates(rng)
    return np.asarray(coordinates.to_hyperboloid(some_points(rng, coordinates)))


@cache
def _fitted(name: str, coordinates: Coordinates, away: float) -> Any:
    """A fit to a few points around one, so far from the origin."""
    x = to_hyperboloid(np.random.default_rng(0).uniform(-0.4, 0.4, (12, 3)))
    centre = to_hyperboloid(np.array([0.6, 0.0, 0.8]) * away, "tangent")
    return _estimator(name, coordinates).fit(coordinates.from_hyperboloid(translate(x, centre), np.float64))


def _estimator(name: str, coordinates: Coordinates) -> Any:
    options = {"random_state": 0, "max_iter": 20} if name in {"HoroPCA", "PGA", "BSA"} else {}
    return getattr(horopca, name)(1, **options, **coordinates._asdict())


def _transform(name: str, rng: np.random.Generator) -> Any:
    """Any numbers, or points, through a fit and back."""
    coordinates = Coordinates(str(rng.choice(list(MODELS))), float(rng.choice([-1.0, -1e-100])))
    away = float(rng.choice([0.0, 6.0, 13.0] if coordinates.model in ("poincare", "klein") else [0.0, 13.0, 80.0]))
    fit, columns = _fitted(name, coordinates, away), coordinates.columns(3)
    X = any_numbers(rng, columns) if rng.random() < 0.5 else some_points(rng, coordinates, columns)
    Y = fit.transform(X)
    assert Y.dtype == X.dtype
    return Y, fit.inverse_transform(Y)


def _fit(name: str, rng: np.random.Generator) -> Any:
    """A fit to points: their images, and its attributes."""
    coordinates = any_coordinates(rng)
    X = some_points(rng, coordinates)
    fit = _estimator(name, coordinates).fit(X)
    said = [value for key, value in vars(fit).items() if key.endswith("_") and isinstance(value, (float, np.ndarray))]
    return fit.transform(X), *said


def _measured(rng: np.random.Generator) -> Any:
    coordinates = any_coordinates(rng)
    place = coordinates._asdict()
    X = some_points(rng, coordinates)
    Y = any_points(rng, coordinates.columns(int(rng.integers(1, 4))), coordinates, size=len(X))
    pairs = (metrics.average_distortion, metrics.worst_case_distortion)
    assert not np.isnan([metric(X, Y, **place) for metric in pairs]).any()  # inf is true where points merge
    return metrics.pair_variance(X, **place), metrics.frechet_variance(X, **place)


def _described(rng: np.random.Generator) -> Any:
    columns = int(rng.integers(1, 5))
    X = any_numbers(rng, columns) if rng.random() < 0.5 else some_points(rng, any_coordinates(rng))
    found = describe(X)
    return found.curvature, *(value for radii in found.radius.values() for value in radii.values())


def _distances(rng: np.random.Generator) -> Any:
    d = pairwise_distance(on_hyperboloid(rng))
    assert (np.abs(d - d.T) <= 1e-9 * d).all() and (d >= 0).all()
    return (d,)


def _reached(rng: np.random.Generator) -> Any:
    """The exponential map leads to y with seven digits, or raises an error."""
    x = on_hyperboloid(rng)
    y = np.roll(x, 1, axis=0)
    v = log(x, y)
    found = exp(x, v)
    assert (np.abs(found - y) <= 1e-6 * y[:, :1]).all()
    return v, found


def _moved(rng: np.random.Generator) -> Any:
    """A translation and its inverse, and the Busemann functions of the directions of the points."""
    x = on_hyperboloid(rng)
    return translate(x, x[:1]), translate_to_origin(x, x[:1]), busemann(x, np.eye(x.shape[1] - 1)[0])


# What is done to arrays, and for one of these, how many rounds there are: a fit takes a hundred times as long as a map.
SUBJECTS: dict[str, tuple[Callable[[np.random.Generator], Any], int]] = {
    "describe": (_described, 2),
    "from model to model": (lambda rng: [from_hyperboloid(x, model) for x in [on_hyperboloid(rng)] for model in MODELS], 1),
    "distances": (_distances, 1),
    "exp and log": (_reached, 1),
    "translations": (_moved, 1),
    "Fréchet mean": (lambda rng: frechet_mean(on_hyperboloid(rng))[:2], 16),
    "metrics": (_measured, 16),
    **{f"{name}, transform": (partial(_transform, name), 4) for name in ("TangentPCA", "EuclideanPCA", "HoroPCA", "PGA")},
    **{f"{name}, fit": (partial(_fit, name), 64) for name in ("TangentPCA", "EuclideanPCA", "RadialPCA")},
    **{f"{name}, fit": (partial(_fit, name), 1024) for name in ("HoroPCA", "PGA", "BSA")},
}


@contextmanager
def trying(seed: int) -> Iterator[tuple[dict[str, int], Attempt]]:
    """How often all subjects are tried, and the function that tries one. Warnings are errors, but for stopped searches."""

    def attempt(kind: str, number: int) -> tuple[str, str]:
        try:
            answers = SUBJECTS[kind][0](np.random.default_rng([seed, number, *kind.encode()]))
        except Exception as error:  # the harness reports whatever there is
            at = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}: {str(error)[:300]}"
            clear = isinstance(error, ValueError) and str(error).endswith((".", "?"))
            return ("raised", "") if clear else ("unexpected", message)
        return ("read" if all(np.isfinite(np.asarray(answer)).all() for answer in answers) else "not finite"), ""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield {name: every for name, (_, every) in SUBJECTS.items()}, attempt
