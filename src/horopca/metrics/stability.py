"""How stable a reduction is: refits to resampled rows, and how much they differ.

By the principle of the bootstrap, a refit differs from the fit as the fit differs from a fit to the whole population. Pictures
are compared after the isometry that aligns them best (`horopca.geometry.align`), because a picture can be rotated freely.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import f as fisher

from .._input.arguments import check_count, check_generator, check_number
from .._input.coordinates import Coordinates
from .._input.rows import check_rows
from .._optimize.multi_start import MERGED
from ..estimators.base import HyperbolicReduction
from ..estimators.fitting import fitted_coordinates
from ..geometry import distance, from_hyperboloid, to_hyperboloid, translate, translate_to_origin
from ..geometry._arrays import to_numpy
from ..statistics import frechet_mean
from .resampling import Resampling

DEPENDENT = (
    "Rows look dependent: their neighbours are closer than those of independent rows would be, as in families. Pass groups= "
    "(the family or subtree of each row); without it, all of this looks more stable than it is."
)
FEW_GROUPS = 10  # With this many groups or fewer, the variance between groups is hardly known.
STABLE, LOOSE = 15.0, 30.0  # Up to these angles, in degrees, a spine is called stable, or roughly stable.
READABLE, COARSE = 0.9, 0.5  # From these values of `stability`, a picture can be read point by point, or in its large parts.


class Stability(NamedTuple):
    """The stability of a fit and of every point of its picture.

    Attributes
    ----------
    images : ndarray (n_samples, n_components) (one column more for a model with time)
        The picture: ``model.transform(X)``.
    covariances : ndarray (n_samples, n_components, n_components)
        The second moments of where refits put each point, about its image: in the tangent space there, carried to the origin
        along a geodesic, in the unit of the data.
    spread : ndarray (n_samples,)
        How far refits put each point from its image, the root of the mean square.
    stability : float
        1 less the share of the mean square of `spread` in the variance of the picture: 1 if no point moves, 0 if points move
        as far as they are apart.
    angles : ndarray (n_resamples, n_components)
        The largest angle, in degrees, between the spine of the first k components and that of each refit: as subspaces of
        R^{1,d}, seen from the mean of the data. Of no columns for methods without spines.
    angle_bounds : ndarray (n_components,)
        Within these angles are a share `level` of the refits: by the principle of the bootstrap, the angle to the spine of the
        population is below with this confidence. (An angle is never negative, so that its interval is from 0 on.)
    merged : float
        How often the ideal points of a refit are merged (``spine_.kappa`` is 0): a share of the refits. NaN where there are
        no two of them.
    converged : float
        The share of refits that converged.
    level : float
    n_resamples : int
    conclusion : str
        The conclusion in a few sentences.
    coordinates : Coordinates
        The model and curvature of the images.
    distance_change : float
        The mean relative change, over refits and pairs of points, of distances in the picture. They may be stable where
        positions are not.
    """

    images: np.ndarray
    covariances: np.ndarray
    spread: np.ndarray
    stability: float
    angles: np.ndarray
    angle_bounds: np.ndarray
    merged: float
    converged: float
    level: float
    n_resamples: int
    conclusion: str
    coordinates: Coordinates
    distance_change: float = float("nan")

    def stable_points(self, fraction: float = 0.1) -> np.ndarray:
        """Rows of the points that refits move by at most a fraction of the radius of the picture, the most stable first."""
        share = check_number("fraction", fraction, "a number above 0", above=0)
        x = self._points()
        radius = float(np.sqrt(np.mean(distance(x, frechet_mean(x).point) ** 2))) / self.coordinates.scale
        order = np.argsort(self.spread, kind="stable")
        return np.asarray(order[self.spread[order] <= share * radius])

    def borders(self, n_points: int = 64, level: float | None = None) -> np.ndarray:
        """The border of the region of each image, points (n_samples, n_points, 2) in the model of the images.

        It is an ellipse in the tangent space, taken into the plane by the exponential map: so large that, by a normal
        distribution, it holds the image under the fit to the population with a confidence of `level`. Of one component it is
        an interval, and its two ends are returned, (n_samples, 2, 1). Points of a model with time, such
        as "lorentz", have one column more.
        """
        check_count("n_points", n_points, 3)
        K = self.covariances.shape[1]
        if K > 2:
            raise ValueError(f"borders are of regions in the plane or on a line, but the images have {K} dimensions.")
        root = self.semi_axes(level) * self.coordinates.scale
        circle = np.array([[[-1.0], [1.0]]]) if K == 1 else self._angles(root, n_points)
        border = translate(to_hyperboloid(circle @ np.swapaxes(root, 1, 2), "tangent"), self._points()[:, None, :])
        flat = self.coordinates.from_hyperboloid(border.reshape(-1, K + 1), np.dtype(float))
        return np.asarray(flat.reshape(*border.shape[:2], -1))

    def semi_axes(self, level: float | None = None) -> np.ndarray:
        """The semi-axes of the region of each image, columns of matrices (n_samples, n_components, n_components).

        The region of an image is ``exp(A u)`` for all vectors u of length up to 1, where A is its matrix: an ellipsoid in the
        tangent space there, carried to the origin along a geodesic, in the unit of the data.
        """
        K = self.covariances.shape[1]
        size = np.sqrt(_quantile(self.level if level is None else check_level(level), K, self.n_resamples))
        squares, axes = np.linalg.eigh(self.covariances)
        return np.asarray(size * axes * np.sqrt(squares.clip(0))[:, None, :])

    def contains(self, Y: Any, level: float | None = None) -> np.ndarray:
        """Which points Y, one for each image and in the same model, lie in its region (n_samples,)."""
        y, K = check_rows(Y, self.coordinates, name="Y").all(), self.covariances.shape[1]
        if y.shape != (len(self.images), K + 1):
            raise ValueError(f"Y must be one point for each image, of shape {self.images.shape}, but has {np.shape(Y)}.")
        v = from_hyperboloid(translate_to_origin(to_numpy(y), self._points()), "tangent") / self.coordinates.scale
        sizes, axes = np.linalg.eigh(self.covariances)
        along = np.einsum("nk,nkj->nj", v, axes)
        least = 1e-12 * sizes[:, -1:].clip(1e-300)  # a region may be flat: what leaves it is outside
        squares = np.sum(along**2 / np.maximum(sizes, least), axis=1)
        size = _quantile(self.level if level is None else check_level(level), K, self.n_resamples)
        return np.asarray(squares <= size)

    def _angles(self, root: np.ndarray, n_points: int) -> np.ndarray:
        """Points of the unit circle (n, n_points, 2) to be mapped by `root` (n, 2, 2), dense in the direction of the origin.

        Seen from there, that of a large region is all that is seen of it: what is farther by r is smaller by e^r.
        """
        reach = np.linalg.norm(root, axis=(1, 2))[:, None].clip(1e-9, 300)
        inward = np.einsum("nji,nj->ni", root, -self._points()[:, 1:])  # where on the circle the ellipse is farthest that way
        turn = np.arctan2(inward[:, 1], inward[:, 0])[:, None]
        turn = turn + np.pi * np.sinh(reach * np.linspace(-1, 1, n_points, endpoint=False)) / np.sinh(reach)
        return np.stack([np.cos(turn), np.sin(turn)], axis=-1)

    def _points(self) -> np.ndarray:
        return np.asarray(self.coordinates.to_hyperboloid(self.images))


def bootstrap(
    model: HyperbolicReduction,
    X: Any,
    *,
    n_resamples: int = 100,
    resample: Literal["bootstrap", "subsample"] = "bootstrap",
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Stability:
    """How stable a fitted reduction is: refits to resampled rows, and how much their spines and pictures differ.

    Every refit starts from the usual starts of `model` and from its result. From that result alone it would end in the same
    optimum each time; without it, differences between searches would be taken for differences between data.
    100 refits of `HoroPCA` to a thousand points take about a minute of processor time.

    Parameters
    ----------
    model : a fitted HoroPCA, or another reduction of this package
        Its number of components is kept, and all its parameters: that of a `HoroPCACV` is not chosen again.
    X : array of shape (n_samples, n_features)
        The points that it was fitted to.
    n_resamples : int, default=100
    resample : {"bootstrap", "subsample"}, default="bootstrap"
        n rows with replacement, or n / 2 rows without replacement, in which no point occurs twice.
    groups : array of shape (n_samples,), optional
        Rows of one group are drawn together. Pass it if rows depend on each other, such as the leaves of a subtree: if they
        are drawn one by one, the picture looks more stable than it is.
    sample_weight : array of shape (n_samples,), or one number, optional
        The weights of the fit, if it had any.
    level : float, default=0.9
        The confidence of regions and bounds.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the resamples, and the refits of a model that has no whole number for its own.
    n_jobs : int or None, default=None
        Refits at a time, as joblib runs them; the result does not depend on it.

    Returns
    -------
    Stability
        What it holds is of the size of the picture, however many the refits. ``plots.plot_disk(result.images,
        regions=result)`` draws the regions.

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import bootstrap
    >>> X = make_hierarchy(random_state=0).points
    >>> model = HoroPCA(n_components=1, spine="free", n_init=2).fit(X)
    >>> found = bootstrap(model, X, n_resamples=10)
    >>> found.angles.shape, found.spread.shape
    ((10, 1), (121,))
    """
    plan = Resampling.checked(model, X, n_resamples, resample, groups, sample_weight, check_generator(random_state))
    level, K, n = check_level(level), plan.reference.shape[1] - 1, len(plan.reference)
    moments, squares, refits = np.zeros((n, K, K)), np.zeros(n), []
    for refit in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(plan.refit)(k) for k in range(n_resamples)):
        moments += refit.moved[:, :, None] * refit.moved[:, None, :]  # in order: the same to the last bit, whoever was first
        squares += np.sum(refit.moved**2, axis=1)
        refits.append(refit._replace(moved=np.empty((0, K))))
    scale = fitted_coordinates(model).scale
    angles = np.array([refit.angles for refit in refits])
    kappas = np.array([refit.kappa for refit in refits])
    spread = np.sqrt(squares / n_resamples)
    mean = frechet_mean(plan.reference[plan.matched()]).point
    about = float(np.mean(distance(plan.reference, mean) ** 2))
    found = Stability(
        np.asarray(plan.coordinates.from_hyperboloid(plan.reference, np.dtype(float))),
        moments / n_resamples / scale**2,
        spread / scale,
        1 - min(1.0, float(np.mean(spread**2)) / about) if about > 0 else 1.0,
        angles,
        np.quantile(angles, level, axis=0, method="higher"),
        float(np.mean(np.abs(kappas) < 10 * MERGED)) if K > 1 and not np.isnan(kappas).any() else float("nan"),
        float(np.mean([refit.converged for refit in refits])),
        level,
        n_resamples,
        "",
        plan.coordinates,
        float(np.mean([refit.change for refit in refits])),
    )
    return found._replace(conclusion=" ".join(_sentences(found, plan, np.sqrt(about) / scale)))


def check_level(level: Any) -> float:
    """Validate a confidence. Raises ValueError if it is not between 0 and 1."""
    number = check_number("level", level, "a confidence between 0 and 1, such as 0.9", above=0)
    if number >= 1:
        raise ValueError(f"level must be a confidence between 0 and 1, such as 0.9, but is {level!r}.")
    return number


def _quantile(level: float, K: int, n_resamples: int) -> float:
    """The square of the size of a region in deviations: Hotelling's quantile for second moments from `n_resamples` refits."""
    return float(K * n_resamples / (n_resamples - K + 1) * fisher.ppf(level, K, n_resamples - K + 1))


# ---------------------------------------------------------------- in words


def _sentences(found: Stability, plan: Resampling, radius: float) -> Iterator[str]:
    """The conclusion, a sentence at a time."""
    n, count, counted = len(found.images), int(plan.members.max()) + 1, int(np.sum(plan.different >= 0))
    drawn = f"{counted} rows" if count == n else f"{count} groups of {counted} rows"
    kind = "bootstrap samples" if plan.resample == "bootstrap" else "halves"
    share = f"{100 * found.level:g} %"
    yield f"Of {found.n_resamples} refits to {kind} of {drawn}:"
    if len(found.angle_bounds):
        said = [f"{_components(k)} {bound:.2g}° ({_verdict(bound)})" for k, bound in enumerate(found.angle_bounds, start=1)]
        yield f"{share} lie within these angles of the spine: {', '.join(said)}."
    move = float(np.sqrt(np.mean(found.spread**2)))
    wide, readable = int(np.sum(found.spread > radius / 2)), found.stability >= READABLE
    but = f", but for the {wide} of {n} that move by more than half of that radius" if wide and readable else ""
    reading = f"(stability {found.stability:.2f}): {_reading(found.stability)}{but}."
    yield f"Images move by {move:.2g} in a picture of radius {radius:.2g} {reading}"
    if wide and not readable:
        yield f"{wide} of {n} points move by more than half of that radius."
    if not readable:
        still = len(found.stable_points())
        yield (
            f"What is stable: distances in the picture, which change by {found.distance_change:.0%} on average, and "
            f"{still} of {n} points, which move by less than a tenth of that radius."
        )
    if readable and np.any(found.angle_bounds > LOOSE):
        yield "That angles are large where the picture stays is no contradiction: a spine may slide inside it at little cost."
    if not np.isnan(found.merged) and plan.model.ideal_points_ is not None:
        yield f"The ideal points are merged in {found.merged:.0%} of the refits."
    if found.converged < 1:
        yield f"{1 - found.converged:.0%} of the refits did not converge, which makes these results less certain."
    if count == n and plan.looks_dependent():
        yield DEPENDENT
    if count <= FEW_GROUPS:
        yield f"With {count} {'rows' if count == n else 'groups'} this is a guess."


def _components(k: int) -> str:
    return "the first component" if k == 1 else f"the first {k} together"


def _verdict(degrees: float) -> str:
    return "stable" if degrees <= STABLE else "roughly stable" if degrees <= LOOSE else "not stable"


def _reading(stability: float) -> str:
    if stability >= READABLE:
        return "it may be read point by point"
    return "only its large parts may be read" if stability >= COARSE else "where points lie in it is mostly chance"
