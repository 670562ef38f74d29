"""HoroPCA: principal components of hyperbolic data by horospherical projections."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._objectives.objectives import as_sample
from .._objectives.pairs import AllPairs, some_offsets
from .._objectives.variances import EXACT_ROWS, REPORTED_PAIRS, measured_variances, slid
from .._objectives.whole import Whole
from .._points.cuda import images_of_rows, usable_for
from .._points.door import check_choice, check_count
from .._points.means import mean_of_many
from .._points.memory import Rows
from .._points.places import check_rows
from .._points.stream import Reservoir
from .._points.threads import one_blas_thread
from .._search.spines import OBJECTIVES, Flag, Plan, search_greedy, search_joint
from ..geometry import (
    Chunk,
    Frame,
    between,
    boost_to_origin,
    busemann,
    from_hyperboloid,
    to_hyperboloid,
    translate,
    translate_ideal,
    translate_ideal_to_origin,
    translate_to_origin,
)
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy, with_rows
from ..projections.spines import Slide, Spine, nested_ideal_points, slide, spine_from_basis, unslide
from ..statistics import (
    Seen,
    average_distortion,
    frame_of,
    frechet_mean,
    pair_variance,
    principal_axes,
    sampled_pair_variance,
)
from .base import HyperbolicReduction
from .fitting import in_model, store_variances, teller

STRATEGIES = {"joint": search_joint, "greedy": search_greedy}
SPINES = ("ideal", "free")

MEAN_ROWS = AXES_ROWS = 1 << 12  # points of a sample at whose mean, and in whose principal axes, the search stands
SEARCH_ROWS = 1 << 14  # more points than this are searched on a random subset of so many
PAIRS = 1 << 20  # pairs per evaluation in the last climb,
SAMPLE_PAIRS = 1 << 17  # and if its answer is corrected afterwards
FIDELITY_SHIFTS = 128  # pairs per point of the distortion objective, whose distances are kept
AUTO_STARTS = 24


class Answer(NamedTuple):
    """What a search found: bases (k, d+1), k = 1 .. K, of nested spines, as seen from a frame."""

    frame: Frame
    bases: list[np.ndarray]


class HoroPCA(HyperbolicReduction):
    """Principal component analysis in hyperbolic space by horospherical projections.

    Finds K directions (ideal points) such that the points, projected along the horospheres centred at these, keep as much
    as possible of their variance (mean squared distance over pairs) or of their distances. The projection
    lengthens no distance and does not depend on any base point.

    Parameters
    ----------
    n_components : int, default=2
        K, the dimension of the image, from 1 to the dimension of the data.
    spine : {"ideal", "free"}, default="ideal"
        "ideal": components are ideal points, the family of the paper (and its limits). "free": also
        the projections whose pole lies beyond infinity; contains the former and preserves distances better.
    strategy : {"joint", "greedy"}, default="joint"
        "joint": optimise all components together. "greedy": one after another, each given those before, like PCA.
    objective : {"variance", "distortion"}, default="variance"
        "variance": maximise the pair variance of the projections. "distortion": minimise their average distortion.
    model : {"poincare", "lorentz", "klein", "halfspace", "tangent"}, default="poincare"
        The coordinates of the input, and of the output. "tangent": tangent vectors at the origin.
    curvature : float, default=-1.0
        Negative; the ball has radius 1/sqrt(-curvature).
    n_init : "auto" or int, default="auto"
        How many promising starts are climbed (eight times as many are looked at); "auto" is 24.
    pairs : "auto", "all" or int, default="auto"
        Pairs per point in the last climb; "auto" takes all pairs of up to 2048 points and about a million of more. More than
        16384 points are searched on a random sample of so many, and the answer is corrected by a pass over all of
        them; with "all" a last climb counts every pair of them, which takes a GPU or patience.
    max_iter : int, default=500
        Iterations of the last climb.
    tol : float, default=1e-10
        A climb ends when a step improves the objective by less than this fraction.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of the points and the starts.
    n_jobs : int or None, default=None
        Threads for more than a few thousand points; -1: one per core. None: as many as the library of linear algebra
        is set to use (``threadpoolctl.threadpool_limits``, ``OMP_NUM_THREADS``).
    verbose : int, default=0
        1: a line on stderr after each heat of the search.

    Attributes
    ----------
    ideal_points_ : ndarray of shape (n_components, n_dimensions) or None
        The principal directions as unit vectors, those of the nested sequence in order. Where the optimum has
        merged them they coincide (to within rounding); None if ``spine="free"`` found a pole beyond infinity.
    spine_ : Spine
        The subspace the projection keeps, in the frame with ``mean_`` at the origin: see `horopca.projections`.
    mean_ : ndarray of shape (n_features_in_,)
        Fréchet mean of the training data, in the estimator's model.
    explained_variance_ : ndarray of shape (n_components,)
        What each component of the nested sequence adds to the pair variance of the projections (mean squared distance over
        ordered pairs). With ``strategy="joint"`` the first ones are those of the best flag *inside* the final answer, which
        can keep far less than the best single component does.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as fractions of ``total_variance_``; their sum is the share that is kept.
    total_variance_ : float
        Pair variance of the training data: mean squared distance over all ordered pairs.
    variance_error_ : float
        Standard error of the sum of the explained variances: 0 where all pairs were counted (up to 3000 points).
    n_iter_ : int
        Iterations of the last climb.
    converged_ : bool
    status_ : str
        How the search ended, in words.
    n_samples_seen_ : int
        Points of the fit, or of all batches given to `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,), if X had column names

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

    _reservoir: Reservoir  # of the batches given to partial_fit, if any

    def __init__(
        self,
        n_components: int = 2,
        *,
        spine: str = "ideal",
        strategy: str = "joint",
        objective: str = "variance",
        model: str = "poincare",
        curvature: float = -1.0,
        n_init: int | str = "auto",
        pairs: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.spine = spine
        self.strategy = strategy
        self.objective = objective
        self.model = model
        self.curvature = curvature
        self.n_init = n_init
        self.pairs = pairs
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> HoroPCA:
        """Find the components of the points X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature.
        y : ignored

        Returns
        -------
        self
        """
        rows = check_rows(X, self._door(), estimator=self, reset=True, min_rows=2)
        self._check_options(rows)
        self.__dict__.pop("_reservoir", None)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n = rows.shape[0]
        some = rows.take(rng.choice(n, size=min(n, SEARCH_ROWS), replace=False))
        self._learn(some, rows if n > len(some) else None, n, rng)
        return self

    @one_blas_thread()
    def partial_fit(self, X: Any, y: Any = None) -> HoroPCA:
        """Learn from one more batch of a stream of points.

        A uniform sample of at most 16384 of all points seen is kept. A fit to it is made when more than the square root
        of their number have come in since the last one, which is about what its standard error lets one see; it takes
        about a second, so that large batches cost less. Like `fit`, it may end in one of several optima that are nearly
        as good. `fit` forgets the stream.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points in the estimator's model and curvature, as many at a time as you like.
        y : ignored

        Returns
        -------
        self
        """
        begun, door = hasattr(self, "_reservoir"), self._door()
        if begun and (self._reservoir.model, self._reservoir.curvature) != door:
            raise ValueError(
                f"model and curvature must be those of the batches before, {self._reservoir.model!r} and "
                f"{self._reservoir.curvature:g}, but are {self.model!r} and {self.curvature:g}. Call fit to begin anew."
            )
        rows = check_rows(X, door, estimator=self, reset=not begun, min_rows=1)
        self._check_options(rows)
        if not begun:
            self._reservoir = Reservoir.empty(rows.shape[1], door, int(check_random_state(self.random_state).randint(2**31)))
            for name in ("_answer", "_n_features_out"):  # of an earlier fit
                self.__dict__.pop(name, None)
        new = self._reservoir.after(rows, SEARCH_ROWS)
        m, rng = len(new.points), np.random.default_rng((new.seed, 1))
        if m >= 2 and (new.changed > np.sqrt(m) or not hasattr(self, "_answer")):
            self._learn(new.points, None, new.seen, rng, warm=getattr(self, "_answer", None))
            new = new._replace(changed=0)
        self._reservoir, self.n_samples_seen_ = new, new.seen  # last: a batch that failed was not seen
        return self

    def _learn(
        self, some: np.ndarray, rows: Rows | None, seen: int, rng: np.random.Generator, warm: Answer | None = None
    ) -> None:
        """Fit to the points `some` (m, d+1), in random order; if they are a sample of `rows`, to all of these.

        They stand for so many `seen`; `warm` is an earlier answer to begin from.
        """
        mean = frechet_mean(some if rows is None else some[:MEAN_ROWS])
        # the search stands at the mean of the sample, which is the same to the last bit wherever the rows are
        frame = Frame(mean.point, principal_axes(Seen(some[:AXES_ROWS], mean.point))[0])
        sample, plan, whole = as_sample(frame.enter(some)), self._plan(len(some), sampled=rows is not None), None
        if rows is not None:
            whole = Whole(rows, some, frame, sample, rng)
            plan = plan._replace(whole=whole.objective(self.objective))
            mean = mean_of_many(rows, some[:MEAN_ROWS], mean)
        if rows is not None and usable_for(rows.X):
            plan = plan._replace(place=lambda sample: sample.beside(rows.X))
        if rows is not None and self.pairs == "all":
            everything = as_sample(frame.enter(rows.all()))
            plan = plan._replace(exact=OBJECTIVES[self.objective](everything, AllPairs(everything.size)))
        if warm is not None and len(warm.bases) == self.n_components:
            plan = plan._replace(warm=[basis @ between(warm.frame, frame).T for basis in warm.bases])
        flag = STRATEGIES[self.strategy](sample, self.n_components, self.spine, self.objective, plan, rng)

        self._answer, self._mean = Answer(frame, flag.bases), to_numpy(mean.point)
        self.mean_ = in_model(self, self._mean)
        spines = [_turned(spine_from_basis(basis), frame.axes) for basis in flag.bases]
        q = nested_ideal_points(flag.bases)
        self._directions = None if q is None else q @ frame.axes
        if rows is not None:  # from the mean of the sample to that of all rows
            there = Frame(self._mean, np.eye(len(frame.axes)))
            spines = [spine_from_basis(basis @ between(frame, there).T) for basis in flag.bases]
            if self.spine == "ideal":  # rounding must not carry it beyond infinity
                spines = [spine._replace(kappa=max(spine.kappa, 0.0) if k else 0.0) for k, spine in enumerate(spines)]
            if q is not None:
                self._directions = translate_ideal_to_origin(translate_ideal(self._directions, frame.mean), self._mean)
        self.spine_ = spines[-1]
        self.ideal_points_ = None if q is None else translate_ideal(self._directions, self._mean)
        x = Seen(some, self._mean).map(Chunk.points)
        self._frame = frame_of(slid(x, self.spine_))
        self._slide = Slide.along(self.spine_, boost_to_origin(self._mean), self._frame.matrix())
        across = None if whole is None else whole.variances(flag.bases[-1])
        self._report_variances(*measured_variances(x, spines, rng, seen, across))
        self._n_features_out, self.n_samples_seen_ = self._door().columns(self.n_components), seen
        self._report_end(flag, mean.converged)

    def _check_options(self, rows: Rows) -> None:
        d = rows.shape[1] - 1
        check_count("n_components", self.n_components, 1, d, f" (the dimension of X is {d})")
        check_choice("spine", self.spine, SPINES)
        check_choice("strategy", self.strategy, STRATEGIES)
        check_choice("objective", self.objective, OBJECTIVES)
        check_count("max_iter", self.max_iter, 1)
        if not (isinstance(self.n_init, str) and self.n_init == "auto"):
            check_count("n_init", self.n_init, 1)
        if not (isinstance(self.pairs, str) and self.pairs in ("auto", "all")):
            check_count("pairs", self.pairs, 1)
        if self.n_jobs is not None and (isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, numbers.Integral)):
            raise ValueError(f"n_jobs must be None or a whole number (-1: one thread per core), but is {self.n_jobs!r}.")
        if self.n_jobs == 0:
            raise ValueError("n_jobs must be None, a number of threads, or -1 for one per core, but is 0.")
        if not isinstance(self.tol, numbers.Real) or not self.tol > 0:
            raise ValueError(f"tol must be a positive number, but is {self.tol!r}.")

    def _plan(self, n: int, *, sampled: bool) -> Plan:
        """How to search n points: if they are a sample of rows, the answer is corrected afterwards."""
        n_init = AUTO_STARTS if self.n_init == "auto" else int(self.n_init)
        if self.pairs == "auto" or (self.pairs == "all" and sampled):
            most = (SAMPLE_PAIRS if sampled else PAIRS) // n
            kept = FIDELITY_SHIFTS // 4 if sampled else FIDELITY_SHIFTS
            shifts = kept if self.objective == "distortion" else n if n <= 2048 else most
        else:
            shifts = n if self.pairs == "all" else int(self.pairs)
        return Plan(n_init, shifts, self.max_iter, self.tol, teller(self))

    def _report_variances(self, values: np.ndarray, error: float) -> None:
        """Keep the explained and the total variance (last), and their standard error, in the user's unit of length."""
        # a projection of a projection lengthens nothing, so only rounding can break the order
        store_variances(self, np.minimum(np.maximum.accumulate(values[:-1]), values[-1]), values[-1])
        self.variance_error_ = error / -self.curvature

    def _report_end(self, flag: Flag, mean_converged: bool) -> None:
        self.n_iter_ = flag.ascent.n_iter
        self.converged_ = flag.ascent.converged and mean_converged
        self.status_ = flag.ascent.status if mean_converged else "the Fréchet mean did not converge"
        if not mean_converged:
            warnings.warn("HoroPCA: the Fréchet mean of X did not converge.", ConvergenceWarning, stacklevel=4)
        elif not self.converged_:
            warnings.warn(
                f"HoroPCA {self.status_} without converging. Raise max_iter (now {self.max_iter}) or tol (now {self.tol:g}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _onto_spine(self, x: Array) -> Array:
        moved = translate_to_origin(x, from_numpy(self._mean, x))
        return to_hyperboloid(slide(moved, self.spine_), "halfspace")

    def _project(self, x: Array) -> Array:
        return self._frame.enter(self._onto_spine(x))

    def _images(self, chunk: Chunk) -> Array:
        images, lost = self._slide.images(chunk)
        if not bool(array_namespace(lost).any(lost)):
            return images
        return with_rows(images, lost, self._project(chunk.points(lost)))

    def _on_device(self, rows: Rows) -> Array | None:
        door = rows.door
        if not usable_for(rows.X, door.model, self.n_components):
            return None
        images, lost, outside = images_of_rows(rows.X, door.model, door.scale, self._slide)
        if outside:
            rows.check()
        if lost:
            which = array_namespace(images).isnan(images[:, 0])
            images[which] = self._map(type(rows)(rows.X[which], door), self._images)
        return images

    def _embed(self, y: Array) -> Array:
        images = from_hyperboloid(self._frame.leave(y), "halfspace")
        return translate(unslide(images, self.spine_), from_numpy(self._mean, y))

    def busemann(self, X: Any) -> Any:
        """Busemann coordinates of points along the principal directions: Euclidean features, zero at ``mean_``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
            Column k is the Busemann function of ``ideal_points_[k]``, in units of length. Where the optimum has merged the
            ideal points (``spine_.kappa`` near 0) the columns coincide too: for features in as many directions as you like
            use `BusemannWhitener`, or ``strategy="greedy"``.
        """
        check_is_fitted(self)
        rows = check_rows(X, self._door(), estimator=self)
        directions = self._directions
        if directions is None:
            raise ValueError(
                "busemann needs ideal points, but the fitted spine has none (its pole lies beyond infinity). Fit with "
                "spine='ideal'."
            )
        scale, dtype = rows.door.scale, rows.X.dtype

        def coordinates(chunk: Chunk) -> Array:
            x = chunk.points()
            xp = array_namespace(x)
            columns = [busemann(x, from_numpy(q, x)) for q in directions]
            return xp.astype(xp.stack(columns, axis=1) / scale, dtype, copy=False)

        return Seen(rows, self._mean).map(coordinates)

    def score(self, X: Any, y: Any = None) -> float:
        """How well the projection keeps points X, larger being better.

        The pair variance of their projections for ``objective="variance"``; minus their average distortion for
        ``objective="distortion"``. Above 3000 points, over a fixed sample of pairs. The two are on different scales: compare
        estimators of one objective only.
        """
        check_is_fitted(self)
        rows = check_rows(X, self._door(), estimator=self, min_rows=2)
        n, rng = rows.shape[0], np.random.default_rng(0)
        x = rows.all() if n <= EXACT_ROWS else rows.take(rng.choice(n, size=min(n, SEARCH_ROWS), replace=False))
        images = self._project(x)
        offsets = None if n <= EXACT_ROWS else some_offsets(len(x), max(8, REPORTED_PAIRS // len(x)), rng)
        if self.objective == "distortion":
            return -average_distortion(x, images, offsets)[0]
        value = pair_variance(images) if offsets is None else sampled_pair_variance(images, offsets)[0]
        return value / -self.curvature


def _turned(spine: Spine, axes: np.ndarray) -> Spine:
    """The spine in the frame whose axes are the rows of `axes`, brought back to the frame they are given in."""
    return Spine(spine.n @ axes, spine.kappa, spine.U @ axes)
