"""Describe an array: which models its rows fit, how far out they lie, how many are repeated or clipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._input.coordinates import Coordinates
from .._input.libraries import coordinates_of
from .._input.recognition import EXAMINED_ELEMENTS, recognise
from ..geometry import radius
from ..geometry.models import row_norms
from .files import as_matrix

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


class Description(NamedTuple):
    """The result of `describe`."""

    n_rows: int  #: rows
    n_columns: int  #: columns
    dtype: str  #: of the numbers
    n_nonfinite: int  #: rows with a NaN or an infinity; everything below leaves them out
    n_duplicates: int  #: rows that repeat an earlier one
    fits: dict[str, bool]  #: for each model, whether every row is a point of it
    candidates: tuple[str, ...]  #: models that the evidence leaves; a ball counts as the Poincaré ball, not as Klein's
    evidence: str  #: for these candidates, as a sentence
    model: str | None  #: the only candidate, if there is one
    curvature: float  #: -1, or the curvature that Lorentz rows imply
    radius: dict[str, dict[float, float]]  #: for each candidate, quantiles of the distance from the origin
    largest_norm: float  #: of a row
    n_clipped: int  #: distinct rows that share the largest norm, as after clipping to a ball


def describe(X: Any) -> Description:
    """Determine which models the rows of X fit, and describe the rows.

    Models are distinguished by evidence: Lorentz rows have the same ``t^2 - |s|^2``, the norms of points of a ball accumulate
    below 1, and in a half-space only the last column is always positive. If several models remain, ``model`` is None: the rows
    could be points of a ball near its centre, Lorentz coordinates without their time, or tangent vectors, and only their
    source can tell.

    Parameters
    ----------
    X : array of shape (n, m)
        Points in unknown coordinates, or a tensor of geoopt or HypLL, whose manifold states them.

    Returns
    -------
    Description

    See Also
    --------
    load : reads points from a file

    Examples
    --------
    >>> from horopca.io import describe
    >>> found = describe([[0.0, 0.0], [0.6, 0.0], [0.0, -0.6]])
    >>> found.model, found.candidates
    (None, ('poincare', 'lorentz-space', 'tangent'))
    >>> found.n_clipped, {model: round(radius[1.0], 4) for model, radius in found.radius.items()}
    (2, {'poincare': 1.3863, 'lorentz-space': 0.5688, 'tangent': 0.6})
    """
    own, X = coordinates_of(X), as_matrix(X)
    if 0 in X.shape:
        raise ValueError(f"X must have rows and columns, but it has shape {X.shape}.")
    dtype, rows_at_once = X.dtype, max(1, EXAMINED_ELEMENTS // X.shape[1])

    def blocks() -> Iterator[np.ndarray]:
        """The finite rows, some at a time: X may be a file larger than memory."""
        for start in range(0, len(X), rows_at_once):
            block = np.asarray(X[start : start + rows_at_once], dtype=np.float64)
            yield block[np.isfinite(block).all(axis=1)] + 0.0  # -0.0 becomes 0.0

    found = recognise(blocks, X.shape[1], float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0)
    if not found.n:
        raise ValueError(f"X must have at least one finite row, but none of its {len(X)} rows is finite.")
    fitting = {model: coordinates for model, coordinates in found.fitting.items() if coordinates is not None}
    candidates, evidence, stated = found.candidates, found.evidence, found.coordinates
    if own is not None:
        candidates, evidence, stated, fitting = (own.model,), "the manifold of X", own, {own.model: own}
    rounding = max(1e-9, 4 * np.finfo(dtype).eps) if dtype.kind == "f" else 1e-9  # relative, of a clipped norm
    radii: dict[str, list[np.ndarray]] = {model: [] for model in candidates if model in fitting}
    hashes, outermost = [], []
    for x in blocks():
        for model, parts in radii.items():
            parts.append(_radius(x, fitting[model]))
        hashes.append(_row_hashes(x))
        outermost.append(hashes[-1][row_norms(x) >= found.largest_norm * (1 - rounding)])
    sharing = len(np.unique(np.concatenate(outermost)))
    return Description(
        n_rows=len(X),
        n_columns=X.shape[1],
        dtype=str(dtype),
        n_nonfinite=len(X) - found.n,
        n_duplicates=found.n - len(np.unique(np.concatenate(hashes))),
        fits={model: model in fitting for model in found.fitting},
        candidates=candidates,
        evidence=evidence,
        model=None if stated is None else stated.model,
        curvature=next((place.curvature for place in fitting.values() if place.curvature != -1), -1.0),
        radius={
            model: dict(zip(QUANTILES, np.quantile(np.concatenate(parts), QUANTILES).tolist(), strict=True))
            for model, parts in radii.items()
        },
        largest_norm=found.largest_norm,
        n_clipped=sharing if sharing > 1 and found.largest_norm > 0 else 0,
    )


def _radius(x: np.ndarray, coordinates: Coordinates) -> np.ndarray:
    """Distances from the origin, at the curvature of the coordinates."""
    if coordinates.row.domain == "vectors":  # sinh could overflow
        return row_norms(x)
    return np.asarray(radius(coordinates.to_hyperboloid(x))) / coordinates.scale


def _row_hashes(x: np.ndarray) -> np.ndarray:
    """64-bit hashes (n,) of rows; two different rows have the same with a probability of about 1e-19."""
    found = np.zeros(len(x), dtype=np.uint64)
    for column in np.ascontiguousarray(x).view(np.uint64).T:
        found = (found ^ column) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
        found ^= found >> np.uint64(29)
    return found
