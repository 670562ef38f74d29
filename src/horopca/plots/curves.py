"""Geodesics and horocycles as polylines, evenly spaced to the eye."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..geometry import ModelName, busemann, from_hyperboloid, geodesic, lift, to_hyperboloid, translate_ideal

Arcs: TypeAlias = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def geodesic_arcs(a: Any, b: Any, n_points: int = 33, *, model: ModelName = "poincare") -> np.ndarray:
    """Geodesics from each a (m, 2) to each b (m, 2), as points (m, n_points, 2) evenly spaced to the eye.

    Parameters
    ----------
    a, b : arrays (m, 2)
        Points of the unit disk (``model="poincare"`` or ``"klein"``), of the half-plane, height last, or of the
        equidistant disk (``"tangent"``).
    n_points : int
    model : {"poincare", "klein", "halfspace", "tangent"}

    Examples
    --------
    >>> geodesic_arcs([[0.5, 0.0]], [[-0.5, 0.0]], 3).round(6) + 0.0
    array([[[ 0.5,  0. ],
            [ 0. ,  0. ],
            [-0.5,  0. ]]])
    """
    return ARCS[model](np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64), n_points)


def _circular(half_turn: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Arcs:
    """Geodesics that are arcs of circles and turn by twice half_turn(a, b) between a and b, complex numbers."""

    def arcs(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
        first, last = _complex(a)[:, None], _complex(b)[:, None]
        phi = half_turn(first, last)
        phi = np.where(np.abs(phi) < 1e-6, 1e-6, phi)  # a straight line, to less than any pixel
        turned = phi * np.linspace(-1, 1, n_points)
        bent = (np.sin(turned) - 1j * (np.cos(turned) - np.cos(phi))) / np.sin(phi)
        return _real((first + last) / 2 + (last - first) / 2 * bent)

    return arcs


def _equidistant(a: np.ndarray, b: np.ndarray, n_points: int) -> np.ndarray:
    """Evenly spaced along the geodesic: in the equidistant disk nearly so to the eye, but where it passes the centre."""
    x, y = to_hyperboloid(a, "tangent")[:, None], to_hyperboloid(b, "tangent")[:, None]
    return np.asarray(from_hyperboloid(geodesic(x, y, np.linspace(0, 1, 2 * n_points - 1)[None]), "tangent"))


# Geodesics of the disk and of the half-plane are circles that meet the boundary at right angles; Klein's are straight.
ARCS: dict[str, Arcs] = {
    "poincare": _circular(lambda a, b: np.angle(1 - np.conj(a) * b)),
    "klein": _circular(lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape))),
    "halfspace": _circular(lambda a, b: np.arctan2(a.real - b.real, a.imag + b.imag)),
    "tangent": _equidistant,
}


def geodesic_lines(a: Any, b: Any, n_points: int = 129) -> np.ndarray:
    """The whole geodesics of the Poincaré disk through each a (m, 2) and b (m, 2), from rim to rim, (m, n_points, 2)."""
    k_a, k_b = (from_hyperboloid(to_hyperboloid(np.asarray(y, dtype=np.float64)), "klein") for y in (a, b))
    # in Klein's disk a chord: k_a + s (k_b - k_a) is on the circle where a quadratic vanishes
    d = k_b - k_a
    A, B, C = np.sum(d * d, axis=1), np.sum(k_a * d, axis=1), np.sum(k_a * k_a, axis=1) - 1
    root = np.sqrt(B * B - A * C)
    ends = [k_a + ((sign * root - B) / A)[:, None] * d for sign in (-1, 1)]
    first, last = (end / np.linalg.norm(end, axis=1, keepdims=True) * (1 - 1e-12) for end in ends)
    return geodesic_arcs(first, last, n_points)


def horocycle_arcs(x: Any, q: Any, n_points: int = 65) -> np.ndarray:
    """The horocycles centred at the ideal point q (2,) from each point x (m, 2) of the disk to the diameter of q.

    As points (m, n_points, 2).  The ends are the images of x under the horospherical projection on that diameter.

    >>> arc = horocycle_arcs([[0.0, 0.5]], [1.0, 0.0])[0]
    >>> arc[[0, -1]].round(4) + 0.0
    array([[ 0.  ,  0.5 ],
           [-0.25,  0.  ]])
    """
    x, q = np.asarray(x, dtype=np.float64), np.asarray(q, dtype=np.float64)
    level = busemann(to_hyperboloid(x), q)
    end = np.tanh(-level / 2)[:, None] * q
    centre, size = (end + q) / 2, (1 - np.tanh(-level / 2)) / 2  # a circle that touches the rim at q
    z, c = _complex(x), _complex(centre)
    first = np.angle((z - c) / -complex(*q))  # seen from the centre, q is ahead and the end behind
    turned = first[:, None] * np.linspace(1, 0, n_points)
    return _real(c[:, None] - size[:, None] * complex(*q) * np.exp(1j * turned))


def cone_angles(radii: np.ndarray, K: float) -> np.ndarray:
    """Half-apertures of entailment cones at distances from the root; a right angle where the formula has none."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.arcsin(np.minimum(2 * K / np.sinh(radii), 1)))


def cone_ends(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Where cones at points x (m, 3), not the origin, that open away from it meet the rim: one end, the middle, the other end.

    As ideal points (m, 3, 2).
    """
    ahead = np.arctan2(x[:, 2], x[:, 1])[:, None] + np.asarray(angles)[:, None] * [-1, 0, 1]
    towards = np.stack([np.cos(ahead), np.sin(ahead)], axis=-1)  # the middle one leads away from the origin, and stays there
    return np.array([translate_ideal(q, point) for q, point in zip(towards, x, strict=True)]).reshape(-1, 3, 2)


def cone_borders(x: np.ndarray, ends: np.ndarray, n_points: int = 65) -> list[np.ndarray]:
    """The borders (3 n_points, 2) in the disk of cones at points x (m, 3) with `ends` (m, 3, 2), as `cone_ends` has them.

    From the point along a geodesic to the rim, along the rim, and back along the other geodesic.
    """
    borders = []
    for here, (one, middle, other) in zip(np.asarray(from_hyperboloid(x, "poincare"))[:, None], ends, strict=True):
        start, right, left = _complex(middle), *(_turn(*pair) for pair in ((one, middle), (middle, other)))
        rim = _real(start * np.exp(1j * np.linspace(-right, left, n_points)))
        first, last = (geodesic_arcs(here, end[None] * (1 - 1e-12), n_points)[0] for end in (one, other))
        borders.append(np.concatenate([first, rim, last[::-1]]))
    return borders


def _turn(a: np.ndarray, b: np.ndarray) -> float:
    """The angle from a to b (2,) to the left, from 0 to a whole turn: seen from deep inside a cone, its rim is nearly all."""
    angle = float(np.angle(_complex(b) / _complex(a)))
    return angle + 2 * np.pi if angle < -1e-12 else angle  # below 0 by rounding: no turn


def on_hyperboloid(y: Any) -> np.ndarray:
    """Points of the disk on the hyperboloid; those that rounding put on the rim, or just beyond it, inside."""
    y = np.asarray(y, dtype=np.float64)
    size = np.linalg.norm(y, axis=-1, keepdims=True)
    return np.asarray(lift(to_hyperboloid(np.where(size >= 1, y / np.maximum(size, 1) * (1 - 1e-12), y))[..., 1:]))


def _complex(y: Any) -> np.ndarray:
    y = np.asarray(y, dtype=np.float64)
    return np.asarray(y[..., 0] + 1j * y[..., 1])


def _real(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag], axis=-1)
