"""Coordinates of points: a model of hyperbolic space and its curvature, and the maps to and from the hyperboloid.

Inside the package points lie on the hyperboloid at curvature -1, in float64. Only `_input` knows models, curvatures, dtypes and
data frames.
"""

from __future__ import annotations

import numbers
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ..geometry import MODELS, ModelName, clip
from ..geometry._arrays import Array, array_namespace, dot
from ..geometry._points import Chunk
from ..geometry.models import Model
from .arguments import as_number, check_choice

ModelChoice = ModelName | Literal["auto"]  # "auto": the only model that the rows fit

FLATTEST = 1e-100  # The smallest absolute value of a curvature; the largest is its inverse.
LARGEST_RADIUS = 175.0
"""The largest distance of a point from the origin. Seen from a mean it is then at most twice as far away, and the square of a
coordinate, or the product of two, does not overflow."""
FARTHEST_IMAGE = 2 * LARGEST_RADIUS  # The largest radius of an image, which is seen from the mean.


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
        """A length at curvature -1 divided by the same length at this curvature."""
        return float(np.sqrt(-self.curvature))

    @property
    def unit(self) -> float:
        """Coordinates at curvature -1 divided by the coordinates of the same point at this curvature."""
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
        t: Any
        stretch: Any
        t, stretch = self.row.radial(dot(space, space) * self.scale**2)
        return Chunk(space, stretch * self.scale, t, start)

    def from_hyperboloid(self, x: Array, dtype: Any) -> Array:
        """Points of the hyperboloid in these coordinates, in a dtype. Raises ValueError if they are too large for it."""
        xp = array_namespace(x)
        X = self.row.from_hyperboloid(x) / self.unit
        if self.row.domain == "ball":
            X = clip(X, 4 * float(xp.finfo(dtype).eps), radius=1 / self.scale)  # what the dtype cannot tell from the boundary
        most = float(xp.finfo(dtype).max)
        if most < float(xp.finfo(X.dtype).max) and bool(xp.any(xp.abs(X) > most)):
            raise ValueError(
                f"The images have coordinates of up to {float(xp.max(xp.abs(X))):.3g}, but the largest number in {dtype} is "
                f"{most:.3g}. Pass the points as float64."
            )
        return xp.astype(X, dtype, copy=False)

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
