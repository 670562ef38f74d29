"""Groups and folds of a cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from .._input.arguments import check_count


def group_numbers(groups: Any, n: int) -> np.ndarray:
    """Validate groups. Returns the number of the group of each of n rows."""
    named = np.asarray(groups)
    if named.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, but has shape {named.shape}.")
    try:
        return np.asarray(np.unique(named, return_inverse=True)[1])
    except TypeError:
        kinds = ", ".join(sorted({type(name).__name__ for name in named}))
        raise ValueError(f"groups must be names or numbers that can be sorted, all of a kind, but are of {kinds}.") from None


def check_groups(groups: Any, n: int, some: np.ndarray) -> np.ndarray | None:
    """Validate groups. Returns the numbers of the groups of some of n rows."""
    if groups is None:
        return None
    codes = group_numbers(groups, n)
    if codes.max() + 1 == n:
        warnings.warn(f"groups keeps no rows together: each of its {n} groups has one row.", stacklevel=3)
    return np.asarray(codes[some])


def check_splits(cv: Any, n: int, some: np.ndarray) -> Any:
    """Validate cv. Splits of n rows become splits of some of them; a number or a splitter is returned unchanged."""
    if isinstance(cv, str) or hasattr(cv, "split") or not isinstance(cv, Iterable):
        return cv
    place = np.full(n, -1)
    place[some] = np.arange(len(some))
    try:
        splits = [(place[np.asarray(seen)], place[np.asarray(unseen)]) for seen, unseen in cv]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(f"cv must hold splits, each two arrays of numbers of the {n} rows, but: {error}.") from None
    return [(seen[seen >= 0], unseen[unseen >= 0]) for seen, unseen in splits]


def _split(splitter: Any, x: np.ndarray, groups: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The folds of a splitter. Raises ValueError if it needs classes."""
    try:
        return [(np.asarray(seen), np.asarray(unseen)) for seen, unseen in splitter.split(x, None, groups)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"cv must split rows that have no classes, but {splitter!r} does not: {error}") from error


def folds_of(
    x: np.ndarray, cv: Any, groups: np.ndarray | None, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows of each fold, for training and for testing."""
    n, seed = len(x), int(rng.integers(2**31))
    alike = np.unique(x, axis=0, return_inverse=True)[1].ravel()
    if isinstance(cv, list):
        folds = cv
    elif hasattr(cv, "split") and not isinstance(cv, str):
        folds = _split(cv, x, groups)
    else:
        units = alike if groups is None else groups
        count, what = int(units.max()) + 1, "different rows" if groups is None else "groups"
        check_count("cv", cv, 2, why=", a splitter of scikit-learn's, or splits")
        if cv > count:
            raise ValueError(f"cv must be at most the number of {what}, {count}, but is {cv}. Take fewer folds.")
        shuffled = np.random.default_rng(seed).permutation(count)[units]  # folds of equal groups are drawn, not in their order
        split = KFold(cv, shuffle=True, random_state=seed).split(x) if count == n else GroupKFold(cv).split(x, None, shuffled)
        folds = list(split)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least 2 folds, between which there is an error, but makes {len(folds)}.")
    for number, parts in enumerate(folds, start=1):
        if any(len(np.unique(alike[part])) < 2 for part in parts):
            seen, unseen = map(len, parts)
            raise ValueError(
                f"Each fold must see and leave out two different rows, between which there is a distance, but fold {number} of "
                f"{len(folds)} sees {seen} of the {n} rows and leaves out {unseen}. Take fewer folds (cv)."
            )
    return folds
