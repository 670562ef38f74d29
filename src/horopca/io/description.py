"""What an array of numbers could be: which models its rows fit, how far out they lie, what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..geometry import radius, to_hyperboloid
from .streaming import Source

__all__ = ["Description", "describe", "describe_file"]

BLOCK_ELEMENTS = 1 << 20  # numbers that are looked at in one step

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
    return _described("X", X.shape, X.dtype, lambda start, stop: X[start:stop])


def describe_file(path: str | Path) -> Description:
    """What `describe` says of the rows of a ``.npy`` file of floats, which is read a block at a time.

    What stays in memory is some 30 bytes for each row.
    """
    source = Source.of(path)
    return _described(str(path), source.shape, source.dtype, source.rows)


class _Extremes(NamedTuple):
    """What one look at all finite rows tells."""

    n: int  # how many there are
    norm: float  # the largest
    above: bool  # whether all last columns are positive
    ahead: bool  # whether all first columns are
    square: tuple[float, float]  # the smallest t^2 with its t^2 - |s|^2, which has lost the fewest digits there


def _described(name: str, shape: tuple[int, int], dtype: np.dtype, rows: Callable[[int, int], np.ndarray]) -> Description:
    """The description of a matrix whose rows can be had a few at a time."""

    def blocks() -> Iterator[np.ndarray]:
        step = max(1, BLOCK_ELEMENTS // shape[1])
        for start in range(0, shape[0], step):
            block = np.asarray(rows(start, min(start + step, shape[0])), dtype=np.float64)
            yield block[np.isfinite(block).all(axis=1)] + 0.0  # no -0.0

    seen = _extremes(blocks())
    if not seen.n:
        raise ValueError(f"{name} must hold at least one finite row, but none of its {shape[0]} rows is.")
    square, ball = _minkowski_square(seen, blocks) if shape[1] > 1 else None, seen.norm < 1
    fits = {"poincare": ball, "klein": ball, "lorentz": square is not None, "halfspace": seen.above, "tangent": True}
    model = next(name for name in ("lorentz", "poincare", "halfspace", "tangent") if fits[name])
    scale = np.sqrt(square) if square is not None else 1.0
    rounding = max(1e-9, 4 * np.finfo(dtype).eps) if dtype.kind == "f" else 1e-9  # of a clipped norm
    radii, marks, outermost = [], [], []
    for x in blocks():
        radii.append(scale * _radius(x / scale, model))
        marks.append(_marks(x))
        outermost.append(marks[-1][np.linalg.norm(x, axis=1) >= seen.norm * (1 - rounding)])
    sharing = len(np.unique(np.concatenate(outermost)))
    return Description(
        n_rows=shape[0],
        n_columns=shape[1],
        dtype=str(dtype),
        n_nonfinite=shape[0] - seen.n,
        n_duplicates=seen.n - len(np.unique(np.concatenate(marks))),
        fits=fits,
        model=model,
        curvature=float(-1 / scale**2),
        radius=dict(zip(QUANTILES, np.quantile(np.concatenate(radii), QUANTILES).tolist(), strict=True)),
        largest_norm=seen.norm,
        n_clipped=sharing if sharing > 1 and seen.norm > 0 else 0,
    )


def _extremes(blocks: Iterator[np.ndarray]) -> _Extremes:
    seen = _Extremes(0, 0.0, True, True, (np.inf, np.nan))
    for x in blocks:
        if not len(x):
            continue
        time = x[:, 0] ** 2
        nearest = int(np.argmin(time))
        square = (float(time[nearest]), float(time[nearest] - (x[nearest, 1:] ** 2).sum()))
        seen = _Extremes(
            seen.n + len(x),
            max(seen.norm, float(np.linalg.norm(x, axis=1).max())),
            seen.above and bool((x[:, -1] > 0).all()),
            seen.ahead and bool((x[:, 0] > 0).all()),
            min(seen.square, square),
        )
    return seen


def _minkowski_square(seen: _Extremes, blocks: Callable[[], Iterator[np.ndarray]]) -> float | None:
    """t^2 - |s|^2 where all rows (t, s) share it, as points of one hyperboloid do; 1 where it rounds to 1."""
    time, square = seen.square
    rounding = 8 * SINGLE * (2 * time - square)  # of t^2 + |s|^2
    if not seen.ahead or square <= rounding or not all(_share(x, square) for x in blocks()):
        return None
    return 1.0 if abs(square - 1) < 1e-4 + rounding else square


def _share(x: np.ndarray, square: float) -> bool:
    time, space = x[:, 0] ** 2, (x[:, 1:] ** 2).sum(axis=1)
    return not (np.abs(time - space - square) > 1e-4 * square + 8 * SINGLE * (time + space)).any()


def _radius(x: np.ndarray, model: str) -> np.ndarray:
    # a tangent vector is as long as its point is far; sinh of it might overflow on the way
    return np.asarray(np.linalg.norm(x, axis=1) if model == "tangent" else radius(to_hyperboloid(x, model)))


def _marks(x: np.ndarray) -> np.ndarray:
    """64 bits for each row, the same for equal rows and (but for one chance in 10^19 a pair) for no others."""
    mark = np.zeros(len(x), dtype=np.uint64)
    for column in np.ascontiguousarray(x).view(np.uint64).T:
        mark = (mark ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
    return mark
