"""What every embedding of a graph shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._input.arguments import check_count, check_number
from .._input.coordinates import LARGEST_RADIUS, Coordinates, check_coordinates
from .._search.ending import Ending
from ..estimators.fitting import report_end, tell
from ..geometry import MODELS, ModelName


class Reach(NamedTuple):
    """Radii, at curvature -1, up to which the coordinates of a model show points."""

    shown: float  # in a picture and in float32: 1e-5 inside the boundary
    held: float  # in float64, apart from the boundary


REACH = dict.fromkeys(MODELS, Reach(12.0, LARGEST_RADIUS)) | {"poincare": Reach(12.0, 34.0), "klein": Reach(6.0, 17.0)}


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
    def _learn(self, graph: Any, coordinates: Coordinates, d: int) -> Ending | None:
        """Find points of H^d for the nodes of a graph, and keep them in the user's coordinates; how the search ended."""

    def fit(self, graph: Any, y: Any = None) -> Self:
        """Find the points of the nodes of `graph`.

        Parameters
        ----------
        graph : file, networkx graph, tree object, pairs, data frame, mapping, matrix of lengths or of distances, parents
            The graph, in any of these forms; docs/embedding.md says more of each.
        y : ignored

        Returns
        -------
        self
        """
        ending = self._learn(
            graph, check_coordinates(self.model, self.curvature), check_count("n_components", self.n_components, 2)
        )
        if ending is not None:
            report_end(self, ending)
        return self

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Find the points of the nodes of `graph`, as `fit` does, and return them: `embedding_`."""
        return self.fit(graph).embedding_

    def _far(self, coordinates: Coordinates) -> float:
        """The largest radius that points may have, at curvature -1."""
        reach = REACH[coordinates.model]
        if self.max_radius == "auto":
            return reach.shown
        if self.max_radius is None:
            return reach.held
        far = check_number("max_radius", self.max_radius, "'auto', None or a positive number", above=0)
        if far > reach.held:
            raise ValueError(
                f"max_radius must be at most {reach.held:g} for the model {coordinates.model!r}, beyond which float64 does "
                f"not tell points from the boundary, but is {far:g}. max_radius=None means as far as the model holds."
            )
        return far

    def _scale(self, coordinates: Coordinates) -> float | None:
        """The scale that was asked for, at curvature -1; None: the best."""
        if self.scale == "auto":
            return None
        return coordinates.scale * check_number("scale", self.scale, "'auto' or a positive number", above=0)

    def _say(self, text: str) -> None:
        tell(self, text)


def through(x: np.ndarray, coordinates: Coordinates) -> tuple[np.ndarray, np.ndarray]:
    """Points x (n, d+1) in the user's coordinates, and converted back: what rounding in the model leaves of them."""
    X = coordinates.from_hyperboloid(x, x.dtype)
    return X, coordinates.to_hyperboloid(X)
