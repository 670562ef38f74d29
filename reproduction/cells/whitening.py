"""Classification of a network: classifiers trained on one half of one embedding, and judged on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import LinearSVC

from horopca import BusemannWhitener, HoroPCA
from horopca.geometry import busemann, to_hyperboloid, translate_to_origin
from horopca.metrics.classification import COSTS, METRICS, by_class, compare_classifiers, macro_average_precision

from . import data
from .orthonormal import OrthonormalHoroPCA

BASELINES = ("eSVM", "hSVM", "tangent PCA + eSVM", "PGA + eSVM")


def trapezoid_area(y: np.ndarray, decision: np.ndarray, classes: np.ndarray) -> float:
    """Macro area under the precision-recall curve, as in the published code of Cho et al. (2019).

    Trapezoids from the first ranked point on: the area before the first point found is missing.
    """
    columns, areas = by_class(decision), []
    for k, c in enumerate(classes):
        if (k == 0 and len(classes) == 2) or not np.any(y == c):
            continue  # of two classes it looks at the second alone
        hits = np.cumsum(y[np.argsort(-columns[:, k], kind="stable")] == c)
        areas.append(np.trapezoid(hits / np.arange(1, len(y) + 1), hits / hits[-1]))
    return float(np.mean(areas))


SCORES = {**METRICS, "trapezoid area": trapezoid_area}


class AlongDirections(TransformerMixin, BaseEstimator):
    """Busemann coordinates along two ideal points, each with zero mean and unit variance: the paper's whitening, as written."""

    def __init__(self, directions: str, seed: int) -> None:
        self.directions, self.seed = directions, seed

    def fit(self, X: np.ndarray, y: Any = None) -> AlongDirections:
        self.base_ = None  # where the ideal points are seen from, if not from the origin
        if self.directions == "orthonormal":
            fit = OrthonormalHoroPCA(2, random_state=self.seed)
            fit.fit_transform(np.asarray(X))
            self.ideal_points_, self.base_ = fit.ideal_points_, fit.mean_
        elif self.directions == "random":
            first = np.random.default_rng(self.seed).standard_normal(2)
            first /= np.linalg.norm(first)
            self.ideal_points_ = np.array([first, [-first[1], first[0]]])
        else:
            self.ideal_points_ = HoroPCA(2, strategy=self.directions, random_state=self.seed).fit(X).ideal_points_
        c = self._coordinates(X)
        self.mean_, self.scale_ = c.mean(axis=0), c.std(axis=0)
        self.correlation_ = float(np.corrcoef(c.T)[0, 1])
        return self

    def _coordinates(self, X: np.ndarray) -> np.ndarray:
        x = to_hyperboloid(np.asarray(X))
        x = x if self.base_ is None else translate_to_origin(x, self.base_)
        return np.stack([busemann(x, q) for q in self.ideal_points_], axis=1)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return (self._coordinates(X) - self.mean_) / self.scale_


# whitening by Busemann coordinates: which directions
DIRECTIONS = {
    "HoroPCA, greedy": lambda seed: AlongDirections("greedy", seed),
    "HoroPCA, orthonormal": lambda seed: AlongDirections("orthonormal", seed),
    "HoroPCA, joint": lambda seed: AlongDirections("joint", seed),
    "a random orthonormal pair": lambda seed: AlongDirections("random", seed),
    "BusemannWhitener(2)": lambda seed: BusemannWhitener(2, random_state=seed),
    "BusemannWhitener(4)": lambda seed: BusemannWhitener(4, random_state=seed),
}


def classify(network: str, version: int, run: int, classifiers: str) -> dict[str, Any]:
    """For each of the baselines, or of the directions, its scores on the test half `run`."""
    X, labels, _ = data.network(network, version)
    y = np.asarray(labels)
    train, test = list(StratifiedShuffleSplit(run + 1, test_size=0.5, random_state=version).split(X, y))[run]
    if classifiers == "baselines":
        found = compare_classifiers(X, y, classifiers=BASELINES, splits=_One(train, test), metrics=SCORES, effort="full")
        return {name: {metric: float(values[0]) for metric, values in scores.items()} for name, scores in found.items()}
    return {name: _scores(make(100 * version + run), X, y, train, test) for name, make in DIRECTIONS.items()}


def _scores(features: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """A Euclidean support vector machine on features, its C chosen by cross-validation in the training half alone."""
    folds = min(5, int(np.unique(y[train], return_counts=True)[1].min()))
    score = lambda machine, X, y: macro_average_precision(y, machine.decision_function(X), machine.classes_)
    choice = StratifiedKFold(folds, shuffle=True, random_state=0)
    machine = GridSearchCV(LinearSVC(dual=False, max_iter=10_000), {"C": COSTS}, scoring=score, cv=choice)
    machine.fit(features.fit_transform(X[train]), y[train])
    decision = machine.decision_function(features.transform(X[test]))
    found = {metric: float(of(y[test], decision, machine.classes_)) for metric, of in SCORES.items()}
    return found | ({"correlation": features.correlation_} if hasattr(features, "correlation_") else {})


class _One:
    """A splitter that knows one split."""

    def __init__(self, train: np.ndarray, test: np.ndarray) -> None:
        self.halves = train, test

    def split(self, X: Any, y: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        return [self.halves]
