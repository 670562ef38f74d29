"""Whitening: hyperbolic points as Euclidean features of zero mean and unit variance, for any learner."""

from __future__ import annotations

from abc import abstractmethod
from operator import and_
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._objectives.sample import as_sample
from .._points.door import Door, check_choice, check_count, check_generator
from .._points.memory import Rows
from .._points.places import check_rows
from .._points.threads import one_blas_thread
from .._search.ending import Ending
from ..geometry import (
    Chunk,
    ModelName,
    busemann,
    from_hyperboloid,
    lift,
    to_hyperboloid,
    translate,
    translate_ideal,
    translate_to_origin,
)
from ..geometry._arrays import Array, array_namespace, dot, from_numpy, to_numpy
from ..projections import Spine, spine_from_ideal_points, unslide
from ..statistics import Seen, principal_axes
from .base import FitTransform, Transformer
from .directions import search_directions
from .fitting import (
    begin_fit,
    check_climb,
    check_starts,
    ending_after,
    fitted_door,
    kept_if_refused,
    report_end,
    store_mean,
)

AUTO_STARTS = 6
SEARCH_ROWS = 1 << 13  # more points than this are searched on a random subset of so many
ONE_POINT = "X must hold points that differ, but all its rows are one point: there is no variance to normalise."
FLAT = 1e-7  # a coordinate whose deviation is below this fraction of the largest has none: rounding of a second moment


class Whitener(Transformer):
    """Coordinates of points seen from their Fréchet mean, normalised. Subclasses say which coordinates."""

    model: ModelName
    curvature: float
    fit_transform: FitTransform

    @abstractmethod
    def _learn(self, rows: Rows) -> Ending:
        """Learn the coordinates from points, given their mean."""

    @abstractmethod
    def _coordinates(self, x: Array) -> Array:
        """Coordinates (n, K) of points x (n, d+1) seen from the mean."""

    @abstractmethod
    def _points(self, c: Array) -> Array:
        """Points (n, d+1) seen from the mean that have coordinates c (n, K)."""

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the coordinates of the points X, their mean and their variance.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.
        y : ignored

        Returns
        -------
        self
        """
        with kept_if_refused(self):
            rows = begin_fit(self, X)
            mean = store_mean(self, rows)
            ending = ending_after(mean, self._learn(rows))
            self._normalise(Seen(rows, self._mean))
            self.n_components_ = self._n_features_out
        report_end(self, ending)
        return self

    def _normalise(self, moved: Seen) -> None:
        # the triangular factor of (1, coordinates), updated block by block: its first row is the mean, the rest the
        # Cholesky factor of the covariance, with none of the digits lost that forming the covariance would lose
        stack = lambda a, b: np.linalg.qr(np.concatenate([a, b]), mode="r")
        R = moved.fold(lambda chunk: _triangle(to_numpy(self._coordinates(chunk.points()))), stack)
        R = np.pad(R, ((0, max(0, R.shape[1] - len(R))), (0, 0)))
        R = R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
        K, factor = R.shape[1] - 1, R[1:, 1:] / np.sqrt(moved.shape[0])
        deviation = np.linalg.norm(factor, axis=0)
        self._refuse_flat(deviation)
        scale = fitted_door(self).scale
        self.coordinate_mean_ = R[0, 1:] / R[0, 0] / scale
        self.coordinate_scale_ = deviation / scale
        self.explained_variance_ = np.diag(factor) ** 2 / scale**2
        self._centre = R[0, 1:] / R[0, 0]
        self._colour = self._colouring(factor)
        self._n_features_out = K

    def _colouring(self, factor: np.ndarray) -> np.ndarray:
        """The matrix that turns features into centred coordinates, from the Cholesky factor of the coordinates' covariance."""
        return np.diag(np.linalg.norm(factor, axis=0))

    def _refuse_flat(self, deviation: np.ndarray) -> None:
        flat = deviation <= max(FLAT * deviation.max(initial=0), 1e-13)
        if flat.all():
            raise ValueError(ONE_POINT)
        if flat.any():
            raise ValueError(
                f"n_components must be at most {int(flat.argmax())}, since coordinate {int(flat.argmax())} of X (counted "
                f"from 0) is constant and has no variance to normalise, but is {len(flat)}."
            )

    def transform(self, X: Any) -> Any:
        """The whitened coordinates of points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, or a data frame.

        Returns
        -------
        array of shape (n_samples, n_components)
            In the dtype, array library and device of X.
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_door(self), estimator=self)
        whiten, dtype = np.linalg.inv(self._colour), rows.X.dtype

        def features(chunk: Chunk) -> Any:
            x = chunk.points()
            centred = self._coordinates(x) - from_numpy(self._centre, x)
            return array_namespace(x).astype(centred @ from_numpy(whiten, x), dtype, copy=False)

        return Seen(rows, self._mean).map(features)

    def inverse_transform(self, Y: Any) -> Any:
        """Points with given whitened coordinates.

        Parameters
        ----------
        Y : array of shape (n_samples, n_components_)
            Features as `transform` returns them.

        Returns
        -------
        array of shape (n_samples, n_features)
            Points in the estimator's model and curvature, in the dtype, array library and device of Y.
        """
        check_is_fitted(self)
        rows = check_rows(Y, Door("tangent", -1.0), name="Y", points=False)  # vectors, of any length
        if rows.X.shape[1] != self._n_features_out:
            raise ValueError(
                f"Y must have {self._n_features_out} columns, as the output of transform has, but has {rows.X.shape[1]}."
            )
        if not rows.fold(lambda chunk: bool(array_namespace(chunk.X).all(array_namespace(chunk.X).isfinite(chunk.X))), and_):
            raise ValueError("Y must be finite, but holds NaN or infinity. Drop or repair such rows.")
        door, dtype = fitted_door(self), rows.X.dtype

        def points(chunk: Chunk) -> Any:
            features = chunk.X
            c = features @ from_numpy(self._colour, features) + from_numpy(self._centre, features)
            return door.leave(translate(self._points(c), from_numpy(self._mean, c)), dtype)

        return rows.map(points)

    def _translate_first_version(self) -> None:
        """Bring what a fit of version 0.1.0 has learnt, in a file, to the names of today."""
        self.n_components_ = self._n_features_out
        if hasattr(self, "axes_"):
            self.components_ = self.__dict__.pop("axes_")


class BusemannWhitener(Whitener):
    """Busemann coordinates along principal directions, as Euclidean features of zero mean and unit variance.

    The Busemann function of an ideal point is to hyperbolic space what the dot product with a unit vector is to Euclidean
    space: the coordinate of a point in that direction. The directions are those whose coordinates have the largest
    generalised variance (determinant of their covariance), so that none repeats what others say. A curved space has more
    directions than dimensions to tell its points apart by: by default there are twice as many as dimensions, and there
    may be any number.

    The features do not change when an isometry moves the data.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of directions, at most ``n_samples - 1``. None: twice the dimension of X, one for each end of each
        axis (or as many as X has independent coordinates, if those are fewer).
    strategy : {"joint", "greedy"}, default="joint"
        "greedy": one direction after another, each with the largest variance that the ones before do not explain.
        "joint": then all of them together, from there.
    decorrelate : bool, default=False
        False: each coordinate is normalised by itself. True: the features are uncorrelated too; the k-th is what the
        first k - 1 coordinates leave unexplained of the k-th, normalised.
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        How many promising starts are climbed for each direction (eight times as many are looked at); "auto" is 6.
    max_iter : int, default=500
        Iterations of each climb.
    tol : float, default=1e-6
        A climb ends when a step improves the logarithm of the generalised variance by less than this fraction.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the starts, and the subset of more than 8192 points that is searched on.

    Attributes
    ----------
    ideal_points_ : ndarray of shape (n_components, n_dimensions)
        The directions as unit vectors, those that add most first.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data, in the estimator's model. All Busemann functions are zero there.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each coordinate that those before it do not explain.
    coordinate_mean_, coordinate_scale_ : ndarray of shape (n_components,)
        Mean and standard deviation of the coordinates before they are normalised.
    n_iter_ : int
        Iterations of all climbs that counted.
    converged_ : bool
    status_ : str
        How the search ended, in words.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    See Also
    --------
    TangentWhitener : logarithmic coordinates at the Fréchet mean.

    Examples
    --------
    >>> from horopca import BusemannWhitener
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> features = BusemannWhitener(n_components=4, random_state=0).fit_transform(X)
    >>> features.shape, bool(abs(features.std(axis=0) - 1).max() < 1e-12)
    ((121, 4), True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        strategy: Literal["joint", "greedy"] = "joint",
        decorrelate: bool = False,
        model: ModelName = "poincare",
        curvature: float = -1.0,
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.strategy = strategy
        self.decorrelate = decorrelate
        self.model = model
        self.curvature = curvature
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _colouring(self, factor: np.ndarray) -> np.ndarray:
        return factor if self.decorrelate else super()._colouring(factor)

    def _learn(self, rows: Rows) -> Ending:
        n, d = rows.shape[0], rows.shape[1] - 1
        K = self._count(n, d)
        rng = check_generator(self.random_state)
        x = translate_to_origin(rows.take(rng.permutation(n)[:SEARCH_ROWS]), self._mean)
        axes, _ = principal_axes(x)
        with one_blas_thread():
            found = search_directions(
                as_sample(lift(x[:, 1:] @ axes.T)),
                K,
                joint=self.strategy == "joint",
                n_init=check_starts(self.n_init, AUTO_STARTS),
                max_iter=self.max_iter,
                tol=self.tol,
                rng=rng,
            )
        if len(found.q) == 0:
            raise ValueError(ONE_POINT)
        if len(found.q) < K and self.n_components is not None:
            raise ValueError(
                f"n_components must be at most {len(found.q)}, the number of independent Busemann coordinates of X, but is "
                f"{K}. Pass fewer, or None."
            )
        self._directions = found.q @ axes
        self.ideal_points_ = translate_ideal(self._directions, self._mean)
        return found.ending._replace(remedy=f"Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).")

    def _count(self, n: int, d: int) -> int:
        check_choice("strategy", self.strategy, ("joint", "greedy"))
        check_starts(self.n_init, AUTO_STARTS)
        check_climb(self)
        if self.n_components is None:
            return min(2 * d, n - 1)
        return check_count("n_components", self.n_components, 1, n - 1, f" or None (X has {n} rows)")

    def _coordinates(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.stack([busemann(x, from_numpy(q, x)) for q in self._directions], axis=1)

    def _points(self, c: Array) -> Array:
        q, xp = self._directions, array_namespace(c)
        K, d = q.shape
        level = xp.exp(c)
        if K > d:  # e^c = t - s.q is linear in the point: solved, in least squares if there are more equations than unknowns
            return lift(level @ from_numpy(np.linalg.pinv(np.column_stack([np.ones(K), -q])).T[:, 1:].copy(), c))
        spine = spine_from_ideal_points(q)
        return unslide(_image_with_coordinates(level, q, spine), spine)


def _image_with_coordinates(level: Array, q: np.ndarray, spine: Spine) -> Array:
    """The image (n, K) in the upper half-space, height last, of points with t - s.q = level (n, K) along ideal points q."""
    xp, kappa, K = array_namespace(level), spine.kappa, len(q)
    solved = np.linalg.inv(np.column_stack([np.full(K, 1 / (1 + kappa)), -q @ spine.U.T]))
    kept = level @ from_numpy(solved.T.copy(), level)
    pole, across = kept[:, 0], kept[:, 1:]
    square = pole**2 - 4 * kappa * (1 + dot(across, across))
    root = xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))  # no such point: the nearest
    r = ((pole + root) / 2)[:, None]
    return xp.concat([across, xp.ones_like(r)], axis=1) / r


class TangentWhitener(Whitener):
    """Tangent PCA whitening: logarithmic coordinates at the Fréchet mean along the principal axes, normalised.

    After a reduction in a pipeline it whitens the reduced points: ``make_pipeline(PGA(2), TangentWhitener())`` is
    whitening by principal geodesic analysis. The features have zero mean and unit variance and are uncorrelated.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of axes, in falling order of variance; None: the dimension of X (or the number of axes along which X
        varies, if those are fewer).
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data, in the estimator's model.
    components_ : ndarray of shape (n_components, n_dimensions)
        The principal axes, orthonormal vectors of the tangent space at the mean carried to the origin.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the coordinate along each axis.
    coordinate_mean_, coordinate_scale_ : ndarray of shape (n_components,)
        Mean (zero but for rounding) and standard deviation of the coordinates before they are normalised.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    Examples
    --------
    >>> from horopca import TangentWhitener
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> TangentWhitener(n_components=2).fit_transform(X).std(axis=0).round(12)
    array([1., 1.])
    """

    def __init__(self, n_components: int | None = None, *, model: ModelName = "poincare", curvature: float = -1.0) -> None:
        self.n_components = n_components
        self.model = model
        self.curvature = curvature

    def _learn(self, rows: Rows) -> Ending:
        d = rows.shape[1] - 1
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1, d, f" or None (the dimension of X is {d})")
        axes, variances = principal_axes(Seen(rows, self._mean))
        varying = int(np.count_nonzero(variances > FLAT**2 * variances[0]))
        self.components_ = axes[: self.n_components or max(1, varying)]
        return Ending(0, True, "a closed form")

    def _coordinates(self, x: Array) -> Array:
        return from_hyperboloid(x, "tangent") @ from_numpy(self.components_.T.copy(), x)

    def _points(self, c: Array) -> Array:
        return to_hyperboloid(c @ from_numpy(self.components_, c), "tangent")


def _triangle(coordinates: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.column_stack([np.ones(len(coordinates)), coordinates]), mode="r"))
