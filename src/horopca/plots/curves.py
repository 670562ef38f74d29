"""Geodesics, horocycles and borders of cones as polylines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..geometry import MODELS, busemann, from_hyperboloid, geodesic, to_hyperboloid
from ..geometry.isometries import translate_ideal

Arcs: TypeAlias = Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # ends (m, 2) and (m, 2), n_points, to (m, n_points, 2)
INSIDE = 1 - 1e-12  # Ideal points are moved to this distance from the origin, just inside the disk.


def circular_arcs(half_turn: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Arcs:
    """A function that draws geodesics as arcs of circles, which turn by twice half_turn(a, b) from a to b (complex numbers)."""

    def arcs(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
        first, last = to_complex(a)[:, None], to_complex(b)[:, None]
        phi = half_turn(first, last)
        phi = np.where(np.abs(phi) < 1e-6, 1e-6, phi)  # a straight line, to less than a pixel
        turned = phi * np.linspace(-1, 1, n_points)
        bent = (np.sin(turned) - 1j * (np.cos(turned) - np.cos(phi))) / np.sin(phi)
        return from_complex((first + last) / 2 + (last - first) / 2 * bent)

    return arcs


# Geodesics of the disk and of the half-plane are circles that meet the boundary at right angles; Klein's are straight.
poincare_arcs = circular_arcs(lambda a, b: np.angle(1 - np.conj(a) * b))
halfplane_arcs = circular_arcs(lambda a, b: np.arctan2(a.real - b.real, a.imag + b.imag))
klein_arcs = circular_arcs(lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape)))


def equidistant_arcs(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
    """Geodesics in the equidistant disk, in equal hyperbolic steps, twice as many because they bend near the centre."""
    x, y = to_hyperboloid(a, "tangent")[:, None], to_hyperboloid(b, "tangent")[:, None]
    return np.asarray(from_hyperboloid(geodesic(x, y, np.linspace(0, 1, 2 * n_points - 1)[None]), "tangent"))


def horocycle_arcs(x: Any, q: Any) -> np.ndarray:
    """Arcs (m, 65, 2) of horocycles at q (2,) from points x (m, 2) of the disk to their projections on the diameter of q."""
    x, q = np.asarray(x, dtype=np.float64), np.asarray(q, dtype=np.float64)
    level = busemann(to_hyperboloid(x), q)
    end = np.tanh(-level / 2)[:, None] * q
    centre, size = (end + q) / 2, (1 - np.tanh(-level / 2)) / 2  # a circle that touches the rim at q
    z, c = to_complex(x), to_complex(centre)
    first = np.angle((z - c) / -complex(*q))  # from the centre of the circle, q is at pi and the end at 0
    turned = first[:, None] * np.linspace(1, 0, 65)
    return from_complex(c[:, None] - size[:, None] * complex(*q) * np.exp(1j * turned))


def cone_ends(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Ideal points (m, 3, 2) of cones at points x (m, 3), none of them the origin: one end, the middle, the other end."""
    ahead = np.arctan2(x[:, 2], x[:, 1])[:, None] + angles[:, None] * [-1, 0, 1]
    towards = np.stack([np.cos(ahead), np.sin(ahead)], axis=-1)  # in the tangent space
    return np.array([translate_ideal(q, point) for q, point in zip(towards, x, strict=True)]).reshape(-1, 3, 2)


def cone_borders(x: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Borders (m, 195, 2) in the disk of cones at points x (m, 3): from the point to the rim, along the rim, and back."""
    one, middle, other = to_complex(ends).T
    angles = np.stack([np.angle(middle / one), np.angle(other / middle)])
    angles += np.where(angles < -1e-12, 2 * np.pi, 0)  # counterclockwise; rounding may make 0 negative
    rim = middle[:, None] * np.exp(1j * np.linspace(-angles[0], angles[1], 65, axis=1))
    z = np.asarray(MODELS["poincare"].from_hyperboloid(x))
    first, last = (poincare_arcs(z, ends[:, k] * INSIDE, 65) for k in (0, 2))
    return np.concatenate([first, from_complex(rim), last[:, ::-1]], axis=1)


def to_complex(y: np.ndarray) -> np.ndarray:
    return np.asarray(y[..., 0] + 1j * y[..., 1])


def from_complex(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag], axis=-1)
