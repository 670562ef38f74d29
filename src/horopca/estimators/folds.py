"""Groups and folds of a cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv

from .._input.arguments import check_count

Fold = tuple[np.ndarray, np.ndarray]  # rows for training and for testing


def group_numbers(groups: Any, n: int) -> np.ndarray:
    """Validate groups, and return them as numbers (n,) from 0."""
    named = np.asarray(groups)
    if named.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, but has shape {named.shape}.")
    for row, name in enumerate(named.tolist()):
        if name is None or name != name:
            raise ValueError(f"groups must name the group of every row, but row {row} has {name}.")
    try:
        return np.asarray(np.unique(named, return_inverse=True)[1])
    except TypeError as error:
        raise ValueError(f"groups must be names or numbers that can be sorted, all of one type, but {error}.") from None


def make_folds(x: np.ndarray, cv: Any, groups: np.ndarray | None, some: np.ndarray, n: int, seed: int) -> list[Fold]:
    """The folds of points x (m, d+1), the rows `some` (m,) of n rows; `groups` (n,) are the groups of all rows."""
    alike = np.unique(x, axis=0, return_inverse=True)[1].ravel()
    if isinstance(cv, Integral):
        units = alike if groups is None else groups[some]
        what = "different rows" if groups is None else "groups"
        why = f" (the number of {what}), a scikit-learn splitter, or splits"
        splitter = GroupKFold(check_count("cv", cv, 2, len(np.unique(units)), why), shuffle=True, random_state=seed)
        folds = list(splitter.split(x, groups=units))
    else:
        number = np.full(n, -1)  # of each row among those that are used
        number[some] = np.arange(len(some))
        try:
            folds = [(number[np.asarray(a)], number[np.asarray(b)]) for a, b in check_cv(cv).split(number, None, groups)]
        except (IndexError, TypeError, ValueError) as error:
            expected = "a number of folds, a splitter that needs no classes, or splits: pairs of arrays of row numbers below"
            raise ValueError(f"cv must be {expected} {n}. scikit-learn reports: {error}") from None
        folds = [(seen[seen >= 0], unseen[unseen >= 0]) for seen, unseen in folds]
    if len(folds) < 2:
        raise ValueError(f"cv must make at least 2 folds, for a standard error, but makes {len(folds)}.")
    for fold in folds:
        if any(len(np.unique(alike[part])) < 2 for part in fold):
            seen, unseen = map(len, fold)
            raise ValueError(
                f"Each fold must have two different rows for training and for testing, but one has {seen} and {unseen} of the "
                f"{len(x)} rows. Use fewer folds (cv)."
            )
    return folds
