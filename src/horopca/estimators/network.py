"""Hyperbolic fully connected layers, in any array library, and their training, in torch.

A point is its space part s on the hyperboloid, shape (n, d). The square roots carry a tiny addend: at a point that
coincides with the origin, or with its reconstruction, torch would otherwise differentiate sqrt at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..geometry._arrays import Array, array_namespace

ROOTED = 1e-30  # This is added to what torch differentiates the square root of.
BATCH_SHIFTS = 4  # In a step a point of a batch is paired with so many others, those at random places further.
CHECK_EVERY = 10  # The held-out points are looked at after so many steps.
FEWEST_HELD_OUT = 20  # Fewer points than this are not held out.
HELD_OUT_ROWS = 4096  # No more points than this are held out.
SHAKE = 0.02  # The weights start at the identity, shaken by so much: the principal axes, and none of them exactly.


class Layer(NamedTuple):
    """A hyperbolic fully connected layer: weights (m, d) and a bias (m,), the space part of a point."""

    W: Any
    b: Any


def _elu(v: Array) -> Array:
    xp = array_namespace(v)
    return xp.where(v > 0, v, xp.expm1(xp.minimum(v, xp.zeros_like(v))))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "elu": _elu,
    "tanh": lambda v: array_namespace(v).tanh(v),
    "relu": lambda v: array_namespace(v).maximum(v, array_namespace(v).zeros_like(v)),
    "identity": lambda v: v,
}


def run(s: Array, layers: list[Layer], activation: str) -> Array:
    """The output of a stack of layers; the activation comes after each but the last."""
    for k, (W, b) in enumerate(layers):
        v = _log(s) @ W.T
        s = _translate(_exp(v), b)
        if k < len(layers) - 1:
            s = _exp(ACTIVATIONS[activation](_log(s)))
    return s


def _norm(s: Array) -> Array:
    xp = array_namespace(s)
    return xp.sqrt(xp.sum(s * s, axis=-1, keepdims=True) + ROOTED)


def _log(s: Array) -> Array:
    """The tangent vectors at the origin that lead to points."""
    r = _norm(s)
    return s * (array_namespace(s).asinh(r) / r)


def _exp(v: Array) -> Array:
    """The points that tangent vectors at the origin lead to."""
    r = _norm(v)
    return v * (array_namespace(v).sinh(r) / r)


def _translate(s: Array, b: Array) -> Array:
    """Points moved by the translation that takes the origin to the point above b."""
    xp = array_namespace(s)
    t = xp.sqrt(1 + xp.sum(s * s, axis=-1, keepdims=True))
    return s + b * (t + (s @ b)[:, None] / (1 + xp.sqrt(1 + xp.sum(b * b))))


def _distance(s: Array, y: Array) -> Array:
    """Distances (n,) between points and others: the polar form of `geometry.gap`."""
    xp = array_namespace(s)
    r, q = _norm(s), _norm(y)
    turn = s / r - y / q
    gap = 2 * (r - q) ** 2 / (1 + xp.sqrt((1 + r * r) * (1 + q * q)) + r * q)
    gap = gap + r * q * xp.sum(turn * turn, axis=-1, keepdims=True)
    return 2 * xp.asinh(xp.sqrt(gap + ROOTED) / 2)[:, 0]


# ---------------------------------------------------------------- training


class Recipe(NamedTuple):
    """The options of a training."""

    hidden: list[int]
    activation: str
    isometry: float
    learning_rate: float
    batch_size: int
    max_iter: int
    patience: int
    validation_fraction: float
    device: str


class Training(NamedTuple):
    """What a training gave, and how it ended."""

    encoder: list[Layer]
    decoder: list[Layer]
    losses: list[float]  # on the held-out points
    n_iter: int
    converged: bool
    status: str


def load_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("HyperbolicAutoencoder needs torch: pip install torch.") from error
    return torch


def train(
    s: np.ndarray, K: int, variance: float, plan: Recipe, rng: np.random.Generator, say: Callable[[str], None]
) -> Training:
    """Train an encoder to K dimensions and a decoder on points s (n, d) with their mean at the origin."""
    torch = load_torch()
    device = ("cuda" if torch.cuda.is_available() else "cpu") if plan.device == "auto" else plan.device
    rest, held_out = (torch.tensor(part, device=device) for part in _split(s, plan, rng))
    weights = [torch.tensor(w, device=device, requires_grad=True) for w in _first_weights(s.shape[1], K, plan, rng)]
    optimiser = torch.optim.Adam(weights, lr=plan.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, plan.max_iter)
    fixed = _shifts(len(held_out), 2 * BATCH_SHIFTS, np.random.default_rng(0))
    best, last, step, losses, kept = math.inf, 0, 0, [], weights
    for step in range(1, plan.max_iter + 1):
        rows = torch.as_tensor(rng.choice(len(rest), min(plan.batch_size, len(rest)), replace=False), device=device)
        optimiser.zero_grad()
        _loss(rest[rows], weights, _shifts(len(rows), BATCH_SHIFTS, rng), variance, plan).backward()
        optimiser.step()
        schedule.step()
        if step % CHECK_EVERY and step < plan.max_iter:
            continue
        with torch.no_grad():
            losses.append(float(_loss(held_out, weights, fixed, variance, plan)))
        if losses[-1] < best:
            best, last, kept = losses[-1], step, [w.detach().clone() for w in weights]
        if step % max(1, plan.max_iter // CHECK_EVERY) < CHECK_EVERY:
            say(f"step {step} of {plan.max_iter}, loss {losses[-1]:.6g}")
        if step - last >= plan.patience or not math.isfinite(losses[-1]):
            break
    return _ended(kept, losses, step, settled=step - last >= plan.patience)


def _split(s: np.ndarray, plan: Recipe, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The points to train on and those to hold out: if these would be few, all are both."""
    count = min(int(plan.validation_fraction * len(s)), HELD_OUT_ROWS)
    order = rng.permutation(len(s))
    if count < FEWEST_HELD_OUT:
        return s[order], s[order[:HELD_OUT_ROWS]]
    return s[order[count:]], s[order[:count]]


def _first_weights(d: int, K: int, plan: Recipe, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights and biases, in turns, of the encoder and then of the decoder."""
    sizes = [d, *plan.hidden, K, *reversed(plan.hidden), d]
    weights = []
    for before, after in pairwise(sizes):
        weights.append(np.eye(after, before) + SHAKE * rng.standard_normal((after, before)))
        weights.append(SHAKE * rng.standard_normal(after))
    return weights


def _stacks(weights: list[Array]) -> tuple[list[Layer], list[Layer]]:
    """The layers of the encoder and of the decoder."""
    layers = [Layer(W, b) for W, b in zip(weights[::2], weights[1::2], strict=True)]
    return layers[: len(layers) // 2], layers[len(layers) // 2 :]


def _shifts(n: int, count: int, rng: np.random.Generator) -> list[int]:
    return [int(o) for o in rng.integers(1, max(n, 2), size=count)]


def _loss(s: Any, weights: list[Any], shifts: list[int], variance: float, plan: Recipe) -> Any:
    """Relative error of the reconstructions, and of the distances from each point to those `shifts` places further."""
    encoder, decoder = _stacks(weights)
    code = run(s, encoder, plan.activation)
    total = (_distance(s, run(code, decoder, plan.activation)) ** 2).mean() / max(variance, ROOTED)
    if plan.isometry == 0:
        return total
    for shift in shifts:
        d, image = _distance(s, s.roll(shift, 0)), _distance(code, code.roll(shift, 0))
        error = (image - d) / d.clamp(min=1e-9)  # points that coincide count only where the code tears them apart
        total = total + plan.isometry / len(shifts) * (error**2).mean()
    return total


def _ended(weights: list[Any], losses: list[float], step: int, *, settled: bool) -> Training:
    """What came of a training that ended by itself, or because there were no more steps."""
    encoder, decoder = _stacks([w.detach().cpu().numpy() for w in weights])
    status = f"stopped early, after {step} steps" if settled else f"ran all {step} steps"
    if not math.isfinite(losses[-1]):
        settled, status = False, f"diverged after {step} steps"
    return Training(encoder, decoder, losses, step, settled, status)
