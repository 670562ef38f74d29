"""The horospherical projection in closed form, and its inverse. `pullback` has its gradient.

With h = t - s.n and H = t + s.n (exp of the Busemann functions of n and -n) and b = U s, B = |b|^2, the projection with a spine
(n, kappa, U) keeps b and c = h + kappa H. Its image has h' = r, H' = (1 + B) / r, where r + kappa (1 + B) / r = c:

    r = (c + R) / 2,      R^2 = c^2 - 4 kappa (1 + B),

so (b / r ; 1 / r) is the image in the upper half-space model of H^K. One product and one square root per point.

*The stretch.* Where kappa < 0 the numbers c / (2 sqrt(-kappa)) and b are the space part of the image on the hyperboloid of
H^K. To stretch it by sigma >= 1 is to multiply c and b by sigma: for distances d before and d' after,
1 <= sinh(d'/2) / sinh(d/2) <= sigma.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry import light_cone, translate, translate_ideal_to_origin, translate_to_origin
from ..geometry._arrays import Array, array_namespace, dot, finite_root, from_numpy, to_numpy
from ..geometry._points import Chunk
from ..geometry.hulls import DEPENDENT
from ..geometry.models import lift
from .spines import Spine, spine_from_ideal_points, unit_rows

CANCELLED = 2e-7  # A coordinate may lose this to rounding, times 1e-9, before its point is taken the careful way.


def lower(c: Array, root: Array, kappa: float | Array, size: Array) -> Array:
    """r = (c + R) / 2 from c, R = `root` and 1 + B = `size`, in the form that does not cancel (c < 0 only where kappa < 0)."""
    xp = array_namespace(c)
    return xp.where(c >= 0, (c + root) / 2, -2 * kappa * size / (root + xp.abs(c)))


def slide(x: Array, spine: Spine) -> Array:
    """Slide points x (n, d+1) along the surfaces that keep their coordinates in the spine, and stretch them.

    Returns the images in the upper half-space of H^K, shape (n, K), height last.
    """
    xp = array_namespace(x)
    n, U = from_numpy(spine.n, like=x), from_numpy(spine.U, like=x)
    kappa, s = spine.kappa, x[..., 1:]
    low, high = light_cone(x, n)
    b = s @ U.T
    c = low + kappa * high
    lean, rest = low - kappa * high, s - dot(s, n)[..., None] * n - b @ U
    b, c = spine.stretch * b, spine.stretch * c
    size = 1 + dot(b, b)
    square = c * c - 4 * kappa * size
    if not spine.stretched:
        # A point on the spine has R = 0. Where kappa >= 0 the difference above would lose half of its digits, but R is also
        # a sum of squares. (`where` rather than `if`: the layer of horopca.torch learns kappa, a tensor.)
        square = xp.where(xp.asarray(kappa >= 0), lean * lean + 4 * kappa * dot(rest, rest), square)
    r = lower(c, finite_root(square), kappa, size)
    return xp.concat([b, xp.ones_like(r)[..., None]], axis=-1) / r[..., None]


def unslide(y: Array, spine: Spine) -> Array:
    """The points (n, d+1) of the submanifold through the origin and the spine whose images under `slide` are y (n, K)."""
    n, U = from_numpy(spine.n, like=y), from_numpy(spine.U, like=y)
    b, r = y[..., :-1] / y[..., -1:], 1 / y[..., -1]
    if spine.stretched:
        c = (r + spine.kappa * (1 + dot(b, b)) / r) / spine.stretch
        b = b / spine.stretch
        size = 1 + dot(b, b)
        r = lower(c, finite_root(c * c - 4 * spine.kappa * size), spine.kappa, size)
    along = ((1 + dot(b, b)) / r - r) / 2
    return lift(b @ U + along[..., None] * n)


class Slide(NamedTuple):
    """`slide` between two isometries, as products with vectors: for many points at once.

    Points enter as they are in the user's array, in whatever frame; the images leave in the frame they are wanted in. Points
    whose products cancel, or are too large, are told apart, to be taken the careful way.
    """

    vectors: Any  # (K, d+1), NumPy's, or tensors to be learnt: their Euclidean products with a point are c and b
    kappa: Any
    turn: np.ndarray  # (K+1, K+1): applied to the image (t, b, s.n)

    @classmethod
    def along(cls, spine: Spine, before: np.ndarray | None = None, after: np.ndarray | None = None) -> Slide:
        """The projection with a spine, after and before matrices (d+1, d+1) and (K+1, K+1) of isometries."""
        n, kappa, U, stretch = spine
        K, vectors = len(U) + 1, np.zeros((len(U) + 1, len(n) + 1))
        vectors[0, 0], vectors[0, 1:], vectors[1:, 1:] = 1 + kappa, (kappa - 1) * n, U
        vectors = stretch * (vectors if before is None else vectors @ before)
        return cls(vectors, kappa, np.eye(K + 1) if after is None else after)

    def error(self) -> float:
        """What rounding may have taken of the products with a point, per unit of its time."""
        return CANCELLED * float(np.abs(to_numpy(self.vectors)).sum(axis=1).max())

    def images(self, chunk: Chunk) -> tuple[Any, Any]:
        """Images (n, K+1) on the hyperboloid of H^K, and which of them are not to be trusted."""
        xp = array_namespace(chunk.t)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of points that are then not to be trusted
            c, b, r, lost = self._kept(chunk)
        b = xp.where(lost[None, :], xp.zeros_like(b), b)
        high = (1 + xp.sum(b * b, axis=0)) / r
        image = xp.concat([((high + r) / 2)[None, :], b, ((high - r) / 2)[None, :]], axis=0)
        return lift((from_numpy(self.turn[1:], c) @ image).T), lost

    def _kept(self, chunk: Chunk) -> tuple[Any, Any, Any, Any]:
        """c (n,), b (K-1, n) and r (n,) of points, and which of them have lost their digits."""
        y = chunk.products(from_numpy(self.vectors, chunk.t))
        xp = array_namespace(y)
        c, b = y[0, :], y[1:, :]
        size = 1 + xp.sum(b * b, axis=0)
        square = c * c - 4 * self.kappa * size
        error = self.error() * chunk.t
        lost = ~((error < xp.abs(c)) & (error < 1) & (square > 1e-6 * c * c))
        # what is lost is replaced before the root is taken of it, and not after: its gradient would be NaN times 0
        c, size, square = (xp.where(lost, xp.ones_like(c), a) for a in (c, size, square))
        return c, b, lower(c, xp.sqrt(square), self.kappa, size), lost


def horospherical_projection(x: Array, q: np.ndarray, base: np.ndarray | None = None) -> Array:
    """Project points on the geodesic hull of a base point and ideal points, keeping every Busemann coordinate.

    Parameters
    ----------
    x : (n, d+1), points of the hyperboloid
    q : (K, d), ideal points, unit vectors
    base : (d+1,), base point on the hyperboloid, outside the hull of the ideal points; the origin by default

    Returns
    -------
    (n, d+1), the projected points, on the side of the base point.
    """
    q = unit_rows(q)
    if base is not None:
        base = to_numpy(base)
        q = translate_ideal_to_origin(q, base)
        x = translate_to_origin(x, from_numpy(base, like=x))
    spine = spine_from_ideal_points(q)
    if 1 - spine.kappa < DEPENDENT:
        raise ValueError(
            "base must lie outside the geodesic hull of the ideal points, but it lies in it: the hull of both then has "
            "one dimension too few. Pass another base."
        )
    y = unslide(slide(x, spine), spine)
    return y if base is None else translate(y, from_numpy(base, like=y))
