"""What every reduction shares: the coordinates, the projection of new points, the canonical frame of the image."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._input.coordinates import FARTHEST_IMAGE
from .._input.rows import Rows
from .._input.threads import one_blas_thread
from .._input.validation import ModelChoice, check_rows
from .._search.ending import Ending
from ..geometry._arrays import Array
from ..geometry._points import Chunk
from .fitting import (
    as_fitted,
    begin_fit,
    check_components,
    fewest_components,
    fitted_coordinates,
    keeps_graph,
    kept_if_refused,
    report_end,
)
from .scores import score_of


class FitTransform(Protocol):
    """`fit` and `transform` in one: as scikit-learn's, with types."""

    @overload
    def __call__(self, X: Array, y: Any = None) -> Array: ...
    @overload
    def __call__(self, X: Any, y: Any = None) -> Any: ...


class Parametrised(BaseEstimator):
    """An estimator that is copied, cloned and pickled also where its parameters are computed by a network.

    Such a tensor, as of ``curvature=-c.exp()`` or ``centre=points[0]``, is kept as it is; copies have its numbers alone,
    because torch does not copy one with the graph that it was computed by.
    """

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value if getattr(value, "grad_fn", None) is None else value.detach() for name, value in state.items()}

    def __sklearn_clone__(self) -> Any:
        return super(Parametrised, copy.copy(self)).__sklearn_clone__()


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Parametrised, ABC):
    """A transformer whose columns have its name, and which takes float32 to float32."""

    def _as_chosen(self) -> Any:
        """The fit without what chose its parameters: what is kept in a file, and fitted again."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class HyperbolicReduction(Transformer):
    """A map from H^d to H^K learnt from points. Subclasses say how it is learnt, and how points go there and back.

    What is learnt has one set of names. ``components_`` are unit directions (n_components_, n_dimensions) at a point of the
    space, carried to the origin along a geodesic; components that are something else say what (``ideal_points_``,
    ``reference_points_``). ``n_components_`` is how many there are. ``explained_variance_`` is what each component adds to
    the pair variance (mean squared distance over ordered pairs) of the images (of at most 16384 points; of more than 3000, over
    half a million pairs), ``explained_variance_ratio_`` the same as fractions of ``total_variance_``, that of the points: as in
    scikit-learn, their sums are what is kept. (A map that may lengthen distances can keep more than there was, and a component
    then add less than nothing.) ``objective_`` is what the fit was for, and `score` measures.
    """

    n_components: Any  # int, float in (0, 1) or None
    model: ModelChoice
    curvature: float
    objective: str = "variance"  # what a fit is for, where that is no choice of the user's
    explained_variance_ratio_: np.ndarray
    n_components_: int
    fit_transform: FitTransform

    def _fit_components(self, rows: Rows, K: int) -> Ending:
        """Learn K components from points."""
        raise NotImplementedError

    @abstractmethod
    def _project(self, x: Array) -> Array:
        """Images (n, K+1) on the hyperboloid of H^K, in the canonical frame, of points x (n, d+1)."""

    @abstractmethod
    def _embed(self, y: Array) -> Array:
        """Points (n, d+1) of H^d that stand for the images y (n, K+1)."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_n_features_out")

    def _lengthens(self) -> bool:
        """Whether images can be farther apart than their points, so that the variance they keep is no share."""
        return False

    def _check_parameters(self) -> None:
        """Refuse options of the method that make no sense."""

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the components from points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, Dask, or a data frame.
        y : ignored

        Returns
        -------
        self
        """
        with kept_if_refused(self):
            ending = self._learn_rows(begin_fit(self, X))
        report_end(self, ending)
        return self

    def _learn_rows(self, rows: Rows) -> Ending:
        """Learn as many components as are asked for."""
        self._check_parameters()
        n, d = rows.shape[0], rows.shape[1] - 1
        asked = check_components(self.n_components, d, n)
        if self._lengthens() and isinstance(asked, float):
            raise ValueError(
                f"n_components must be a whole number or None where distances may grow, but is {self.n_components!r}: variance "
                "is made there too, so that what is kept is no share of it."
            )
        endings = []

        def learn(K: int) -> float:
            endings.append(self._fit_components(rows, K))
            return float(self.explained_variance_ratio_.sum())

        if isinstance(asked, int):
            endings.append(self._fit_components(rows, asked))
        else:
            asked = fewest_components(learn, min(d, n), asked)
        self.n_components_, self.objective_ = asked, self.objective
        self._n_features_out = rows.coordinates.columns(asked)
        return endings[-1]

    def transform(self, X: Any) -> Any:
        """Project points on the learnt components.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, or a data frame.

        Returns
        -------
        array of shape (n_samples, n_components) (one column more for a model with time)
            In the model, curvature, dtype, array library and device of X.
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self, points=False, graph=keeps_graph(self))
        images = self._on_device(rows)
        if images is None:
            rows.check()
            images = self._map(rows, self._images)
        return images

    def inverse_transform(self, Y: Any) -> Any:
        """Carry points of the image back on the submanifold of H^d that they stand for.

        Parameters
        ----------
        Y : array of shape (n_samples, n_components) (one column more for a model with time)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = check_rows(Y, fitted_coordinates(self), name="Y", reach=FARTHEST_IMAGE, graph=True)
        held = self._dimensions()
        if rows.shape[1] - 1 not in held:
            few, most = (rows.coordinates.columns(k) for k in (held[0], held[-1]))
            raise ValueError(
                f"Y must have {most if few == most else f'{few} to {most}'} columns, as the output of transform has, but has "
                f"{rows.X.shape[1]}."
            )
        return self._map(rows, lambda chunk: self._embed(chunk.points()))

    def _dimensions(self) -> range:
        """The dimensions of the images that `_embed` takes back."""
        return range(self.n_components_, self.n_components_ + 1)

    def score(self, X: Any, y: Any = None) -> float:
        """How well the images stand for points X, by what the fit was for, larger being better.

        ``objective_`` says what that was. "variance": the pair variance of the images, which on the points of the fit is
        the sum of ``explained_variance_``. "frechet": their variance about their mean. "distortion": minus their average
        distortion. "robust": the mean of d² / (d² + r²) over pairs of images, r the lower quartile of the distances of X.
        "residual": minus the mean squared distance between the points and `inverse_transform` of the images.
        Above 3000 points, over a fixed sample of them. Scores of one objective can be compared, whatever the estimators.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            At least two points, in the estimator's model and curvature.
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self, min_rows=2)
        return score_of(rows, as_fitted(self, "objective"), self._project, self._embed)

    def _translate_first_version(self) -> None:
        """Bring what a fit of version 0.1.0 has learnt, in a file, to the names and meanings of today."""
        self.n_components_ = self.n_components
        for name in ("explained_variance_", "explained_variance_ratio_"):  # were what the first k keep together
            if hasattr(self, name):
                setattr(self, name, np.diff(getattr(self, name), prepend=0.0))

    def _on_device(self, rows: Rows) -> Any:
        """What `transform` returns, by a kernel of `_input.cuda`; None where there is none for such a map."""
        return None

    def _images(self, chunk: Chunk) -> Any:
        """Images (n, K+1) of a chunk of points."""
        return self._project(chunk.points())

    def _map(self, rows: Rows, function: Callable[[Chunk], Any]) -> Any:
        coordinates, dtype = rows.coordinates, rows.X.dtype
        return rows.map(lambda chunk: coordinates.from_hyperboloid(function(chunk), dtype))


def check_reduction(model: Any) -> None:
    """Refuse what is no fitted reduction, in a sentence."""
    if not isinstance(model, HyperbolicReduction):
        raise ValueError(f"model must be a reduction of this package, such as HoroPCA, but is {model!r:.60}.")
    check_is_fitted(model)
