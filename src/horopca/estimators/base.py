"""What every reduction shares: the door, the projection of new points, the canonical frame of the image."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._validation import Door, Rows, check_door, check_rows
from ..geometry import lift, translate, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..statistics import frechet_mean, principal_axes, row_blocks


class Frame(NamedTuple):
    """A place to stand in H^K: a mean (K+1,) that becomes the origin and axes (K, K) that become the axes."""

    mean: np.ndarray
    axes: np.ndarray

    def enter(self, y: Array) -> Array:
        """Points (n, K+1) as seen from the frame."""
        moved = translate_to_origin(y, from_numpy(self.mean, y))
        return lift(moved[:, 1:] @ from_numpy(self.axes.T.copy(), y))

    def leave(self, y: Array) -> Array:
        """The points that the frame sees as y."""
        return translate(lift(y[:, 1:] @ from_numpy(self.axes, y)), from_numpy(self.mean, y))


class Images:
    """The images of the rows of a user's array under a map of points, a block at a time."""

    def __init__(self, rows: Any, function: Callable[[Array], Array]) -> None:
        self.rows, self.function = rows, function
        self.shape = (rows.shape[0], next(self.blocks()).shape[1])

    def blocks(self) -> Iterator[Array]:
        return (self.function(block) for block in row_blocks(self.rows))


def frame_of(y: Any, start: np.ndarray | None = None) -> Frame:
    """The canonical frame of points y (n, K+1): mean at the origin, axes in falling order of variance, signs fixed."""
    mean = to_numpy(frechet_mean(y, start=start).point)
    axes, _ = principal_axes(Images(y, lambda block: translate_to_origin(block, from_numpy(mean, block))))
    return Frame(mean, axes)


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
        return self._map(check_rows(X, self._door(), estimator=self), self._project)

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
        return self._map(rows, self._embed)

    def _map(self, rows: Rows, function: Any) -> Any:
        door, dtype = rows.door, rows.X.dtype
        blocks = [door.leave(function(block), dtype) for block in rows.blocks()]
        return array_namespace(rows.X).concat(blocks, axis=0)
