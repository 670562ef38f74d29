"""Entailment cones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.arguments import check_number
from ..geometry import (
    ModelName,
    from_hyperboloid,
    origin,
    radius,
    translate_ideal,
    translate_ideal_to_origin,
    translate_to_origin,
)
from .curves import INSIDE, from_complex, poincare_arcs, to_complex
from .figures import proportion
from .palette import COLOURS
from .validation import check_plane, one_per_point
from .views import axes_in_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT_ROOT = 1e-12  # A point is the root if its distance to it is below this fraction of its coordinates: that is rounding.


def plot_cones(
    Y: Any,
    *,
    K: float = 0.1,
    angles: Any = None,
    root: Any = None,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    colour: Any = COLOURS[0],
    ax: Axes | None = None,
) -> Axes:
    """Draw the entailment cones of points in the Poincaré disk, between geodesics to the rim.

    The cone of a point opens away from the root: it contains the points within an angle ``psi`` of the continued geodesic from
    the root. At distance r, ``sin(psi) = 2 K / sinh(r)`` at curvature -1, and psi is at most a right angle. This is
    ``K (1 - |x|^2) / |x|`` in the unit ball (Ganea, Becigneul and Hofmann, 2018), and ``2 K / (sqrt(c) |x|)`` with the space
    components of Lorentz coordinates (MERU).

    Parameters
    ----------
    Y : array (n, 2)
        Points of the unit disk, or of another `model`.
    K : float
        The width of the cones.
    angles : float, array (n,) or callable, optional
        Half-apertures ``psi`` in radians, instead of K: such as those of the points before a reduction, or a function of
        their distances r (n,).
    root : array (2,), optional
        The root in the coordinates of Y; by default the origin. It has no cone.
    model, curvature : the coordinates of Y
    colour : str, or a sequence of n
    ax : matplotlib axes, optional
        Such as those of `plot_disk`, whose centre is kept. By default a new disk.

    Examples
    --------
    >>> ax = plot_cones([[0.5, 0.0], [0.0, -0.8]])
    >>> len(ax.collections[-1].get_paths())
    2
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    check_number("K", K, "a positive number", above=0)
    x = check_plane(Y, model, curvature)
    middle = origin(2) if root is None else check_plane([root], model, curvature, name="root")[0]
    seen = translate_to_origin(x, middle)
    angles = angles(radius(seen)) if callable(angles) else angles
    own = angles if angles is None or np.ndim(angles) == 0 else one_per_point(angles, "angles", len(x))
    psi = np.broadcast_to(cone_angles(radius(seen), K) if own is None else np.asarray(own, dtype=np.float64), len(x))
    if not (np.isfinite(psi).all() and (psi >= 0).all() and (psi <= np.pi).all()):
        raise ValueError(f"angles must be half-apertures between 0 and pi, in radians, but are {angles!r}.")
    shades = to_rgba_array(colour)
    if len(shades) not in (1, len(x)):
        raise ValueError(f"colour must be one colour or one for each of the {len(x)} points, but has {len(shades)}.")
    ax, _, centre = axes_in_view(ax, "plot_cones")
    apart = radius(seen) > AT_ROOT * (1 + x[:, 0])
    ends = translate_ideal_to_origin(translate_ideal(cone_ends(seen[apart], psi[apart]), middle), centre)
    cones = cone_borders(translate_to_origin(x[apart], centre), ends)
    tints = np.broadcast_to(shades, (len(x), 4))[apart]
    width = proportion(ax)
    ax.add_collection(PolyCollection(cones, facecolors=tints * [1, 1, 1, 0.13], edgecolors=tints, linewidths=width, zorder=1.5))
    return ax


def cone_angles(radii: np.ndarray, K: float) -> np.ndarray:
    """Half-apertures of entailment cones at distances `radii` from the root: at most a right angle."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.arcsin(np.minimum(2 * K / np.sinh(radii), 1)))


def cone_ends(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Ideal points (m, 3, 2) of cones at points x (m, 3), none of them the origin: one end, the middle, the other end."""
    ahead = np.arctan2(x[:, 2], x[:, 1])[:, None] + np.asarray(angles)[:, None] * [-1, 0, 1]
    towards = np.stack([np.cos(ahead), np.sin(ahead)], axis=-1)  # in the tangent space
    return np.array([translate_ideal(q, point) for q, point in zip(towards, x, strict=True)]).reshape(-1, 3, 2)


def cone_borders(x: np.ndarray, ends: np.ndarray, n_points: int = 65) -> list[np.ndarray]:
    """Borders (3 n_points, 2) in the disk of cones at points x (m, 3) with the `ends` (m, 3, 2) of `cone_ends`.

    A border follows a geodesic from the point to the rim, the rim, and the other geodesic back to the point.
    """
    borders = []
    for here, (one, middle, other) in zip(np.asarray(from_hyperboloid(x, "poincare"))[:, None], ends, strict=True):
        start, right, left = to_complex(middle), *(_turn(*pair) for pair in ((one, middle), (middle, other)))
        rim = from_complex(start * np.exp(1j * np.linspace(-right, left, n_points)))
        first, last = (poincare_arcs(here, end[None] * INSIDE, n_points)[0] for end in (one, other))
        borders.append(np.concatenate([first, rim, last[::-1]]))
    return borders


def _turn(a: np.ndarray, b: np.ndarray) -> float:
    """The angle from a (2,) to b (2,), counterclockwise, from 0 to 2 pi: seen from inside a cone its rim is nearly a circle."""
    angle = float(np.angle(to_complex(b) / to_complex(a)))
    return angle + 2 * np.pi if angle < -1e-12 else angle  # rounding may make 0 negative
