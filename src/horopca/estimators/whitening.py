"""Whitening: hyperbolic points as Euclidean features of zero mean and unit variance, for any estimator of scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._input.arguments import check_count
from .._input.coordinates import Coordinates, ModelChoice
from .._input.rows import Rows
from .._optimize.result import Ending
from ..geometry import from_hyperboloid, to_hyperboloid, translate
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..geometry._points import Chunk, TranslatedPoints
from ..statistics.means import principal_axes
from .base import Transformer
from .fitting import ending_after, fitted_coordinates, store_mean

ALL_COINCIDE = "X must hold different points, but all its rows are the same point: there is no variance to normalise."
CONSTANT = 1e-7  # A coordinate whose standard deviation is below this fraction of the largest is constant to rounding.


class Whitener(Transformer):
    """Whitening of coordinates relative to the Fréchet mean. Subclasses choose the coordinates."""

    _reach_of_images = np.inf

    @abstractmethod
    def _learn(self, rows: Rows) -> Ending:
        """Learn the coordinates from points, given their mean."""

    @abstractmethod
    def _coordinates(self, x: Array) -> Array:
        """Coordinates (n, K) of points x (n, d+1) relative to the mean."""

    @abstractmethod
    def _points(self, c: Array) -> Array:
        """Points (n, d+1), relative to the mean, that have the coordinates c (n, K)."""

    def _fit_rows(self, rows: Rows) -> Ending:
        ending = ending_after(store_mean(self, rows), self._learn(rows))

        def triangle(chunk: Chunk) -> np.ndarray:
            return _qr_factor(np.pad(to_numpy(self._coordinates(chunk.points())), ((0, 0), (1, 0)), constant_values=1))

        # R of the QR decomposition of (1, coordinates), updated block by block: its first row contains the mean, the rest the
        # Cholesky factor of the covariance, with the digits that forming the covariance would lose
        R = TranslatedPoints(rows, self._mean).fold(triangle, _qr_factor)
        R = np.pad(R, ((0, max(0, R.shape[1] - len(R))), (0, 0)))
        R = R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
        factor = R[1:, 1:] / np.sqrt(rows.shape[0])
        deviation = np.linalg.norm(factor, axis=0)
        flat = deviation <= max(CONSTANT * deviation.max(initial=0), 1e-13)
        if flat.all():
            raise ValueError(ALL_COINCIDE)
        if flat.any():
            raise ValueError(f"n_components must be at most {flat.argmax()} (the next one is constant), but is {len(flat)}.")
        scale = fitted_coordinates(self).scale
        self.coordinate_mean_ = R[0, 1:] / R[0, 0] / scale
        self.coordinate_scale_ = deviation / scale
        self.explained_variance_ = 2 * np.diag(factor) ** 2 / scale**2  # of pairs: twice the variance about the mean
        self._centre = R[0, 1:] / R[0, 0]
        # the inverse of the whitening matrix: it maps features to centred coordinates
        self._colour = factor if getattr(self, "decorrelate", False) else np.diag(deviation)
        self.n_components_ = self._n_features_out = len(flat)
        return ending

    def _transform_rows(self, rows: Rows) -> Any:
        rows.check()
        whiten, dtype = np.linalg.inv(self._colour), rows.X.dtype

        def features(chunk: Chunk) -> Any:
            x = chunk.points()
            centred = self._coordinates(x) - from_numpy(self._centre, x)
            return array_namespace(x).astype(centred @ from_numpy(whiten, x), dtype, copy=False)

        return TranslatedPoints(rows, self._mean).map(features)

    def _image_coordinates(self) -> Coordinates:
        return Coordinates("tangent", -1.0)  # features are vectors, of any length

    def _points_of(self, chunk: Chunk) -> Any:
        features = chunk.X
        c = features @ from_numpy(self._colour, features) + from_numpy(self._centre, features)
        return translate(self._points(c), from_numpy(self._mean, c))


@dataclass(eq=False, repr=False, kw_only=True)
class TangentWhitener(Whitener):
    """Tangent PCA whitening: logarithmic coordinates at the Fréchet mean along the principal axes, normalised [1]_.

    After a reduction in a pipeline it whitens the reduced points: ``make_pipeline(PGA(2), TangentWhitener())`` is
    whitening by principal geodesic analysis. The features have zero mean and unit variance and are uncorrelated.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of axes, in decreasing order of variance; None: the dimension of X (or the number of axes along which X
        varies, if those are fewer).
    model : str, default="poincare"
        Coordinates of the input. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data, in the estimator's model.
    components_ : ndarray of shape (n_components, n_dimensions)
        The principal axes, orthonormal vectors of the tangent space at the mean carried to the origin.
    explained_variance_ : ndarray of shape (n_components,)
        Pair variance (mean squared difference over ordered pairs) of the coordinate along each axis: twice its variance.
    n_components_ : int
        The number of axes.
    coordinate_mean_, coordinate_scale_ : ndarray of shape (n_components,)
        Mean (zero but for rounding) and standard deviation of the coordinates before they are normalised.
    n_iter_, converged_, status_
        How the search for the mean ended; everything else has a closed form.
    model_, curvature_, n_features_in_, feature_names_in_
        As in `HoroPCA`.

    See Also
    --------
    BusemannWhitener : coordinates along ideal points, which need no base point.

    References
    ----------
    .. [1] Chami, I., Gu, A., Nguyen, D., and Ré, C. (2021). HoroPCA: Hyperbolic dimensionality reduction via horospherical
       projections. Proceedings of the 38th International Conference on Machine Learning.

    Examples
    --------
    >>> from horopca import TangentWhitener
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> TangentWhitener(n_components=2).fit_transform(X).std(axis=0).round(12)
    array([1., 1.])
    """

    n_components: int | None = field(default=None, kw_only=False)
    model: ModelChoice = "poincare"
    curvature: float = -1.0

    def _learn(self, rows: Rows) -> Ending:
        d = rows.shape[1] - 1
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1, d, f" or None (the dimension of X is {d})")
        axes, variances = principal_axes(TranslatedPoints(rows, self._mean))
        varying = int(np.count_nonzero(variances > CONSTANT**2 * variances[0]))
        self.components_ = axes[: self.n_components or max(1, varying)]
        return Ending(0, True, "a closed form")

    def _coordinates(self, x: Array) -> Array:
        return from_hyperboloid(x, "tangent") @ from_numpy(self.components_.T.copy(), x)

    def _points(self, c: Array) -> Array:
        return to_hyperboloid(c @ from_numpy(self.components_, c), "tangent")


def _qr_factor(*blocks: np.ndarray) -> np.ndarray:
    """R of the QR decomposition of the blocks of rows below each other."""
    return np.asarray(np.linalg.qr(np.concatenate(blocks), mode="r"))
