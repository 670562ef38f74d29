"""The interface that all embeddings of graphs share."""

# Annotations are evaluated here: `get_type_hints` of a subclass's constructor would look for their names in its module.
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._input.arguments import check_number, check_verbose
from .._input.coordinates import LARGEST_RADIUS, Coordinates, check_coordinates
from .._optimize.result import Ending
from ..estimators.fitting import report_end
from ..geometry import MODELS, ModelName

# For each model, two largest radii at curvature -1: the one that a picture and float32 can show (1e-5 inside the boundary), and
# the one that float64 can represent without rounding to the boundary.
RADII = dict.fromkeys(MODELS, (12.0, LARGEST_RADIUS)) | {"poincare": (12.0, 34.0), "klein": (6.0, 17.0)}


@dataclass(eq=False, repr=False, kw_only=True)
class GraphEmbedding(BaseEstimator, ABC):
    """An embedding of the nodes of a graph: `fit` learns it, row i of `embedding_` is the node `names_[i]`.

    The fields of this class and its subclasses are the parameters of their constructors.
    """

    max_radius: float | Literal["auto"] | None = "auto"
    model: ModelName = "poincare"
    curvature: float = -1.0
    random_state: Any = None
    verbose: int = 0
    _radii: ClassVar[dict[str, tuple[float, float]]] = RADII  # by model, as RADII

    @abstractmethod
    def _learn(self, graph: Any, coordinates: Coordinates) -> tuple[list[Any], np.ndarray, Ending | None]:
        """Set the attributes of this embedding. Returns the names (n), the points (n, d+1) and how the search ended."""

    def fit(self, graph: Any, y: Any = None) -> Self:
        """Embed the nodes of `graph`.

        Parameters
        ----------
        graph : path, networkx graph, sparse or square matrix, pairs (child, parent), list of parents, mapping
            The graph in any of these forms; docs/embedding.md describes each.
        y : None
            Ignored, present for API consistency with scikit-learn.

        Returns
        -------
        self
        """
        coordinates = check_coordinates(self.model, self.curvature)
        check_verbose(self.verbose)
        self.names_, x, ending = self._learn(graph, coordinates)
        self.embedding_, self._coordinates = np.asarray(coordinates.from_hyperboloid(x, x.dtype)), coordinates
        if ending is not None:
            report_end(self, ending)
        return self

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Embed the nodes of `graph` and return `embedding_`."""
        return self.fit(graph).embedding_

    def _largest_radius(self) -> float:
        """The largest radius of a point, at curvature -1."""
        shown, representable = self._radii[self.model]
        if self.max_radius == "auto":
            return shown
        if self.max_radius is None:
            return representable
        radius = check_number("max_radius", self.max_radius, "'auto', None or a positive number", above=0)
        if radius > representable:
            raise ValueError(
                f"max_radius must be at most {representable:g} for {type(self).__name__} and the model {self.model!r}, "
                f"because of rounding in float64, but is {radius:g}. max_radius=None selects the largest possible radius."
            )
        return radius


def check_scale(scale: Any, coordinates: Coordinates) -> float | None:
    """Validate the parameter `scale`. Returns it at curvature -1; None for "auto"."""
    if scale == "auto":
        return None
    return coordinates.scale * check_number("scale", scale, "'auto' or a positive number", above=0)


def rounded(x: np.ndarray, coordinates: Coordinates) -> np.ndarray:
    """Points x (n, d+1) after conversion to the user's coordinates and back, which rounds them."""
    return coordinates.to_hyperboloid(coordinates.from_hyperboloid(x, x.dtype))
