"""What an array of numbers could be: which models its rows fit, how far out they lie, what was done to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry import radius, to_hyperboloid

__all__ = ["Description", "describe"]

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
SINGLE = float(np.finfo(np.float32).eps)  # Lorentz coordinates are often trained in float32, however stored


class Description(NamedTuple):
    """What `describe` found."""

    n_rows: int
    n_columns: int
    dtype: str
    n_nonfinite: int  # rows with a NaN or an infinity; everything below leaves them out
    n_duplicates: int  # rows that repeat an earlier one
    fits: dict[str, bool]  # for each model, whether every row is a point of it
    model: str  # the most particular of those: lorentz, poincare, halfspace, tangent
    curvature: float  # -1, or what Lorentz rows imply
    radius: dict[float, float]  # quantiles of the distance from the origin, in that model
    largest_norm: float
    n_clipped: int  # distinct rows that share the largest norm, as after clipping to a ball


def describe(X: Any) -> Description:
    """Say what the rows of X (n, m) could be.

    >>> found = describe([[0.0, 0.0], [0.6, 0.0], [0.0, -0.6]])
    >>> found.model, found.n_clipped, round(found.radius[1.0], 4)
    ('poincare', 2, 1.3863)
    """
    X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a matrix of numbers, but it has shape {X.shape} and dtype {X.dtype}.")
    rows = X[np.isfinite(X).all(axis=1)].astype(np.float64)
    if not len(rows):
        raise ValueError(f"X must hold at least one finite row, but none of its {len(X)} rows is.")
    distinct = np.unique(rows, axis=0)
    norms = np.linalg.norm(distinct, axis=1)
    square = _minkowski_square(distinct)
    ball = bool(norms.max() < 1)
    fits = {
        "poincare": ball,
        "klein": ball,
        "lorentz": square is not None,
        "halfspace": bool((distinct[:, -1] > 0).all()),
        "tangent": True,
    }
    model = next(name for name in ("lorentz", "poincare", "halfspace", "tangent") if fits[name])
    scale = np.sqrt(square) if square is not None else 1.0
    rounding = max(1e-9, 4 * np.finfo(X.dtype).eps) if X.dtype.kind == "f" else 1e-9  # of a clipped norm
    sharing = int((norms >= norms.max() * (1 - rounding)).sum())
    return Description(
        n_rows=len(X),
        n_columns=X.shape[1],
        dtype=str(X.dtype),
        n_nonfinite=len(X) - len(rows),
        n_duplicates=len(rows) - len(distinct),
        fits=fits,
        model=model,
        curvature=float(-1 / scale**2),
        radius=_radii(rows / scale, model, scale),
        largest_norm=float(norms.max()),
        n_clipped=sharing if sharing > 1 and norms.max() > 0 else 0,
    )


def _minkowski_square(x: np.ndarray) -> float | None:
    """t^2 - |s|^2 where all rows (t, s) share it, as points of one hyperboloid do; 1 where it rounds to 1."""
    if x.shape[1] < 2 or not (x[:, 0] > 0).all():
        return None
    time, space = x[:, 0] ** 2, (x[:, 1:] ** 2).sum(axis=1)
    nearest = np.argmin(time)  # where the difference has lost the fewest digits
    square = time[nearest] - space[nearest]
    rounding = 8 * SINGLE * (time + space)
    if square <= rounding[nearest] or (np.abs(time - space - square) > 1e-4 * square + rounding).any():
        return None
    return 1.0 if abs(square - 1) < 1e-4 + rounding[nearest] else float(square)


def _radii(x: np.ndarray, model: str, scale: float) -> dict[float, float]:
    # a tangent vector is as long as its point is far; sinh of it might overflow on the way
    distances = np.linalg.norm(x, axis=1) if model == "tangent" else radius(to_hyperboloid(x, model))
    return {q: float(scale * np.quantile(distances, q)) for q in QUANTILES}
