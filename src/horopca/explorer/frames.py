"""The pictures of a page: one, or several of the same points, such as the epochs of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._input.coordinates import Coordinates
from ..plots.validation import check_plane, check_same_rows, one_per_point
from .columns import Arrays, Header


def check_frames(Y: Any, coordinates: Coordinates) -> list[np.ndarray]:
    """Validate Y and return its pictures, each (n, 3) on the hyperboloid. Raises ValueError if there are none."""
    if isinstance(Y, Mapping):
        instead = "list(Y.values()), titles=list(Y)" if len(Y) > 1 else "the array alone"
        raise ValueError(f"Y must be an array, or a list of them, but is a mapping. Pass {instead}.")
    if not len(Y):
        raise ValueError("Y must be points of the plane, or several pictures of them, but is empty.")
    if not is_several(Y):
        return [check_plane(Y, coordinates.model, coordinates.curvature)]
    if len(Y) == 1:
        raise ValueError("Y must be one picture, an array, or several of the same points, but holds only one. Pass Y[0].")
    frames = [check_plane(one, coordinates.model, coordinates.curvature, name=f"Y[{k}]") for k, one in enumerate(Y)]
    check_same_rows("Y", [len(y) for y in frames])
    return frames


def is_several(Y: Any) -> bool:
    """Whether Y is an array with a third axis, or a list of matrices."""
    if isinstance(Y, list | tuple):
        return len(Y) > 0 and np.ndim(Y[0]) == 2
    return getattr(Y, "ndim", 2) == 3 and len(Y) > 0


def add_frames(header: Header, arrays: Arrays, frames: list[np.ndarray], titles: Any) -> None:
    """Add the last picture, which the page starts with, the earlier ones, and their titles."""
    *earlier, y = frames
    arrays |= {"x": y[:, 1], "y": y[:, 2]}
    if not earlier:
        if titles is not None:
            raise ValueError("titles are those of several pictures, but Y is only one. The heading of the page is title=.")
        return
    called = one_per_point(titles, "titles", len(frames), "picture")
    header["titles"] = [str(one) for one in called or (f"{k} of {len(frames)}" for k in range(1, len(frames) + 1))]
    for k, before in enumerate(earlier):
        arrays |= {f"x-{k}": before[:, 1], f"y-{k}": before[:, 2]}
