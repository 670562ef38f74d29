"""Geodesic hulls: the smallest geodesic submanifold that contains given points and ideal points.

On the hyperboloid a k-dimensional geodesic submanifold is the intersection with a (k+1)-dimensional subspace of R^{1,d} that
contains time-like vectors. It is represented by a Lorentz-orthonormal frame: row 0 is time-like and future-pointing (its
point nearest to the origin), rows 1..k are space-like without a time part. Frames are NumPy arrays of shape (k+1, d+1).
"""

from __future__ import annotations

import numpy as np

from ._arrays import Array, array_namespace, dot, from_numpy, split_bases, to_numpy
from .models import lift, on_hyperboloid

DEPENDENT = 1e-12  # Vectors are dependent if a singular value is below this fraction of the largest.
NEAREST_LIGHT = 1e-15
"""Lower bound of v0^2 - |w|^2 of a unit vector (v0, w), whose smaller values are rounding: a submanifold at distance 17."""


def geodesic_hull(points: Array | None = None, ideal_points: Array | None = None) -> np.ndarray:
    """The geodesic hull of points and ideal points, the smallest geodesic submanifold that contains them.

    Parameters
    ----------
    points : array of shape (m, d + 1), optional
        Points of the hyperboloid.
    ideal_points : array of shape (l, d), optional
        Unit vectors. Raises ValueError if one of the points or ideal points lies in the hull of the others.

    Returns
    -------
    array of shape (k + 1, d + 1)
        A frame of the hull, with k + 1 = m + l: its Lorentz-orthonormal rows span a subspace, and the hull is the part of the
        hyperboloid in it. Row 0 is the point of the hull nearest to the origin.

    See Also
    --------
    geodesic_projection : the nearest points of a hull
    horopca.projections.horospherical_projection : the projection that keeps Busemann functions

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import geodesic_hull
    >>> geodesic_hull(ideal_points=np.array([[1.0, 0.0], [-1.0, 0.0]])).round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    rows = []
    if points is not None:
        x = np.atleast_2d(to_numpy(points))
        if x.ndim != 2 or not on_hyperboloid(x).all():
            raise ValueError("points must be points (m, d+1) of the hyperboloid, with time first. Use to_hyperboloid.")
        rows.append(x / x[:, :1])
    if ideal_points is not None:
        q = unit_rows(ideal_points)
        rows.append(np.column_stack([np.ones(len(q)), q]))
    if len({row.shape[1] for row in rows}) > 1:
        raise ValueError(
            "ideal_points must have one column fewer than points, whose first is the time, but they have shapes "
            f"{q.shape} and {x.shape}."
        )
    A = np.concatenate(rows) if rows else np.zeros((0, 2))
    if len(A) == 0 or (len(A) == 1 and points is None):
        raise ValueError(f"A geodesic hull needs a point or two ideal points, but got {len(A)} ideal points.")
    if len(A) > A.shape[1]:
        raise ValueError(
            f"A geodesic hull in H^{A.shape[1] - 1} has at most {A.shape[1]} independent points and ideal points, but got "
            f"{len(A)}. Leave some out."
        )
    sizes = np.linalg.svd(A, compute_uv=False)
    if sizes[-1] < DEPENDENT * sizes[0]:
        raise ValueError(
            f"The {len(A)} points of a geodesic hull must be independent, but one of them lies in the hull of the others "
            f"(smallest singular value {sizes[-1]:.1e}). Leave it out."
        )
    frame = lorentz_frame(A)
    largest = np.take_along_axis(frame, np.abs(frame).argmax(axis=1)[:, None], axis=1)
    frame[1:] *= np.copysign(1.0, largest[1:])  # so that the largest entry of each row is positive
    return frame


def lorentz_frame(A: np.ndarray) -> np.ndarray:
    """The Lorentz-orthonormal frame (k+1, d+1) of the span of the rows of A (k+1, d+1), which contains time-like vectors."""
    frame = split_bases(A)
    v0, size = frame[0, 0], np.linalg.norm(frame[0, 1:])
    frame[0] /= np.sqrt(max((v0 - size) * (v0 + size), NEAREST_LIGHT))
    return frame


def unit_rows(q: Array) -> np.ndarray:
    """Ideal points as unit vectors, rows (K, d). Raises ValueError if a row is zero or not finite."""
    rows = np.atleast_2d(to_numpy(q))
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"Ideal points must be unit vectors in an array (K, d), but have shape {rows.shape}.")
    sizes = np.linalg.norm(rows, axis=1)
    bad = ~(np.isfinite(sizes) & (sizes > 0))
    if bad.any():
        raise ValueError(
            f"Ideal points must be unit vectors, but row {bad.argmax()} has norm {sizes[bad.argmax()]:g}: it has no direction."
        )
    return np.asarray(rows / sizes[:, None])


def geodesic_projection(x: Array, frame: np.ndarray) -> Array:
    """The points of a hull that are nearest to given points.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid.
    frame : array of shape (k + 1, d + 1)
        The hull, from `geodesic_hull`.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    horopca.projections.horospherical_projection : the projection that keeps Busemann coordinates instead

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import geodesic_hull, geodesic_projection, to_hyperboloid
    >>> line = geodesic_hull(ideal_points=np.array([[1.0, 0.0], [-1.0, 0.0]]))
    >>> geodesic_projection(to_hyperboloid(np.array([0.0, 0.5])), line).round(6) + 0.0
    array([1., 0., 0.])
    """
    xp = array_namespace(x)
    if frame.shape[-1] != x.shape[-1]:
        raise ValueError(f"frame must have as many columns as x, but their shapes are {frame.shape} and {tuple(x.shape)}.")
    F = from_numpy(frame, like=x)
    t, s = x[..., 0], x[..., 1:]
    b = s @ F[1:, 1:].T
    # <x, frame_0> = -cosh(distance from x to the hull) * (time of the image): normalise by the part outside the hull,
    # a sum of squares, rather than by the difference c^2 - |b|^2
    c = t * F[0, 0] - s @ F[0, 1:]
    rest = s - c[..., None] * F[0, 1:] - b @ F[1:, 1:]
    rest_time = t - c * F[0, 0]
    square = dot(rest, rest) - rest_time * rest_time
    square = xp.where(square > 0, square, xp.zeros_like(square))
    in_hull = lift(b / xp.sqrt(1 + square)[..., None])  # coordinates of the images in the frame
    return lift((in_hull @ F)[..., 1:])
