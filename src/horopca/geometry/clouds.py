"""Points wherever they live, handed out in chunks: in hand, or as seen from one of their space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from array_api_compat import device

from ._arrays import Array, array_namespace, from_numpy, to_numpy
from .chunks import Chunk
from .isometries import translate_to_origin

BLOCK_ROWS = 1 << 13  # A chunk of points in hand has so many: with a few dozen coordinates it stays in a core's cache.

T = TypeVar("T")


def added(first: Any, second: Any) -> Any:
    """The sum of two numbers or arrays, or of two tuples of such, entry by entry."""
    return tuple(map(added, first, second)) if isinstance(first, tuple) else first + second


@runtime_checkable
class Points(Protocol):
    """Points of H^d on the hyperboloid at curvature -1, wherever they live: in memory, on a device, on a cluster.

    Whoever asks for all of them is handed one `Chunk` of a few thousand after another, where they live: points that need not be
    written out.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d+1)."""

    def chunks(self) -> Iterator[Chunk]:
        """The points in order, a chunk at a time."""

    def take(self, indices: np.ndarray) -> np.ndarray:
        """Some of the points (m, d+1), on the host."""

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        """The rows of function(chunk) for all chunks in order, as one array that lives where the points do."""

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        """function(chunk) for all chunks, put together two by two with an associative `combine`."""


class Cloud:
    """Points x (n, d+1) in memory."""

    def __init__(self, x: Array) -> None:
        self.x, self.shape = x, (x.shape[0], x.shape[1])

    def chunks(self) -> Iterator[Chunk]:
        for rows in row_slices(self.shape[0]):
            yield Chunk.of(self.x[rows, :], rows.start)

    def take(self, indices: np.ndarray) -> np.ndarray:
        return to_numpy(
            array_namespace(self.x).take(self.x, array_namespace(self.x).asarray(indices, device=device(self.x)), axis=0)
        )

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        return array_namespace(self.x).concat([function(chunk) for chunk in self.chunks()], axis=0)

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        return reduce(combine, map(function, self.chunks()))


class Seen:
    """Points as seen from a point (d+1,) of their space, which becomes the origin."""

    def __init__(self, points: Array | Points, origin: np.ndarray) -> None:
        self.points, self.origin = as_points(points), origin
        self.shape = self.points.shape

    def chunks(self) -> Iterator[Chunk]:
        return map(self._moved(lambda chunk: chunk), self.points.chunks())

    def take(self, indices: np.ndarray) -> np.ndarray:
        return to_numpy(translate_to_origin(self.points.take(indices), self.origin))

    def map(self, function: Callable[[Chunk], Array]) -> Any:
        return self.points.map(self._moved(function))

    def fold(self, function: Callable[[Chunk], T], combine: Callable[[T, T], T] = added) -> T:
        return self.points.fold(self._moved(function), combine)

    def _moved(self, function: Callable[[Chunk], T]) -> Callable[[Chunk], T]:
        origin = self.origin  # and not self: a cluster is sent what the function holds

        def moved(chunk: Chunk) -> T:
            return function(Chunk.of(translate_to_origin(chunk.points(), from_numpy(origin, chunk.t)), chunk.start))

        return moved


def as_points(x: Array | Points) -> Points:
    """An array (n, d+1) as points; points as they are."""
    return x if isinstance(x, Points) else Cloud(x)


def row_slices(n: int, step: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover n rows, a few thousand at a time."""
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
