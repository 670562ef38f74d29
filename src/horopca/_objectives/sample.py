"""Points to search on: as columns, near their mean, rows shuffled once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..geometry._arrays import Array, array_namespace, dot, from_numpy, norm, to_numpy, unit

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # of a basis, or of parameters, to a value and its gradient

CLOSE = 1e-7  # A product below this fraction of its terms has lost digits, and is taken another way.


class Sample(NamedTuple):
    """Points (n, d+1) as columns, and the least that t - s.u can be for each and any unit vector u: e^{-radius}."""

    columns: Any  # (d+1, n)
    floor: Any  # (n,)
    whole: Any = None  # (D+1, n): the points themselves, where `columns` are only their first coordinates
    reach: float = 1.0  # a distance that is usual among the points: what the robust objective calls far is farther

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def dimension(self) -> int:
        return int(self.columns.shape[0]) - 1

    def head(self, n: int) -> Sample:
        """The first n points: a random subset, since the rows were shuffled."""
        return self.take(slice(n))

    def order(self) -> np.ndarray:
        """An order of the points that looks random and is the same however they come, wherever they were moved from."""
        s = to_numpy(self.columns[1:, :])
        return np.argsort(0.5 ** np.arange(len(s)) @ s, kind="stable")[np.random.default_rng(0).permutation(self.size)]

    def take(self, rows: np.ndarray | slice) -> Sample:
        """Some of the points, in the order of their numbers."""
        whole = None if self.whole is None else self.whole[:, rows]
        return self._replace(columns=self.columns[:, rows], floor=self.floor[rows], whole=whole)

    def points(self) -> Any:
        """The points (n, D+1), with all their coordinates."""
        return (self.columns if self.whole is None else self.whole).T

    def first_axes(self, m: int) -> Sample:
        """What spines inside the time axis and the first m space axes see of the points: these coordinates, and no others."""
        if m >= self.dimension:
            return self
        xp = array_namespace(self.columns)
        columns = self.columns[: m + 1, :]
        size = xp.sqrt(xp.sum(columns[1:, :] ** 2, axis=0))
        rest = xp.sum(self.columns[m + 1 :, :] ** 2, axis=0)
        return self._replace(columns=columns, floor=(1 + rest) / (columns[0, :] + size), whole=self.columns)

    def along(self, axes: np.ndarray) -> Sample:
        """What spines inside the time axis and some orthonormal directions, the columns of `axes` (d, m), see of the points."""
        xp = array_namespace(self.columns)
        s = from_numpy(axes.T, like=self.columns) @ self.columns[1:, :]
        inside, all_of_it = xp.sum(s * s, axis=0), xp.sum(self.columns[1:, :] ** 2, axis=0)
        rest = xp.maximum(all_of_it - inside, xp.zeros_like(inside))
        t = self.columns[0, :]
        columns, floor = xp.concat([t[None, :], s], axis=0), (1 + rest) / (t + xp.sqrt(inside))
        return self._replace(columns=columns, floor=floor, whole=self.points().T)

    def beside(self, X: Array) -> Sample:
        """The same points where an array X lives."""
        xp = array_namespace(X)
        columns, floor, whole = (
            None if a is None else xp.asarray(a, dtype=xp.float64, device=device(X))
            for a in (self.columns, self.floor, self.whole)
        )
        return self._replace(columns=columns, floor=floor, whole=whole)

    def directions(self) -> np.ndarray:
        """Unit vectors (n, d) from the origin to the points; an axis for a point at the origin."""
        s = to_numpy(self.columns[1:, :]).T
        size = np.linalg.norm(s, axis=1, keepdims=True)
        return np.where(size > 0, s / np.where(size > 0, size, 1.0), np.eye(1, s.shape[1]))

    def products(self, M: np.ndarray) -> Any:
        """Euclidean products (k, n) of the rows of M (k, d+1) with the points."""
        return from_numpy(M, like=self.columns) @ self.columns

    def gather(self, weights: Array) -> np.ndarray:
        """Sums (k, d+1) of the points with weights (k, n)."""
        return to_numpy(weights @ self.columns.T)

    def sharpened(self, c: Array, v0: float, w: np.ndarray) -> Array:
        """c = v0 t - s.w, taken from light-cone coordinates where it has lost its digits."""
        xp = array_namespace(c)
        lost = xp.abs(c) < CLOSE * self.columns[0, :]
        return xp.where(lost, pole_product(self.columns.T, self.floor, v0, w), c) if bool(xp.any(lost)) else c


def pole_product(x: Array, floor: Array, v0: float, w: np.ndarray) -> Array:
    """v0 t - s.w for points x = (t, s) (n, d+1), without cancellation; `floor` (n,) holds t - |s|."""
    length = float(np.linalg.norm(w))
    if length == 0:
        return v0 * x[:, 0]
    n, size, u = from_numpy(w / length, like=x), norm(x[:, 1:]), unit(x[:, 1:])
    low, high = floor + size * dot(u - n, u - n) / 2, floor + size * dot(u + n, u + n) / 2
    return (v0 + length) / 2 * low + (v0 - length) / 2 * high


def as_sample(x: Array) -> Sample:
    """A sample of the points x (n, d+1) of the hyperboloid."""
    xp = array_namespace(x)
    columns = xp.asarray(x.T, copy=True)
    size = xp.sqrt(xp.sum(columns[1:, :] ** 2, axis=0))
    return Sample(columns, 1 / (columns[0, :] + size))
