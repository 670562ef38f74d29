"""What a user passed to a plot or to the explorer, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice
from .._input.coordinates import FARTHEST_IMAGE, check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, clip, origin, translate_to_origin
from ..geometry._arrays import to_numpy
from .palette import SCALES

GRIDS = ("polar", "geodesic")
SMOOTH = 200  # The border of a region has so many points: a large one bends much in a small part of the disk.
ROUNDED = 1e-6  # A point so little beyond the rim of the disk was put there by rounding.


class Given(NamedTuple):
    """Points on the hyperboloid, as seen from the centre, and what belongs to them."""

    x: np.ndarray  # (n, 3)
    labels: list[Any] | None
    names: list[str] | None
    edges: np.ndarray | None
    values: np.ndarray | None
    grid: str | None
    size: Any
    unit: float  # length in the user's curvature of a length of 1 here
    palette: Any = None
    scale: str = "linear"
    limits: tuple[float, float] | None = None
    companions: np.ndarray = np.empty((0, 3))  # (m, 3), as seen from the centre too
    companion_names: tuple[str, ...] = ()  # m of them
    room: np.ndarray = np.empty((0, 3))  # further points that the picture is large enough for
    regions: np.ndarray = np.empty((0, 0, 3))  # (n, m, 3), borders around the points, or none
    centre: np.ndarray = origin(2)  # (3,), where the picture is seen from, in the coordinates of the user


def check_given(
    Y: Any,
    labels: Any = None,
    *,
    names: Any = None,
    edges: Any = None,
    values: Any = None,
    centre: Any = None,
    grid: str | None = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    size: Any = None,
    palette: Any = None,
    scale: str = "linear",
    limits: Any = None,
    companions: Any = None,
    regions: Any = None,
) -> Given:
    """The arguments of a plot of the plane, or a sentence."""
    x = checked_points(Y, model, curvature)
    n = len(x)
    if labels is not None and values is not None:
        raise ValueError("labels and values both colour the points: pass one of them.")
    if grid is not None:
        check_choice("grid", grid, GRIDS)
    check_choice("scale", scale, SCALES)
    ends = None if limits is None else _checked_limits(limits, scale)
    called = None if names is None else [str(name) for name in one_per_point(names, "names", n) or []]
    pairs = None if edges is None else checked_edges(edges, n)
    numbers, size = _numbers(values, "values", n), _numbers(size, "size", n) if np.ndim(size) else size
    beside, beside_names = checked_companions(companions, model, curvature)
    around = checked_regions(regions, n, model, curvature)
    middle = origin(2) if centre is None else _centre(centre, x, model, curvature)
    if centre is not None:
        x, beside, around = (translate_to_origin(points, middle) for points in (x, beside, around))
    classes, unit = one_per_point(labels, "labels", n), 1 / check_coordinates(model, curvature).scale
    colours = (palette, scale, ends)
    return Given(
        x, classes, called, pairs, numbers, grid, size, unit, *colours, beside, beside_names, regions=around, centre=middle
    )


def checked_companions(companions: Any, model: ModelName, curvature: float) -> tuple[np.ndarray, tuple[str, ...]]:
    """Points (m, 3) on the hyperboloid and their names, from a mapping of names to points or an array, or a sentence."""
    if companions is None:
        return np.empty((0, 3)), ()
    named = isinstance(companions, Mapping)
    try:
        points = np.asarray([to_numpy(y) for y in companions.values()] if named else to_numpy(companions))
    except (TypeError, ValueError):
        raise ValueError(
            f"companions must be a mapping of names to points, or an array of points, but is {companions!r:.80}."
        ) from None
    if not points.size:
        return np.empty((0, 3)), ()
    names = tuple(str(name) for name in companions) if named else ("",) * len(points)
    return checked_points(points, model, curvature, name="companions"), names


def checked_regions(regions: Any, n: int, model: ModelName, curvature: float) -> np.ndarray:
    """Borders (n, m, 3) around n points on the hyperboloid, from an array or what has `borders(m)`, or a sentence."""
    if regions is None:
        return np.empty((0, 0, 3))
    given = to_numpy(regions.borders(SMOOTH) if hasattr(regions, "borders") else regions)
    if given.ndim != 3 or len(given) != n or given.shape[1] < 3:
        raise ValueError(
            "regions must be a result of horopca.metrics.bootstrap, or borders of shape (n, m, 2) with at least 3 points for "
            f"each of the {n} rows of Y, but has shape {given.shape}."
        )
    flat = checked_points(given.reshape(-1, given.shape[2]), model, curvature, name="regions")
    return flat.reshape(n, given.shape[1], 3)


def checked_points(Y: Any, model: ModelName = "poincare", curvature: float = -1.0, d: int = 2, name: str = "Y") -> np.ndarray:
    """Points of the plane (or of space, d = 3) on the hyperboloid, or a sentence."""
    coordinates = check_coordinates(model, curvature)
    Y = np.asarray(to_numpy(Y), dtype=np.float64)
    if Y.ndim != 2 or Y.shape[1] != coordinates.columns(d):
        what = "the disk" if d == 2 else "the ball"
        raise ValueError(
            f"{name} must be points of {what}, of shape (n, {coordinates.columns(d)}), but it has shape {Y.shape}. "
            f"HoroPCA(n_components={d}), or horopca reduce on the command line, reduces points of more dimensions."
        )
    if not len(Y):
        return np.empty((0, d + 1))
    if model == "poincare":  # a point may round to the boundary, in float32 from radius 17 on
        rounded = np.linalg.norm(Y, axis=1, keepdims=True) * coordinates.scale <= 1 + ROUNDED
        Y = np.where(rounded, clip(Y, 1e-12, radius=1 / coordinates.scale), Y)
    return np.asarray(check_rows(Y, coordinates, name=name, reach=FARTHEST_IMAGE).all())


def one_per_point(values: Any, what: str, n: int, each: str = "point") -> list[Any] | None:
    """One value for each of the n points as a list, or a sentence; None stays None."""
    if values is None:
        return None
    entries = list(values)
    if len(entries) != n:
        raise ValueError(f"{what} must have one entry per {each}, but has {len(entries)} for {n} {each}s.")
    return entries


def _numbers(values: Any, what: str, n: int) -> np.ndarray | None:
    """One number for each of the n points, or a sentence; None stays None."""
    entries = one_per_point(values, what, n)
    return None if entries is None else np.asarray(entries, dtype=np.float64)


def check_same_rows(name: str, sizes: list[int]) -> None:
    """Refuse pictures of different numbers of points."""
    if len(set(sizes)) > 1:
        raise ValueError(f"{name} must hold the same points, row by row, but its pictures have {sizes} rows.")


def checked_edges(edges: Any, n: int) -> np.ndarray:
    """Pairs of rows (m, 2), or a sentence."""
    edges = np.asarray(edges)
    if edges.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(
            f"edges must be pairs of row numbers, of shape (m, 2), but has shape {edges.shape} and dtype {edges.dtype}."
        )
    wrong = np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=1))
    if wrong.size:
        a, b = edges[wrong[0]]
        raise ValueError(
            f"edges must join rows 0 to {n - 1} of Y, but {wrong.size} of {len(edges)} do not (the first joins {a} and {b})."
        )
    return np.asarray(edges, dtype=np.int64)


def _checked_limits(limits: Any, scale: str) -> tuple[float, float]:
    numbers = np.ravel(np.asarray(limits, dtype=np.float64))
    if len(numbers) != 2 or not np.isfinite(numbers).all() or not numbers[0] < numbers[1]:
        raise ValueError(f"limits must be two numbers, the low end of the colours and the high one, but is {limits!r}.")
    if scale == "log" and numbers[0] <= 0:
        raise ValueError(f"limits must be above 0 on a logarithmic scale, but is {limits!r}.")
    return float(numbers[0]), float(numbers[1])


def _centre(centre: Any, x: np.ndarray, model: ModelName, curvature: float) -> np.ndarray:
    if np.ndim(centre) == 0:
        if not isinstance(centre, int | np.integer) or not 0 <= centre < len(x):
            raise ValueError(f"centre must be a row of Y, 0 to {len(x) - 1}, or a point, but is {centre!r}.")
        return np.asarray(x[centre])
    return np.asarray(checked_points([centre], model, curvature)[0])
