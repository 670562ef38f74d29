"""The points that a search runs on: as columns, in the frame of their mean, in random order, with weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy


class Sample(NamedTuple):
    """Points (n, d+1) of the hyperboloid as columns."""

    columns: Any  # (d+1, n)
    floor: Any  # (n,), the least that t - s.u can be for any unit vector u: e^{-radius}
    weights: Any = None  # (n,), or None where all are equal
    full: Any = None  # (D+1, n): the points with all coordinates, where `columns` has only some of them
    reach: float = 1.0  # a typical distance between the points, from which on the robust objective levels off

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def dimension(self) -> int:
        return int(self.columns.shape[0]) - 1

    def head(self, n: int) -> Sample:
        """The first n points: a random subset, since the rows are in random order."""
        return self.take(slice(n))

    def canonical_order(self) -> np.ndarray:
        """A shuffled order of the points that does not depend on the order they came in, nor on where they were moved from."""
        s = to_numpy(self.columns[1:, :])
        return np.argsort(0.5 ** np.arange(len(s)) @ s, kind="stable")[np.random.default_rng(0).permutation(self.size)]

    def take(self, rows: np.ndarray | slice) -> Sample:
        """Some of the points."""
        if not isinstance(rows, slice):
            rows = array_namespace(self.columns).asarray(rows, device=device(self.columns))
        weights = None if self.weights is None else self.weights[rows]
        full = None if self.full is None else self.full[:, rows]
        return self._replace(columns=self.columns[:, rows], floor=self.floor[rows], weights=weights, full=full)

    def points(self) -> Any:
        """The points (n, D+1) with all their coordinates."""
        return (self.columns if self.full is None else self.full).T

    def along(self, axes: np.ndarray) -> Sample:
        """What spines inside the time axis and some orthonormal directions, the columns of `axes` (d, m), see of the points."""
        xp = array_namespace(self.columns)
        s = from_numpy(axes.T, like=self.columns) @ self.columns[1:, :]
        inside, whole = xp.sum(s * s, axis=0), xp.sum(self.columns[1:, :] ** 2, axis=0)
        rest = xp.maximum(whole - inside, xp.zeros_like(inside))
        t = self.columns[0, :]
        columns, floor = xp.concat([t[None, :], s], axis=0), (1 + rest) / (t + xp.sqrt(inside))
        return self._replace(columns=columns, floor=floor, full=self.points().T)

    def directions(self) -> np.ndarray:
        """Unit vectors (n, d) from the origin to the points; the first axis for a point at the origin."""
        s = to_numpy(self.columns[1:, :]).T
        size = np.linalg.norm(s, axis=1, keepdims=True)
        return np.where(size > 0, s / np.where(size > 0, size, 1.0), np.eye(1, s.shape[1]))


def as_sample(x: Array, weights: Any = None) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    return sample_of_columns(array_namespace(x).asarray(x.T, copy=True), weights)


def sample_of_columns(columns: Array, weights: Any = None) -> Sample:
    """A sample of points of the hyperboloid that are the columns (d+1, n) of an array."""
    xp = array_namespace(columns)
    size = xp.sqrt(xp.sum(columns[1:, :] ** 2, axis=0))
    return Sample(columns, 1 / (columns[0, :] + size), None if weights is None else from_numpy(weights, like=columns))
