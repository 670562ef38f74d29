"""The coordinates: users' arrays to points of the hyperboloid at curvature -1 in float64, and back; and what is refused there.

The model, the curvature, the dtype, the array library and data frames exist here and nowhere behind.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from math import fsum
from typing import Any, NamedTuple, cast

import numpy as np

from ..geometry import MODELS, ModelName, clip, from_hyperboloid, to_hyperboloid
from ..geometry._arrays import Array, array_namespace, dot, to_numpy
from ..geometry._points import Chunk
from .arguments import as_number, check_choice

HYPERBOLOID_SLACK = 1e-4  # Of t^2, for a point of the hyperboloid: six digits are enough, since only the space part is used.
FLATTEST = 1e-100  # The least size of a curvature; the largest is its inverse.
CERTAIN_ROWS = 8  # So many rows do not lie on the hyperboloid by chance,
TELLING_TIME = 30.0  # if their t is below this. Farther out the hyperboloid is hard to tell from its cone.
NEAR_RIM = 0.01  # Of the radius: so far outside the ball points may be for want of digits. Those of float16 have three.
LARGEST_RADIUS = 175.0
"""Points are at most so far from the origin. Seen from any of their means they are then at most twice as far, and the square of
a coordinate, or the product of two, stays in float64."""
FARTHEST_IMAGE = 2 * LARGEST_RADIUS  # Images are seen from the mean: so far out they may be, and distances are still computed.


class Coordinates(NamedTuple):
    """A model of hyperbolic space and its curvature."""

    model: ModelName
    curvature: float

    @property
    def scale(self) -> float:
        """Lengths at curvature -1 per length of the user's."""
        return float(np.sqrt(-self.curvature))

    def _coordinate_scale(self) -> float:
        return 1.0 if self.model == "halfspace" else self.scale  # there curvature scales the metric, not the coordinates

    def to_hyperboloid(self, X: Array) -> Array:
        """Points (n, d+1) of the hyperboloid at curvature -1, float64."""
        xp = array_namespace(X)
        return to_hyperboloid(xp.astype(X, xp.float64) * self._coordinate_scale(), self.model)

    def chunk(self, X: Array, start: int = 0) -> Chunk:
        """The same points, not written out; `start` is the number of the first."""
        xp = array_namespace(X)
        radial = MODELS[self.model].radial
        if radial is None:
            return Chunk.of(self.to_hyperboloid(X), start)
        space = xp.astype(X[:, MODELS[self.model].space], xp.float64, copy=False)
        t, stretch = radial(dot(space, space) * self.scale**2)
        return Chunk(space, stretch * self.scale, t, start)

    def from_hyperboloid(self, x: Array, dtype: Any) -> Array:
        """Points of the hyperboloid in the model, the curvature and a dtype."""
        xp = array_namespace(x)
        X = from_hyperboloid(x, self.model) / self._coordinate_scale()
        if self.model in ("poincare", "klein"):
            X = clip(X, 4 * float(xp.finfo(dtype).eps), radius=1 / self.scale)  # what the dtype cannot tell from the boundary
        _refuse_too_large(X, dtype)
        return xp.astype(X, dtype, copy=False)

    def dimension(self, columns: int) -> int:
        """The dimension of the space whose points have so many columns."""
        return columns - MODELS[self.model].extra_columns

    def columns(self, dimension: int) -> int:
        """The number of columns of points of a space of this dimension."""
        return dimension + MODELS[self.model].extra_columns


def _refuse_too_large(X: Array, dtype: Any) -> None:
    """Refuse images X (float64) that are too large for the numbers of a user's array."""
    xp = array_namespace(X)
    most = float(xp.finfo(dtype).max)
    if most < float(xp.finfo(X.dtype).max) and bool(xp.any(xp.abs(X) > most)):
        raise ValueError(
            f"The images have coordinates of up to {float(xp.max(xp.abs(X))):.3g}, but {dtype} holds numbers of up to "
            f"{most:.3g}: pass the points as float64."
        )


def check_coordinates(model: str, curvature: float) -> Coordinates:
    """The coordinates of a model and a curvature (a number, or a 0-d array of any library), or a sentence."""
    check_choice("model", model, MODELS)
    given = as_number(curvature)
    size = -float(given) if isinstance(given, numbers.Real) else 0.0
    if not FLATTEST <= size <= 1 / FLATTEST:
        other = f" Where a library says c = {-size:g} and means -c, pass curvature={size:g}." if -np.inf < size < 0 else ""
        raise ValueError(
            f"curvature must be a negative number (of size {FLATTEST:g} to {1 / FLATTEST:g}), but is {given!r}. A ball of "
            f"radius R has curvature -1/R**2; hyperbolic space of the textbooks has -1.{other}"
        )
    return Coordinates(cast("ModelName", model), -size)


def check_points(X: Array, coordinates: Coordinates, start: int, name: str, reach: float = LARGEST_RADIUS) -> None:
    """Refuse rows X that are not finite, not points of the model, or farther than `reach` from the origin.

    `start` is the number of the first row, `name` that of the user's argument.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is outside, and infinities of both signs are told of
        if coordinates.model in ("poincare", "klein") and bool(array_namespace(X).all(_square(X, coordinates) < 1 - _doubt(X))):
            return
        _check_finite(X, start, name)
        CHECKS[coordinates.model](X, coordinates, start, name, reach)


def _square(X: Array, coordinates: Coordinates) -> Array:
    """|X|^2 at curvature -1, as `Coordinates.chunk` computes it."""
    xp = array_namespace(X)
    space = xp.astype(X, xp.float64, copy=False)
    return dot(space, space) * coordinates.scale**2


def _doubt(X: Array) -> float:
    """How far the rounding of |X|^2, in whatever order it is added up, can carry it from 1."""
    return float(X.shape[1] + 4) * 2.0**-52


def _outside(X: Array, coordinates: Coordinates) -> np.ndarray:
    """Which rows are outside the open ball, exactly: not a matter of the order in which squares are added."""
    square = to_numpy(_square(X, coordinates))
    outside = ~(square < 1)
    for row in np.flatnonzero(np.abs(square - 1) <= _doubt(X)):
        z = to_numpy(X[int(row), :]) * coordinates.scale
        high = z.astype(np.float32).astype(float)  # z = high + low, and products of these are exact to 1e-31
        low = z - high
        outside[row] = fsum([-1.0, *(high * high), *(2 * high * low), *(low * low)]) >= 0
    return outside


def _refuse(bad: np.ndarray, start: int, law: str, fault: str, single: Callable[[int], str], remedy: str = "") -> None:
    """Raise a sentence if any row is bad: the law, the fault of several rows or what is so of a single one, what to do."""
    if not bad.any():
        return
    count, first = int(bad.sum()), int(bad.argmax())
    found = f"row {start + first} {single(first)}"
    if count > 1:
        found = f"{count} of rows {start} to {start + len(bad) - 1} {fault} ({found})"
    raise ValueError(f"{law}, but {found}. {remedy}".strip())


def _check_finite(X: Array, start: int, name: str) -> None:
    xp = array_namespace(X)
    if bool(xp.isfinite(xp.sum(X))):  # one that is not would have told
        return
    bad = to_numpy(~xp.all(xp.isfinite(X), axis=1))
    held = "NaN or infinity"
    _refuse(bad, start, f"{name} must be finite", f"hold {held}", lambda k: f"holds {held}", "Drop or repair such rows.")


def _check_ball(X: Array, coordinates: Coordinates, start: int, name: str, reach: float) -> None:
    bad = _outside(X, coordinates)
    if bad.any():
        size, radius = np.hypot.reduce(to_numpy(X), axis=1, initial=0.0), 1 / coordinates.scale
        ball = "the unit ball" if coordinates.curvature == -1 else f"the ball of radius {radius:.6g}"
        law, fault = f"{name} must lie inside {ball}", f"have norm >= {radius:.6g}"
        _refuse(bad, start, law, fault, lambda k: f"has norm {size[k]:.6g}", _ball_remedy(float(size.max()), coordinates, name))


def _ball_remedy(largest: float, coordinates: Coordinates, name: str) -> str:
    """What to do about rows outside, the largest of this norm: rounding takes them just beyond the rim, other models far."""
    over, radius = (
        largest - 1 / coordinates.scale,
        "" if coordinates.curvature == -1 else f", radius={1 / coordinates.scale:.6g}",
    )
    if over * coordinates.scale < NEAR_RIM:
        beyond = f", or beyond by at most {over:.2g}" if over > 0 else ""
        return (
            f"That is its rim{beyond}, as rounding does it: horopca.geometry.clip({name}, "
            f"1e-5{radius}) moves them inside (on the command line, --clip 1e-5)."
        )
    larger = 1.01 * largest
    other = -1 / larger / larger
    hint = f"; for a larger ball pass its curvature, e.g. curvature={other:.3g} (radius {larger:.3g})"
    lorentz = "For Lorentz coordinates pass model='lorentz', or 'lorentz-space' for those without their time"
    return f"{lorentz}{hint if other <= -FLATTEST else ''}."


def _check_lorentz(X: Array, coordinates: Coordinates, start: int, name: str, reach: float) -> None:
    last = coordinates.model == "lorentz-time-last"
    x = np.roll(to_numpy(X), 1, axis=1) if last else to_numpy(X)
    rounding = _rounding(X)
    square, unit, bad = _off_hyperboloid(x, coordinates, rounding)

    def single(k: int) -> str:
        found = float(square[k]) * float(unit[k]) * float(unit[k])
        told = f" and t^2 - |s|^2 = {found:.6g}" if np.isfinite(found) else ""
        hint = f". Its curvature would be {-1 / found:.6g}" if 0 < found < np.inf and x[k, 0] > 0 else ""
        return f"has t = {x[k, 0]:.6g}{told}{hint}"

    first = "last" if last else "first"
    law = f"{name} must lie on the hyperboloid t^2 - |s|^2 = {1 / coordinates.scale**2:.6g}, t > 0 (time {first})"
    _refuse(bad, start, law, "do not", single, _lorentz_remedy(x, coordinates, rounding) if bad.any() else "")
    _check_radius(np.arccosh(np.maximum(x[:, 0] * coordinates.scale, 1)), start, name, reach)


def _rounding(X: Array) -> float:
    """What t^2 - |s|^2 of Lorentz coordinates may have lost, of t^2: much of it in half precision."""
    return 8 * float(array_namespace(X).finfo(X.dtype).eps)


def _off_hyperboloid(x: np.ndarray, coordinates: Coordinates, rounding: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t^2 - |s|^2 of rows (t, s) in a unit per row, these units, and which rows are not on the hyperboloid.

    Rows that were rounded, as those of half precision, may be off by as much more of t^2.
    """
    slack = max(HYPERBOLOID_SLACK, rounding)
    y, unit = x, np.ones(len(x))
    time, space = _squares(y)
    if not np.isfinite(time + space).all():
        unit = np.maximum(np.abs(x).max(axis=1), 1 / coordinates.scale)  # in it squares are numbers
        y = x / unit[:, None]
        time, space = _squares(y)
    square, level = time - space, (1 / coordinates.scale / unit) ** 2
    return square, unit, (np.abs(square - level) > slack * (level + time)) | (y[:, 0] <= 0)


def _squares(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """t^2 and |s|^2 of rows (t, s)."""
    return x[:, 0] ** 2, np.einsum("ij,ij->i", x[:, 1:], x[:, 1:])


def _lorentz_remedy(x: np.ndarray, coordinates: Coordinates, rounding: float) -> str:
    """What to do about rows (t, s) that are not on the hyperboloid."""
    last = coordinates.model == "lorentz-time-last"
    if not _off_hyperboloid(np.roll(x, -1 if last else 1, axis=1), coordinates, rounding)[2].any():
        found, model = ("first", "lorentz") if last else ("last", "lorentz-time-last")
        return f"They do with their time {found}: pass model={model!r}."
    return "For ball coordinates pass model='poincare'; for Lorentz coordinates without their time, model='lorentz-space'."


def _check_space(X: Array, coordinates: Coordinates, start: int, name: str, reach: float) -> None:
    x = to_numpy(X)
    for k, model in ((0, "lorentz"), (1, "lorentz-time-last")):
        if _surely_on_hyperboloid(x, k, coordinates, _rounding(X)):
            raise ValueError(
                f"{name} must hold Lorentz coordinates without their time (model='lorentz-space'), but "
                f"rows {start} to {start + len(x) - 1} have it: t^2 - |s|^2 is {1 / coordinates.scale**2:.6g} in all of "
                f"them. Pass model={model!r}."
            )
    _check_radius(np.arcsinh(_norms(x) * coordinates.scale), start, name, reach)


def _surely_on_hyperboloid(x: np.ndarray, turn: int, coordinates: Coordinates, rounding: float) -> bool:
    """Whether rows that become (t, s) when rolled by `turn` are on the hyperboloid beyond chance and rounding."""
    near = np.abs(x[:, -turn]) * coordinates.scale < TELLING_TIME
    if x.shape[1] < 2 or int(near.sum()) < CERTAIN_ROWS:
        return False
    parts = (x[:CERTAIN_ROWS], x)  # most others are told by a look at a few
    return not any(bool(_off_hyperboloid(np.roll(rows, turn, axis=1), coordinates, rounding)[2].any()) for rows in parts)


def _norms(x: np.ndarray) -> np.ndarray:
    """|x|, by squares, and where these are no numbers without them, which takes a hundred times as long."""
    size = np.sqrt(np.einsum("ij,ij->i", x, x))
    vast = ~np.isfinite(size)
    size[vast] = np.hypot.reduce(x[vast], axis=1, initial=0.0)
    return np.asarray(size)


def _check_halfspace(X: Array, coordinates: Coordinates, start: int, name: str, reach: float) -> None:
    height = to_numpy(X[:, -1])
    law = f"{name} must have heights > 0 in its last column (model='halfspace')"
    _refuse(height <= 0, start, law, "do not", lambda k: f"has height {height[k]:.6g}")
    # the distance from (0, 1), to within a few units, from logarithms alone
    aside = np.log(np.abs(to_numpy(X[:, :-1])).max(axis=1, initial=1.0))
    _check_radius(np.maximum(np.abs(np.log(height)), 2 * aside - np.log(height)), start, name, reach)


def _check_tangent(X: Array, coordinates: Coordinates, start: int, name: str, reach: float) -> None:
    _check_radius(_norms(to_numpy(X)) * coordinates.scale, start, name, reach)


def _check_radius(radius: np.ndarray, start: int, name: str, reach: float) -> None:
    law = f"{name} must lie within hyperbolic distance {reach:g} of the origin (float64 holds no more)"
    remedy = "Divide the data by a scale, or pass a curvature nearer to 0."
    _refuse(radius > reach, start, law, "do not", lambda k: f"is at {radius[k]:.6g}", remedy)


CHECKS = {
    "poincare": _check_ball,
    "klein": _check_ball,
    "lorentz": _check_lorentz,
    "lorentz-space": _check_space,
    "lorentz-time-last": _check_lorentz,
    "halfspace": _check_halfspace,
    "tangent": _check_tangent,
}
