"""Validation of the arguments of plots and of the explorer."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._input.arguments import check_choice
from .._input.coordinates import FARTHEST_IMAGE, check_coordinates
from .._input.libraries import as_plain_array
from .._input.rows import check_rows
from ..geometry import ModelName, origin, translate_to_origin
from ..geometry._arrays import to_numpy
from .views import VIEWS


def check_plane_arguments(given: Mapping[str, Any]) -> SimpleNamespace:
    """Validate the arguments of `plot_plane`, and return them as attributes.

    Further attributes are the points ``x`` (n, 3) and the companions ``diamonds`` (m, 3) on the hyperboloid, moved so that the
    centre is the origin; ``unmoved``, the points before the move; ``unit``, the length in the curvature of Y of a length of 1;
    and ``ellipses`` (n, 2, 2), the semi-axes of the regions at curvature -1.
    """
    data = SimpleNamespace(**given)
    unmoved = check_plane(data.Y, data.model, data.curvature)
    n = len(unmoved)
    check_choice("view", data.view, ("auto", *VIEWS))
    if data.labels is not None and data.values is not None:
        raise ValueError("labels and values both colour the points: pass one of them.")
    data.labels, data.names = one_per_point(data.labels, "labels", n), one_per_point(data.names, "names", n)
    data.edges = None if data.edges is None else check_edges(data.edges, n)
    data.values = None if data.values is None else check_numbers(data.values, "values", n)
    data.size = check_numbers(data.size, "size", n) if np.ndim(data.size) else data.size
    if not isinstance(data.companions or {}, Mapping):
        raise ValueError(f"companions must be a mapping of names to points, but is {data.companions!r:.80}.")
    data.companions = {str(name): to_numpy(y) for name, y in (data.companions or {}).items()}
    diamonds = np.empty((0, 3))
    if data.companions:
        diamonds = check_plane(list(data.companions.values()), data.model, data.curvature, name="companions")
    data.centre = _check_centre(data.centre, unmoved, data.model, data.curvature)
    data.unit = 1 / check_coordinates(data.model, data.curvature).scale
    data.ellipses = None if data.regions is None else check_regions(data.regions, n) / data.unit
    data.unmoved, data.x, data.diamonds = unmoved, *(translate_to_origin(points, data.centre) for points in (unmoved, diamonds))
    return data


def _check_centre(centre: Any, x: np.ndarray, model: ModelName, curvature: float) -> np.ndarray:
    """The centre (3,): the origin, a row of points x (n, 3), or another point."""
    if centre is None:
        return origin(2)
    if np.ndim(centre):
        return np.asarray(check_plane([centre], model, curvature, name="centre")[0])
    if not isinstance(centre, int | np.integer) or not 0 <= centre < len(x):
        raise ValueError(f"centre must be a row of Y, 0 to {len(x) - 1}, or a point, but is {centre!r}.")
    return np.asarray(x[centre])


def check_plane(Y: Any, model: ModelName = "poincare", curvature: float = -1.0, d: int = 2, name: str = "Y") -> np.ndarray:
    """Validate points of the plane, or of space if d = 3, and return them on the hyperboloid (n, d+1)."""
    coordinates = check_coordinates(model, curvature)
    Y = to_numpy(as_plain_array(Y, coordinates, name))
    if Y.ndim != 2 or Y.shape[1] != coordinates.columns(d):
        space = "the disk" if d == 2 else "the ball"
        raise ValueError(
            f"{name} must be points of {space}, of shape (n, {coordinates.columns(d)}), but it has shape {Y.shape}. "
            f"HoroPCA(n_components={d}), or horopca reduce on the command line, reduces points of more dimensions."
        )
    if not len(Y):
        return np.empty((0, d + 1))
    return to_numpy(check_rows(Y, coordinates, name=name, reach=FARTHEST_IMAGE).all())


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
        raise ValueError(f"edges must join rows 0 to {n - 1} of Y, but edge {wrong[0]} joins rows {a} and {b}.")
    return np.asarray(edges, dtype=np.int64)


def check_numbers(values: Any, name: str, n: int) -> np.ndarray:
    """Validate a number for each of n points, and return them as floats (n,)."""
    try:
        numbers = np.asarray(to_numpy(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, but some values are not.") from None
    if numbers.shape != (n,):
        raise ValueError(f"{name} must have one number for each of {n} points, but has shape {numbers.shape}.")
    return numbers


def check_regions(regions: Any, n: int) -> np.ndarray:
    """Validate the result of `bootstrap` for n points, and return the semi-axes (n, 2, 2) of its regions."""
    axes = to_numpy(regions.semi_axes()) if hasattr(regions, "semi_axes") else None
    if axes is None or axes.shape != (n, 2, 2):
        raise ValueError(
            f"regions must be the result of horopca.metrics.bootstrap for the {n} rows of Y, but is {regions!r:.60}."
        )
    return axes
