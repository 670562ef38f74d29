"""Geodesics, horocycles and borders of cones as polylines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..geometry import busemann, from_hyperboloid, geodesic, to_hyperboloid

Arcs: TypeAlias = Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # ends (m, 2) and (m, 2), n_points, to (m, n_points, 2)
INSIDE = 1 - 1e-12  # Ideal points are drawn this far from the origin, where they are points of the disk.


def circular_arcs(half_turn: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Arcs:
    """Geodesics that are arcs of circles and turn by twice half_turn(a, b) between complex numbers a and b."""

    def arcs(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
        first, last = to_complex(a)[:, None], to_complex(b)[:, None]
        phi = half_turn(first, last)
        phi = np.where(np.abs(phi) < 1e-6, 1e-6, phi)  # a straight line, to less than a pixel
        turned = phi * np.linspace(-1, 1, n_points)
        bent = (np.sin(turned) - 1j * (np.cos(turned) - np.cos(phi))) / np.sin(phi)
        return from_complex((first + last) / 2 + (last - first) / 2 * bent)

    return arcs


poincare_arcs = circular_arcs(lambda a, b: np.angle(1 - np.conj(a) * b))


def equidistant_arcs(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
    """Geodesics in the equidistant disk, in equal hyperbolic steps, twice as many because they bend near the centre."""
    x, y = to_hyperboloid(a, "tangent")[:, None], to_hyperboloid(b, "tangent")[:, None]
    return np.asarray(from_hyperboloid(geodesic(x, y, np.linspace(0, 1, 2 * n_points - 1)[None]), "tangent"))


def geodesic_lines(a: Any, b: Any, n_points: int = 129) -> np.ndarray:
    """Whole geodesics of the Poincaré disk, from rim to rim, through each a (m, 2) and b (m, 2): (m, n_points, 2)."""
    k_a, k_b = (from_hyperboloid(to_hyperboloid(np.asarray(y, dtype=np.float64)), "klein") for y in (a, b))
    # A geodesic is a chord of Klein's disk: k_a + s (k_b - k_a) is on the circle at the roots of a quadratic in s.
    d = k_b - k_a
    A, B, C = np.sum(d * d, axis=1), np.sum(k_a * d, axis=1), np.sum(k_a * k_a, axis=1) - 1
    root = np.sqrt(B * B - A * C)
    ends = [k_a + ((sign * root - B) / A)[:, None] * d for sign in (-1, 1)]
    first, last = (end / np.linalg.norm(end, axis=1, keepdims=True) * INSIDE for end in ends)
    return poincare_arcs(first, last, n_points)


def horocycle_arcs(x: Any, q: Any, n_points: int = 65) -> np.ndarray:
    """Arcs (m, n_points, 2) of the horocycles at the ideal point q (2,), from points x (m, 2) of the disk to the diameter of q.

    Their ends are the images of x under the horospherical projection on that diameter.

    >>> arc = horocycle_arcs([[0.0, 0.5]], [1.0, 0.0])[0]
    >>> arc[[0, -1]].round(4) + 0.0
    array([[ 0.  ,  0.5 ],
           [-0.25,  0.  ]])
    """
    x, q = np.asarray(x, dtype=np.float64), np.asarray(q, dtype=np.float64)
    level = busemann(to_hyperboloid(x), q)
    end = np.tanh(-level / 2)[:, None] * q
    centre, size = (end + q) / 2, (1 - np.tanh(-level / 2)) / 2  # a circle that touches the rim at q
    z, c = to_complex(x), to_complex(centre)
    first = np.angle((z - c) / -complex(*q))  # from the centre of the circle, q is at pi and the end at 0
    turned = first[:, None] * np.linspace(1, 0, n_points)
    return from_complex(c[:, None] - size[:, None] * complex(*q) * np.exp(1j * turned))


def to_complex(y: Any) -> np.ndarray:
    y = np.asarray(y, dtype=np.float64)
    return np.asarray(y[..., 0] + 1j * y[..., 1])


def from_complex(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag], axis=-1)
