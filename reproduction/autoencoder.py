"""A hyperbolic autoencoder in torch: a baseline of the paper, and a variant whose loss also keeps distances.

Points are given by the space part s of their hyperboloid coordinates, shape (n, d). Square roots are taken of values shifted by
EPSILON: torch would otherwise differentiate sqrt at 0, where a point coincides with the origin or with its reconstruction.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from torch import Tensor

from horopca.geometry import from_hyperboloid, lift, to_hyperboloid, translate, translate_to_origin
from horopca.statistics.means import frechet_mean, principal_axes

EPSILON = 1e-30
BATCH_SIZE = 1024  # points per step
N_SHIFTS = 4  # in a step, each point of the batch is paired with this many others
CHECK_EVERY = 10  # steps between evaluations of the loss on held-out points
VALIDATION_FRACTION = 0.1  # of the points are held out, or none if this makes fewer than MIN_HELD_OUT
MIN_HELD_OUT, MAX_HELD_OUT = 20, 4096
INITIAL_NOISE = 0.02  # weights start near the identity, which is a projection on the principal axes


class HyperbolicAutoencoder(TransformerMixin, BaseEstimator):
    """Encoder and decoder made of hyperbolic fully connected layers (Ganea et al. 2018).

    A layer is a matrix in the tangent space at the origin, a translation as bias, and an ELU in the tangent space. The loss is
    the mean squared distance between points and reconstructions as a fraction of the variance, plus `isometry` times the mean
    squared relative error of the distances in the code. Training ends after `max_iter` steps of Adam, or after `patience` steps
    without improvement on held-out points; the best weights are kept.

    Attributes: ``loss_curve_`` (held-out loss every ten steps), ``n_iter_``, ``converged_``.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden: tuple[int, ...] = (32,),
        isometry: float = 1.0,
        learning_rate: float = 1e-2,
        max_iter: int = 500,
        patience: int = 200,
        model: Any = "poincare",
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.isometry = isometry
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.patience = patience
        self.model = model
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the network on points X (n, n_features)."""
        rng = np.random.default_rng(np.random.RandomState(self.random_state).randint(2**31))
        x = to_hyperboloid(X, self.model)
        self._mean = frechet_mean(x).point
        x = translate_to_origin(x, self._mean)
        self._axes, variances = principal_axes(x)
        s = x[:, 1:] @ self._axes.T
        sizes = [s.shape[1], *self.hidden, self.n_components, *reversed(self.hidden), s.shape[1]]
        rest, held_out = (torch.tensor(part) for part in _split(s, rng))
        self._train(rest, held_out, _initial_weights(sizes, rng), float(variances.sum()), rng)
        return self

    def _train(self, rest: Tensor, held_out: Tensor, weights: list[Tensor], variance: float, rng: Any) -> None:
        optimiser = torch.optim.Adam(weights, lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.max_iter)
        fixed = _shifts(len(held_out), 2 * N_SHIFTS, np.random.default_rng(0))
        best, best_step, step, self.loss_curve_, self._weights = math.inf, 0, 0, [], weights
        for step in range(1, self.max_iter + 1):
            rows = torch.as_tensor(rng.choice(len(rest), min(BATCH_SIZE, len(rest)), replace=False))
            optimiser.zero_grad()
            self._loss(rest[rows], weights, _shifts(len(rows), N_SHIFTS, rng), variance).backward()
            optimiser.step()
            schedule.step()
            if step % CHECK_EVERY and step < self.max_iter:
                continue
            with torch.no_grad():
                loss = float(self._loss(held_out, weights, fixed, variance))
            self.loss_curve_.append(loss)
            if loss < best:
                best, best_step, self._weights = loss, step, [w.detach().clone() for w in weights]
            if step - best_step >= self.patience or not math.isfinite(loss):
                break
        self.n_iter_, self.converged_ = step, step - best_step >= self.patience

    def _loss(self, s: Tensor, weights: list[Tensor], shifts: list[int], variance: float) -> Tensor:
        """Error of the reconstructions, and of the distances from each point to those `shifts` rows further."""
        half = len(weights) // 2
        code = run(s, weights[:half])
        total = (_distance(s, run(code, weights[half:])) ** 2).mean() / max(variance, EPSILON)
        if self.isometry == 0:
            return total
        for shift in shifts:
            d, image = _distance(s, s.roll(shift, 0)), _distance(code, code.roll(shift, 0))
            error = (image - d) / d.clamp(min=1e-9)  # coinciding points count only if the code separates them
            total = total + self.isometry / len(shifts) * (error**2).mean()
        return total

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_components) of points X, in the same model."""
        s = translate_to_origin(to_hyperboloid(X, self.model), self._mean)[:, 1:] @ self._axes.T
        with torch.no_grad():
            code = run(torch.tensor(s), self._weights[: len(self._weights) // 2]).numpy()
        return np.asarray(from_hyperboloid(lift(code), self.model))

    def inverse_transform(self, Y: Any) -> np.ndarray:
        """Reconstructions (n, n_features) of codes Y."""
        with torch.no_grad():
            s = run(torch.tensor(to_hyperboloid(Y, self.model)[:, 1:]), self._weights[len(self._weights) // 2 :]).numpy()
        return np.asarray(from_hyperboloid(translate(lift(s @ self._axes), self._mean), self.model))


def run(s: Tensor, weights: list[Tensor]) -> Tensor:
    """The output of layers, given as matrices and biases in turn; an ELU follows each layer but the last."""
    for k in range(0, len(weights), 2):
        s = _translate(_exp(_log(s) @ weights[k].T), weights[k + 1])
        if k < len(weights) - 2:
            s = _exp(torch.nn.functional.elu(_log(s)))
    return s


def _split(s: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Training points and held-out points; both are all points if too few would be held out."""
    count, order = min(int(VALIDATION_FRACTION * len(s)), MAX_HELD_OUT), rng.permutation(len(s))
    if count < MIN_HELD_OUT:
        return s[order], s[order[:MAX_HELD_OUT]]
    return s[order[count:]], s[order[:count]]


def _initial_weights(sizes: list[int], rng: np.random.Generator) -> list[Tensor]:
    weights = []
    for before, after in pairwise(sizes):
        weights.append(np.eye(after, before) + INITIAL_NOISE * rng.standard_normal((after, before)))
        weights.append(INITIAL_NOISE * rng.standard_normal(after))
    return [torch.tensor(w, requires_grad=True) for w in weights]


def _shifts(n: int, count: int, rng: np.random.Generator) -> list[int]:
    return [int(o) for o in rng.integers(1, max(n, 2), size=count)]


def _norm(s: Tensor) -> Tensor:
    return torch.sqrt((s * s).sum(-1, keepdim=True) + EPSILON)


def _log(s: Tensor) -> Tensor:
    r = _norm(s)
    return s * (torch.asinh(r) / r)


def _exp(v: Tensor) -> Tensor:
    r = _norm(v)
    return v * (torch.sinh(r) / r)


def _translate(s: Tensor, b: Tensor) -> Tensor:
    """Points moved by the translation that takes the origin to the point above b."""
    t = torch.sqrt(1 + (s * s).sum(-1, keepdim=True))
    return s + b * (t + (s @ b)[:, None] / (1 + torch.sqrt(1 + (b * b).sum())))


def _distance(s: Tensor, y: Tensor) -> Tensor:
    """Distances (n,), from the radii and the angle: without cancellation for near points."""
    r, q = _norm(s), _norm(y)
    turn = s / r - y / q
    gap = 2 * (r - q) ** 2 / (1 + torch.sqrt((1 + r * r) * (1 + q * q)) + r * q)
    gap = gap + r * q * (turn * turn).sum(-1, keepdim=True)
    return 2 * torch.asinh(torch.sqrt(gap + EPSILON) / 2)[:, 0]
