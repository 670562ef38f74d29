"""What the page knows of the points before the reduction: their neighbours, what became of these, and how to refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import Arrays, Header
from .neighbours import local_distortion, nearest_neighbours
from .packing import rounded

STORED_NEIGHBOURS = 300_000  # in all, so that 100,000 points stay below 5 MB
STORED_NUMBERS = 150_000  # coordinates of the original that a page holds, to refit: 1.5 MB

TRUST = {
    "false": (
        "False neighbours",
        "The share of strangers among the {k} nearest in the picture: points not among the {k} nearest in the original. "
        "Where it is high, do not trust the picture. On average {mean:.0%}.",
    ),
    "distortion": (
        "Local distortion",
        "How much the distances to the {k} nearest in the original were changed; it says nothing of strangers that came near. "
        "On average {mean:.0%}.",
    ),
}


def add_original(header: Header, arrays: Arrays, before: Any, y: np.ndarray, k: int, scale: float) -> None:
    """Neighbours in the original space, their distances there, and what to distrust in the picture y (n, 3)."""
    n = len(y)
    if before.shape[0] != n:
        raise ValueError(f"original must have one row for each of the {n} points of Y, but has {before.shape[0]}.")
    if n < 2:
        return
    x, k = np.asarray(before.take(np.arange(n)), dtype=np.float64), min(k, n - 1)
    indices, distances = nearest_neighbours(x, k)
    kept = min(max(3, min(10, STORED_NEIGHBOURS // n)), k)
    header["k"] = kept
    arrays["neighbours"] = indices[:, :kept].ravel().astype(np.uint32)
    arrays["spans"] = rounded(distances[:, :kept].ravel() / scale)
    found = {"false": strangers(nearest_neighbours(y, k)[0], indices), "distortion": local_distortion(y, indices, distances)}
    header["trust"] = []
    for key, (name, note) in TRUST.items():
        values = found[key]
        mean = float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
        header["trust"].append({"key": key, "name": name, "note": note.format(k=k, mean=mean)})
        arrays[key] = rounded(values)
    if x[:, 1:].size <= STORED_NUMBERS:
        header["dimension"], arrays["original"] = x.shape[1] - 1, x[:, 1:].ravel()
    else:
        header["omitted"].append(f"no refit: the original has more than {STORED_NUMBERS:,} numbers")


def strangers(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The share (n,) of the neighbours `here` (n, k) of each point that are not among its neighbours `there`.

    >>> strangers(np.array([[1, 2]]), np.array([[3, 1]]))
    array([0.5])
    """
    return np.asarray(1 - np.mean([(column[:, None] == there).any(axis=1) for column in here.T], axis=0))
