"""HoroPCA as in the published code: all ideal points together, kept orthonormal as seen from the mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from horopca._input.coordinates import check_coordinates
from horopca._optimize.objectives import as_sample, objective_over
from horopca.geometry import to_hyperboloid, translate_to_origin
from horopca.metrics import pair_variance
from horopca.projections import slide, spine_from_ideal_points
from horopca.statistics import frechet_mean
from horopca.statistics.pairs import pair_offsets

STARTS = 8
EXACT = 1e-9  # fraction of the variance that can be lost to rounding


class OrthonormalHoroPCA:
    """The pair variance of the projection, maximised over K orthonormal ideal points.

    The paper asks for independent ideal points only; orthonormal ones, always 90 degrees apart, leave out most spines, and
    all those whose ideal points have merged.
    """

    def __init__(self, n_components: int = 2, *, random_state: int = 0, model: str = "poincare") -> None:
        self.n_components, self.random_state, self.model = n_components, random_state, model

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        x = to_hyperboloid(X, self.model)
        self.mean_ = frechet_mean(x).point
        x = translate_to_origin(x, self.mean_)
        self.ideal_points_ = best_orthonormal(x, self.n_components, np.random.default_rng(self.random_state))
        self.spine_ = spine_from_ideal_points(self.ideal_points_)
        return check_coordinates(self.model, -1.0).from_hyperboloid(to_hyperboloid(slide(x, self.spine_), "halfspace"), X.dtype)


def best_orthonormal(x: np.ndarray, K: int, rng: np.random.Generator) -> np.ndarray:
    """Orthonormal ideal points (K, d) with the largest pair variance of points x (n, d+1), the best of a few climbs."""
    loss, most, climbs = orthonormal_loss(x, K), pair_variance(x, model="lorentz"), []
    for start in rng.standard_normal((STARTS, K * (x.shape[1] - 1))):
        climbs.append(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}))
        if climbs[-1].fun <= -(1 - EXACT) * most:  # all of the variance, as with K = d: no start finds more
            break
    return orthonormal_rows(min(climbs, key=lambda climb: climb.fun).x, K)[0]


def orthonormal_loss(x: np.ndarray, K: int) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Minus the pair variance, and its gradient, in any numbers (K d,) whose Gram-Schmidt basis is the ideal points."""
    objective = objective_over(as_sample(x), "variance", pair_offsets(len(x)))

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        Q, pullback = orthonormal_rows(theta, K)
        value, gradient = objective(np.concatenate([np.ones((K, 1)), Q], axis=1)[None])
        return -float(value[0]), -pullback(gradient[0, :, 1:])

    return loss


def orthonormal_rows(theta: np.ndarray, K: int) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Gram and Schmidt's orthonormal rows (K, d) of numbers (K d,), and the pullback of gradients."""
    Q, R = np.linalg.qr(theta.reshape(K, -1).T)
    sign = np.where(np.diag(R) < 0, -1.0, 1.0)
    Q, R = Q * sign, R * sign[:, None]

    def pullback(G: Any) -> np.ndarray:
        inside = -G @ Q  # (K, K): the component of the gradient along rotations, which R undoes
        lower = np.tril(inside) + np.tril(inside, -1).T
        return np.linalg.solve(R, (G.T + Q @ lower).T).ravel()

    return Q.T, pullback
