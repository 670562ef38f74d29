"""The largest margin between two classes of points of H^d.

A hyperplane of H^d is {x : <w, x> = 0} for a w of R^{1,d} with <w, w> > 0, and asinh(<w, x> / |w|) is the signed distance
from it. The hyperbolic support vector machine minimises, for labels y = +-1 and costs C_i,

    <w, w> / 2 + sum_i C_i hinge(asinh 1 - asinh(y_i <w, x_i>)),       <w, w> >= 0.

We write w = (|v| sin phi, v), so that <w, w> = |v|^2 cos^2 phi. In these parameters the problem is unconstrained, and smooth at
the boundary of light-like w. The optimum is often there for a class that no hyperplane separates: the level sets are then
horospheres. The corner of the hinge is rounded over a width that decreases from stage to stage, and each stage is Newton's
method with the exact Hessian, whose eigenvalues are replaced by their absolute values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._optimize.lbfgs import ARMIJO

MARGIN = float(np.arcsinh(1.0))  # The distance at which y <w, x> = 1 for a normal w of length 1.
FIRST_WIDTHS = (0.1, 1e-2)  # Widths of the rounded corner of the hinge, for every start.
LAST_WIDTHS = (1e-3, 1e-4)  # Further widths, for the best start only.
NO_GAIN, PATIENCE = 1e-13, 3  # A search has converged to rounding error if three steps in a row gain less than this fraction.
SHORTEST_NORMAL = 1e-100  # Added to |v|, so that v / |v| is defined at v = 0.


def largest_margin(
    x: np.ndarray, side: np.ndarray, cost: np.ndarray, starts: np.ndarray, *, max_iter: int, tol: float
) -> tuple[np.ndarray, float, int, bool]:
    """The normal (d+1,) of the best hyperplane, its value, the number of Newton steps, and whether they converged.

    `side` (n,) is +1 or -1, and `starts` (S, d+1) are normals. A search ends when the gradient is below `tol` times the sum of
    the costs, at rounding, or after `max_iter` steps.
    """
    z = side[:, None] * np.column_stack([-x[:, 0], x[:, 1:]])  # whose Euclidean products with w are y <w, x>
    gtol = tol * (1 + float(np.sum(cost)))
    searches = [_descend(_parameters(start), 0, z, cost, FIRST_WIDTHS, max_iter, 1e3 * gtol) for start in starts]
    theta, _, steps, _ = min(searches, key=lambda found: found[1])
    theta, _, steps, converged = _descend(theta, steps, z, cost, LAST_WIDTHS, max_iter, gtol)
    w = _normal(theta)
    value = (w[1:] @ w[1:] - w[0] ** 2) / 2 + cost @ np.maximum(MARGIN - np.arcsinh(z @ w), 0)
    return w, float(value), steps, converged


def _parameters(w: np.ndarray) -> np.ndarray:
    """The parameters theta of a normal w; a w that is not space-like is replaced by a space-like one near it."""
    upright = np.linalg.norm(w[1:]) <= 1e-6 * abs(w[0])
    v = np.eye(1, len(w) - 1)[0] if upright else w[1:]
    return np.append(np.arcsin(np.clip(w[0] / np.linalg.norm(v), -0.95, 0.95)), v)


def _normal(theta: np.ndarray) -> np.ndarray:
    """w = (|v| sin phi, v) of theta = (phi, v)."""
    w = theta.copy()
    w[0] = np.sqrt(w[1:] @ w[1:]) * np.sin(theta[0])
    return w


def _descend(
    theta: np.ndarray, steps: int, z: np.ndarray, cost: np.ndarray, widths: Sequence[float], max_iter: int, gtol: float
) -> tuple[np.ndarray, float, int, bool]:
    """Newton's method at one width after another. Returns theta, its value, the number of steps, and whether it converged."""
    for width in widths:
        value, idle = _value(theta, z, cost, width), 0
        while True:
            gradient, hessian = _derivatives(theta, z, cost, width)
            converged = bool(np.linalg.norm(gradient) <= gtol) or idle >= PATIENCE
            if converged or steps >= max_iter:
                break
            sizes, axes = np.linalg.eigh(hessian)
            sizes = np.abs(sizes)
            step = -axes @ ((axes.T @ gradient) / np.maximum(sizes, 1e-12 * sizes.max()))
            before, slope = value, gradient @ step
            for part in 0.5 ** np.arange(40):
                trial = _value(theta + part * step, z, cost, width)
                if trial <= before + ARMIJO * part * slope:
                    theta, value = theta + part * step, trial
                    break
            steps += 1
            idle = idle + 1 if before - value <= NO_GAIN * abs(before) else 0
    return theta, value, steps, converged


def _value(theta: np.ndarray, z: np.ndarray, cost: np.ndarray, width: float) -> float:
    """The objective with a rounded corner."""
    w = _normal(theta)
    short = MARGIN - np.arcsinh(z @ w)
    rounded = np.where(short > width, short - width / 2, np.maximum(short, 0) ** 2 / (2 * width))
    return float((w[1:] @ w[1:] - w[0] ** 2) / 2 + cost @ rounded)


def _derivatives(theta: np.ndarray, z: np.ndarray, cost: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """The gradient (d+1,) and the Hessian (d+1, d+1) of `_value` in theta."""
    sin, cos, v = np.sin(theta[0]), np.cos(theta[0]), theta[1:]
    size = np.sqrt(v @ v) + SHORTEST_NORMAL
    u = v / size
    m = z @ _normal(theta)
    short, root = MARGIN - np.arcsinh(m), np.sqrt(1 + m * m)
    slope, bend = np.clip(short / width, 0, 1), ((short > 0) & (short < width)) / width
    # the derivatives of the hinges in w, the Jacobian of w in theta, and the second derivatives of |v| sin phi and <w, w> / 2
    g, H = -(cost * slope / root) @ z, (z.T * (cost * (bend / root**2 + slope * m / root**3))) @ z
    J = np.eye(len(theta))
    J[0, 0], J[0, 1:] = size * cos, sin * u
    gradient, hessian = g @ J, J.T @ H @ J
    gradient += np.append(-(size**2) * sin * cos, cos * cos * v)
    hessian[0, 0] -= g[0] * size * sin + size**2 * (cos * cos - sin * sin)
    hessian[0, 1:] += (g[0] - 2 * size * sin) * cos * u
    hessian[1:, 0] = hessian[0, 1:]
    hessian[1:, 1:] += cos * cos * np.eye(len(v)) + g[0] * sin / size * (np.eye(len(v)) - np.outer(u, u))
    return gradient, hessian
