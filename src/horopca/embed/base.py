"""What every embedding of a graph shares."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._points.door import LARGEST_RADIUS, Door, check_count, check_door

# Hyperbolic radius up to which float64 coordinates of a model tell points apart from the boundary
REACH = {
    "poincare": 35.0,
    "klein": 17.0,
    "lorentz": LARGEST_RADIUS,
    "halfspace": LARGEST_RADIUS,
    "tangent": LARGEST_RADIUS,
}


class GraphEmbedding(BaseEstimator, ABC):
    """An embedding of the nodes of a graph: `fit` learns it, row i of `embedding_` is the node `names_[i]`."""

    n_components: int
    model: str
    curvature: float
    random_state: Any
    verbose: int
    embedding_: np.ndarray
    names_: list

    @abstractmethod
    def fit(self, graph: Any, y: Any = None) -> GraphEmbedding:
        """Learn the points of the nodes of `graph`."""

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Learn the points of the nodes of `graph` and return them, `embedding_`.

        Parameters
        ----------
        graph : networkx graph, SciPy sparse adjacency, path of an edge list, parents of the nodes
            See `horopca.embed.graphs`.
        y : ignored

        Returns
        -------
        ndarray of shape (n_nodes, n_components) (one column more for ``model="lorentz"``)
        """
        return self.fit(graph).embedding_

    def _door(self) -> Door:
        return check_door(self.model, self.curvature)

    def _dimension(self) -> int:
        return check_count("n_components", self.n_components, 2)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

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
