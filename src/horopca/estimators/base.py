"""What every reduction shares: the door, the projection of new points, the canonical frame of the image."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._points.door import Door, check_door
from .._points.memory import Rows
from .._points.places import check_rows
from ..geometry import Chunk
from ..geometry._arrays import Array


class HyperbolicReduction(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A map from H^d to H^K learnt from points. Subclasses say how points of the hyperboloid go there and back."""

    model: str
    curvature: float

    @abstractmethod
    def _project(self, x: Array) -> Array:
        """Images (n, K+1) on the hyperboloid of H^K, in the canonical frame, of points x (n, d+1)."""

    @abstractmethod
    def _embed(self, y: Array) -> Array:
        """Points (n, d+1) of H^d that stand for the images y (n, K+1)."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_n_features_out")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _door(self) -> Door:
        return check_door(self.model, self.curvature)

    def transform(self, X: Any) -> Any:
        """Project points on the learnt components.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, or a data frame.

        Returns
        -------
        array of shape (n_samples, n_components) (one column more for ``model="lorentz"``)
            In the model, curvature, dtype, array library and device of X.
        """
        check_is_fitted(self)
        rows = check_rows(X, self._door(), estimator=self, points=False)
        images = self._on_device(rows)
        if images is None:
            rows.check()
            images = self._map(rows, self._images)
        return images

    def inverse_transform(self, Y: Any) -> Any:
        """Carry points of the image back on the submanifold of H^d that they stand for.

        Parameters
        ----------
        Y : array of shape (n_samples, n_components) (one column more for ``model="lorentz"``)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        rows = check_rows(Y, self._door(), name="Y")
        if rows.X.shape[1] != self._n_features_out:
            raise ValueError(
                f"Y must have {self._n_features_out} columns, as the output of transform has, but has {rows.X.shape[1]}."
            )
        return self._map(rows, lambda chunk: self._embed(chunk.points()))

    def _on_device(self, rows: Rows) -> Array | None:
        """What `transform` returns, by a kernel of `_points.cuda`; None where there is none for such a map."""
        return None

    def _images(self, chunk: Chunk) -> Array:
        """Images (n, K+1) of a chunk of points."""
        return self._project(chunk.points())

    def _map(self, rows: Rows, function: Callable[[Chunk], Array]) -> Any:
        door, dtype = rows.door, rows.X.dtype
        return rows.map(lambda chunk: door.leave(function(chunk), dtype))
