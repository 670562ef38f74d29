"""What is averaged over projected pairs: a profile of their distances, with its gradient in the images.

Images have coordinates beta (K-1, n) and eta (n,), the height, in the upper half-space of H^K. Two of them at distance d
have sinh^2(d/2) = (|beta - beta'|^2 + (eta - eta')^2) / (4 eta eta').
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from .._input.cuda import mean_over_many_pairs, usable_for
from ..geometry._arrays import Array, array_namespace
from .pairs import Across, AllPairs, Shifts

Pairs = AllPairs | Shifts | Across
TINY = 1e-290  # This is added to squares whose root is divided by.


class Profile(NamedTuple):
    """A function of a projected distance d and, if it asks for it, of the true one.

    `host` takes a = sinh(d/2), c = cosh(d/2), h = d/2 and one over the true distance to the value and its derivative in a^2.
    """

    host: Callable[[Array, Array, Array, Array | None], tuple[Array, Array]]
    kernel: bool = False  # whether `_input.cuda` computes the mean of this one


def _square(a: Array, c: Array, h: Array, _: Array | None) -> tuple[Array, Array]:
    return h * h, h / (a * c)


def _ratio(a: Array, c: Array, h: Array, inverse: Array | None) -> tuple[Array, Array]:
    return h * inverse, inverse / (2 * (a * c))


SQUARE = Profile(_square, kernel=True)  # This is d^2 / 4.
RATIO = Profile(_ratio)  # This is d / 2, over the true distance.


def closeness(softness: float) -> Profile:
    """1 - |d / d_0 - 1| for the true distance d_0, its corner rounded: sqrt(x^2 + softness^2) stands for |x|."""

    def close(a: Array, c: Array, h: Array, inverse: Array | None) -> tuple[Array, Array]:
        xp = array_namespace(h)
        off = 2 * h * inverse - 1
        size = xp.sqrt(off * off + softness**2)
        return 1 - size, -off / size * inverse / (a * c)

    return Profile(close)


def bounded(reach: float) -> Profile:
    """d^2 / (d^2 + reach^2): nearly a squared distance where d is below the reach, and never more than 1 beyond it."""

    def bounded(a: Array, c: Array, h: Array, _: Array | None) -> tuple[Array, Array]:
        square, unit = h * h, reach * reach / 4
        all_of_it = square + unit
        return square / all_of_it, h / (a * c) * (unit / all_of_it) / all_of_it

    return Profile(bounded)


def half_sinh_squared(delta: Array, near: Array) -> Array:
    """sinh^2(d/2) of pairs of images: from their differences (K, ...), heights last, and 1 / (4 eta eta'). It is never 0."""
    square = delta[0, ...] * delta[0, ...]
    for k in range(1, delta.shape[0]):
        square += delta[k, ...] * delta[k, ...]
    square *= near
    square += TINY
    return square


def mean_over_pairs(
    beta: Array, eta: Array, pairs: Pairs, profile: Profile, inverse: Callable[[Any], Any] | None = None
) -> tuple[float, Array, Array]:
    """Mean of a profile of the projected pairs, and its gradients in beta (K-1, n) and eta (n,).

    `inverse` takes the `extra` of a block to one over the true distances of its pairs.
    """
    if profile.kernel and not isinstance(pairs, Across) and usable_for(eta):
        found = mean_over_many_pairs(beta, eta, None if isinstance(pairs, AllPairs) else pairs.offsets)
        if np.isfinite(found[0]):
            return found
    xp = array_namespace(eta)
    n, stack = pairs.n, xp.concat([beta, eta[None, :], 0.5 / eta[None, :]], axis=0)
    # the gradient in (beta, eta) is of opposite sign at the two ends; the last row collects slope * a^2, alike at both
    pull = xp.zeros((stack.shape[0], pairs.width), dtype=stack.dtype, device=device(stack))
    arc = _half_distance(beta, eta)
    value = 0.0
    for block in pairs.blocks(stack):
        delta = block.first[:-1, ...] - block.second[:-1, ...]
        near = block.first[-1, ...] * block.second[-1, ...]  # 1 / (4 eta eta')
        square = half_sinh_squared(delta, near)
        a, c = xp.sqrt(square), xp.sqrt(1 + square)
        part, slope = profile.host(a, c, arc(a, c), None if inverse is None else inverse(block.extra))
        if block.halve is not None:
            part[:, block.halve] *= 0.5
            slope[:, block.halve] *= 0.5
        value += float(xp.sum(part))
        near *= slope
        delta *= near
        square *= slope
        block.collect(pull[:-1, :], delta, -1)
        block.collect(pull[-1:, :], square[None, ...], 1)
    pull[:, : pairs.width - n] += pull[:, n:]
    pull = pull[:, :n] / pairs.total
    return value / pairs.total, 2 * pull[:-2, :], 2 * pull[-2, :] - pull[-1, :] / eta


def _half_distance(beta: Array, eta: Array) -> Callable[[Array, Array], Array]:
    """asinh(a) from a and c = sqrt(1 + a^2).

    NumPy's asinh costs six logarithms. The logarithm loses the digits of a small a, which weigh nothing beside large
    ones: only where all points are close is asinh itself needed.
    """
    xp = array_namespace(eta)
    close = 1e-2 * float(xp.min(eta))
    if float(xp.max(eta)) < 1.01 * float(xp.min(eta)) and not bool(xp.any(xp.abs(beta - beta[:, :1]) > close)):
        return lambda a, c: xp.asinh(a)
    return lambda a, c: xp.log(a + c)


def log_variance(eta: Array) -> tuple[float, Array]:
    """Mean of d^2 / 4 over all pairs of heights eta (n,) on a line (K = 1, where d = |log eta - log eta'|), and gradient."""
    xp = array_namespace(eta)
    n = eta.shape[0]
    logs = xp.log(eta)
    off = logs - xp.mean(logs)
    return float(xp.sum(off * off)) / (2 * max(n - 1, 1)), off / eta / max(n - 1, 1)
