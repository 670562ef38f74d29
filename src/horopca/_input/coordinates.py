"""Coordinates of points: a model of hyperbolic space and its curvature, the maps to and from the hyperboloid, validation.

Inside the package points lie on the hyperboloid at curvature -1, in float64. Only `_input` knows models, curvatures, dtypes and
data frames.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from math import fsum
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ..geometry import MODELS, ModelName, clip
from ..geometry._arrays import Array, array_namespace, dot, to_numpy
from ..geometry._points import Chunk
from ..geometry.models import ON_BOUNDARY, Model, row_norms
from .arguments import as_number, check_choice

ModelChoice = ModelName | Literal["auto"]  # "auto": the only model that the rows fit

FLATTEST = 1e-100  # The smallest absolute value of a curvature; the largest is its inverse.
LARGEST_RADIUS = 175.0
"""The largest distance of a point from the origin. Seen from a mean it is then at most twice as far away, and the square of a
coordinate, or the product of two, does not overflow."""
FARTHEST_IMAGE = 2 * LARGEST_RADIUS  # The largest radius of an image, which is seen from the mean.
HYPERBOLOID_SLACK = 1e-4  # Tolerance of t^2 - |s|^2, relative to t^2; loose, since only the space part is used.
CERTAIN_ROWS = 8  # This many rows with t below LARGEST_CERTAIN_TIME are not on the hyperboloid by chance.
LARGEST_CERTAIN_TIME = 30.0  # Farther out, rounding hides the difference between the hyperboloid and the light cone.
NEAR_BOUNDARY = 0.01  # Points outside the ball by less than this fraction are there by rounding: float16 has three digits.
MAYBE_EUCLIDEAN_FACTOR = 2.0  # Vectors of word2vec often have norms of 2 to 10, and so may have points of a larger ball.
EUCLIDEAN_FACTOR = 10.0  # Rows with norms larger than this many radii of the ball are probably Euclidean vectors.
TIMED = {name: row for name, row in MODELS.items() if row.time is not None}  # the models with a time coordinate


class Coordinates(NamedTuple):
    """A model of hyperbolic space and its curvature."""

    model: ModelName
    curvature: float

    @property
    def row(self) -> Model:
        """The model's row of the table `MODELS`."""
        return MODELS[self.model]

    @property
    def scale(self) -> float:
        """The factor from lengths at this curvature to the same lengths at curvature -1."""
        return (-self.curvature) ** 0.5  # of a tensor too, which a network computed

    @property
    def unit(self) -> float:
        """The factor from coordinates at this curvature to those of the same point at curvature -1."""
        return self.scale if self.row.scaled else 1.0

    def to_hyperboloid(self, X: Array) -> Array:
        """Points (n, d+1) of the hyperboloid at curvature -1, float64."""
        xp = array_namespace(X)
        return self.row.to_hyperboloid(xp.astype(X, xp.float64) * self.unit)

    def chunk(self, X: Array, start: int = 0) -> Chunk:
        """The same points as a chunk; `start` is the index of the first."""
        xp = array_namespace(X)
        if self.row.radial is None:
            return Chunk.of(self.to_hyperboloid(X), start)
        space = xp.astype(X[:, self.row.space], xp.float64, copy=False)
        t, factor = self.row.radial(dot(space, space) * self.scale**2)
        return Chunk(space, factor * self.scale, t, start)

    def from_hyperboloid(self, x: Array, dtype: Any) -> Array:
        """Points of the hyperboloid in these coordinates, in a dtype. Raises ValueError if they are too large for it."""
        xp = array_namespace(x)
        X = self.in_model(x, dtype)
        most = float(xp.finfo(dtype).max)
        if most < float(xp.finfo(X.dtype).max) and bool(xp.any(xp.abs(X) > most)):
            raise ValueError(
                f"The images have coordinates of up to {float(xp.max(xp.abs(X))):.3g}, but the largest number in {dtype} is "
                f"{most:.3g}. Pass the points as float64."
            )
        return xp.astype(X, dtype, copy=False)

    def in_model(self, x: Array, dtype: Any) -> Array:
        """Points of the hyperboloid in these coordinates; in a ball, so far inside that rounding to a dtype keeps them so."""
        X = self.row.from_hyperboloid(x)
        if self.row.domain == "ball":
            X = clip(X, 4 * float(array_namespace(x).finfo(dtype).eps))
        return X / self.unit

    def dimension(self, columns: int) -> int:
        """The dimension of the space whose points have this number of columns."""
        return columns - self.row.extra_columns

    def columns(self, dimension: int) -> int:
        """The number of columns of points of a space of this dimension."""
        return dimension + self.row.extra_columns


def check_coordinates(model: str, curvature: Any) -> Coordinates:
    """Coordinates of a model and a curvature, which may be a 0-d array. Raises ValueError if either is invalid."""
    check_choice("model", model, MODELS)
    given = as_number(curvature)
    size = -float(given) if isinstance(given, numbers.Real) else 0.0
    if not FLATTEST <= size <= 1 / FLATTEST:
        positive = f" If c = {-size:g} stands for the curvature -c, pass curvature={size:g}." if -np.inf < size < 0 else ""
        raise ValueError(
            f"curvature must be a negative number (of size {FLATTEST:g} to {1 / FLATTEST:g}), but is {given!r}. A ball of "
            f"radius R has curvature -1/R**2; the hyperbolic space of textbooks has -1.{positive}"
        )
    return Coordinates(cast("ModelName", model), -size)


# ------------------------------------------------------------ validation


def check_points(X: Array, coordinates: Coordinates, start: int, name: str, reach: float = LARGEST_RADIUS) -> None:
    """Raise ValueError if rows of X are not finite, not points of the model, or farther than `reach` from the origin.

    `start` is the index of the first row, `name` the user's name of the argument.
    """
    row, xp = coordinates.row, array_namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):  # rows that overflow are outside
        if row.domain == "ball":
            space = xp.astype(X, xp.float64, copy=False)
            square = dot(space, space) * coordinates.scale**2  # |X|^2 at curvature -1, as `Coordinates.chunk` computes it
            if bool(xp.all(square < 1 - ON_BOUNDARY)):
                return  # nor is any row NaN
        if not bool(xp.isfinite(xp.sum(X))):  # a NaN or an infinity would be in the sum
            bad, remedy = to_numpy(~xp.all(xp.isfinite(X), axis=1)), "Drop or repair such rows."
            found = "contains NaN or infinity"
            _raise_for(bad, start, f"{name} must be finite", "contain NaN or infinity", lambda k: found, remedy)
        if row.domain == "ball":
            _check_ball(to_numpy(X), to_numpy(square), coordinates, start, name)
        elif row.domain == "hyperboloid":
            _check_hyperboloid(X, coordinates, start, name)
        elif row.domain == "space":
            _check_space(X, coordinates, start, name)
        elif row.domain == "halfspace":
            height = to_numpy(X[:, -1])
            rule = f"{name} must have heights > 0 in its last column (model={coordinates.model!r})"
            _raise_for(height <= 0, start, rule, "do not", lambda k: f"has height {height[k]:.6g}")
        if row.radius is not None:
            radius = row.radius(to_numpy(X) if coordinates.unit == 1 else to_numpy(X) * coordinates.unit)
            rule = f"{name} must lie within hyperbolic distance {reach:g} of the origin (the range of float64)"
            scalable = row.domain in ("space", "vectors")  # in other models a multiple of a point is no point, or as far away
            remedy = "Divide the data by a scale, or pass a curvature closer to 0." if scalable else "Leave such rows out."
            _raise_for(radius > reach, start, rule, "do not", lambda k: f"is at {radius[k]:.6g}", remedy)


def _raise_for(bad: np.ndarray, start: int, rule: str, fault: str, describe: Callable[[int], str], remedy: str = "") -> None:
    """Raise ValueError if any row is bad: the rule, how many rows break it, what is wrong with the first, what to do."""
    if not bad.any():
        return
    count, first = int(bad.sum()), int(bad.argmax())
    found = f"row {start + first} {describe(first)}"
    if count > 1:
        found = f"{count} of rows {start} to {start + len(bad) - 1} {fault} ({found})"
    raise ValueError(f"{rule}, but {found}. {remedy}".strip())


def _check_ball(rows: np.ndarray, square: np.ndarray, coordinates: Coordinates, start: int, name: str) -> None:
    bad, radius = ~(square < 1), 1 / coordinates.scale
    for k in np.flatnonzero(np.abs(square - 1) < ON_BOUNDARY):  # fsum does not depend on the order of summation
        bad[k] = fsum(z * z for z in rows[k] * coordinates.scale) >= 1
    if not bad.any():
        return
    size = np.hypot.reduce(rows, axis=1, initial=0.0)
    largest, own = float(size.max()), coordinates.curvature != -1
    if (over := largest - radius) * coordinates.scale < NEAR_BOUNDARY:
        beyond = f", or outside it by at most {over:.2g}" if over > 0 else ""
        remedy = (
            f"That is on the boundary{beyond}, probably by rounding: horopca.geometry.clip({name}, 1e-5"
            f"{f', radius={radius:.6g}' if own else ''}) moves such rows inside (on the command line, --clip 1e-5)."
        )
    else:
        remedy = "For Lorentz coordinates pass model='lorentz', or 'lorentz-space' if the time is missing"
        if largest <= EUCLIDEAN_FACTOR * radius:
            larger = 1.01 * largest
            remedy += f"; for a larger ball pass its curvature, e.g. curvature={-1 / larger**2:.3g} (radius {larger:.3g})"
        if largest > MAYBE_EUCLIDEAN_FACTOR * radius:
            remedy += "; vectors of a Euclidean model (word2vec, X_pca) are for sklearn.decomposition.PCA"
        remedy += "."
    rule = f"{name} must lie inside {f'the ball of radius {radius:.6g}' if own else 'the unit ball'}"
    _raise_for(bad, start, rule, f"have norm >= {radius:.6g}", lambda k: f"has norm {size[k]:.6g}", remedy)


def _check_hyperboloid(X: Array, coordinates: Coordinates, start: int, name: str) -> None:
    rows, row, scale, slack = to_numpy(X), coordinates.row, coordinates.scale, _slack(X)
    square, bad = off_hyperboloid(rows, row, scale, slack)
    if not bad.any():
        return
    t = rows[:, row.time]

    def describe(k: int) -> str:
        hint = f". Its curvature would be {-1 / square[k]:.6g}" if 0 < square[k] < np.inf and t[k] > 0 else ""
        return f"has t = {t[k]:.6g} and t^2 - |s|^2 = {square[k]:.6g}{hint}"

    where: dict[int | None, str] = {0: "first", -1: "last"}
    rule = f"{name} must lie on the hyperboloid t^2 - |s|^2 = {1 / scale**2:.6g}, t > 0 (time {where[row.time]})"
    remedy = "For ball coordinates pass model='poincare'; for Lorentz coordinates without the time, model='lorentz-space'."
    nearest = np.abs(t).argmin()  # the row whose curvature has lost the fewest digits
    if len(rows) > 1 and 0 < square[nearest] < np.inf:
        if not off_hyperboloid(rows, row, 1 / np.sqrt(square[nearest]), slack)[1].any():
            remedy = f"All rows fit this curvature: pass curvature={-1 / square[nearest]:.6g}."
    for model, other in TIMED.items():
        if not off_hyperboloid(rows, other, scale, slack)[1].any():
            remedy = f"They do with the time {where[other.time]}: pass model={model!r}."
    _raise_for(bad, start, rule, "do not", describe, remedy)


def _slack(X: Array) -> float:
    """The tolerance of t^2 - |s|^2, relative to t^2; half precision needs more."""
    return max(HYPERBOLOID_SLACK, 8 * float(array_namespace(X).finfo(X.dtype).eps))


def off_hyperboloid(X: np.ndarray, row: Model, scale: float, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """t^2 - |s|^2 of rows of a model with a time, and which of them are off the hyperboloid by more than `slack` of t^2."""
    with np.errstate(over="ignore", invalid="ignore"):
        t, r, radius = X[:, row.time], row_norms(X[:, row.space]), 1 / scale
        unit = np.maximum(np.abs(t), radius)  # no overflow of squares
        level, square = (radius / unit) ** 2, (t - r) / unit * (t / unit + r / unit)
        off = np.abs(square - level) > slack * (t / unit) ** 2 + max(slack, HYPERBOLOID_SLACK) * level
        return (t - r) * (t + r), off | (t <= 0)


def _check_space(X: Array, coordinates: Coordinates, start: int, name: str) -> None:
    """Raise ValueError if the rows have a time after all: enough of them, where neither chance nor rounding explains it."""
    rows, scale, slack = to_numpy(X), coordinates.scale, _slack(X)
    for model, row in TIMED.items() if X.shape[1] > 1 else ():
        near = np.count_nonzero(np.abs(rows[:, row.time]) * scale < LARGEST_CERTAIN_TIME)
        # a few rows are enough to reject most arrays
        few = near >= CERTAIN_ROWS and not off_hyperboloid(rows[:CERTAIN_ROWS], row, scale, slack)[1].any()
        if few and not off_hyperboloid(rows, row, scale, slack)[1].any():
            raise ValueError(
                f"{name} must be Lorentz coordinates without the time (model={coordinates.model!r}), but rows {start} to "
                f"{start + len(rows) - 1} include it: t^2 - |s|^2 is {1 / scale**2:.6g} in all of them. Pass model={model!r}."
            )
