"""The models of hyperbolic space, and the maps between each of them and the hyperboloid.

All at curvature -1. A point of H^d is

| model               | coordinates                                                                               |
|---------------------|-------------------------------------------------------------------------------------------|
| `poincare`          | z = s / (1 + t) in the open unit ball; conformal                                          |
| `lorentz`           | (t, s) in R^{d+1} with t = sqrt(1 + abs(s)^2): the hyperboloid                            |
| `lorentz-time-last` | (s, t)                                                                                    |
| `klein`             | k = s / t in the open unit ball; geodesics are straight                                   |
| `halfspace`         | (y, h) with h > 0 last; (0, 1) is the origin, and the last axis ends in the point at infinity |
| `lorentz-space`     | s alone                                                                                   |
| `tangent`           | v in R^d, a tangent vector at the origin: the point exp_0(v)                              |

The space part s is the primary coordinate. Since t is always computed as sqrt(1 + |s|^2), a point at radius 300 is as accurate
as one at radius 3. The coordinates overflow at radius 355. A ball is different: float64 cannot tell a point from the boundary
beyond radius 36 in the Poincaré ball and beyond radius 18 in the Klein ball.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from ._arrays import SHORTEST, Array, array_namespace, as_floats, concat_time, dot, is_numpy, norm

FLAT = 1e-16  # Below this squared length, cosh and sinh equal the first terms of their series in float64.
NEAREST_BOUNDARY = 2.0**-53  # The spacing of float64 below 1: no point of the open ball has a smaller 1 - |z|^2.
OFF_HYPERBOLOID = 1e-2  # A larger relative error of the time is not rounding, even in bfloat16.
ON_BOUNDARY = 1e-12  # A squared norm this close to 1 is on the boundary by rounding: the nearest point inside is used instead.


def lift(s: Array) -> Array:
    """The point ``(sqrt(1 + norm(s)**2), s)`` of the hyperboloid with a given space part.

    Parameters
    ----------
    s : array of shape (..., d)
        Any vectors: points of the model ``"lorentz-space"``.

    Returns
    -------
    array of shape (..., d + 1)

    See Also
    --------
    to_hyperboloid : points of any model on the hyperboloid

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import lift
    >>> lift(np.array([2.0, 2.0]))
    array([3., 2., 2.])
    """
    xp = array_namespace(s)
    return concat_time(xp.sqrt(1 + dot(s, s)), s)


def on_hyperboloid(x: Array) -> Array:
    """Whether each of x (..., d+1) is a finite point of the hyperboloid, time first, to within OFF_HYPERBOLOID."""
    xp, t, s = array_namespace(x), x[..., 0], x[..., 1:]
    with np.errstate(over="ignore", invalid="ignore"):  # rows whose squares overflow are not
        return xp.isfinite(t) & (xp.abs(t - xp.sqrt(1 + dot(s, s))) <= OFF_HYPERBOLOID * t)


def halfspace_to_hyperboloid(y: Array) -> Array:
    """From the upper half-space (height last), (..., d) to (..., d+1)."""
    b, low = y[..., :-1] / y[..., -1:], 1 / y[..., -1]  # low = t - s_d, the light-cone coordinate of infinity
    high = (1 + dot(b, b)) / low
    return lift(array_namespace(y).concat([b, ((high - low) / 2)[..., None]], axis=-1))


def hyperboloid_to_halfspace(x: Array) -> Array:
    """To the upper half-space (height last), (..., d+1) to (..., d)."""
    xp = array_namespace(x)
    t, b, last = x[..., 0], x[..., 1:-1], x[..., -1]
    # t - s_d, which cancels where s_d > 0; there (t - s_d)(t + s_d) = 1 + |b|^2 gives it
    low = xp.where(last > 0, (1 + dot(b, b)) / (t + xp.abs(last)), t - last)
    return xp.concat([b / low[..., None], 1 / low[..., None]], axis=-1)


def hyperboloid_to_tangent(x: Array) -> Array:
    """log at the origin, (..., d+1) to (..., d)."""
    xp = array_namespace(x)
    size = norm(x[..., 1:])
    safe = xp.where(size > 0, size, xp.ones_like(size))
    ratio = xp.where(size > 0, xp.asinh(safe) / safe, xp.ones_like(size))
    return x[..., 1:] * ratio[..., None]


def _poincare_radial(square: Array) -> tuple[Array, Array]:
    factor: Any = 2 / _one_minus(square)
    return factor - 1, factor


def _lorentz_radial(square: Array) -> tuple[Array, Array]:
    xp = array_namespace(square)
    return xp.sqrt(1 + square), xp.ones_like(square)


def _klein_radial(square: Array) -> tuple[Array, Array]:
    t = 1 / array_namespace(square).sqrt(_one_minus(square))
    return t, t


def _tangent_radial(square: Array) -> tuple[Array, Array]:
    """cosh(size) and sinh(size) / size for a squared length, by their series if that is close to 0."""
    xp = array_namespace(square)
    flat = square < FLAT
    size = xp.sqrt(xp.where(flat, xp.ones_like(square), square))
    return xp.where(flat, 1 + square / 2, xp.cosh(size)), xp.where(flat, 1 + square / 6, xp.sinh(size) / size)


def _one_minus(square: Array) -> Array:
    """1 - |z|^2, which is at least the spacing of numbers below 1 for a point of the open ball.

    In another order of summation the squares may round to 1; the point is then treated as the one nearest to the boundary.
    """
    xp = array_namespace(square)
    delta = 1 - square
    return xp.where(delta < NEAREST_BOUNDARY, xp.full_like(delta, NEAREST_BOUNDARY), delta)  # NaN stays NaN


def row_norms(X: np.ndarray) -> np.ndarray:
    """Euclidean norms of rows (n, m), also if their squares overflow or underflow."""
    with np.errstate(over="ignore", under="ignore"):
        size = np.sqrt(np.einsum("ij,ij->i", X, X))
        extreme = ~((size > SHORTEST) & (size < np.inf))
        size[extreme] = np.hypot.reduce(X[extreme], axis=1, initial=0.0)  # a hundred times slower
    return np.asarray(size)


def _halfspace_radius(X: np.ndarray) -> np.ndarray:
    """The distance from (0, 1) to within a few units, computed from logarithms, which do not overflow."""
    height = np.log(X[:, -1])
    aside = np.log(np.abs(X[:, :-1]).max(axis=1, initial=1.0))
    return np.asarray(np.maximum(np.abs(height), 2 * aside - height))


Domain = Literal["ball", "hyperboloid", "space", "halfspace", "vectors"]


class Model(NamedTuple):
    """A model of hyperbolic space: its maps, its domain, and how it is validated.

    A model is *radial* if the point of X is (t, factor * X), where X is without its time and t and factor are functions of
    |X|^2. Kernels and chunks rely on that.
    """

    from_hyperboloid: Callable[[Array], Array]
    radial: Callable[[Any], tuple[Any, Any]] | None  #: |X|^2 -> (t, factor); None for the half-space
    domain: Domain  #: where its points lie, and so how they are validated
    radius: Callable[[np.ndarray], np.ndarray] | None = None  #: rows (n, m) -> distances from the origin; None in a ball
    time: Literal[0, -1] | None = None  #: the column of the time coordinate
    scaled: bool = True  #: whether curvature scales the coordinates; in the half-space it scales the metric only
    recognised: bool = True  #: whether model="auto" may find it; the Klein ball looks like the Poincaré ball
    farthest: float = np.inf  #: the radius from which on float64 cannot tell points from the boundary of a ball
    kernel: bool = False  #: whether `_input/kernels.py` has the formulas of the model, for arrays on a GPU

    @property
    def space(self) -> slice:
        """The columns other than the time."""
        return {None: slice(None), 0: slice(1, None), -1: slice(None, -1)}[self.time]

    @property
    def extra_columns(self) -> int:
        """The number of columns minus the dimension: 1 for a model with a time, else 0."""
        return int(self.time is not None)

    def to_hyperboloid(self, X: Array) -> Array:
        """Points (..., d+1) of the hyperboloid, time first."""
        if self.radial is None:
            return halfspace_to_hyperboloid(X)
        space = X[..., self.space]
        return lift(space * self.radial(dot(space, space))[1][..., None])


def _time_radius(time: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: np.arccosh(np.maximum(X[:, time], 1.0))


#: A type: the names of the models, the keys of `MODELS`.
ModelName = Literal["poincare", "lorentz", "lorentz-time-last", "klein", "halfspace", "lorentz-space", "tangent"]

#: The models of hyperbolic space, by name. A new model is one row here and one name above.
MODELS: dict[str, Model] = {
    "poincare": Model(lambda x: x[..., 1:] / (1 + x[..., :1]), _poincare_radial, "ball", farthest=36.0, kernel=True),
    "lorentz": Model(lambda x: x, _lorentz_radial, "hyperboloid", _time_radius(0), time=0, kernel=True),
    "lorentz-time-last": Model(
        lambda x: array_namespace(x).roll(x, -1, axis=-1), _lorentz_radial, "hyperboloid", _time_radius(-1), time=-1
    ),
    "klein": Model(lambda x: x[..., 1:] / x[..., :1], _klein_radial, "ball", farthest=18.0, kernel=True, recognised=False),
    "halfspace": Model(hyperboloid_to_halfspace, None, "halfspace", _halfspace_radius, scaled=False),
    "lorentz-space": Model(lambda x: x[..., 1:], _lorentz_radial, "space", lambda X: np.arcsinh(row_norms(X)), kernel=True),
    "tangent": Model(hyperboloid_to_tangent, _tangent_radial, "vectors", row_norms, kernel=True),
}


def to_hyperboloid(X: Array, model: ModelName = "poincare") -> Array:
    """Points of a model of hyperbolic space on the hyperboloid.

    Parameters
    ----------
    X : array of shape (..., n_features)
        Points of the model at curvature -1. NumPy arrays, lists and data frames are checked: ValueError if points are outside
        a ball, below the half-space, off the hyperboloid (by more than rounding), or beyond radius 355, where the coordinates
        overflow. The time of Lorentz coordinates is computed again from the space components.
    model : str, default="poincare"
        A key of `MODELS`.

    Returns
    -------
    array of shape (..., d + 1)
        Time first.

    See Also
    --------
    from_hyperboloid : the inverse
    lift : the same for ``"lorentz-space"``

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import to_hyperboloid
    >>> to_hyperboloid(np.array([0.5, 0.0]))
    array([1.66666667, 1.33333333, 0.        ])
    """
    row, X = _model(model), as_floats(X)
    if X.shape[-1] <= row.extra_columns:
        least = 1 + row.extra_columns
        raise ValueError(f"X must have at least {least} column(s) for model={model!r}, but has shape {tuple(X.shape)}.")
    if not is_numpy(X):
        return row.to_hyperboloid(X)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        size, x = dot(X, X), row.to_hyperboloid(X)
    if row.domain == "ball" and (size > 1 + ON_BOUNDARY).any():
        raise ValueError(
            f"X must lie inside the unit ball for model={model!r}, but has a norm of {np.sqrt(size.max()):.6g}. "
            "Divide points of a ball of radius R by R."
        )
    if row.domain == "halfspace" and (X[..., -1] <= 0).any():
        raise ValueError(f"X must have heights > 0 in its last column, but has {X[..., -1].min():.6g}.")
    if not np.isfinite(x).all() and np.isfinite(X).all():
        raise ValueError(f"X must lie within radius 355 of the origin, where float64 overflows (model={model!r}).")
    if row.time is not None:
        off = np.abs(X[..., row.time] - x[..., 0]) - OFF_HYPERBOLOID * x[..., 0]
        if off.max(initial=0) > 0:
            bad = np.unravel_index(off.argmax(), off.shape)
            raise ValueError(
                f"X must lie on the hyperboloid for model={model!r}, but a point has the time {X[bad][row.time]:.6g}, and its "
                f"space components give {x[bad][0]:.6g}. For ball coordinates pass model='poincare'."
            )
    return x


def from_hyperboloid(x: Array, model: ModelName = "poincare") -> Array:
    """Points of the hyperboloid in another model of hyperbolic space.

    A ball cannot hold points beyond radius 36 (Poincaré) or 18 (Klein) in float64. Raises ValueError if a NumPy array has such
    points; those of other libraries are put on the boundary. "tangent" and "halfspace" have no such limit, but the
    rounding of their coordinates moves a point at a radius r above 36 by about 2 (r - 36). The Lorentz models lose nothing.

    Parameters
    ----------
    x : array of shape (..., d + 1)
        Points of the hyperboloid, time first.
    model : str, default="poincare"
        A key of `MODELS`.

    Returns
    -------
    array of shape (..., n_features)

    See Also
    --------
    to_hyperboloid : the inverse

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import from_hyperboloid, to_hyperboloid
    >>> x = to_hyperboloid(np.array([0.5, 0.0]))
    >>> from_hyperboloid(x, "klein"), from_hyperboloid(x, "halfspace")
    (array([0.8, 0. ]), array([0.8, 0.6]))
    """
    row, x = _model(model), as_floats(x, "x")
    if x.shape[-1] < 2:
        raise ValueError(f"x must have at least 2 columns (time and space), but has shape {tuple(x.shape)}.")
    if row.farthest < np.inf and is_numpy(x) and (x[..., 0] > np.cosh(row.farthest)).any():
        raise ValueError(
            f"x must lie within radius {row.farthest:g} of the origin for model={model!r}, but has a point at radius "
            f"{np.arccosh(x[..., 0].max()):.6g}, which float64 cannot tell from the boundary. Use model='lorentz' or 'tangent'."
        )
    return row.from_hyperboloid(x)


def clip(X: Array, margin: float, *, radius: float = 1.0) -> Array:
    """Move rows at or beyond the boundary of a ball into it, along their rays, to norm ``radius * (1 - margin)``.

    This is for points of the Poincaré or the Klein ball that rounding has moved to its boundary or beyond.

    Parameters
    ----------
    X : array of shape (..., d)
        Finite points of a ball, or just outside it. Rows of smaller norm are unchanged.
    margin : float
        At least 0 and below 1. It is raised to four times the precision of the dtype, so that the rows stay inside.
    radius : float, default=1.0
        The radius of the ball: ``1 / sqrt(-curvature)``.

    Returns
    -------
    array of shape (..., d)

    See Also
    --------
    horopca.io.describe : tells how many rows lie on the rim

    Examples
    --------
    >>> import numpy as np
    >>> from horopca.geometry import clip
    >>> clip(np.array([[0.3, 0.4], [1.0, 0.0]]), 1e-5)
    array([[0.3    , 0.4    ],
           [0.99999, 0.     ]])
    """
    if not isinstance(margin, numbers.Real) or not 0 <= margin < 1:
        raise ValueError(f"margin must be a fraction of the radius, from 0 to below 1, but is {margin!r}.")
    if not isinstance(radius, numbers.Real) or not 0 < radius < np.inf:
        raise ValueError(f"radius must be a positive number, but is {radius!r}.")
    X = as_floats(X)
    if is_numpy(X) and (bad := ~np.isfinite(X).all(axis=-1)).any():
        raise ValueError(f"X must be finite, but row {int(bad.argmax())} contains NaN or infinity. Drop or repair such rows.")
    xp = array_namespace(X)
    size, most = norm(X)[..., None], radius * (1 - max(margin, 4 * float(xp.finfo(X.dtype).eps)))
    return X * (most / xp.where(size > most, size, xp.full_like(size, most)))


def _model(name: str) -> Model:
    if not isinstance(name, str) or name not in MODELS:
        raise ValueError(f"model must be one of {', '.join(map(repr, MODELS))}, but is {name!r}.")
    return MODELS[name]
