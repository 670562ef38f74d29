"""One-dimensional projections of random points of the plane: along horocycles, and to the nearest point."""

from __future__ import annotations

from typing import Any

import numpy as np

from horopca.geometry import busemann, distance, to_hyperboloid

from ..paper import HISTOGRAM_DIRECTIONS, HISTOGRAM_POINTS


def project_on_lines(sigma: float, run: int) -> dict[str, Any]:
    """Average distortion of both projections on the lines through the origin towards random ideal points."""
    rng = np.random.default_rng(run)
    x = to_hyperboloid(sigma * rng.standard_normal((HISTOGRAM_POINTS, 2)), "tangent")
    angle = rng.uniform(0, 2 * np.pi, HISTOGRAM_DIRECTIONS)
    i, j = np.triu_indices(len(x), 1)
    d = distance(x[i], x[j])
    found: dict[str, list[float]] = {"horospherical": [], "geodesic": []}
    for q in np.stack([np.cos(angle), np.sin(angle)], axis=1):
        along = {"horospherical": busemann(x, q), "geodesic": np.arctanh(x[:, 1:] @ q / x[:, 0])}
        for name, c in along.items():
            found[name].append(float(np.mean(np.abs(np.abs(c[i] - c[j]) / d - 1))))
    return found
