"""The models of hyperbolic space, and the maps between each of them and the hyperboloid.

All at curvature -1. A point of H^d is

| model        | coordinates                                                                      |
|--------------|----------------------------------------------------------------------------------|
| `lorentz`    | (t, s) in R^{d+1} with t = sqrt(1 + abs(s)^2): the hyperboloid                    |
| `poincare`   | z = s / (1 + t) in the open unit ball, angles true                                |
| `klein`      | k = s / t in the open unit ball, geodesics straight                               |
| `halfspace`  | (y, h) with h > 0 last; the origin of the ball is (0, 1), the ideal point at infinity is the last axis |
| `tangent`    | v in R^d, a tangent vector at the origin: the point exp_0(v)                      |

The space part s is the primary coordinate: t is always sqrt(1 + |s|^2), so a point at radius 300 is as good as one at 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ._arrays import Array, array_namespace, concat_time, dot, norm


def lift(s: Array) -> Array:
    """The point (sqrt(1 + |s|^2), s) of the hyperboloid above s."""
    xp = array_namespace(s)
    return concat_time(xp.sqrt(1 + dot(s, s)), s)


def poincare_to_hyperboloid(z: Array) -> Array:
    """From the Poincaré ball, (..., d) to (..., d+1)."""
    size = norm(z)
    # (1 - |z|)(1 + |z|) rather than 1 - |z|^2: the first factor is exact near the boundary
    delta = (1 - size) * (1 + size)
    return lift(2 * z / delta[..., None])


def hyperboloid_to_poincare(x: Array) -> Array:
    """To the Poincaré ball, (..., d+1) to (..., d)."""
    return x[..., 1:] / (1 + x[..., :1])


def klein_to_hyperboloid(k: Array) -> Array:
    """From the Klein ball, (..., d) to (..., d+1)."""
    xp = array_namespace(k)
    size = norm(k)
    return lift(k / xp.sqrt((1 - size) * (1 + size))[..., None])


def hyperboloid_to_klein(x: Array) -> Array:
    """To the Klein ball, (..., d+1) to (..., d)."""
    return x[..., 1:] / x[..., :1]


def halfspace_to_hyperboloid(y: Array) -> Array:
    """From the upper half-space (height last), (..., d) to (..., d+1)."""
    b, low = y[..., :-1] / y[..., -1:], 1 / y[..., -1]  # low = t - s_d, the light-cone coordinate of infinity
    high = (1 + dot(b, b)) / low
    return _from_light_cone(b, low, high)


def hyperboloid_to_halfspace(x: Array) -> Array:
    """To the upper half-space (height last), (..., d+1) to (..., d)."""
    xp = array_namespace(x)
    t, b, last = x[..., 0], x[..., 1:-1], x[..., -1]
    # t - s_d, which cancels where s_d > 0; there (t - s_d)(t + s_d) = 1 + |b|^2 gives it
    low = xp.where(last > 0, (1 + dot(b, b)) / (t + xp.abs(last)), t - last)
    return xp.concat([b / low[..., None], 1 / low[..., None]], axis=-1)


def _from_light_cone(b: Array, low: Array, high: Array) -> Array:
    xp = array_namespace(b, low)
    return lift(xp.concat([b, ((high - low) / 2)[..., None]], axis=-1))


def tangent_to_hyperboloid(v: Array) -> Array:
    """exp at the origin, (..., d) to (..., d+1)."""
    xp = array_namespace(v)
    size = norm(v)
    safe = xp.where(size > 0, size, xp.ones_like(size))
    ratio = xp.where(size > 0, xp.sinh(safe) / safe, xp.ones_like(size))
    return lift(v * ratio[..., None])


def hyperboloid_to_tangent(x: Array) -> Array:
    """log at the origin, (..., d+1) to (..., d)."""
    xp = array_namespace(x)
    size = norm(x[..., 1:])
    safe = xp.where(size > 0, size, xp.ones_like(size))
    ratio = xp.where(size > 0, xp.asinh(safe) / safe, xp.ones_like(size))
    return x[..., 1:] * ratio[..., None]


def _lorentz_to_hyperboloid(x: Array) -> Array:
    return lift(x[..., 1:])


def _hyperboloid_to_lorentz(x: Array) -> Array:
    return x


def _poincare_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    size = xp.sqrt(square)
    stretch = 2 / ((1 - size) * (1 + size))
    return stretch - 1, stretch


def _lorentz_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    return xp.sqrt(1 + square), xp.ones_like(square)


def _klein_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    size = xp.sqrt(square)
    t = 1 / xp.sqrt((1 - size) * (1 + size))
    return t, t


def _tangent_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    size = xp.sqrt(square)
    safe = xp.where(size > 0, size, xp.ones_like(size))
    return xp.cosh(size), xp.where(size > 0, xp.sinh(safe) / safe, xp.ones_like(size))


class Model(NamedTuple):
    """A model: its maps to and from the hyperboloid, and how many columns it has more than dimensions.

    Where the point above X is (t, stretch * X), X without its extra columns, `radial` takes |X|^2 to t and stretch.
    """

    to_hyperboloid: Callable[[Array], Array]
    from_hyperboloid: Callable[[Array], Array]
    extra_columns: int
    radial: Callable[[Array], tuple[Array, Array]] | None


MODELS = {
    "poincare": Model(poincare_to_hyperboloid, hyperboloid_to_poincare, 0, _poincare_radial),
    "lorentz": Model(_lorentz_to_hyperboloid, _hyperboloid_to_lorentz, 1, _lorentz_radial),
    "klein": Model(klein_to_hyperboloid, hyperboloid_to_klein, 0, _klein_radial),
    "halfspace": Model(halfspace_to_hyperboloid, hyperboloid_to_halfspace, 0, None),
    "tangent": Model(tangent_to_hyperboloid, hyperboloid_to_tangent, 0, _tangent_radial),
}


def to_hyperboloid(X: Array, model: str = "poincare") -> Array:
    """Points of `model` on the hyperboloid, (..., d+1) with time first.

    >>> import numpy as np
    >>> to_hyperboloid(np.array([0.5, 0.0]))
    array([1.66666667, 1.33333333, 0.        ])
    """
    return _model(model).to_hyperboloid(X)


def from_hyperboloid(x: Array, model: str = "poincare") -> Array:
    """Points of the hyperboloid in `model`."""
    return _model(model).from_hyperboloid(x)


def _model(name: str) -> Model:
    if name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))}, but is {name!r}.")
    return MODELS[name]
