"""Refits to resampled rows: which rows are drawn, and where a refit maps the points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from .._input.arguments import check_choice, check_count
from .._input.coordinates import Coordinates
from .._input.means import mean_of
from .._input.rows import Rows, check_rows
from ..estimators.base import check_reduction
from ..estimators.fitting import as_fitted, check_weights, fitted_coordinates
from ..estimators.folds import group_numbers
from ..estimators.parallel_analysis import look_dependent
from ..geometry import Frame, align, between, distance, from_hyperboloid, translate_to_origin
from ..geometry._arrays import to_numpy
from ..projections.spines import spine_angle, spine_basis

RESAMPLES = ("bootstrap", "subsample")
FEWEST = 10  # With fewer refits there is no quantile of 90 %.
COUNTED_ROWS = 1 << 14  # Up to this many rows, different rows are counted: sorting more takes long.
ALIGNED_ROWS = 1 << 14  # Pictures are aligned by at most this many points.
SAME_MEAN = 1e-3  # If the means of X and of the fit are farther apart, in standard deviations, X is not the data of the fit.
CHANGED_PAIRS = 1 << 12  # Pairs whose distances are compared: the error is about a hundredth of the change.
REDRAWN = 100  # The largest number of attempts to draw a resample with enough different points.


class Refit(NamedTuple):
    """The result of one refit."""

    moved: np.ndarray  # (n, K), the new images as tangent vectors at the old ones, carried to the origin
    change: float  # mean relative change of the distances of some pairs of images
    angles: list[float]  # of its nested spines, in degrees
    kappa: float
    converged: bool


class Resampling(NamedTuple):
    """A fit, its points and images, and how rows are resampled: everything that a refit needs."""

    model: Any
    X: np.ndarray
    coordinates: Coordinates
    reference: np.ndarray  # (n, K+1), the picture
    resample: str
    members: np.ndarray  # (n,), the number of the group of each row, from 0 on
    different: np.ndarray  # (n,), the number of each row among those that differ; -1 for one of no weight
    weight: np.ndarray | None
    seed: int

    @classmethod
    def checked(
        cls, model: Any, X: Any, n_resamples: Any, resample: Any, groups: Any, weight: Any, rng: np.random.Generator
    ) -> Resampling:
        """Validate the arguments of `bootstrap`."""
        check_reduction(model)
        rows, K = check_rows(X, fitted_coordinates(model), estimator=model), model.n_components_
        if rows.remote:
            raise ValueError("X must be in memory to be resampled, but is a Dask array. Pass a sample of X and a fit to it.")
        n, seen = rows.shape[0], getattr(model, "n_samples_seen_", rows.shape[0])
        if n != seen:
            raise ValueError(f"X must hold the {seen} points that the model was fitted to, but has {n} rows.")
        check_count("n_resamples", n_resamples, max(FEWEST, 2 * K))
        check_choice("resample", resample, RESAMPLES)
        members = _checked_groups(groups, n)
        data = rows.X if isinstance(rows.X, np.ndarray) else to_numpy(rows.X)
        different = np.unique(data, axis=0, return_inverse=True)[1].ravel() if n <= COUNTED_ROWS else np.arange(n)
        start, least = _starting(model), 2 * (K + 1)
        if weight is not None:
            if not has_fit_parameter(start, "sample_weight"):
                raise ValueError(f"sample_weight must be None for {type(model).__name__}, whose fit takes no weights.")
            weight = check_weights(weight, n)
            different = np.where(weight > 0, different, -1)
        if _count(different) < least:
            raise ValueError(
                f"X must have at least {least} different rows to resample a fit of {K} components, but has "
                f"{_count(different)} of {np.sum(different >= 0)}."
            )
        _check_mean(start, rows, weight)
        picture = to_numpy(rows.map(model._images))
        return cls(start, data, rows.coordinates, picture, resample, members, different, weight, int(rng.integers(2**31)))

    def refit(self, number: int) -> Refit:
        """Draw rows, fit to them, and compare the pictures."""
        rows = next(self._drawn(np.random.default_rng([self.seed, number])))
        model, weight = copy(self.model), {} if self.weight is None else {"sample_weight": self.weight[rows]}
        if not isinstance(getattr(model, "random_state", 0), Integral):  # otherwise the result would not be reproducible
            model.random_state = int(np.random.default_rng([self.seed, number, 1]).integers(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X[rows], **weight)
        images = to_numpy(Rows(self.X, self.coordinates).map(model._images))
        some = self.matched()
        found = align(images[some], self.reference[some], squares=True)
        moved = from_hyperboloid(translate_to_origin(found.move(images), self.reference), "tangent")
        spine = getattr(model, "spine_", None)
        kappa = float("nan") if spine is None else spine.kappa
        return Refit(self._scale() * moved, self._change(images), self._angles(model), kappa, bool(model.converged_))

    def _change(self, images: np.ndarray) -> float:
        """The mean relative change of the distances between random pairs of images."""
        a, b = np.random.default_rng(self.seed).integers(len(images), size=(2, CHANGED_PAIRS))
        before, after = distance(self.reference[a], self.reference[b]), distance(images[a], images[b])
        apart = before > 0
        return self._scale() * float(np.mean(np.abs(after[apart] / before[apart] - 1))) if apart.any() else 0.0

    def _drawn(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Rows of resamples that have enough different rows for a fit."""
        count, order = self.members.max() + 1, np.argsort(self.members, kind="stable")
        ends = np.searchsorted(self.members[order], np.arange(count + 1))
        for _ in range(REDRAWN):
            if self.resample == "bootstrap":
                chosen = rng.integers(count, size=count)
            else:
                chosen = rng.choice(count, size=count // 2, replace=False)
            rows = np.concatenate([order[ends[g] : ends[g + 1]] for g in chosen]) if count < len(order) else chosen
            if _count(self.different[rows]) > self.reference.shape[1] - 1:
                yield rows
        raise ValueError(
            f"X has too few different points to resample: {REDRAWN} resamples in a row had no more than "
            f"{self.reference.shape[1] - 1}. Pass more rows, or fewer groups that are larger."
        )

    def matched(self) -> slice:
        """The rows that pictures are aligned by."""
        return slice(None, None, -(-len(self.reference) // ALIGNED_ROWS))

    def looks_dependent(self) -> bool:
        """Whether rows look dependent on each other."""
        return look_dependent(np.asarray(self.coordinates.to_hyperboloid(self.X[self.matched()])))

    def _scale(self) -> float:
        """The distance of the fit from the truth divided by that of a refit from the fit: m of n rows without replacement."""
        count = int(self.members.max()) + 1
        return 1.0 if self.resample == "bootstrap" else float(np.sqrt((count // 2) / (count - count // 2)))

    def _angles(self, refit: Any) -> list[float]:
        """Largest angles, in degrees, between nested spines of the fit and of a refit, both seen from the mean of the fit."""
        if not hasattr(refit, "nested_spines_"):
            return []
        still = np.eye(len(refit._mean) - 1)
        there = between(Frame(refit._mean, still), Frame(self.model._mean, still)).T
        pairs = zip(self.model.nested_spines_, refit.nested_spines_, strict=True)
        angles = (spine_angle(spine_basis(a), spine_basis(b) @ there) for a, b in pairs)
        return [min(90.0, self._scale() * float(np.degrees(angle))) for angle in angles]


def _starting(model: Any) -> Any:
    """A silent copy with the chosen number of components that starts its next fit at the last result, if it can."""
    model = model._as_chosen()
    wanted = {"n_components": model.n_components_, "warm_start": True, "verbose": 0}
    wanted |= {"model": fitted_coordinates(model).model, "curvature": fitted_coordinates(model).curvature}
    return copy(model).set_params(**{name: value for name, value in wanted.items() if name in model.get_params(deep=False)})


def _count(different: np.ndarray) -> int:
    """The number of different rows with a weight."""
    return len(np.unique(different[different >= 0]))


def _check_mean(model: Any, rows: Rows, weight: np.ndarray | None) -> None:
    """Raise ValueError if the mean of the points is not that of the fit."""
    # the median of "robust" may be any point of a gap, and a stream's fit may be older than its last rows
    if not hasattr(model, "_mean") or hasattr(model, "_reservoir") or as_fitted(model, "objective") == "robust":
        return
    rows.weights = weight
    mean = mean_of(rows)
    if distance(to_numpy(mean.point), model._mean) > SAME_MEAN * np.sqrt(mean.variance) + SAME_MEAN**2:
        raise ValueError(
            "X must hold the points that the model was fitted to, but has another mean. Pass these points, and the "
            "sample_weight of the fit if there was any."
        )


def _checked_groups(groups: Any, n: int) -> np.ndarray:
    """Validate the groups. Returns the number of the group of each row."""
    if groups is None:
        return np.arange(n)
    members = group_numbers(groups, n)
    if members.max() < 3:
        raise ValueError(
            f"groups must be at least 4, of which some are drawn and some are not, but there are {members.max() + 1}. "
            "Divide the rows into smaller groups, or leave groups out."
        )
    return members
