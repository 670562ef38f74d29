"""Arrays of every kind, given to what takes arrays: each has a finite result or raises a clear error; no warnings."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import horopca
from fuzz.tally import Finding, Outcomes, Report, Tally, counted, quiet
from horopca import metrics
from horopca._input.coordinates import LARGEST_RADIUS, Coordinates, check_coordinates
from horopca.geometry import (
    MODELS,
    busemann,
    exp,
    from_hyperboloid,
    log,
    pairwise_distance,
    to_hyperboloid,
    translate,
    translate_to_origin,
)
from horopca.io import describe
from horopca.statistics import frechet_mean

SECONDS = 60.0  # of processor time for one array; all of them are small
CURVATURES = (-1.0, -1.0, -0.3, -1e-6, -1e6, -1e-100, -1e100)
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-160, 1e-308, 1e154, 1e160, -1e200, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan]


# ---------------------------------------------------------------- arrays


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
    most = np.log10(
        LARGEST_RADIUS * (1 - 1e-12) / (1 if coordinates.model.startswith("lorentz") or coordinates.model == "tangent" else 2)
    )
    radii = 10.0 ** rng.uniform(*sorted(rng.uniform(rng.choice([-300, -8, -1]), most, 2)), (n, 1))
    if rng.random() < 0.3:
        u = u[:1] + rng.choice([0.0, 1e-12, 1e-3]) * u  # all in one direction
        u /= np.linalg.norm(u, axis=1, keepdims=True)
    if rng.random() < 0.3:
        radii[:] = radii[0]
    X = coordinates.from_hyperboloid(to_hyperboloid(radii * u, "tangent"), np.float64)
    return X[rng.integers(0, n, n)] if rng.random() < 0.2 else X  # some of them several times


# ---------------------------------------------------------------- what takes them


class Case(NamedTuple):
    """An array, with the generator for what else is drawn."""

    rng: np.random.Generator

    def coordinates(self) -> Coordinates:
        return check_coordinates(str(self.rng.choice(list(MODELS))), float(self.rng.choice(CURVATURES)))

    def points(self, coordinates: Coordinates, columns: int | None = None) -> np.ndarray:
        d = int(self.rng.integers(1, 5)) if columns is None else coordinates.dimension(columns)
        X = any_points(self.rng, coordinates.columns(d), coordinates)
        single = self.rng.random() < 0.25 and np.abs(X).max() < 1e38
        return X.astype(np.float32) if single else X


@cache
def _fitted(name: str, coordinates: Coordinates, away: float) -> Any:
    """A fit to a few points around one, so far from the origin."""
    x = to_hyperboloid(np.random.default_rng(0).uniform(-0.4, 0.4, (12, 3)))
    centre = to_hyperboloid(np.array([0.6, 0.0, 0.8]) * away, "tangent")
    return _estimator(name, coordinates).fit(coordinates.from_hyperboloid(translate(x, centre), np.float64))


def _estimator(name: str, coordinates: Coordinates) -> Any:
    seeded = {"HoroPCA", "PGA", "BSA"}
    options = {"random_state": 0, "max_iter": 20} if name in seeded else {}
    return getattr(horopca, name)(1, **options, model=coordinates.model, curvature=coordinates.curvature)


def _mapped(name: str) -> Callable[[Case], Any]:
    """Any numbers, or points, through a fit and back."""

    def go(case: Case) -> Any:
        coordinates = Coordinates(str(case.rng.choice(list(MODELS))), float(case.rng.choice([-1.0, -1e-100])))
        away = float(case.rng.choice([0.0, 6.0, 13.0] if coordinates.model in ("poincare", "klein") else [0.0, 13.0, 80.0]))
        fit, columns = _fitted(name, coordinates, away), coordinates.columns(3)
        X = any_numbers(case.rng, columns) if case.rng.random() < 0.5 else case.points(coordinates, columns)
        Y = fit.transform(X)
        if Y.dtype != X.dtype:
            raise AssertionError(f"{X.dtype} became {Y.dtype}")
        return Y, fit.inverse_transform(Y)

    return go


def _fit(name: str) -> Callable[[Case], Any]:
    """A fit to the points, their images, and what it says of itself."""

    def go(case: Case) -> Any:
        coordinates = case.coordinates()
        X = case.points(coordinates)
        fit = _estimator(name, coordinates).fit(X)
        said = [value for key, value in vars(fit).items() if key.endswith("_") and isinstance(value, (float, np.ndarray))]
        return fit.transform(X), *said

    return go


def _measured(case: Case) -> Any:
    coordinates = case.coordinates()
    place = coordinates._asdict()
    X = case.points(coordinates)
    Y = any_points(case.rng, coordinates.columns(int(case.rng.integers(1, 4))), coordinates, size=len(X))
    pairs = (metrics.average_distortion, metrics.worst_case_distortion)
    if np.isnan([metric(X, Y, **place) for metric in pairs]).any():  # inf is true where points merge
        raise AssertionError("a distortion is NaN")
    return metrics.pair_variance(X, **place), metrics.frechet_variance(X, **place)


def _described(case: Case) -> Any:
    columns = int(case.rng.integers(1, 5))
    X = any_numbers(case.rng, columns) if case.rng.random() < 0.5 else case.points(case.coordinates())
    found = describe(X)
    return found.curvature, *(value for radii in found.radius.values() for value in radii.values())


def _on_hyperboloid(case: Case) -> np.ndarray:
    coordinates = case.coordinates()
    return np.asarray(coordinates.to_hyperboloid(case.points(coordinates)))


def _converted(case: Case) -> Any:
    x = _on_hyperboloid(case)
    return [from_hyperboloid(x, model) for model in MODELS]


def _distances(case: Case) -> Any:
    d = pairwise_distance(_on_hyperboloid(case))
    if (np.abs(d - d.T) > 1e-9 * d).any() or not (d >= 0).all():
        raise AssertionError("distances are no distances")
    return (d,)


def _mean(case: Case) -> Any:
    mean = frechet_mean(_on_hyperboloid(case))
    return mean.point, mean.variance


def _reached(case: Case) -> Any:
    """The exponential map leads to y with seven digits, or raises an error."""
    x = _on_hyperboloid(case)
    y = np.roll(x, 1, axis=0)
    v = log(x, y)
    found = exp(x, v)
    if (np.abs(found - y) > 1e-6 * y[:, :1]).any():
        raise AssertionError("exp(x, log(x, y)) is not y")
    return v, found


def _moved(case: Case) -> Any:
    """A translation and its inverse, and the Busemann functions of the directions of the points."""
    x = _on_hyperboloid(case)
    m = x[:1]
    q = np.eye(x.shape[1] - 1)[0]
    return translate(x, m), translate_to_origin(x, m), busemann(x, q)


class Subject(NamedTuple):
    """What is done to arrays, and for one of these, how many rounds there are: a fit takes a hundred times as long as a map."""

    go: Callable[[Case], Any]
    every: int = 1


SUBJECTS = {
    "describe": Subject(_described, 2),
    "from model to model": Subject(_converted),
    "distances": Subject(_distances),
    "exp and log": Subject(_reached),
    "translations": Subject(_moved),
    "Fréchet mean": Subject(_mean, 16),
    "metrics": Subject(_measured, 16),
    "TangentPCA, transform": Subject(_mapped("TangentPCA"), 4),
    "EuclideanPCA, transform": Subject(_mapped("EuclideanPCA"), 4),
    "HoroPCA, transform": Subject(_mapped("HoroPCA"), 4),
    "PGA, transform": Subject(_mapped("PGA"), 4),
    "TangentPCA, fit": Subject(_fit("TangentPCA"), 64),
    "EuclideanPCA, fit": Subject(_fit("EuclideanPCA"), 64),
    "RadialPCA, fit": Subject(_fit("RadialPCA"), 64),
    "HoroPCA, fit": Subject(_fit("HoroPCA"), 1024),
    "PGA, fit": Subject(_fit("PGA"), 1024),
    "BSA, fit": Subject(_fit("BSA"), 1024),
}


# ---------------------------------------------------------------- trying


def fuzz(*, seconds: float | None = None, cases: int | None = None, seed: int = 0, report: Report = quiet) -> Outcomes:
    """Try arrays on all subjects in turn for some time, or a number of each. Returns tallies by subject, and findings."""
    tallies, findings = dict.fromkeys(SUBJECTS, Tally()), []
    with strict():
        for number in counted(seconds, cases):
            for name, subject in SUBJECTS.items():
                if number % subject.every:
                    continue
                case = [seed, number, *name.encode()]
                outcome, message = tried(subject, case)
                tallies[name] = tallies[name].after(outcome)
                if outcome not in ("read", "raised"):
                    findings.append(report(Finding(name, number, outcome, message)))
    return tallies, findings


def tried(subject: Subject, case: list[int]) -> tuple[str, str]:
    """What came of one array, and the message of what should not have been."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        answers = subject.go(Case(np.random.default_rng(case)))
        finite = all(np.isfinite(np.asarray(answer)).all() for answer in answers)
        return ("read", "") if finite else ("not finite", "")
    except ValueError as error:
        return ("raised", "") if str(error).endswith((".", "?")) else ("unexpected", _where(error))
    except TimeoutError as error:
        return "hang", _where(error)
    except Exception as error:  # the harness reports whatever there is
        return "unexpected", _where(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _where(error: Exception) -> str:
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}: {str(error)[:300]}"


@contextmanager
def strict() -> Iterator[None]:
    """Warnings are errors, but for searches that say that they were stopped; and a case ends when its time is over."""

    def end(*_: object) -> None:
        raise TimeoutError(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGPROF, end)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield
    finally:
        signal.signal(signal.SIGPROF, before)
