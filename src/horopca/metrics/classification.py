"""Comparison of classifiers of hyperbolic points by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from .._input.arguments import check_choice, check_count
from .._input.coordinates import check_coordinates
from .._input.progress import Progress, logged
from .._input.rows import check_rows
from .._input.threads import one_blas_thread
from ..estimators import PGA, BusemannWhitener, HyperbolicSVC, TangentWhitener
from ..estimators.svm import check_labels
from ..geometry import MODELS, ModelName
from ..geometry._arrays import to_numpy

__all__ = ["CLASSIFIERS", "METRICS", "compare_classifiers"]

COSTS = tuple(10.0**k for k in range(-2, 4))
# For each effort, the largest number of folds, the COSTS that are tried, and options of `HyperbolicSVC`. 30 steps do not reach
# its optimum (on 781 rows of five overlapping classes the average precision was .782 after 30 and .787 after 50), but with them
# all five classifiers are compared in about twenty seconds of processor time.
EFFORTS: dict[str, tuple[int, slice, dict[str, Any]]] = {
    "quick": (3, slice(1, 5), {"max_iter": 30, "tol": 1e-3}),
    "full": (5, slice(None), {}),
}
LORENTZ: Any = {"model": "lorentz"}

#: The classifiers that are compared, by name: the steps before the support vector machine, for K components and a seed.
CLASSIFIERS: dict[str, Callable[[int | None, int | None], list[Any]]] = {
    "eSVM": lambda K, seed: [FunctionTransformer(MODELS["poincare"].from_hyperboloid)],
    "hSVM": lambda K, seed: [],
    "tangent PCA + eSVM": lambda K, seed: [TangentWhitener(K, **LORENTZ)],
    "PGA + eSVM": lambda K, seed: [PGA(K, random_state=seed, **LORENTZ), TangentWhitener(**LORENTZ)],
    "Busemann + eSVM": lambda K, seed: [BusemannWhitener(K, random_state=seed, **LORENTZ)],
}


def macro_average_precision(y: np.ndarray, decision: np.ndarray, classes: np.ndarray) -> float:
    """The average precision of each class against the rest, averaged over the classes present in y."""
    columns = by_class(decision)
    return float(np.mean([average_precision_score(y == c, columns[:, k]) for k, c in enumerate(classes) if np.any(y == c)]))


def by_class(decision: np.ndarray) -> np.ndarray:
    """Decision values with one column per class, (n, n_classes)."""
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


Metric = Callable[[np.ndarray, np.ndarray, np.ndarray], float]

#: Scores of classifiers: functions of the true classes (n,); the decision values, (n,) for two classes or (n, n_classes), which
#: are larger where a class is more likely; and the classes in the order of the columns.
METRICS: dict[str, Metric] = {
    "accuracy": lambda y, decision, classes: float(np.mean(classes[by_class(decision).argmax(axis=1)] == y)),
    "average precision": macro_average_precision,
}


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
    progress: Progress = lambda done, total: None,
) -> dict[str, dict[str, np.ndarray]]:
    """Cross-validate classifiers of hyperbolic points, with C chosen on the training rows of each split.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    y : array of shape (n_samples,)
        The class of each point. Each class needs at least three members.
    classifiers : names from `CLASSIFIERS`
        "eSVM": a Euclidean linear support vector machine on the coordinates in the Poincaré ball. "hSVM": `HyperbolicSVC`.
        The others: eSVM on whitened features.
    model, curvature : str and float
        The coordinates of X.
    n_components : int, optional
        The number of features of the whitenings. By default the dimension, or twice the dimension for Busemann coordinates.
    splits : int or scikit-learn splitter, default=5
        Folds (at most as many as the smallest class has members), or a splitter with `split`.
    metrics : mapping of names to functions (y, decision, classes) -> float
        Accuracy and macro average precision if not given.
    effort : {"quick", "full"}, default="quick"
        How C is chosen. "quick": from 0.1 to 100, by three folds, with `HyperbolicSVC` stopped early. "full": from 0.01 to
        1000, by five folds, with `HyperbolicSVC` until it converges.
    random_state : int or None, default=0
        Seeds folds and searches.
    progress : callable
        Called as ``progress(done, total)`` with the numbers of classifiers.

    Returns
    -------
    dict of dicts of arrays of shape (n_splits,)
        For each classifier and each metric, one number per split.

    See Also
    --------
    horopca.BusemannWhitener, horopca.HyperbolicSVC : the estimators that are compared

    Examples
    --------
    >>> from horopca.metrics.classification import compare_classifiers
    >>> from horopca.datasets import make_hierarchy
    >>> tree = make_hierarchy(n_features=2, random_state=0)
    >>> X, y = tree.points[1:], tree.labels[1:]  # the root has no class
    >>> result = compare_classifiers(X, y, classifiers=["Busemann + eSVM"], splits=3)
    >>> result["Busemann + eSVM"]["accuracy"].shape
    (3,)
    """
    rows = check_rows(X, check_coordinates(model, curvature), min_rows=2)
    y = check_labels(y, rows.shape[0], fewest=3, why=" to be cross-validated")
    names = list(classifiers)
    for name in names:
        check_choice("classifiers", name, CLASSIFIERS)
    check_choice("effort", effort, EFFORTS)
    if not hasattr(splits, "split"):
        n_splits = min(check_count("splits", splits, 2), _fewest(y))
        splits = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    x = to_numpy(rows.all())
    parts = list(splits.split(x, y))
    n_folds, costs, options = EFFORTS[effort]
    folds = StratifiedKFold(min(n_folds, *(_fewest(y[train]) for train, _ in parts)), shuffle=True, random_state=random_state)
    scorers = {name: _scorer(metric) for name, metric in metrics.items()}
    found, report = {}, logged("compare_classifiers", progress)
    for name in names:
        hyperbolic = name == "hSVM"
        machine = HyperbolicSVC(**LORENTZ, **options) if hyperbolic else LinearSVC(dual=False, max_iter=10_000)
        search = GridSearchCV(
            machine, {"C": COSTS[costs]}, scoring=_scorer(macro_average_precision), cv=folds, error_score="raise"
        )
        K = n_components if n_components is None or name.startswith("Busemann") else min(n_components, x.shape[1] - 1)
        pipeline = make_pipeline(*CLASSIFIERS[name](K, random_state), search)
        with one_blas_thread(), warnings.catch_warnings():
            if options:  # HyperbolicSVC is stopped early and does not converge
                warnings.filterwarnings("ignore", message="HyperbolicSVC stopped", category=ConvergenceWarning)
            scores = cross_validate(pipeline, x, y, cv=parts, scoring=scorers, error_score="raise")
        found[name] = {metric: scores[f"test_{metric}"] for metric in metrics}
        report(len(found), len(names))
    return found


def _fewest(y: np.ndarray) -> int:
    """The size of the smallest class."""
    return int(np.unique(y, return_counts=True)[1].min())


def _scorer(metric: Metric) -> Callable[[Any, np.ndarray, np.ndarray], float]:
    return lambda machine, X, y: metric(y, machine.decision_function(X), machine.classes_)
