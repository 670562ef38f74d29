"""Points that are not written out: a chunk of a user's rows as it is, and what makes points of the hyperboloid of it.

In every model but the half-space a point of the hyperboloid is (t, stretch * X) for the row X itself, with t and
stretch functions of |X|. So products with points are products with rows: a pass over a million of them reads the
user's array once and writes nothing of its size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import Array, array_namespace, dot, with_rows
from .hyperboloid import distance
from .models import lift

CANCELLED = 1e-9
"""Where cosh(d) - 1 is below this fraction of the products that it is a difference of, d is computed anew from the points."""


class Chunk(NamedTuple):
    """n points (t, stretch * X) of the hyperboloid, some of many."""

    X: Any  #: (n, d)
    stretch: Any  #: (n,)
    t: Any  #: (n,)
    start: int = 0  #: the number of the first among all points
    written: Any = None  #: (n, d+1), the same points where they are written out

    @classmethod
    def of(cls, x: Array, start: int = 0) -> Chunk:
        """Points x (n, d+1) of the hyperboloid that are written out already."""
        return cls(x[:, 1:], array_namespace(x).ones_like(x[:, 0]), x[:, 0], start, x)

    def points(self, which: Any = None) -> Any:
        """The points (n, d+1), written out; or those that a mask (n,) says."""
        if which is None:
            return self.written if self.written is not None else lift(self.X * self.stretch[:, None])
        return self.written[which] if self.written is not None else lift(self.X[which] * self.stretch[which][:, None])

    def products(self, M: Array) -> Any:
        """Euclidean products (k, n) of the rows of M (k, d+1) with the points."""
        xp = array_namespace(self.t)
        columns = M[:, 1:].T
        if not getattr(M, "requires_grad", False):
            columns = xp.asarray(columns, copy=True)  # contiguous: twice as fast
        along = self.X @ columns
        return M[:, :1] * self.t + along.T * self.stretch

    def gather(self, weights: Array) -> Any:
        """Sums (k, d+1) of the points with weights (k, n)."""
        xp = array_namespace(self.t)
        return xp.concat([(weights @ self.t)[:, None], (weights * self.stretch) @ self.X], axis=1)

    def distances(self, others: Array) -> Any:
        """Distances (n,) to as many other points (n, d+1), one for each."""
        xp = array_namespace(self.t)
        size = self.t * others[:, 0]
        cosh = size - self.stretch * dot(self.X, others[:, 1:])
        lost = cosh - 1 < CANCELLED * size
        safe = xp.where(lost, xp.ones_like(cosh), cosh)
        d = xp.log(safe + xp.sqrt(safe - 1) * xp.sqrt(safe + 1))
        return with_rows(d, lost, distance(self.points(lost), others[lost])) if bool(xp.any(lost)) else d
