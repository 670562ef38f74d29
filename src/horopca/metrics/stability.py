"""How stable a reduction is: how much it changes in refits to resampled rows.

By the principle of the bootstrap, a refit differs from the fit as the fit differs from a fit to the whole population. A picture
is determined up to isometry, so pictures are compared after the isometry that aligns them best (`horopca.geometry.align`).
"""

from __future__ import annotations

import warnings
from copy import copy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import f as fisher
from sklearn.exceptions import ConvergenceWarning

from .._input.arguments import check_count, check_generator, check_number
from .._input.coordinates import Coordinates
from .._input.means import mean_of
from .._input.progress import Progress, logged
from .._input.rows import Rows, check_rows
from .._input.threads import run_jobs
from .._optimize.multi_start import MERGED_KAPPA
from ..estimators.base import HyperbolicReduction, check_reduction
from ..estimators.fitting import as_fitted, check_weights, fitted_coordinates
from ..estimators.folds import group_numbers
from ..estimators.parallel_analysis import DEPENDENT, look_dependent
from ..geometry import align, distance, from_hyperboloid, translate_to_origin
from ..geometry._arrays import to_numpy
from ..geometry.isometries import Frame, change_of_frame
from ..projections.spines import spine_angle, spine_basis
from ..statistics import frechet_mean
from ..statistics.pairs import relative_change

MIN_REFITS = 10  # With fewer refits, the quantile of 90 % is undefined.
FEW_GROUPS = 10  # With this many groups or fewer, the variance between groups cannot be estimated well.
ALIGNED_ROWS = 1 << 14  # Pictures are aligned by at most this many points.
COMPARED_PAIRS = 1 << 16  # Pairs whose distances are compared: thousands are within classes, even if each has few of the rows.
SAME_MEAN = 1e-3  # If the means of X and of the fit differ by more, in standard deviations, X is not the data of the fit.
MAX_REDRAWS = 100  # Attempts to draw a resample with enough different points.
ANGLES = (15.0, 30.0)  # Up to these angles, in degrees, a spine is called stable, or roughly stable.
STABLE_DISTANCES = 0.1  # Up to this mean relative change, distances are called stable.
# From these values of `stability` on, the positions of most points of a picture are reliable, or only its large parts.
READABLE, COARSE = 0.9, 0.5
NOTE_REFITS = 2  # Refits for `stability_note`: two refits to half of the rows take about as long as the fit.
NOTED_ROWS = 20  # With fewer different points than this there is no note.


class Stability(NamedTuple):
    """The stability of a fit and of every point of its picture; returned by `bootstrap`."""

    #: (n_samples, n_components), the picture: ``model.transform(X)``
    images: np.ndarray
    #: (n_samples, n_components, n_components), second moments of where refits put each point, about its image: in the tangent
    #: space there, carried to the origin along a geodesic, in the unit of the data
    covariances: np.ndarray
    #: (n_samples,), how far refits put each point from its image, the root of the mean square
    spread: np.ndarray
    #: 1 minus the mean square of `spread` as a fraction of the variance of the picture: 1 if no point moves, 0 if points move
    #: as far as they are apart
    stability: float
    #: (n_resamples, n_components), the largest angle in degrees between the spine of the first k components and that of each
    #: refit, as subspaces of R^{1,d} seen from the mean of the data; no columns for methods without spines
    angles: np.ndarray
    #: (n_components,), the angles that a fraction `level` of the refits does not exceed: by the principle of the bootstrap, the
    #: angle to the spine of the population is smaller with this confidence
    angle_bounds: np.ndarray
    #: the fraction of refits whose ideal points are merged (``spine_.kappa`` is 0); NaN if there are fewer than two
    merged: float
    #: the fraction of refits that converged
    converged: float
    #: the confidence of the regions and bounds
    level: float
    #: the number of refits
    n_resamples: int
    #: the model and curvature of the images
    coordinates: Coordinates
    #: the mean relative change, over refits and pairs of points, of distances in the picture, which may be stable where
    #: positions are not
    distance_change: float
    #: the root of the mean squared distance of the images from their mean
    radius: float
    #: the conclusion in a few sentences
    conclusion: str = ""

    def stable_points(self, fraction: float = 0.1) -> np.ndarray:
        """Rows of the points that refits move by at most a fraction of the radius of the picture, the most stable first."""
        order = np.argsort(self.spread, kind="stable")
        return np.asarray(order[self.spread[order] <= fraction * self.radius])

    def semi_axes(self) -> np.ndarray:
        """The semi-axes of the region of each image, columns of matrices A (n_samples, n_components, n_components).

        The region of an image is an ellipse in the tangent space, mapped by the exponential map: ``exp(A u)`` for all vectors u
        of length up to 1, in the unit of the data. If refits are normally distributed, it contains the image under the fit to
        the population with the confidence `level`.
        """
        squares, axes = np.linalg.eigh(self.covariances)
        return np.asarray(self._size() * axes * np.sqrt(squares.clip(0))[:, None, :])

    def contains(self, Y: Any) -> np.ndarray:
        """Which points Y, one for each image and in the same model, lie in its region (n_samples,)."""
        y, K = check_rows(Y, self.coordinates, name="Y").all(), self.covariances.shape[1]
        if y.shape != (len(self.images), K + 1):
            raise ValueError(f"Y must be one point for each image, of shape {self.images.shape}, but has {np.shape(Y)}.")
        images = self.coordinates.to_hyperboloid(self.images)
        v = from_hyperboloid(translate_to_origin(to_numpy(y), images), "tangent") / self.coordinates.scale
        sizes, axes = np.linalg.eigh(self.covariances)
        along = np.einsum("nk,nkj->nj", v, axes)
        least = 1e-12 * sizes[:, -1:].clip(1e-300)  # a region may be flat: what leaves it is outside
        return np.asarray(np.sum(along**2 / np.maximum(sizes, least), axis=1) <= self._size() ** 2)

    def _size(self) -> float:
        """The size of a region in deviations: the root of Hotelling's quantile for second moments from the refits."""
        K, m = self.covariances.shape[1], self.n_resamples
        return float(np.sqrt(K * m / (m - K + 1) * fisher.ppf(self.level, K, m - K + 1)))


def bootstrap(
    model: HyperbolicReduction,
    X: Any,
    *,
    n_resamples: int = 100,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Stability:
    """The stability of a fitted reduction: how much the spines and pictures of refits to resampled rows differ.

    Every refit searches from the usual starting points and also from the solution of `model`. From that solution alone, every
    refit would find the same optimum. Without it, differences between searches would look like differences between samples.
    100 refits of `HoroPCA` to a thousand points take about a minute of processor time.

    Parameters
    ----------
    model : a fitted HoroPCA, or another reduction of this package
        Its parameters are kept, and its number of components: a `HoroPCACV` does not choose again.
    X : array of shape (n_samples, n_features)
        The points that it was fitted to.
    n_resamples : int, default=100
        The number of refits, each to n rows that are drawn with replacement.
    groups : array of shape (n_samples,), optional
        Rows of one group are drawn together. Pass it if rows depend on each other, such as the leaves of a subtree: if they
        are drawn one by one, the picture looks more stable than it is.
    sample_weight : array of shape (n_samples,), or one number, optional
        The weights of the fit, if it had any.
    level : float, default=0.9
        The confidence of regions and bounds.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the resamples, and the refits of a model whose own `random_state` is not an integer.
    n_jobs : int or None, default=None
        Jobs of joblib. The result does not depend on it.
    progress : callable
        Called as ``progress(done, total)`` with the numbers of refits.

    Returns
    -------
    Stability
        ``plots.plot_plane(result.images, regions=result)`` draws the regions.

    See Also
    --------
    component_curve : how many components the data supports

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import bootstrap
    >>> X = make_hierarchy(3, 3, random_state=0).points
    >>> model = HoroPCA(n_components=1, n_init=2).fit(X)
    >>> found = bootstrap(model, X, n_resamples=10)
    >>> found.angles.shape, found.spread.shape
    ((10, 1), (40,))
    """
    refits = _Refits(model, X, groups, sample_weight, random_state)
    if check_number("level", level, wanted := "a confidence between 0 and 1, such as 0.9", above=0) >= 1:
        raise ValueError(f"level must be {wanted}, but is {level!r}.")
    n, K, scale = len(refits.picture), refits.picture.shape[1] - 1, refits.coordinates.scale
    check_count("n_resamples", n_resamples, max(MIN_REFITS, 2 * K))
    moments, figures, report = np.zeros((n, K, K)), [], logged("bootstrap", progress)
    for moved, change, *found in run_jobs(refits.refit, ((k,) for k in range(n_resamples)), n_jobs):
        moments += moved[:, :, None] * moved[:, None, :] / scale**2  # in order, so that sums do not depend on n_jobs
        figures.append([np.mean(change) if change.size else 0.0, *found])
        report(len(figures), n_resamples)
    changes, converged, merged, *nested = np.transpose(figures)
    angles, covariances = np.reshape(nested, (-1, n_resamples)).T, moments / n_resamples
    squares, variance = np.trace(covariances, axis1=1, axis2=2), refits.variance / scale**2
    result = Stability(
        images=np.asarray(refits.coordinates.from_hyperboloid(refits.picture, np.dtype(float))),
        covariances=covariances,
        spread=np.sqrt(squares),
        stability=1 - min(1.0, float(np.mean(squares) / variance)) if variance > 0 else 1.0,
        angles=angles,
        angle_bounds=np.quantile(angles, level, axis=0, method="higher"),
        merged=float(np.mean(merged)),
        converged=float(np.mean(converged)),
        level=float(level),
        n_resamples=n_resamples,
        coordinates=refits.coordinates,
        distance_change=float(np.mean(changes)),
        radius=float(np.sqrt(variance)),
    )
    units = len(refits.groups)
    drawn = f"{units} rows" if groups is None else f"{units} groups of {sum(map(len, refits.groups))} rows"
    dependent = groups is None and look_dependent(np.asarray(refits.coordinates.to_hyperboloid(refits.X)))
    return result._replace(conclusion=_conclusion(result, drawn, dependent, few=units <= FEW_GROUPS))


def _conclusion(found: Stability, drawn: str, dependent: bool, few: bool) -> str:
    """The conclusion in sentences; `drawn` names what was resampled, and `few` says whether there were few of these."""
    n, level, bounds, readable = len(found.images), found.stability, found.angle_bounds, found.stability >= READABLE
    names = ["the first component", *(f"the first {k} together" for k in range(2, len(bounds) + 1))]
    verdicts = np.array(["stable", "roughly stable", "not stable"])[np.searchsorted(ANGLES, bounds)]
    angles = ", ".join(f"{name} {angle:.2g}° ({word})" for name, angle, word in zip(names, bounds, verdicts, strict=False))
    readings = ["the positions of its points are mostly due to chance", "only its large parts are reliable"]
    reading = [*readings, "the positions of most points are reliable"][np.searchsorted([COARSE, READABLE], level, side="right")]
    moved, wide = np.sqrt(np.mean(found.spread**2)), int(np.sum(found.spread > found.radius / 2))
    distances = f"{found.distance_change:.0%} on average{' and are stable' * (found.distance_change <= STABLE_DISTANCES)}"
    still = f"{len(found.stable_points())} of {n} points move by less than a tenth of that radius"
    sentences = {
        f"Of {found.n_resamples} refits to bootstrap samples of {drawn}:": True,
        f"{100 * found.level:g} % lie within these angles of the spine: {angles}.": len(bounds),
        f"Images move by {moved:.2g} in a picture of radius {found.radius:.2g} (stability {level:.2f}): {reading}.": True,
        f"{wide} of {n} points move by more than half of that radius.": wide,
        f"Distances in the picture change by {distances}, and {still}.": not readable,
        "Angles can be large although the picture is stable: different spines can give nearly the same picture.": (
            readable and np.any(bounds > ANGLES[1])
        ),
        f"The ideal points are merged in {found.merged:.0%} of the refits.": not np.isnan(found.merged),
        f"{1 - found.converged:.0%} of the refits did not converge, which makes these results less certain.": (
            found.converged < 1
        ),
        f"{DEPENDENT}, or all of this looks more stable than it is.": dependent,
        f"With {drawn} this is a guess.": few,
    }
    return " ".join(sentence for sentence, holds in sentences.items() if holds)


def stability_note(
    model: HyperbolicReduction, X: Any, labels: Any = None, *, groups: Any = None, called: str = "groups", random_state: Any = 0
) -> str | None:
    """What is stable in a picture, as text to print below it. None for fewer than 20 different points.

    The model is fitted twice, to random halves of the rows; or of the groups, which the text calls `called`, if there are more
    than ten. Estimates from a half vary as much as those from a bootstrap sample. With `labels`, the text distinguishes
    distances between classes from those within classes.
    """
    if len(np.unique(to_numpy(X), axis=0)) < NOTED_ROWS:
        return None
    grouped = groups is not None and len(set(groups)) > FEW_GROUPS
    refits = _Refits(model, X, groups if grouped else None, None, random_state)
    moved, changes, *_ = zip(*(refits.refit(number, half=True) for number in range(NOTE_REFITS)), strict=True)
    change, share = np.mean(changes, axis=0), float(np.mean(np.square(moved).sum(axis=-1))) / max(refits.variance, 1e-300)
    names = np.array(["" if label is None else str(label) for label in np.resize(labels, len(refits.picture))])
    (a, b) = names[refits.pairs]
    parts = {"distances between classes": (a != b) & (a != "") & (b != ""), "distances within classes": (a == b) & (a != "")}
    if not all(part.any() for part in parts.values()):
        parts = {"distances": np.full(len(a), True)}
    mean = {name: np.mean(change[part]) for name, part in parts.items()}
    said = {f"{name} ({mean[name]:.0%})": mean[name] <= STABLE_DISTANCES for name in parts}
    said[f"positions ({np.sqrt(share):.0%} of the radius)"] = 1 - share >= READABLE
    stable, loose = (", ".join(text for text, holds in said.items() if holds == wanted) for wanted in (True, False))
    verdicts = (f"{word}: {texts}." for word, texts in (("Stable", stable), ("Not stable", loose)) if texts)
    return " ".join([f"Changes in refits to random halves of the {called if grouped else 'rows'}.", *verdicts])


class _Refits:
    """A fitted reduction with its picture, and a method that fits it to resampled rows and compares the pictures."""

    def __init__(self, model: Any, X: Any, groups: Any, weight: Any, random_state: Any) -> None:
        check_reduction(model)
        rows = check_rows(X, fitted_coordinates(model), estimator=model)
        if rows.remote:
            raise ValueError("X must be in memory to be resampled, but is a Dask array. Pass a sample of X and a fit to it.")
        n, seen = rows.shape[0], getattr(model, "n_samples_seen_", rows.shape[0])
        if n != seen:
            raise ValueError(f"X must hold the {seen} points that the model was fitted to, but has {n} rows.")
        members = np.arange(n) if groups is None else group_numbers(groups, n)
        if groups is not None and (count := members.max() + 1) < 4:
            raise ValueError(f"groups must name at least 4 groups, but names {count}. Use smaller groups, or omit groups.")
        self.weight = None if weight is None else check_weights(weight, n)
        # a silent copy with the chosen number of components, which starts each fit at the solution of the model if it can
        wanted = {"n_components": model.n_components_, "warm_start": True, "verbose": 0, **rows.coordinates._asdict()}
        self.model = copy(model._as_chosen())
        self.model.set_params(**{name: wanted[name] for name in wanted.keys() & self.model.get_params(deep=False).keys()})
        _check_mean(self.model, rows, self.weight)
        self.X = rows.X if isinstance(rows.X, np.ndarray) else to_numpy(rows.X)
        self.coordinates, self.picture = rows.coordinates, to_numpy(rows.map(model._images))  # (n, K+1)
        counted = np.arange(n) if self.weight is None else np.flatnonzero(self.weight)
        order = counted[np.argsort(members[counted], kind="stable")]
        self.groups = np.split(order, np.flatnonzero(np.diff(members[order])) + 1)  # rows that are drawn together
        self.seed = int(check_generator(random_state).integers(2**31))
        some = np.random.default_rng(self.seed).integers(n, size=(2, COMPARED_PAIRS))
        self.pairs = some[:, distance(*self.picture[some]) > 0]  # (2, m), random pairs of rows whose images differ
        #: the mean squared distance of the images from their mean
        self.variance = float(np.mean(distance(self.picture, frechet_mean(self.picture).point) ** 2))

    def refit(self, number: int, half: bool = False) -> tuple[Any, ...]:
        """Draw rows with replacement, or half of them without, fit to them, and compare the pictures.

        Returns the new images as tangent vectors (n, K) at the old ones, carried to the origin; the relative changes of the
        distances of `pairs`; whether the fit converged and its ideal points merged; and the angles of its nested spines.
        """
        rows = self._draw(np.random.default_rng([self.seed, number]), half)
        model, weight = copy(self.model), {} if self.weight is None else {"sample_weight": self.weight[rows]}
        if not isinstance(getattr(model, "random_state", 0), Integral):  # otherwise the result would not be reproducible
            model.random_state = int(np.random.default_rng([self.seed, number, 1]).integers(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X[rows], **weight)
        images, x = to_numpy(Rows(self.X, self.coordinates).map(model._images)), self.picture
        some = slice(None, None, -(-len(images) // ALIGNED_ROWS))
        aligned = align(images[some], x[some], squares=True).move(images)
        moved = from_hyperboloid(translate_to_origin(aligned, x), "tangent")
        a, b = self.pairs
        change = relative_change(distance(x[a], x[b]), distance(images[a], images[b]))
        several = moved.shape[1] > 1 and getattr(self.model, "ideal_points_", None) is not None
        merged = float(abs(model.spine_.kappa) < 10 * MERGED_KAPPA) if several else float("nan")
        return moved, change, float(model.converged_), merged, *self._angles(model)

    def _draw(self, rng: np.random.Generator, half: bool) -> np.ndarray:
        """Rows of a resample that has enough different rows for a fit."""
        count, K = len(self.groups), self.picture.shape[1] - 1
        for _ in range(MAX_REDRAWS):
            drawn = rng.permutation(count)[: -(-count // 2)] if half else rng.integers(count, size=count)
            rows = np.concatenate([self.groups[g] for g in drawn])
            if len(np.unique(self.X[rows], axis=0)) > K:
                return rows
        raise ValueError(f"X has too few different points to resample: {MAX_REDRAWS} resamples had at most {K}. Pass more.")

    def _angles(self, refit: Any) -> list[float]:
        """Largest angles, in degrees, between nested spines of the fit and of a refit, both seen from the mean of the fit."""
        if not hasattr(refit, "nested_spines_"):
            return []
        axes = np.eye(len(refit._mean) - 1)
        there = change_of_frame(Frame(refit._mean, axes), Frame(self.model._mean, axes)).T
        pairs = zip(self.model.nested_spines_, refit.nested_spines_, strict=True)
        return [float(np.degrees(spine_angle(spine_basis(a), spine_basis(b) @ there))) for a, b in pairs]


def _check_mean(model: Any, rows: Rows, weight: np.ndarray | None) -> None:
    """Raise ValueError if the mean of the rows is not that of the fit."""
    # the median of "robust" may not be unique, and after partial_fit the fit may be older than the last rows
    if not hasattr(model, "_mean") or hasattr(model, "_reservoir") or as_fitted(model, "objective") == "robust":
        return
    rows.weights = weight
    mean = mean_of(rows)
    if distance(to_numpy(mean.point), model._mean) > SAME_MEAN * np.sqrt(mean.variance) + SAME_MEAN**2:
        raise ValueError(
            "X must hold the points that the model was fitted to, but has another mean. Pass these points, and the "
            "sample_weight of the fit if there was any."
        )
