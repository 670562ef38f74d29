"""HoroPCA: principal components of hyperbolic data by horospherical projections."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._input.arguments import check_count, check_generator
from .._input.coordinates import ModelChoice
from .._input.cuda import images_of_rows, usable_for
from .._input.reservoir import Reservoir
from .._input.rows import Rows, check_rows, choose_coordinates
from .._input.threads import one_blas_thread
from .._optimize.objectives import ObjectiveName
from .._optimize.result import Ending
from ..geometry import busemann, from_hyperboloid, translate
from ..geometry._arrays import Array, array_namespace, from_numpy, is_numpy, with_rows
from ..geometry._points import Chunk, TranslatedPoints
from ..projections.horospherical import unslide
from .base import AnArray, HyperbolicReduction, new_fit, restore_on_error
from .fitting import check_components, check_weights, fitted_coordinates, keeps_graph, report_end
from .horopca_fit import (
    LEAST_SEARCH_ROWS,
    ChosenRows,
    SpineName,
    check_search,
    choose_rows,
    exact_spine_images,
    learn_components,
)

RESERVOIR_ROWS = LEAST_SEARCH_ROWS  # Points of a stream that `partial_fit` keeps.


class HoroPCA(HyperbolicReduction):
    """Principal component analysis in hyperbolic space by horospherical projections.

    HoroPCA finds K directions (ideal points) such that the points, projected along the horospheres centred at these, keep as
    much as possible of their variance (the mean squared distance over pairs) or of their distances [1]_. The projection never
    lengthens a distance, unless it is stretched, and does not depend on a base point.

    Parameters
    ----------
    n_components : int, float or None, default=2
        K, the dimension of the image, from 1 to the dimension of the data. A float between 0 and 1 selects the fewest
        components that keep this fraction of the variance; None keeps all.
    spine : {"auto", "ideal", "free"}, default="auto"
        With "ideal", components are ideal points: the family of the paper and its limits. "free" also contains spines that
        no ideal points span, and preserves distances better. "auto" means "free" with a stretch, else "ideal".
    strategy : {"joint", "greedy"}, default="joint"
        "joint" optimises all components together; "greedy" optimises one after another, like PCA.
    objective : {"auto", "variance", "distortion", "frechet", "robust"}, default="auto"
        "variance" maximises the pair variance of the images, as in the paper. "distortion" minimises their average distortion.
        "frechet" maximises their variance about the mean, which the paper reports. "robust" maximises the mean of
        d² / (d² + r²), where r is the lower quartile of the distances of the points, so that outliers cannot dominate; it is
        centred at the geometric median rather than the mean. "auto" means "distortion" with a stretch, else "variance".
    stretch : bool, default=False
        Whether to learn a stretch of the image, which restores the length that dropping dimensions costs. It lowers the
        distortion, by 29 to 61 % on the data of the paper (compared with the defaults), but some distances grow (by at most
        ``stretch_bound_``). It implies ``spine="free"``, ``objective="distortion"`` and ``strategy="joint"``.
    model : str, default="poincare"
        Coordinates of the input and of the output, a key of `horopca.geometry.MODELS`, or "auto" for the only model that the
        rows fit. ``fit`` raises a ValueError if several do.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature). May be an array or tensor with one element.
    centre : "mean", "origin" or array of shape (n_features,), default="mean"
        The centre of the picture: the mean of the images (their median, with ``objective="robust"``), or the image of the
        origin or of another point, such as a root. It changes neither the projection nor any distance.
    warm_start : bool, default=False
        Whether a fit also starts from the previous solution and aligns its picture with the previous one, so that pictures of
        slowly moving points change slowly.
    n_init : "auto" or int, default="auto"
        The number of starting points: the best of eight times as many candidates. "auto" means 16, and up to 64 for fewer than
        a thousand points; 96 for up to four thousand points if the objective is the distortion or the robust one, and for up to
        512 points if it is the Fréchet variance.
    pairs : "auto", "all" or int, default="auto"
        The number of pairs per point in the last round of the search. "auto" uses all pairs of up to 2048 points, and about a
        million pairs of more points (for the distortion, up to 1024 points and a quarter of a million pairs); with more than 8
        components, fewer. More than 65536 points (fewer in more than 128 dimensions, at least 16384) are searched on a random
        sample of that size, with a quarter of a million pairs. "all" uses every pair of all points, which is slow.
    max_iter : int, default=500
        The largest number of iterations of the last round.
    tol : "auto" or float, default="auto"
        The search stops if two steps in a row improve the objective by less than this fraction. "auto" means 1e-10 if all pairs
        are used, 1e-6 if some are, and 1e-5 on a sample, whose sampling error exceeds smaller improvements.
    random_state : int, RandomState, Generator or None, default=None
        Seed for the sample of many points (see ``pairs``). With fewer points the result does not depend on it, nor on the order
        of the points.
    n_jobs : int or None, default=None
        The number of threads for arrays of more than 8 million numbers; -1 means one per core. None means as many as BLAS is
        set to use (``threadpoolctl.threadpool_limits``, ``OMP_NUM_THREADS``).
    verbose : int, default=0
        If 1, print a line to stderr after each round of the search.

    Attributes
    ----------
    ideal_points_ : ndarray of shape (n_components, n_dimensions) or None
        The principal directions as unit vectors in the space of the data (not in the frame of ``spine_``), in nested order. If
        they have merged at the optimum they coincide up to rounding; None if ``spine="free"`` found a spine that no
        ideal points span.
    spine_ : Spine
        The subspace that the projection keeps, in the frame with ``mean_`` at the origin: see `horopca.projections`.
    nested_spines_ : list of Spine
        The spines of the first 1, 2, ... components; the last is ``spine_``.
    stretch_ : float
        The factor of the stretch; 1 unless ``stretch=True``.
    stretch_bound_ : float
        The most that a distance can grow, ``2 log(stretch_)`` in the unit of the data, relative to the projection without a
        stretch.
    n_components_ : int
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data (the geometric median, with ``objective="robust"``), in the estimator's model.
    explained_variance_ : ndarray of shape (n_components,)
        What each component of the nested sequence adds to the pair variance of the images (the mean squared distance over
        ordered pairs). With ``strategy="joint"`` the sequence is the best one *inside* the final subspace: its first component
        can keep far less than the best single component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as fractions of ``total_variance_``, which sum to the fraction that is kept. (With a stretch the sum is a ratio
        of two variances, not a fraction, because a stretch increases variance.)
    total_variance_ : float
        Pair variance of the training data.
    variance_error_ : float
        Standard error of the sum of the explained variances; 0 if all pairs were used (up to 3000 points).
    n_iter_ : int
        The number of iterations of the last round.
    converged_ : bool
    status_ : str
        How the search ended, and whether another optimum is equally good.
    n_samples_seen_ : int
        The number of points of the fit, or of all batches passed to `partial_fit`.
    objective_ : str
        The objective of the fit, which `score` measures.
    model_, curvature_
        The model and the curvature of the fit, which `transform` uses.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

    See Also
    --------
    TangentPCA : PCA of the logarithms at the mean; fast, and good for points that are close together.
    PGA : projects to the nearest points of a geodesic submanifold, which shrinks distances.
    BusemannWhitener : coordinates along ideal points as features for a classifier.
    horopca.torch.HoroProjection : the same projection as a layer of a network.
    horopca.compare : compares all methods on your points.

    References
    ----------
    .. [1] Chami, I., Gu, A., Nguyen, D., and Ré, C. (2021). HoroPCA: Hyperbolic dimensionality reduction via horospherical
       projections. Proceedings of the 38th International Conference on Machine Learning.

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> pca = HoroPCA(n_components=2, random_state=0).fit(X)
    >>> pca.transform(X).shape
    (121, 2)
    >>> bool(pca.explained_variance_ratio_.sum() > 0.5)
    True
    """

    _reservoir: Reservoir  # a sample of the batches passed to partial_fit, if any

    def __init__(
        self,
        n_components: int | float | None = 2,
        *,
        spine: SpineName | Literal["auto"] = "auto",
        strategy: Literal["joint", "greedy"] = "joint",
        objective: ObjectiveName | Literal["auto"] = "auto",
        stretch: bool = False,
        model: ModelChoice = "poincare",
        curvature: float = -1.0,
        centre: Literal["mean", "origin"] | Any = "mean",
        warm_start: bool = False,
        n_init: int | Literal["auto"] = "auto",
        pairs: int | Literal["auto", "all"] = "auto",
        max_iter: int = 500,
        tol: float | Literal["auto"] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.spine = spine
        self.strategy = strategy
        self.objective = objective
        self.stretch = stretch
        self.model = model
        self.curvature = curvature
        self.centre = centre
        self.warm_start = warm_start
        self.n_init = n_init
        self.pairs = pairs
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _lengthens(self) -> bool:
        return bool(self.stretch)

    def _check_parameters(self) -> str:
        return check_search(self)[1]

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the components from points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, Dask, or a data frame.
        y : None
            Ignored; it is there for scikit-learn.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights of the points in the mean, the search and the variances. A common factor changes nothing, a
            whole number is equivalent to that many copies, and a weight of 0 leaves a point out.
            ``sklearn.utils.class_weight.compute_sample_weight("balanced", groups)`` gives all groups the same total weight.

        Returns
        -------
        self
        """
        previous = self._previous() if self.warm_start else None
        with new_fit(self, X) as rows:
            self.__dict__.pop("_reservoir", None)
            rows.weights = None if sample_weight is None else check_weights(sample_weight, rows.shape[0])
            ending = self._fit_rows(rows, previous=previous)
        report_end(self, ending)
        return self

    def _fit_components(self, rows: Rows, K: int, previous: Self | None = None) -> Ending:
        rng = check_generator(self.random_state)
        chosen = choose_rows(rows, self.pairs == "all", rng)
        self.n_samples_seen_ = rows.shape[0]
        return learn_components(self, chosen, K, np.random.default_rng(0) if chosen.rows is None else rng, previous)

    def _previous(self) -> Self | None:
        """A copy of the estimator as it is fitted now, from which the next fit starts; None if it is not fitted."""
        return copy(self) if hasattr(self, "_nested_bases") else None

    @one_blas_thread()
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more batch of a stream of points.

        The estimator keeps a uniform sample of at most 16384 of all points seen. It fits the sample again when more than the
        square root of its size has changed since the last fit, which is about the standard error. A fit takes about a second,
        so large batches are more efficient. The picture is aligned with the previous one. `fit` discards the stream. An invalid
        batch raises an error and changes nothing. Parameters that are changed between batches take effect with the next fit;
        another ``n_components`` or ``objective`` triggers it at once.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature, as many at a time as you like.
        y : None
            Ignored; it is there for scikit-learn.

        Returns
        -------
        self
        """
        with restore_on_error(self):
            ending = self._learn_more(X)
        if ending is not None:
            report_end(self, ending)
        return self

    def _learn_more(self, X: Any) -> Ending | None:
        """Add a batch to the sample, and fit again if enough of it has changed."""
        begun = hasattr(self, "_reservoir")
        coordinates = choose_coordinates(
            X, self._reservoir.model if begun and self.model == "auto" else self.model, self.curvature
        )
        if begun and (self._reservoir.model, self._reservoir.curvature) != coordinates:
            raise ValueError(
                f"model and curvature must be those of the previous batches, {self._reservoir.model!r} and "
                f"{self._reservoir.curvature:g}, but are {coordinates.model!r} and {coordinates.curvature:g}. "
                "Call fit to start again."
            )
        rows = check_rows(X, coordinates, estimator=self, reset=not begun, min_rows=1)
        objective = self._check_parameters()
        K = check_components(self.n_components, rows.shape[1] - 1, RESERVOIR_ROWS)
        if not isinstance(K, int):
            raise ValueError(f"n_components must be a whole number or None for partial_fit, but is {self.n_components!r}.")
        self.model_, self.curvature_ = coordinates
        if not begun:
            seed = int(check_generator(self.random_state).integers(2**31))
            self._reservoir = Reservoir.empty(rows.shape[1], coordinates, seed)
            for name in ("_nested_bases", "_n_features_out"):  # of an earlier fit
                self.__dict__.pop(name, None)
        new, ending = self._reservoir.after(rows, RESERVOIR_ROWS), None
        m, rng = len(new.points), np.random.default_rng(0)
        fresh = not hasattr(self, "_nested_bases") or (K, objective) != (self.n_components_, self.objective_)
        if m >= max(2, K) and (new.changed > np.sqrt(m) or fresh):
            ending = learn_components(self, ChosenRows(new.seen, new.points), K, rng, self._previous())
            self.n_components_, self._n_features_out, self.objective_ = K, coordinates.columns(K), objective
            new = new._replace(changed=0)
        self._reservoir, self.n_samples_seen_ = new, new.seen
        return ending

    # ------------------------------------------------------------ transform and inverse_transform

    @overload
    def transform(self, X: AnArray, n_components: int | None = None) -> AnArray: ...
    @overload
    def transform(self, X: Any, n_components: int | None = None) -> Any: ...
    def transform(self, X: Any, n_components: int | None = None) -> Any:
        """Project points on the learnt components, or on the first few of them.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature; NumPy, torch or another array library, or a data frame.
        n_components : int or None, default=None
            The number of nested components to project on; None means all. This is *not* the same as the first columns of the
            whole projection. If every number of components from 1 to K should be good, fit with ``strategy="greedy"``.

        Returns
        -------
        array of shape (n_samples, n_components) (one column more for a model with time)
            In the model, curvature, dtype, array library and device of X. `inverse_transform` accepts images of any number of
            components.
        """
        check_is_fitted(self)
        if n_components is None or n_components == self.n_components_:
            return super().transform(X)
        k = check_count("n_components", n_components, 1, self.n_components_, " (as many as were fitted)")
        rows, mean = check_rows(X, fitted_coordinates(self), estimator=self, graph=keeps_graph(self)), self._mean
        spine, frame = self.nested_spines_[k - 1], self._frames[k - 1]
        return self._map(rows, lambda chunk: frame.enter(exact_spine_images(chunk.points(), spine, mean)))

    def _dimensions(self) -> range:
        return range(1, self.n_components_ + 1)

    def _project(self, x: Array) -> Array:
        return self._frame.enter(exact_spine_images(x, self.spine_, self._mean))

    def _images(self, chunk: Chunk) -> Any:
        images, lost = self._slide.images(chunk)
        if not bool(array_namespace(lost).any(lost)):
            return images
        return with_rows(images, lost, self._project(chunk.points(lost)))

    def _on_device(self, rows: Rows) -> Any:
        coordinates = rows.coordinates
        if is_numpy(rows.X) or not usable_for(rows.X, coordinates.model, self.n_components_):
            return None
        images, lost, outside = images_of_rows(rows.X, coordinates.model, coordinates.scale, self._slide)
        if outside:
            rows.check()
        if lost:
            which = array_namespace(images).isnan(images[:, 0])
            images[which] = self._map(check_rows(rows.X[which], coordinates, points=False), self._images)
        return images

    def _embed(self, y: Array) -> Array:
        k = y.shape[1] - 1
        spine, frame = self.nested_spines_[k - 1], self._frames[k - 1]
        return translate(unslide(from_hyperboloid(frame.leave(y), "halfspace"), spine), from_numpy(self._mean, y))

    @overload
    def busemann(self, X: AnArray) -> AnArray: ...
    @overload
    def busemann(self, X: Any) -> Any: ...
    def busemann(self, X: Any) -> Any:
        """Busemann coordinates of points along the principal directions: Euclidean features, zero at ``mean_``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.

        Returns
        -------
        array of shape (n_samples, n_components)
            Column k is the Busemann function of ``ideal_points_[k]``, in units of length. If the ideal points have
            merged at the optimum (``spine_.kappa`` near 0), the columns coincide too. For features in as many directions as
            you like, use `BusemannWhitener`, or ``strategy="greedy"``.
        """
        check_is_fitted(self)
        rows = check_rows(X, fitted_coordinates(self), estimator=self, graph=True)
        directions = self._directions
        if directions is None:
            raise ValueError(
                "busemann needs ideal points, but no ideal points span the fitted spine (spine_.kappa < 0). Fit with "
                "spine='ideal'."
            )
        scale, dtype = rows.coordinates.scale, rows.X.dtype

        def coordinates(chunk: Chunk) -> Any:
            x = chunk.points()
            xp = array_namespace(x)
            columns = [busemann(x, from_numpy(q, x)) for q in directions]
            return xp.astype(xp.stack(columns, axis=1) / scale, dtype, copy=False)

        return TranslatedPoints(rows, self._mean).map(coordinates)
