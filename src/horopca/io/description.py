"""What an array of numbers could be: which models its rows fit, how far out they lie, what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._points.door import Door, check_door, refuse_outside
from ..geometry import MODELS, radius
from .streaming import Source

__all__ = ["Description", "describe", "describe_file"]

BLOCK_ELEMENTS = 1 << 20  # numbers that are looked at in one step

PARTICULAR = ("lorentz", "poincare", "halfspace", "tangent")
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
SINGLE = float(np.finfo(np.float32).eps)  # Lorentz coordinates are often trained in float32, however stored


class Description(NamedTuple):
    """What `describe` found."""

    n_rows: int
    n_columns: int
    dtype: str
    n_nonfinite: int  # rows with a NaN or an infinity; everything below leaves them out
    n_duplicates: int  # rows that repeat an earlier one
    fits: dict[str, bool]  # for each model, whether a reduction takes every row as a point of it
    model: str | None  # the most particular of those: lorentz, poincare, halfspace, tangent
    curvature: float  # -1, or what Lorentz rows imply
    radius: dict[float, float]  # quantiles of the distance from the origin, in that model; none without one
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
    ahead: bool  # whether all first columns are positive
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
    fits = _fits(seen, blocks(), shape[1])
    door = next((fits[model] for model in PARTICULAR if fits[model] is not None), None)
    rounding = max(1e-9, 4 * np.finfo(dtype).eps) if dtype.kind == "f" else 1e-9  # of a clipped norm
    radii, marks, outermost = [], [], []
    for x in blocks():
        if door is not None:
            radii.append(_radius(x, door))
        marks.append(_marks(x))
        outermost.append(marks[-1][_norm(x) >= seen.norm * (1 - rounding)])
    sharing = len(np.unique(np.concatenate(outermost)))
    return Description(
        n_rows=shape[0],
        n_columns=shape[1],
        dtype=str(dtype),
        n_nonfinite=shape[0] - seen.n,
        n_duplicates=seen.n - len(np.unique(np.concatenate(marks))),
        fits={model: found is not None for model, found in fits.items()},
        model=None if door is None else door.model,
        curvature=-1.0 if door is None else door.curvature,
        radius=dict(zip(QUANTILES, np.quantile(np.concatenate(radii), QUANTILES).tolist(), strict=True)) if radii else {},
        largest_norm=seen.norm,
        n_clipped=sharing if sharing > 1 and seen.norm > 0 else 0,
    )


def _extremes(blocks: Iterator[np.ndarray]) -> _Extremes:
    seen = _Extremes(0, 0.0, True, (np.inf, np.nan))
    for x in filter(len, blocks):
        nearest = x[np.argmin(np.abs(x[:, 0]))]
        time, space = float(nearest[0]), float(_norm(nearest[None, 1:])[0])
        seen = _Extremes(
            seen.n + len(x),
            max(seen.norm, float(_norm(x).max())),
            seen.ahead and bool((x[:, 0] > 0).all()),
            min(seen.square, (time * time, (time - space) * (time + space))),
        )
    return seen


def _norm(x: np.ndarray) -> np.ndarray:
    """|x|, without squares that might overflow on the way."""
    with np.errstate(over="ignore"):  # a norm itself may
        return np.asarray(np.hypot.reduce(x, axis=1, initial=0.0))


def _fits(seen: _Extremes, blocks: Iterator[np.ndarray], columns: int) -> dict[str, Door | None]:
    """For each model, the door through which all rows go, or None."""
    doors = {model: check_door(model, -1.0) if model != "lorentz" else _lorentz_door(seen, columns) for model in MODELS}
    for x in filter(len, blocks):
        doors = {model: door if door is not None and _goes(x, door, seen) else None for model, door in doors.items()}
    return doors


def _lorentz_door(seen: _Extremes, columns: int) -> Door | None:
    """That of the hyperboloid on which the rows could be, whose t^2 - |s|^2 is 1 where it rounds to 1."""
    time, square = seen.square
    rounding = 8 * SINGLE * (2 * time - square)  # of t^2 + |s|^2
    if columns < 2 or not seen.ahead or not square > rounding:
        return None
    try:
        return check_door("lorentz", -1.0 if abs(square - 1) < 1e-4 + rounding else -1 / square)
    except ValueError:
        return None


def _goes(x: np.ndarray, door: Door, seen: _Extremes) -> bool:
    """Whether rows are points of a model, and on the hyperboloid of all others."""
    try:
        refuse_outside(x, door, 0, "X")
    except ValueError:
        return False
    return door.model != "lorentz" or _share(x, seen.square[1])


def _share(x: np.ndarray, square: float) -> bool:
    time, space = x[:, 0] ** 2, (x[:, 1:] ** 2).sum(axis=1)
    return not (np.abs(time - space - square) > 1e-4 * square + 8 * SINGLE * (time + space)).any()


def _radius(x: np.ndarray, door: Door) -> np.ndarray:
    """Distances from the origin, at the curvature of the door."""
    # a tangent vector is as long as its point is far; sinh of it might overflow on the way
    return _norm(x) if door.model == "tangent" else np.asarray(radius(door.enter(x))) / door.scale


def _marks(x: np.ndarray) -> np.ndarray:
    """64 bits for each row, the same for equal rows and (but for one chance in 10^19 a pair) for no others."""
    mark = np.zeros(len(x), dtype=np.uint64)
    for column in np.ascontiguousarray(x).view(np.uint64).T:
        mark = (mark ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
    return mark
