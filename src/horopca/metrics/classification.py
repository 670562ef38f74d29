"""Comparison of classifiers of hyperbolic points by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from .._input.arguments import check_choice, check_count
from .._input.coordinates import Coordinates, check_coordinates
from .._input.rows import check_rows
from .._input.threads import one_blas_thread
from ..estimators import PGA, BusemannWhitener, HyperbolicSVC, TangentWhitener
from ..estimators.svm import check_labels
from ..geometry import ModelName, from_hyperboloid

__all__ = ["CLASSIFIERS", "METRICS", "Scores", "compare_classifiers", "macro_average_precision"]

COSTS = tuple(10.0**k for k in range(-2, 4))


class Tuning(NamedTuple):
    """How C is chosen: the number of folds, which of COSTS, and the options of the hyperbolic machine."""

    folds: int
    costs: slice
    machine: dict[str, Any]


# 30 steps of the hyperbolic machine are not its optimum (on 781 rows of five overlapping classes the average precision was .782
# after 30 and .787 after 50), but all five classifiers are compared in some twenty seconds of processor time.
EFFORTS = {
    "quick": Tuning(3, slice(1, 5), {"max_iter": 30, "tol": 1e-3}),
    "full": Tuning(5, slice(None), {}),
}


def macro_average_precision(y: np.ndarray, decision: np.ndarray, classes: np.ndarray) -> float:
    """The average precision of each class against the rest, averaged over the classes present in y.

    Parameters
    ----------
    y : array of shape (n_samples,)
    decision : array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        Decision values, larger being more likely (the second of two classes).
    classes : array of shape (n_classes,)
    """
    columns = by_class(decision)
    return float(np.mean([average_precision_score(y == c, columns[:, k]) for k, c in enumerate(classes) if np.any(y == c)]))


def by_class(decision: np.ndarray) -> np.ndarray:
    """Decision values as a column for each class."""
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


Metric = Callable[[np.ndarray, np.ndarray, np.ndarray], float]

#: What classifiers are scored by: functions of the true classes, the decisions (n, classes) and the names of the classes.
METRICS: dict[str, Metric] = {
    "accuracy": lambda y, decision, classes: float(np.mean(classes[by_class(decision).argmax(axis=1)] == y)),
    "average precision": macro_average_precision,
}


class Trial(NamedTuple):
    """What a classifier is built for: coordinates, components of a whitening (None: its default), effort and seed."""

    coordinates: Coordinates
    dimension: int
    components: int | None
    effort: Tuning
    seed: int | None

    @property
    def place(self) -> dict[str, Any]:
        return {"model": self.coordinates.model, "curvature": self.coordinates.curvature}

    def tuned(self, machine: ClassifierMixin) -> GridSearchCV:
        """The machine with its C chosen by cross-validation, for the macro average precision."""
        folds = StratifiedKFold(self.effort.folds, shuffle=True, random_state=self.seed)
        return GridSearchCV(machine, {"C": COSTS[self.effort.costs]}, scoring=_score, cv=folds, error_score="raise")

    @property
    def linear(self) -> GridSearchCV:
        return self.tuned(LinearSVC(dual=False, max_iter=10_000))

    @property
    def reduced(self) -> int:
        return self.dimension if self.components is None else min(self.components, self.dimension)


def _score(machine: Any, X: np.ndarray, y: np.ndarray) -> float:
    return macro_average_precision(y, machine.decision_function(X), machine.classes_)


def _in_ball(X: np.ndarray, coordinates: Coordinates) -> np.ndarray:
    return from_hyperboloid(coordinates.to_hyperboloid(X), "poincare")


#: The classifiers that are compared, by name.
CLASSIFIERS: dict[str, Callable[[Trial], Any]] = {
    "eSVM": lambda task: make_pipeline(FunctionTransformer(partial(_in_ball, coordinates=task.coordinates)), task.linear),
    "hSVM": lambda task: task.tuned(HyperbolicSVC(**task.place, **task.effort.machine)),
    "tangent PCA + eSVM": lambda task: make_pipeline(TangentWhitener(task.reduced, **task.place), task.linear),
    "PGA + eSVM": lambda task: make_pipeline(
        PGA(task.reduced, random_state=task.seed, **task.place), TangentWhitener(**task.place), task.linear
    ),
    "Busemann + eSVM": lambda task: make_pipeline(
        BusemannWhitener(task.components, random_state=task.seed, **task.place), task.linear
    ),
}


class Scores(NamedTuple):
    """A classifier's scores: for each metric one number per split."""

    classifier: str  #: its name in `CLASSIFIERS`
    scores: dict[str, np.ndarray]  #: by the name of the metric, an array with a number for each split


def compare_classifiers(
    X: Any,
    y: Any,
    *,
    classifiers: Iterable[str] = tuple(CLASSIFIERS),
    model: ModelName = "poincare",
    curvature: float = -1.0,
    n_components: int | None = None,
    splits: Any = 5,
    metrics: Mapping[str, Metric] = METRICS,
    effort: str = "quick",
    random_state: int | None = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, doing: None,
) -> list[Scores]:
    """Cross-validate classifiers of hyperbolic points, each with its C chosen in the training part alone.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    y : array of shape (n_samples,)
        Their classes, each with at least three members.
    classifiers : names from `CLASSIFIERS`
        "eSVM": a Euclidean linear support vector machine on the coordinates in the Poincaré ball. "hSVM": `HyperbolicSVC`.
        The others: eSVM on whitened features.
    model, curvature
        Of the rows of X.
    n_components : int, optional
        Of the whitenings; each its own default if not given (the dimension; twice the dimension for Busemann coordinates).
    splits : int or scikit-learn splitter, default=5
        Folds (at most as many as the smallest class has members), or a splitter with `split`.
    metrics : mapping of names to functions (y, decision, classes) -> float
        Accuracy and macro average precision if not given.
    effort : {"quick", "full"}, default="quick"
        How C is chosen. "quick": of 0.1 to 100, over three folds, the hyperbolic machine stopped early. "full": of 0.01 to
        1000, over five folds, to the end.
    random_state : int or None, default=0
        Seeds folds and searches.
    progress : callable
        Called before each fit with the number of fits done, that of all fits, and which classifier and fold is next.

    Returns
    -------
    list of Scores
        For each classifier its scores, one number per split.

    Examples
    --------
    >>> from horopca.metrics.classification import compare_classifiers
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(n_features=2, random_state=0)
    >>> X, y = tree.points[1:], tree.labels[1:]  # the root has no class
    >>> (result,) = compare_classifiers(X, y, classifiers=["Busemann + eSVM"], splits=3)
    >>> result.classifier, result.scores["accuracy"].shape
    ('Busemann + eSVM', (3,))
    """
    coordinates = check_coordinates(model, curvature)
    rows = check_rows(X, coordinates, min_rows=2)
    y = check_labels(y, rows.shape[0], fewest=3, why=" to be cross-validated")
    classifiers = list(classifiers)
    for name in classifiers:
        check_choice("classifiers", name, CLASSIFIERS)
    if not hasattr(splits, "split"):
        smallest = int(np.unique(y, return_counts=True)[1].min())
        splits = StratifiedKFold(min(check_count("splits", splits, 2), smallest), shuffle=True, random_state=random_state)
    check_choice("effort", effort, EFFORTS)
    points = np.asarray(rows.X)
    results: dict[str, dict[str, list[float]]] = {name: {metric: [] for metric in metrics} for name in classifiers}
    parts = list(splits.split(points, y))
    n_splits = len(parts)
    for fold, (train, test) in enumerate(parts):
        fewest = int(np.unique(y[train], return_counts=True)[1].min())
        tuning = EFFORTS[effort]._replace(folds=min(EFFORTS[effort].folds, fewest))
        task = Trial(coordinates, rows.shape[1] - 1, n_components, tuning, random_state)
        for number, name in enumerate(classifiers):
            done, total = fold * len(classifiers) + number, n_splits * len(classifiers)
            progress(done, total, f"{name}, fold {fold + 1} of {n_splits}")
            machine = _fitted(CLASSIFIERS[name](task), points[train], y[train], quick=bool(tuning.machine))
            decision = machine.decision_function(points[test])
            for metric, function in metrics.items():
                results[name][metric].append(function(y[test], decision, machine.classes_))
    return [Scores(name, {metric: np.array(values) for metric, values in found.items()}) for name, found in results.items()]


def _fitted(machine: Any, X: np.ndarray, y: np.ndarray, *, quick: bool) -> Any:
    with one_blas_thread(), warnings.catch_warnings():
        if quick:  # the hyperbolic machine is stopped early and does not converge
            warnings.filterwarnings("ignore", message="HyperbolicSVC stopped", category=ConvergenceWarning)
        return machine.fit(X, y)
