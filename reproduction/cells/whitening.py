"""Classification of a network: every classifier on one half of one embedding, the other half for training."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from horopca.metrics.classification import METRICS, by_class, compare_classifiers

from . import data

SPLITS = 10  # halvings of each embedding


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


def classify(network: str, version: int, split: int) -> dict[str, Any]:
    """For each classifier and metric the score on a test half."""
    X, y, _ = data.network(network, version)
    halves = list(StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=version).split(X, y))
    found = compare_classifiers(X, y, splits=_One(halves[split]), metrics={**METRICS, "trapezoid area": trapezoid_area})
    return {row.classifier: {metric: float(values[0]) for metric, values in row.scores.items()} for row in found}


class _One:
    """A splitter that knows one split."""

    def __init__(self, halves: tuple[np.ndarray, np.ndarray]) -> None:
        self.halves = halves

    def split(self, X: Any, y: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        return [self.halves]
