"""The models of hyperbolic space, and the maps between each of them and the hyperboloid.

All at curvature -1. A point of H^d is

| model        | coordinates                                                                      |
|--------------|----------------------------------------------------------------------------------|
| `lorentz`    | (t, s) in R^{d+1} with t = sqrt(1 + abs(s)^2): the hyperboloid                    |
| `lorentz-space` | s alone, the time left out                                                    |
| `lorentz-time-last` | (s, t)                                                                    |
| `poincare`   | z = s / (1 + t) in the open unit ball, angles true                                |
| `klein`      | k = s / t in the open unit ball, geodesics straight                               |
| `halfspace`  | (y, h) with h > 0 last; the origin of the ball is (0, 1), the ideal point at infinity is the last axis |
| `tangent`    | v in R^d, a tangent vector at the origin: the point exp_0(v)                      |

The space part s is the primary coordinate: t is always sqrt(1 + |s|^2), so a point at radius 300 is as good as one at 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from ._arrays import Array, array_namespace, concat_time, dot, norm

FLAT = 1e-16  # Of so small a squared length cosh and sinh are, to the last digit, the first terms of their series in it.
NEAREST_RIM = 2.0**-53  # The spacing of float64 below 1: no point of the open ball has a smaller 1 - |z|^2.


def lift(s: Array) -> Array:
    """The point ``(sqrt(1 + |s|^2), s)`` of the hyperboloid above s."""
    xp = array_namespace(s)
    return concat_time(xp.sqrt(1 + dot(s, s)), s)


def hyperboloid_to_poincare(x: Array) -> Array:
    """To the Poincaré ball, (..., d+1) to (..., d)."""
    return x[..., 1:] / (1 + x[..., :1])


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


def hyperboloid_to_tangent(x: Array) -> Array:
    """log at the origin, (..., d+1) to (..., d)."""
    xp = array_namespace(x)
    size = norm(x[..., 1:])
    safe = xp.where(size > 0, size, xp.ones_like(size))
    ratio = xp.where(size > 0, xp.asinh(safe) / safe, xp.ones_like(size))
    return x[..., 1:] * ratio[..., None]


def _hyperboloid_to_lorentz(x: Array) -> Array:
    return x


def _hyperboloid_to_space(x: Array) -> Array:
    return x[..., 1:]


def _hyperboloid_to_time_last(x: Array) -> Array:
    return array_namespace(x).concat([x[..., 1:], x[..., :1]], axis=-1)


def _poincare_radial(square: Array) -> tuple[Array, Array]:
    stretch = 2 / _inside(square)
    return stretch - 1, stretch


def _lorentz_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    return xp.sqrt(1 + square), xp.ones_like(square)


def _klein_radial(square: Array) -> tuple[Array, Array]:
    t = 1 / array_namespace(square).sqrt(_inside(square))
    return t, t


def cosh_and_ratio(square: Array) -> tuple[Array, Array]:
    """cosh(size) and sinh(size) / size for a squared length, by their series where that is next to 0."""
    xp = array_namespace(square)
    flat = square < FLAT
    size = xp.sqrt(xp.where(flat, xp.ones_like(square), square))
    return xp.where(flat, 1 + square / 2, xp.cosh(size)), xp.where(flat, 1 + square / 6, xp.sinh(size) / size)


def _inside(square: Array) -> Array:
    """1 - |z|^2, which is at least the spacing of numbers below 1 for a point of the open ball.

    Added up in another order, the squares may round to 1: the point is then taken as the one next to the rim.
    """
    xp = array_namespace(square)
    delta = 1 - square
    return xp.where(delta > NEAREST_RIM, delta, xp.full_like(delta, NEAREST_RIM))


class Model(NamedTuple):
    """A model: its map from the hyperboloid, its map to the hyperboloid, and which of its columns are not time.

    Where the point above X is (t, stretch * X), X without its time, `radial` takes |X|^2 to t and stretch.
    """

    from_hyperboloid: Callable[[Array], Array]
    radial: Callable[[Array], tuple[Array, Array]] | None
    space: slice = slice(None)

    @property
    def extra_columns(self) -> int:
        """How many columns it has more than dimensions: 1 for the time, or 0."""
        return int(self.space != slice(None))

    def to_hyperboloid(self, X: Array) -> Array:
        """Points (..., d+1) of the hyperboloid, time first."""
        if self.radial is None:
            return halfspace_to_hyperboloid(X)
        space = X[..., self.space]
        return lift(space * self.radial(dot(space, space))[1][..., None])


#: A type: the names of the models, the keys of `MODELS`.
ModelName = Literal["poincare", "lorentz", "lorentz-space", "lorentz-time-last", "klein", "halfspace", "tangent"]

#: The models of hyperbolic space that points can be written in, by name: how each leads to the hyperboloid and back.
MODELS: dict[str, Model] = {
    "poincare": Model(hyperboloid_to_poincare, _poincare_radial),
    "lorentz": Model(_hyperboloid_to_lorentz, _lorentz_radial, slice(1, None)),
    "lorentz-space": Model(_hyperboloid_to_space, _lorentz_radial),
    "lorentz-time-last": Model(_hyperboloid_to_time_last, _lorentz_radial, slice(None, -1)),
    "klein": Model(hyperboloid_to_klein, _klein_radial),
    "halfspace": Model(hyperboloid_to_halfspace, None),
    "tangent": Model(hyperboloid_to_tangent, cosh_and_ratio),
}


def to_hyperboloid(X: Array, model: ModelName = "poincare") -> Array:
    """Points of `model` on the hyperboloid, (..., d+1) with time first.

    >>> import numpy as np
    >>> to_hyperboloid(np.array([0.5, 0.0]))
    array([1.66666667, 1.33333333, 0.        ])
    """
    return _model(model).to_hyperboloid(X)


def from_hyperboloid(x: Array, model: ModelName = "poincare") -> Array:
    """Points of the hyperboloid in `model`."""
    return _model(model).from_hyperboloid(x)


def clip(X: Array, margin: float, *, radius: float = 1.0) -> Array:
    """X (..., d) with rows beyond a ball moved inside it along their rays, to its radius less the share `margin`.

    For points of the Poincaré or the Klein ball that rounding, or a clip at the rim itself, has taken out of it. The margin is
    at least four times the precision of the dtype. No other row is changed.

    >>> import numpy as np
    >>> clip(np.array([[0.3, 0.4], [1.0, 0.0]]), 1e-5)
    array([[0.3    , 0.4    ],
           [0.99999, 0.     ]])
    """
    xp = array_namespace(X)
    size, most = norm(X)[..., None], radius * (1 - max(margin, 4 * float(xp.finfo(X.dtype).eps)))
    return X * (most / xp.where(size > most, size, xp.full_like(size, most)))


def _model(name: str) -> Model:
    if name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))}, but is {name!r}.")
    return MODELS[name]
