"""Validation of the arguments of plots and of the explorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._input.arguments import check_choice
from .._input.coordinates import FARTHEST_IMAGE, check_coordinates
from .._input.rows import check_rows
from ..geometry import ModelName, origin, translate_to_origin
from ..geometry._arrays import to_numpy
from .palette import SCALES
from .regions import Ellipses, Polygons, Regions

GRIDS = ("polar", "geodesic")


class PlotData(NamedTuple):
    """Validated arguments of a plot: points on the hyperboloid, moved so that the centre of the plot is the origin."""

    x: np.ndarray  # (n, 3)
    labels: list[Any] | None
    names: list[str] | None
    edges: np.ndarray | None
    values: np.ndarray | None
    grid: str | None
    size: Any
    unit: float  # length in the user's curvature of a length of 1 here
    palette: Any
    scale: str
    limits: tuple[float, float] | None
    companions: np.ndarray  # (m, 3)
    companion_names: tuple[str, ...]  # (m,)
    regions: Regions | None
    centre: np.ndarray  # (3,), in the user's coordinates
    margin: np.ndarray = np.empty((0, 3))  # further points that the frame encloses


def check_plot_data(
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
) -> PlotData:
    """Validate the arguments that every plot of the plane takes."""
    x = check_plane(Y, model, curvature)
    n = len(x)
    if labels is not None and values is not None:
        raise ValueError("labels and values both colour the points: pass one of them.")
    if grid is not None:
        check_choice("grid", grid, GRIDS)
    check_choice("scale", scale, SCALES)
    middle = origin(2) if centre is None else _check_centre(centre, x, model, curvature)
    diamonds, diamond_names = _check_companions(companions, model, curvature)
    return PlotData(
        x=np.asarray(translate_to_origin(x, middle)),
        labels=one_per_point(labels, "labels", n),
        names=None if names is None else [str(name) for name in one_per_point(names, "names", n) or []],
        edges=None if edges is None else check_edges(edges, n),
        values=_numbers(values, "values", n),
        grid=grid,
        size=_numbers(size, "size", n) if np.ndim(size) else size,
        unit=1 / check_coordinates(model, curvature).scale,
        palette=palette,
        scale=scale,
        limits=None if limits is None else _check_limits(limits, scale),
        companions=np.asarray(translate_to_origin(diamonds, middle)),
        companion_names=diamond_names,
        regions=None if regions is None else _check_regions(regions, x, middle, model, curvature),
        centre=middle,
    )


def check_plane(Y: Any, model: ModelName = "poincare", curvature: float = -1.0, d: int = 2, name: str = "Y") -> np.ndarray:
    """Validate points of the plane, or of space if d = 3, and return them on the hyperboloid (n, d+1)."""
    coordinates = check_coordinates(model, curvature)
    Y = to_numpy(Y)
    if Y.ndim != 2 or Y.shape[1] != coordinates.columns(d):
        space = "the disk" if d == 2 else "the ball"
        raise ValueError(
            f"{name} must be points of {space}, of shape (n, {coordinates.columns(d)}), but it has shape {Y.shape}. "
            f"HoroPCA(n_components={d}), or horopca reduce on the command line, reduces points of more dimensions."
        )
    if not len(Y):
        return np.empty((0, d + 1))
    return np.asarray(check_rows(Y, coordinates, name=name, reach=FARTHEST_IMAGE).all())


def one_per_point(values: Any, name: str, n: int, each: str = "point") -> list[Any] | None:
    """Validate that there is one value for each of n points. Returns them as a list; None stays None."""
    if values is None:
        return None
    entries = list(values)
    if len(entries) != n:
        raise ValueError(f"{name} must have one entry per {each}, but has {len(entries)} for {n} {each}s.")
    return entries


def check_same_rows(name: str, sizes: list[int]) -> None:
    """Raise ValueError if several plots of the same points have different numbers of rows."""
    if len(set(sizes)) > 1:
        raise ValueError(f"{name} must contain the same points, row by row, but its arrays have {sizes} rows.")


def check_edges(edges: Any, n: int) -> np.ndarray:
    """Validate pairs of rows, and return them as integers (m, 2)."""
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


def _numbers(values: Any, name: str, n: int) -> np.ndarray | None:
    entries = one_per_point(values, name, n)
    return None if entries is None else np.asarray(entries, dtype=np.float64)


def _check_companions(companions: Any, model: ModelName, curvature: float) -> tuple[np.ndarray, tuple[str, ...]]:
    """Points (m, 3) on the hyperboloid and their names, from a mapping of names to points or an array of points."""
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
    return check_plane(points, model, curvature, name="companions"), names


def _check_regions(regions: Any, x: np.ndarray, centre: np.ndarray, model: ModelName, curvature: float) -> Regions:
    """Regions around points x (n, 3): the ellipses of a bootstrap, or borders that the user computed."""
    ellipses = hasattr(regions, "semi_axes")
    array = to_numpy(regions.semi_axes() if ellipses else regions)
    if array.ndim != 3 or len(array) != len(x) or (array.shape[1:] != (2, 2) if ellipses else array.shape[1] < 3):
        raise ValueError(
            "regions must be a result of horopca.metrics.bootstrap, or borders of shape (n, m, 2) with at least 3 points for "
            f"each of the {len(x)} rows of Y, but has shape {array.shape}."
        )
    if ellipses:
        return Ellipses(x, array * check_coordinates(model, curvature).scale, centre, float(regions.level))
    flat = check_plane(array.reshape(-1, array.shape[2]), model, curvature, name="regions")
    return Polygons(x, flat.reshape(*array.shape[:2], 3), centre)


def _check_limits(limits: Any, scale: str) -> tuple[float, float]:
    numbers = np.ravel(np.asarray(limits, dtype=np.float64))
    if len(numbers) != 2 or not np.isfinite(numbers).all() or not numbers[0] < numbers[1]:
        raise ValueError(f"limits must be two numbers, the low and the high end of the colours, but is {limits!r}.")
    if scale == "log" and numbers[0] <= 0:
        raise ValueError(f"limits must be above 0 on a logarithmic scale, but is {limits!r}.")
    return float(numbers[0]), float(numbers[1])


def _check_centre(centre: Any, x: np.ndarray, model: ModelName, curvature: float) -> np.ndarray:
    if np.ndim(centre) == 0:
        if not isinstance(centre, int | np.integer) or not 0 <= centre < len(x):
            raise ValueError(f"centre must be a row of Y, 0 to {len(x) - 1}, or a point, but is {centre!r}.")
        return np.asarray(x[centre])
    return np.asarray(check_plane([centre], model, curvature, name="centre")[0])
