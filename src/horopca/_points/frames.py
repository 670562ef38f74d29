"""Places to stand in hyperbolic space, and points as seen from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..geometry import boost_to_origin, lift, translate, translate_to_origin
from ..geometry._arrays import Array, from_numpy, to_numpy
from ..statistics import folded, frechet_mean, principal_axes

FRAME_ROWS = 1 << 15  # the canonical frame of more images than this is that of so many of them


class Frame(NamedTuple):
    """A mean (d+1,) that becomes the origin, and axes (d, d) that become the axes."""

    mean: np.ndarray
    axes: np.ndarray

    def enter(self, x: Array) -> Array:
        """Points (n, d+1) as seen from the frame."""
        moved = translate_to_origin(x, from_numpy(self.mean, x))
        return lift(moved[:, 1:] @ from_numpy(self.axes.T.copy(), x))

    def leave(self, x: Array) -> Array:
        """The points that the frame sees as x."""
        return translate(lift(x[:, 1:] @ from_numpy(self.axes, x)), from_numpy(self.mean, x))

    def matrix(self) -> np.ndarray:
        """`enter` as a matrix (d+1, d+1)."""
        L = boost_to_origin(self.mean)
        L[1:] = self.axes @ L[1:]
        return L


def between(old: Frame, new: Frame) -> np.ndarray:
    """The matrix (d+1, d+1) that takes points as seen from one frame to the same as seen from another."""
    # from where d+1 points go: the product of two matrices of boosts would lose digits to the size of their entries
    d = len(old.mean) - 1
    points = lift(np.vstack([np.zeros(d), np.eye(d)]))
    return np.linalg.solve(points, new.enter(old.leave(points))).T


class Seen:
    """Rows as seen from a point (d+1,), which becomes the origin."""

    def __init__(self, rows: Any, point: np.ndarray) -> None:
        self.rows, self.point, self.shape = rows, point, rows.shape

    def folded(self, function: Callable[[Array], Any], combine: Callable[[Any, Any], Any]) -> Any:
        return folded(self.rows, self._moved(function), combine)

    def map(self, function: Callable[[Array], Array]) -> Array:
        """The rows of function(points), an array of the user's library."""
        door, moved = self.rows.door, self._moved(function)
        return self.rows.map(lambda X: moved(door.enter(X)))

    def _moved(self, function: Callable[[Array], Any]) -> Callable[[Array], Any]:
        point = self.point
        return lambda block: function(translate_to_origin(block, from_numpy(point, block)))

    def some(self) -> np.ndarray:
        """At most FRAME_ROWS of the points, evenly chosen, on the host."""
        step = -(-self.shape[0] // FRAME_ROWS)
        return translate_to_origin(self.rows.take(np.arange(0, self.shape[0], step)), self.point)


def frame_of(y: Array) -> Frame:
    """The canonical frame of points y (n, K+1): mean at the origin, axes in falling order of variance, signs fixed."""
    mean = to_numpy(frechet_mean(y).point)
    axes, _ = principal_axes(Seen(y, mean))
    return Frame(mean, axes)
