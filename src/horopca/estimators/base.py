"""Base classes: what all estimators, all transformers and all reductions share."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._input.coordinates import FARTHEST_IMAGE, LARGEST_RADIUS, Coordinates, ModelChoice, check_coordinates
from .._input.rows import Rows, check_rows, choose_coordinates
from .._input.threads import one_blas_thread
from .._optimize.result import Ending
from ..geometry._arrays import Array
from ..geometry._points import Chunk
from .fitting import (
    as_fitted,
    check_components,
    fewest_components,
    fitted_coordinates,
    keeps_graph,
    report_end,
)
from .scores import score_of

# Private attributes that a fit sets only with some options, so that a refit must delete them. Every fit sets the others.
OPTIONAL_STATE = ("_centre", "_mean", "_reach", "_weights")


@contextmanager
def new_fit(estimator: Any, X: Any, *, min_rows: int = 2, reach: float = LARGEST_RADIUS, points: bool = True) -> Iterator[Rows]:
    """Delete the fitted attributes, validate X and yield its rows; restore the attributes if the fit fails or is interrupted.

    Stores the model and the curvature, which `transform` uses, as ``model_`` and ``curvature_``. If X does not hold `points`
    (but distances, for example), these are the model and the curvature of the images.
    """
    with restore_on_error(estimator):
        for name in list(vars(estimator)):
            if name in OPTIONAL_STATE or (name.endswith("_") and not name.startswith("_")):
                delattr(estimator, name)
        model, curvature = estimator.model, estimator.curvature
        coordinates = choose_coordinates(X, model, curvature) if points else check_coordinates(model, curvature)
        how: Any = {"min_rows": min_rows, "reach": reach, "points": points, "finite": not points}
        rows = check_rows(X, coordinates, estimator=estimator, reset=True, **how)
        estimator.model_, estimator.curvature_ = coordinates
        yield rows


@contextmanager
def restore_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Restore all attributes if the fit fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class OnDevice(Protocol):
    """An array of NumPy, torch or another library: unlike a data frame or a list, it has a device."""

    @property
    def device(self) -> Any: ...


AnArray = TypeVar("AnArray", bound=OnDevice)


class HyperbolicEstimator(BaseEstimator):
    """An estimator whose parameters may be tensors with a graph, such as ``curvature=-c.exp()``.

    The estimator keeps such a tensor; copies, clones and pickles get its value, because torch cannot copy the graph.
    """

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value if getattr(value, "grad_fn", None) is None else value.detach() for name, value in state.items()}

    def __sklearn_clone__(self) -> Any:
        return super(HyperbolicEstimator, copy.copy(self)).__sklearn_clone__()


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HyperbolicEstimator, ABC):
    """A transformer that keeps float32 and names its output columns after its class."""

    model: ModelChoice
    curvature: float
    n_components_: int
    _reach_of_images = FARTHEST_IMAGE

    if TYPE_CHECKING:  # arrays are returned as arrays of the same library

        @overload
        def fit_transform(self, X: AnArray, y: Any = None) -> AnArray: ...
        @overload
        def fit_transform(self, X: Any, y: Any = None) -> Any: ...
        def fit_transform(self, X: Any, y: Any = None) -> Any: ...

    @abstractmethod
    def _fit_rows(self, rows: Rows) -> Ending:
        """Learn from validated points; return how the fit ended."""

    @abstractmethod
    def _transform_rows(self, rows: Rows) -> Any:
        """The output of `transform` for rows of the right shape, whose points are yet to be checked."""

    @abstractmethod
    def _points_of(self, chunk: Chunk) -> Any:
        """Points (n, d+1) of H^d for a chunk of images."""

    def _takes_points(self) -> bool:
        """Whether the rows of X are points."""
        return True

    def _image_coordinates(self) -> Coordinates:
        """The model and curvature of the images."""
        return fitted_coordinates(self)

    def _dimensions(self) -> range:
        """Dimensions of the images that `inverse_transform` accepts."""
        return range(self.n_components_, self.n_components_ + 1)

    def _as_chosen(self) -> Any:
        """The estimator to save or to fit again: itself, or one with the parameters that its fit has chosen."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map from points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, Dask, or a data frame.
        y : None
            Ignored; it is there for scikit-learn.

        Returns
        -------
        self
        """
        with new_fit(self, X, points=self._takes_points()) as rows:
            ending = self._fit_rows(rows)
        report_end(self, ending)
        return self

    @overload
    def transform(self, X: AnArray) -> AnArray: ...
    @overload
    def transform(self, X: Any) -> Any: ...
    def transform(self, X: Any) -> Any:
        """Transform points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, or a data frame.

        Returns
        -------
        array of shape (n_samples, n_components)
            In the dtype, array library and device of X. Points of a reduction are in the model and curvature of X, with one
            column more for a model with time.
        """
        check_is_fitted(self)
        finite, graph = not self._takes_points(), keeps_graph(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self, points=False, finite=finite, graph=graph)
        return self._transform_rows(rows)

    @overload
    def inverse_transform(self, Y: AnArray) -> AnArray: ...
    @overload
    def inverse_transform(self, Y: Any) -> Any: ...
    def inverse_transform(self, Y: Any) -> Any:
        """Map images back to points.

        Parameters
        ----------
        Y : array of shape (n_samples, n_components) (one column more for a model with time)
            Images, as `transform` returns them.

        Returns
        -------
        array of shape (n_samples, n_features)
            Points with these images, in the estimator's model and curvature, and in the dtype, array library and device of Y.
            Of a reduction, they are points of the submanifold on which it projects.
        """
        check_is_fitted(self)
        coordinates, dimensions = self._image_coordinates(), self._dimensions()
        rows = check_rows(Y, coordinates, name="Y", reach=self._reach_of_images, graph=True)
        if rows.shape[1] - 1 not in dimensions:
            few, most = (coordinates.columns(k) for k in (dimensions[0], dimensions[-1]))
            raise ValueError(
                f"Y must have {most if few == most else f'{few} to {most}'} columns, as the output of transform has, but has "
                f"{rows.X.shape[1]}."
            )
        return self._map(rows, self._points_of)

    def _map(self, rows: Rows, function: Callable[[Chunk], Any]) -> Any:
        """The points function(chunk) of all chunks in the model and curvature of the fit, in the dtype of the rows."""
        coordinates, dtype = fitted_coordinates(self), rows.X.dtype
        return rows.map(lambda chunk: coordinates.from_hyperboloid(function(chunk), dtype))


class HyperbolicReduction(Transformer):
    """A map from H^d to H^K learnt from points. Subclasses implement the fit, and the map in both directions.

    All reductions use the same names. ``components_`` are unit directions (n_components_, n_dimensions) at a point of the
    space, carried to the origin along a geodesic; other kinds of components have names of their own (``ideal_points_``,
    ``reference_points_``). ``explained_variance_`` is what each component adds to the pair variance (mean squared distance over
    ordered pairs) of the images, and ``explained_variance_ratio_`` the same divided by the ``total_variance_`` of the points.
    They are measured on a sample of large data, and above 3000 points on a quarter of a million pairs. A map that may lengthen
    distances can have ratios that sum to more than 1, or that are negative. ``objective_`` is what the fit optimises, and
    `score` measures.
    """

    n_components: Any  # int, float in (0, 1) or None
    objective: str = "variance"  # for methods without a choice
    explained_variance_ratio_: np.ndarray
    _fit_components: Callable[..., Ending]  # (rows, K): learn K components; further options are those that `fit` passes on

    @abstractmethod
    def _project(self, x: Array) -> Array:
        """Images (n, K+1) on the hyperboloid of H^K, in the canonical frame, of points x (n, d+1)."""

    @abstractmethod
    def _embed(self, y: Array) -> Array:
        """Points (n, d+1) of H^d for the images y (n, K+1)."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_n_features_out")

    def _lengthens(self) -> bool:
        """Whether the map can increase distances, so that a fraction of the variance is not defined."""
        return False

    def _check_parameters(self) -> str:
        """Validate the options of the method, and return what the fit optimises."""
        return self.objective

    def _fit_rows(self, rows: Rows, **options: Any) -> Ending:
        """Learn the components, and their number if n_components is a fraction; `options` are for `_fit_components`."""
        objective = self._check_parameters()
        n, d = rows.shape[0], rows.shape[1] - 1
        K = check_components(self.n_components, d, n)
        if isinstance(K, int):
            ending = self._fit_components(rows, K, **options)
        elif self._lengthens():
            raise ValueError(
                f"n_components must be a whole number or None, but is {self.n_components!r}. This map can increase variance, "
                "so a fraction is not defined."
            )
        else:
            K, ending = fewest_components(self, rows, K)
        self.n_components_, self.objective_ = K, objective
        self._n_features_out = rows.coordinates.columns(K)
        return ending

    def _transform_rows(self, rows: Rows) -> Any:
        images = self._on_device(rows)
        if images is None:
            rows.check()
            images = self._map(rows, self._images)
        return images

    def _points_of(self, chunk: Chunk) -> Any:
        return self._embed(chunk.points())

    def score(self, X: Any, y: Any = None) -> float:
        """The value of the objective of the fit on points X; larger is better.

        It depends on ``objective_``. "variance": the pair variance of the images, on the training points the sum of
        ``explained_variance_``. "frechet": their variance about their mean. "distortion": minus their average distortion.
        "robust": the mean of d² / (d² + r²) over pairs of images, r the lower quartile of the distances of X. "residual":
        minus the mean squared distance between the points and `inverse_transform` of the images. Above 3000 points it is
        measured on a fixed sample. Scores of different estimators with the same objective can be compared.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            At least two points, in the estimator's model and curvature.
        y : None
            Ignored; it is there for scikit-learn.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self, min_rows=2)
        return score_of(rows, as_fitted(self, "objective"), self._project, self._embed)

    def _on_device(self, rows: Rows) -> Any:
        """The output of `transform` computed by a CUDA kernel, or None if the method has no kernel."""
        return None

    def _images(self, chunk: Chunk) -> Any:
        """Images (n, K+1) of a chunk of points."""
        return self._project(chunk.points())


def check_reduction(model: Any) -> None:
    """Raise ValueError if `model` is not a reduction, and NotFittedError if it is not fitted."""
    if not isinstance(model, HyperbolicReduction):
        raise ValueError(f"model must be a reduction of this package, such as HoroPCA, but is {model!r:.60}.")
    check_is_fitted(model)
