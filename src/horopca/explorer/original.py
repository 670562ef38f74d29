"""What the page knows of the points before the reduction: their neighbours, what became of these, and how to refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._input.arguments import check_count
from .._input.coordinates import Coordinates
from .._input.validation import check_rows
from ..geometry import distance
from ..metrics.nearest import false_neighbour_shares, nearest_neighbours
from ..metrics.neighbours import EXACT_POINTS, Compared, false_neighbours
from ..statistics import standard_error
from .columns import Arrays, Header
from .frames import is_several
from .packing import rounded

STORED_NEIGHBOURS = 300_000  # A page holds so many neighbours in all, so that 100,000 points stay below 5 MB.
STORED_NUMBERS = 150_000  # A page holds so many coordinates of the original, to refit: 1.5 MB.

SAMPLED = 512  # Of very many points, the ranks of the neighbours of so many are counted.

# A measure is shown under this name, with whether its high values are the good ones, and what it says.
TRUST = {
    "false": (
        "False neighbours",
        False,
        "The share of strangers among the {k} nearest in the picture: points not among the {k} nearest in the original. "
        "Where it is high, do not trust the picture.",
    ),
    "trust": (
        "Trustworthiness",
        True,
        "How far the {k} nearest in the picture can be trusted to be near in the original: strangers count by how far down the "
        "original's list they are.",
    ),
    "continuity": (
        "Continuity",
        True,
        "How far the {k} nearest in the original are still near in the picture: those torn away count by how far down the "
        "picture's list they are.",
    ),
    "distortion": (
        "Local distortion",
        False,
        "How much the distances to the {k} nearest in the original were changed; it says nothing of strangers that came near.",
    ),
}


def add_original(
    header: Header, arrays: Arrays, original: Any, y: np.ndarray, n_neighbors: int, coordinates: Coordinates
) -> None:
    """Neighbours in the original space, their distances there, and what to distrust in the picture y (n, 3)."""
    if is_several(original):
        raise ValueError(
            f"original must be one array, the points of the last picture before the reduction, but holds {len(original)}."
        )
    before, k, n = check_rows(original, coordinates, name="original"), check_count("n_neighbors", n_neighbors, 1), len(y)
    if before.shape[0] != n:
        raise ValueError(f"original must have one row for each of the {n} points of Y, but has {before.shape[0]}.")
    if n < 3:
        return
    x, k = np.asarray(before.take(np.arange(n)), dtype=np.float64), min(k, (n - 1) // 2)
    indices, distances = nearest_neighbours(x, k)
    kept = min(max(3, min(10, STORED_NEIGHBOURS // n)), k)
    header["k"] = kept
    arrays["neighbours"] = indices[:, :kept].ravel().astype(np.uint32)
    arrays["spans"] = rounded(distances[:, :kept].ravel() / coordinates.scale)
    found = trust_of(x, y, k, distances[:, -1]) | {"distortion": local_distortion(y, indices, distances)}
    header["measures"] = []
    for key, (name, good, note) in TRUST.items():
        values = np.asarray(found[key])
        about = {"key": key, "name": name, "note": f"{note.format(k=k)} On average {_mean(values, n)}."}
        header["measures"].append(about | {"good": good})
        if len(values) == n:
            arrays[key] = rounded(values)
    if x[:, 1:].size <= STORED_NUMBERS:
        header["dimension"], arrays["original"] = x.shape[1] - 1, x[:, 1:].ravel()
    else:
        header["omitted"].append(f"no refit: the original has more than {STORED_NUMBERS:,} numbers")


def trust_of(x: np.ndarray, y: np.ndarray, k: int, reach: np.ndarray) -> dict[str, np.ndarray]:
    """False neighbours, trustworthiness and continuity of each point; of very many points the last two of some only."""
    if len(x) <= EXACT_POINTS:
        found = false_neighbours(x, y, n_neighbors=k, model="lorentz")
        return {"false": 1 - found["kept"], "trust": found["trust"], "continuity": found["continuity"]}
    some = np.random.default_rng(0).choice(len(x), SAMPLED, replace=False)
    false = false_neighbour_shares(x, nearest_neighbours(y, k)[0], reach)
    trust, continuity = (Compared(clouds, k).values(some)[1] for clouds in ([x, y], [y, x]))
    return {"false": false, "trust": trust, "continuity": continuity}


def local_distortion(y: np.ndarray, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Mean of |d' - d| / d over the neighbours of each point, d in the original and d' in y; NaN where all d are 0."""
    total, count = np.zeros(len(y)), np.zeros(len(y))
    for j in range(indices.shape[1]):
        d = distances[:, j]
        apart = d > 0
        change = np.abs(distance(y, y[indices[:, j]]) - d) / np.where(apart, d, 1.0)
        total, count = total + np.where(apart, change, 0.0), count + apart
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _mean(values: np.ndarray, n: int) -> str:
    """The mean in words, with its standard error where only some of the n points were looked at."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "unknown"
    error = f" ± {standard_error(known.tolist()):.1%} (of {len(known)} points)" if len(values) < n else ""
    return f"{known.mean():.1%}{error}"
