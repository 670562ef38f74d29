"""The horospherical projection on many spines at once, with its gradient: the kernel of every search.

With V = (v0, w), (0, U) a basis of a spine, c = v0 t - s.w and b = U s (both times the stretch), g = |w|^2 - v0^2, B = |b|^2,

    r = (c + R) / 2,      R^2 = c^2 + g (1 + B),      image (b ; 1) / r in the upper half-space of H^K.

The image depends on the *span* of a basis only. Let y = (-c, b) be the Minkowski products of V with a point, N = diag(g, 1,
...) those of V with itself, and F the gradient in N: invariance under a change of basis reads  sum g_y y^T + 2 F N = 0,  which
gives the whole gradient from the derivatives in c, b and g.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..geometry._arrays import Array, array_namespace, dot, from_numpy, norm, to_numpy, unit
from ..geometry.hulls import split_bases
from .horospherical import lower

CANCELLED = 1e-7  # A light-cone coordinate below this fraction of the time has lost half its digits: computed another way.
LEAST_ROOT = 1e-24  # R^2 is at least this fraction of c^2: it is 0 for a point on the spine, and the gradient divides by R.

Pullback = Callable[[Any], np.ndarray]  # gradients (S, K, n) in the images to gradients (S, K, d+1) in the bases


class Images(NamedTuple):
    """Images of n points under the projections on S spines, in the upper half-space of H^K."""

    y: Any  # (S, K, n), heights last
    r: Any  # (S, n), one over the heights
    pullback: Pullback


def project(
    columns: Array, floor: Array, bases: np.ndarray, log_stretch: np.ndarray | None = None, *, precise: bool = True
) -> Images:
    """Project points on the spans of bases (S, K, d+1), stretched by exp(log_stretch) (S,).

    `columns` (d+1, n) holds points of the hyperboloid, or those of their coordinates that the bases have; `floor` (n,) is the
    least that t - s.u can be for a unit vector u. The pullback returns (S, K, d+1), and with a stretch one column more. Without
    `precise`, coordinates of far points that cancel are bounded but not computed again: enough to rank starts.
    """
    xp = array_namespace(columns)
    V = split_bases(bases)
    length = np.linalg.norm(V[:, 0, 1:], axis=1)
    g_host = (length - V[:, 0, 0]) * (length + V[:, 0, 0])
    scale_host = np.ones(len(V)) if log_stretch is None else np.exp(log_stretch)
    g, scale = (from_numpy(a[:, None], like=columns) for a in (g_host, scale_host))
    c = scale * _pole_products(columns, floor, V[:, 0], length, precise)
    S, K, n = len(V), bases.shape[1], columns.shape[1]
    b = xp.reshape(from_numpy(V[:, 1:, 1:].reshape(-1, V.shape[2] - 1), columns) @ columns[1:, :], (S, K - 1, n))
    b = scale[:, :, None] * b
    size = 1 + xp.sum(b * b, axis=1)
    root = xp.sqrt(xp.maximum(c * c + g * size, LEAST_ROOT * c * c))
    r = lower(c, root, -g / 4, size)

    def pullback(g_y: Array) -> np.ndarray:
        g_r = -(xp.sum(g_y[:, :-1, :] * b, axis=1) + g_y[:, -1, :]) / (r * r)
        g_b = g_y[:, :-1, :] / r[:, None, :] + (g_r * g / (2 * root))[:, None, :] * b
        slopes = xp.concat([-(g_r * r / root)[:, None, :], g_b], axis=1)  # in (-c, b)
        products = xp.concat([-c[:, None, :], b], axis=1)
        gamma = to_numpy(slopes @ xp.permute_dims(products, (0, 2, 1)))
        F = -gamma / 2
        F[:, 1:, 0] = F[:, 0, 1:]
        F[:, 0, 0] = to_numpy(xp.sum(g_r * size / root, axis=1)) / 4
        gathered = to_numpy(xp.reshape(xp.reshape(slopes, (S * K, n)) @ columns.T, V.shape))
        G = scale_host[:, None, None] * gathered + 2 * F @ V
        G[:, :, 0] *= -1
        change = bases @ np.swapaxes(V, 1, 2)
        finite = np.isfinite(change).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
        G = np.swapaxes(_inverses(np.where(finite[:, None, None], change, np.eye(K))), 1, 2) @ G
        if log_stretch is None:
            return np.asarray(G)
        slope = np.trace(gamma, axis1=1, axis2=2)
        return np.concatenate([G, np.broadcast_to(slope[:, None, None], (S, K, 1))], axis=2)

    return Images(xp.concat([b, xp.ones_like(r)[:, None, :]], axis=1) / r[:, None, :], r, pullback)


def _pole_products(columns: Array, floor: Array, poles: np.ndarray, length: np.ndarray, precise: bool) -> Array:
    """c = v0 t - s.w (S, n) for poles (v0, w) (S, d+1), from the light-cone coordinates t - s.n and t + s.n, n = w / |w|.

    A difference that cancels is bounded by `floor`.
    """
    xp = array_namespace(columns)
    t, s = columns[:1, :], columns[1:, :]
    directions = poles[:, 1:] / np.maximum(length, 1e-300)[:, None]
    along = from_numpy(directions, columns) @ s
    low, high = xp.maximum(t - along, floor[None, :]), xp.maximum(t + along, floor[None, :])
    if precise:
        low, high = (_uncancelled(a, sign * directions, columns, floor) for a, sign in ((low, 1), (high, -1)))
    up, down = (from_numpy(a[:, None] / 2, columns) for a in (poles[:, 0] + length, poles[:, 0] - length))
    return up * low + down * high


def _uncancelled(a: Array, directions: np.ndarray, columns: Array, floor: Array) -> Array:
    """t - s.n (S, n) for directions n (S, d), as floor + |s| |u - n|^2 / 2 with u = s / |s| where it has lost its digits."""
    xp = array_namespace(a)
    lost = a < CANCELLED * columns[:1, :]
    some = np.flatnonzero(to_numpy(xp.any(lost, axis=1)))
    if not len(some):
        return a
    s, rows = columns[1:, :].T, [a[k, :] for k in range(a.shape[0])]
    u, size = unit(s), norm(s)
    for k in some:
        off = u - from_numpy(directions[k], columns)
        rows[k] = xp.where(lost[k, :], floor + size * dot(off, off) / 2, rows[k])
    return xp.stack(rows)


def _inverses(matrices: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:  # a basis became dependent during an ascent
        return np.linalg.pinv(matrices)
