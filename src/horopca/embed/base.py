"""What every embedding of a graph shares."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .._points.door import LARGEST_RADIUS, Door, check_count, check_door
from ..geometry import ModelName


class Reach(NamedTuple):
    """Radii, at curvature -1, up to which the coordinates of a model show points."""

    shown: float  # in a picture and in float32: 1e-5 inside the boundary
    held: float  # in float64, apart from the boundary


REACH = {
    "poincare": Reach(12.0, 34.0),
    "klein": Reach(6.0, 17.0),
    "lorentz": Reach(12.0, LARGEST_RADIUS),
    "lorentz-space": Reach(12.0, LARGEST_RADIUS),
    "lorentz-time-last": Reach(12.0, LARGEST_RADIUS),
    "halfspace": Reach(12.0, LARGEST_RADIUS),
    "tangent": Reach(12.0, LARGEST_RADIUS),
}


class GraphEmbedding(BaseEstimator, ABC):
    """An embedding of the nodes of a graph: `fit` learns it, row i of `embedding_` is the node `names_[i]`."""

    n_components: int
    scale: float | Literal["auto"]
    max_radius: float | Literal["auto"] | None
    model: ModelName
    curvature: float
    random_state: Any
    verbose: int
    embedding_: np.ndarray
    names_: list[Any]

    @abstractmethod
    def fit(self, graph: Any, y: Any = None) -> GraphEmbedding:
        """Learn the points of the nodes of `graph`."""

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Learn the points of the nodes of `graph` and return them, `embedding_`.

        Parameters
        ----------
        graph : file, networkx graph, tree object, pairs, data frame, mapping, matrix of lengths or of distances, parents
            The graph, in any of these forms; docs/embedding.md says more of each.
        y : ignored

        Returns
        -------
        ndarray of shape (n_nodes, n_components) (one column more for a model with time)
        """
        return self.fit(graph).embedding_

    def _door(self) -> Door:
        return check_door(self.model, self.curvature)

    def _dimension(self) -> int:
        return check_count("n_components", self.n_components, 2)

    def _far(self, door: Door) -> float:
        """The largest radius that points may have, at curvature -1."""
        reach = REACH[door.model]
        if self.max_radius == "auto":
            return reach.shown
        if self.max_radius is None:
            return reach.held
        far = check_positive("max_radius", self.max_radius, "'auto', None or ")
        if far > reach.held:
            raise ValueError(
                f"max_radius must be at most {reach.held:g} for the model {door.model!r}, beyond which float64 does not tell "
                f"points from the boundary, but is {far:g}. max_radius=None means as far as the model holds."
            )
        return far

    def _scale(self, door: Door) -> float | None:
        """The scale that was asked for, at curvature -1; None: the best."""
        return None if self.scale == "auto" else check_positive("scale", self.scale, "'auto' or ") * door.scale

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", file=sys.stderr)


def check_positive(name: str, value: Any, instead: str = "") -> float:
    """A positive number, or a sentence, which may name what could be given `instead`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be {instead}a positive number, but is {value!r}.")
    return float(value)


def through(x: np.ndarray, door: Door) -> tuple[np.ndarray, np.ndarray]:
    """Points x (n, d+1) as they leave by the door, and as they come back: what rounding in the model leaves of them."""
    X = door.leave(x, x.dtype)
    return X, door.enter(X)
