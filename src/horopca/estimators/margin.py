"""The largest margin between two classes of points of H^d.

A hyperplane of H^d is {x : <w, x> = 0} for a w of R^{1,d} with <w, w> > 0, and asinh(<w, x> / |w|) is the signed distance
from it. The hyperbolic support vector machine minimises, for labels y = +-1 and costs C_i,

    <w, w> / 2 + sum_i C_i hinge(asinh 1 - asinh(y_i <w, x_i>)),       <w, w> >= 0.

We write w = (|v| sin phi, v), so that <w, w> = |v|^2 cos^2 phi: the problem is unconstrained, and smooth at the boundary of
light-like w. The optimum is often there for a class that no hyperplane separates: the level sets are then horospheres. The
corner of the hinge is rounded over a width that shrinks from stage to stage, and each stage is Newton's method with the exact
Hessian, made positive by the absolute values of its eigenvalues.

Several problems on the same points (classes, starts) are solved side by side: theta = (phi, v) has shape (B, d+1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._optimize.lbfgs import ARMIJO

MARGIN = float(np.arcsinh(1.0))  # The distance at which y <w, x> = 1 for a normal w of length 1.
FIRST_WIDTHS = (0.1, 1e-2)  # Widths of the rounded corner of the hinge, for every start.
LAST_WIDTHS = (1e-3, 1e-4)  # The same for the best start only.
NO_GAIN, PATIENCE = 1e-13, 3  # Converged to rounding error: three steps in a row gain less than this fraction.
SHORTEST_NORMAL = 1e-100  # This is added to |v|, so that v / |v| is defined at v = 0.


class Problems(NamedTuple):
    """Points as (-t, s), shape (n, d+1), their sides +-1 in each of B problems, shape (B, n), and their costs (n,)."""

    x: np.ndarray
    side: np.ndarray
    cost: np.ndarray

    def pick(self, which: np.ndarray) -> Problems:
        """Some of the problems."""
        return self._replace(side=self.side[which])

    def margins(self, w: np.ndarray) -> np.ndarray:
        """y <w, x>, shape (B, n), for normals w (B, d+1)."""
        return np.asarray(self.side * (w @ self.x.T))

    def objective(self, w: np.ndarray) -> np.ndarray:
        """The objective itself, with its corner, shape (B,)."""
        size = np.sum(w[:, 1:] ** 2, axis=1) - w[:, 0] ** 2
        return np.asarray(size / 2 + np.maximum(MARGIN - np.arcsinh(self.margins(w)), 0) @ self.cost)

    def value_and_gradient(self, theta: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
        """The rounded objective, shapes (B,) and (B, d+1)."""
        size, sin, cos, v = _polar(theta)
        m = self.margins(normals(theta))
        short = MARGIN - np.arcsinh(m)
        rounded = np.where(short > width, short - width / 2, np.maximum(short, 0) ** 2 / (2 * width))
        g = (self.side * self.cost * np.clip(short / width, 0, 1) / -np.sqrt(1 + m * m)) @ self.x
        g_phi = (g[:, 0] - size * sin) * size * cos
        g_v = g[:, 1:] + (g[:, 0] * sin / size + cos * cos)[:, None] * v
        return (size * cos) ** 2 / 2 + rounded @ self.cost, np.column_stack([g_phi, g_v])

    def hessian(self, theta: np.ndarray, width: float) -> np.ndarray:
        """Shape (B, d+1, d+1)."""
        size, sin, cos, v = _polar(theta)
        u, eye = v / size[:, None], np.eye(v.shape[1])
        m = self.margins(normals(theta))
        short, root = MARGIN - np.arcsinh(m), np.sqrt(1 + m * m)
        slope, bend = np.clip(short / width, 0, 1), ((short > 0) & (short < width)) / width
        g = ((self.side * self.cost * slope / -root) @ self.x[:, :1])[:, 0]
        weights = self.cost * (bend / root**2 + slope * m / root**3)
        jacobian = np.tile(np.eye(theta.shape[1]), (len(theta), 1, 1))  # of the normal in theta
        jacobian[:, 0, 0], jacobian[:, 0, 1:] = size * cos, sin[:, None] * u
        H: np.ndarray = np.stack([(self.x.T * weight) @ self.x for weight in weights])
        H = np.swapaxes(jacobian, 1, 2) @ H @ jacobian
        H[:, 0, 0] -= g * size * sin + size**2 * (cos * cos - sin * sin)
        H[:, 0, 1:] += ((g - 2 * size * sin) * cos)[:, None] * u
        H[:, 1:, 0] = H[:, 0, 1:]
        H[:, 1:, 1:] += (cos * cos)[:, None, None] * eye
        H[:, 1:, 1:] += (g * sin / size)[:, None, None] * (eye - u[:, :, None] * u[:, None, :])
        return H


def normals(theta: np.ndarray) -> np.ndarray:
    """w = (|v| sin phi, v) of theta = (phi, v)."""
    size, sin, _, v = _polar(theta)
    return np.column_stack([size * sin, v])


def _polar(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """|v|, sin phi, cos phi, v."""
    v = theta[:, 1:]
    return np.linalg.norm(v, axis=1) + SHORTEST_NORMAL, np.sin(theta[:, 0]), np.cos(theta[:, 0]), v


def largest_margins(
    x: np.ndarray, sides: np.ndarray, cost: np.ndarray, starts: np.ndarray, *, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Hyperplanes of the largest margin for P problems, each the best of S starts.

    Returns normals (P, d+1), values of the objective, numbers of Newton steps and whether the search converged (P,).

    Parameters
    ----------
    x : (n, d+1), points of the hyperboloid
    sides : (P, n), +1 or -1
    cost : (n,)
    starts : (P, S, d+1), normals to start from
    max_iter : Newton steps that may lead to a result, from its own start
    tol : a search ends when the gradient is below tol times the sum of the costs, or at rounding
    """
    P, S, columns = starts.shape
    gtol = tol * (1 + float(np.sum(cost)))
    every = Problems(np.column_stack([-x[:, 0], x[:, 1:]]), np.repeat(sides, S, axis=0), cost)
    theta, steps = _parameters(starts.reshape(P * S, columns)), np.zeros(P * S, dtype=int)
    theta, value, steps, _ = _descend(every, theta, steps, FIRST_WIDTHS, max_iter, 1e3 * gtol)
    best = np.arange(P) * S + value.reshape(P, S).argmin(axis=1)
    theta, _, steps, converged = _descend(every.pick(best), theta[best], steps[best], LAST_WIDTHS, max_iter, gtol)
    w = normals(theta)
    return w, every.pick(best).objective(w), steps, converged


def _parameters(w: np.ndarray) -> np.ndarray:
    """Parameters theta of normals w; normals that are not space-like are replaced by near ones that are."""
    size = np.linalg.norm(w[:, 1:], axis=1)
    upright = size <= 1e-6 * np.abs(w[:, 0])
    v = np.where(upright[:, None], np.eye(1, w.shape[1] - 1), w[:, 1:])
    return np.column_stack([np.arcsin(np.clip(w[:, 0] / np.linalg.norm(v, axis=1), -0.95, 0.95)), v])


def _descend(
    problems: Problems, theta: np.ndarray, steps: np.ndarray, widths: Sequence[float], max_iter: int, gtol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Newton's method at one width after another, for each problem until it is done or has made max_iter steps."""
    for width in widths:
        value, gradient = problems.value_and_gradient(theta, width)
        idle = np.zeros(len(theta), dtype=int)
        while True:
            converged = (np.linalg.norm(gradient, axis=1) <= gtol) | (idle >= PATIENCE)
            (on,) = np.nonzero(~converged & (steps < max_iter))
            if len(on) == 0:
                break
            before = value[on]
            theta[on], value[on], gradient[on] = _newton_step(problems.pick(on), theta[on], before, gradient[on], width)
            steps[on] += 1
            idle[on] = np.where(before - value[on] <= NO_GAIN * np.abs(before), idle[on] + 1, 0)
    return theta, value, steps, converged


def _newton_step(
    problems: Problems, theta: np.ndarray, value: np.ndarray, gradient: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Newton step, halved until it lowers the value enough; theta, value and gradient after it (before it, if none does)."""
    sizes, axes = np.linalg.eigh(problems.hessian(theta, width))
    sizes = np.maximum(np.abs(sizes), 1e-12 * np.abs(sizes).max(axis=1, keepdims=True))
    step = -(axes @ ((np.swapaxes(axes, 1, 2) @ gradient[:, :, None]) / sizes[:, :, None]))[:, :, 0]
    slope = np.sum(gradient * step, axis=1)
    theta, value, gradient = theta.copy(), value.copy(), gradient.copy()
    pending = np.arange(len(theta))
    for halvings in range(40):
        part = 0.5**halvings
        trial = theta[pending] + part * step[pending]
        new_value, new_gradient = problems.pick(pending).value_and_gradient(trial, width)
        good = new_value <= value[pending] + ARMIJO * part * slope[pending]
        taken = pending[good]
        theta[taken], value[taken], gradient[taken] = trial[good], new_value[good], new_gradient[good]
        pending = pending[~good]
        if len(pending) == 0:
            break
    return theta, value, gradient
