"""Groups and folds of a cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv

from .._input.arguments import check_count

Fold = tuple[np.ndarray, np.ndarray]  # rows for training and for testing


def group_numbers(groups: Any, n: int) -> np.ndarray:
    """Validate groups. Returns the number of the group of each of n rows."""
    named = np.asarray(groups)
    if named.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, but has shape {named.shape}.")
    try:
        missing = np.array([name is None or bool(name != name) for name in named.tolist()])
        if missing.any():
            row = int(missing.argmax())
            raise ValueError(f"groups must name the group of every row, but row {row} has {named.tolist()[row]}.")
        return np.asarray(np.unique(named, return_inverse=True)[1])
    except TypeError:
        kinds = ", ".join(sorted({type(name).__name__ for name in named}))
        raise ValueError(
            f"groups must be names or numbers that can be sorted, all of one type, but have types {kinds}."
        ) from None


def make_folds(x: np.ndarray, cv: Any, groups: np.ndarray | None, some: np.ndarray, n: int, seed: int) -> list[Fold]:
    """The folds of points x (m, d+1), which are the rows `some` (m,) of n rows. `groups` (n,) has the group of each row."""
    alike = np.unique(x, axis=0, return_inverse=True)[1].ravel()
    if isinstance(cv, Integral):
        units = alike if groups is None else groups[some]
        count, what = len(np.unique(units)), "different rows" if groups is None else "groups"
        if check_count("cv", cv, 2, why=", a splitter of scikit-learn's, or splits") > count:
            raise ValueError(f"cv must be at most the number of {what}, {count}, but is {cv}. Use fewer folds.")
        folds = list(GroupKFold(int(cv), shuffle=True, random_state=seed).split(x, groups=units))
    else:
        folds = _split(cv, groups, some, n)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least 2 folds, for a standard error, but makes {len(folds)}.")
    for number, parts in enumerate(folds, start=1):
        if any(len(np.unique(alike[part])) < 2 for part in parts):
            seen, unseen = map(len, parts)
            raise ValueError(
                f"Each fold must have two different rows for training and for testing, but fold {number} of {len(folds)} has "
                f"{seen} and {unseen} of the {len(x)} rows. Use fewer folds (cv)."
            )
    return folds


def _split(cv: Any, groups: np.ndarray | None, some: np.ndarray, n: int) -> list[Fold]:
    """The folds of a splitter or of given splits of n rows, restricted to some of them and numbered among these."""
    place = np.full(n, -1)
    place[some] = np.arange(len(some))
    try:
        splits = [(place[np.asarray(a)], place[np.asarray(b)]) for a, b in check_cv(cv).split(place, None, groups)]
    except (IndexError, TypeError, ValueError) as error:
        message = "cv must be a number of folds, a splitter that needs no classes, or splits, each two arrays of indices of the"
        raise ValueError(f"{message} {n} rows, but: {error}") from None
    return [(seen[seen >= 0], unseen[unseen >= 0]) for seen, unseen in splits]
