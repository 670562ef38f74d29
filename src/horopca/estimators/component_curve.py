"""The number of components: what each number preserves of held-out rows, and what a component would add by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.base import clone

from .._input.arguments import check_choice, check_count, check_generator
from .._input.coordinates import Coordinates
from .._input.progress import Progress, logged
from .._input.rows import Rows, check_rows, choose_coordinates
from .._input.threads import one_blas_thread, run_jobs
from .._optimize.multi_start import Search, search_joint, search_next
from ..geometry import pairwise_distance
from ..projections.spines import spine_of
from ..statistics.pairs import relative_change
from .base import HyperbolicReduction
from .fitting import warn_caller
from .folds import group_numbers, make_folds
from .horopca import HoroPCA
from .horopca_fit import centred_sample, check_search, distinct_points, search_options, spine_images
from .parallel_analysis import DEPENDENT_COMPONENTS, compare_with_chance, look_dependent

RuleName = Literal["null", "one_se"]

NEIGHBOURS = 10  # The number of nearest neighbours that are compared, or a third of the fold if that is less.
DEFAULT_MAX_COMPONENTS = 10  # The largest number of components by default.
MAX_ROWS = 1 << 12  # A random sample of this size is used if there are more rows.
THOROUGH_COMPONENTS = 3  # Up to this many components, which take little time, the search is that of a separate joint fit.

Map = Callable[[np.ndarray], np.ndarray]  # of points (n, d+1) to their images (n, k+1)


class HeldOut(NamedTuple):
    """A measure of 1 to K components on unseen rows, one row for each fold; part of the result of `component_curve`."""

    among: np.ndarray  #: (folds, K), over pairs of unseen rows
    across: np.ndarray  #: (folds, K), over pairs of an unseen row and a seen one

    @property
    def mean(self) -> np.ndarray:
        """Mean (K,) over the folds, among unseen rows."""
        return np.asarray(self.among.mean(axis=0))

    @property
    def error(self) -> np.ndarray:
        """Its standard error (K,): the standard deviation over the folds, divided by the square root of their number."""
        return np.asarray(self.among.std(axis=0, ddof=1) / np.sqrt(len(self.among)))


class ComponentCurve(NamedTuple):
    """What is kept of unseen rows for each number of components, and how many the data supports; from `component_curve`."""

    n_components: np.ndarray  #: (K,): 1 .. K
    distortion: HeldOut  #: average distortion; smaller is better
    variance: HeldOut  #: fraction of the pair variance that is kept
    neighbours: HeldOut  #: fraction of the nearest neighbours that are kept: of ten, or of a third of the fold if that is fewer
    added: np.ndarray  #: (K,), the fraction of the variance of all rows that each component adds, with ``spine="free"``
    null: np.ndarray  #: (copies, m), the same by chance, up to the first component that adds no more than that
    rule: RuleName  #: the rule that chooses the number of components
    n_dimensions: int  #: of the data
    dependent: bool = False  #: whether rows look dependent on each other, and no groups were passed

    @property
    def p_values(self) -> np.ndarray:
        """p-values (m,): the fraction of the copies, counting the points as one, to which a component adds at least as much."""
        return np.asarray((1 + np.sum(self.null >= self.added[: self.null.shape[1]], axis=0)) / (1 + len(self.null)))

    @property
    def choices(self) -> dict[str, int]:
        """How many components each rule chooses; "null" is present only if there are copies to compare with."""
        mean, error = self.distortion.mean, self.distortion.error
        best = int(np.argmin(mean))
        found = {"one_se": 1 + int(np.argmax(mean <= mean[best] + error[best]))}
        if len(self.null):  # of the components that were compared, only the last may add no more than chance
            more = self.added[: self.null.shape[1]] > self.null.max(axis=0)
            found["null"] = 1 if self.n_dimensions == 1 else int(np.sum(more))
        return found

    @property
    def chosen(self) -> int:
        """How many components the rule of the curve chooses; 0 if no component adds more than chance."""
        return self.choices[self.rule]

    @property
    def sentence(self) -> str:
        """The conclusion in words."""
        return f"{self._conclusion()} {DEPENDENT_COMPONENTS}" if self.dependent else self._conclusion()

    def _conclusion(self) -> str:
        K, most = self.chosen, len(self.n_components)
        few = f"{K} component{'' if K == 1 else 's'}"
        (d, e), (v, f) = ((h.mean[K - 1], h.error[K - 1]) for h in (self.distortion, self.variance))
        kept = f"With {K}, unseen rows have a distortion of {d:.4f} ± {e:.4f} and keep {v:.1%} ± {f:.1%} of their variance."
        if self.n_dimensions == 1:
            return "The points have one dimension, and there is nothing to choose."
        if self.rule == "one_se":
            return f"{few} {'is' if K == 1 else 'are'} within one standard error of the best distortion. {kept}"
        if K == 0:
            return (
                "No component adds more to the variance than chance does to points at the same distances from their mean, in "
                "random directions: directions in a picture of these points have no meaning."
            )
        more = " There may be more: raise max_components." if K == most < self.n_dimensions - 1 else ""
        copies = f"{len(self.null)} {'copy' if len(self.null) == 1 else 'copies'}"
        adds = f"{few} {'adds' if K == 1 else 'add'} more to the variance than chance does"
        return f"{adds} (p ≤ {self.p_values[:K].max():.2g}, against {copies}).{more} {kept}"


def component_curve(
    X: Any,
    max_components: int | None = None,
    *,
    estimator: HyperbolicReduction | None = None,
    cv: Any = 5,
    groups: Any = None,
    rule: RuleName = "null",
    copies: int = 19,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress = lambda done, total: None,
) -> ComponentCurve:
    """What each number of components preserves of unseen rows, and what a component would add by chance.

    Components are fitted to the training rows of each fold and measured on the others. Each component is also compared with
    chance, as in parallel analysis: copies of the points keep their distances from the mean and their images on the previous
    components, and have random directions otherwise. Of more than 4096 rows a random sample is used, and copies have at most
    2048 rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature of the estimator.
    max_components : int, optional
        The largest number of components; by default 10, or the dimension of the data if that is less.
    estimator : a reduction of this package, optional
        The reduction, `HoroPCA()` if not given; its ``n_components`` is ignored. From four components on, a joint `HoroPCA` is
        fitted from a few starts and the result with one component less, and may keep slightly less than a separate fit.
    cv : int, scikit-learn splitter or iterable of splits, default=5
        The number of folds, a splitter, or splits as pairs of arrays of row numbers, for training and testing. With a number
        and no groups, equal rows are kept in one fold.
    groups : array of shape (n_samples,), optional
        The group of each row, such as its subtree or donor, if rows depend on each other. Rows of one group are kept in one
        fold (a splitter receives the groups; given splits are used unchanged), and copies rotate them together, so that a
        group is not taken for a component.
    rule : {"null", "one_se"}, default="null"
        "null": the components that add more to the variance of the points than to that of any copy, at most one less than
        there are dimensions. It uses the variance about the mean for every objective; with the robust one it
        warns that a few distant points may count as a component. "one_se": the fewest whose distortion is within one standard
        error of the least; distortion falls with every component, so this is often the largest number.
    copies : int, default=19
        The number of copies for each component; 0 makes none. If the data has no further component, the probability that
        "null" finds one is about ``1 / (copies + 1)``.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the folds, the copies and the sample of many rows.
    n_jobs : int or None, default=None
        Jobs of joblib. The curve does not depend on it.
    progress : callable
        Called as ``progress(done, total)`` with the numbers of fits.

    Returns
    -------
    ComponentCurve

    See Also
    --------
    horopca.HoroPCACV : an estimator that chooses the number
    horopca.plots.plot_components : draws the curve

    Examples
    --------
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.metrics import component_curve
    >>> curve = component_curve(make_hierarchy(2, 3, random_state=0).points, 2, cv=2, copies=0, rule="one_se")
    >>> curve.n_components, bool(curve.distortion.mean[0] > curve.distortion.mean[1])
    (array([1, 2]), True)
    """
    estimator = HoroPCA() if estimator is None else estimator
    if not isinstance(estimator, HyperbolicReduction):
        raise ValueError(f"estimator must be a reduction of this package, such as HoroPCA(), but is {estimator!r}.")
    check_choice("rule", rule, get_args(RuleName))
    if check_count("copies", copies, 0) == 0 and rule == "null":
        raise ValueError("copies must be at least 1 for rule='null', which compares with them, but is 0. Use rule='one_se'.")
    estimator._check_parameters()
    if rule == "null" and estimator.objective == "robust":
        warn_caller(
            "rule='null' compares the variance, in which a few distant points may count as a component, although the objective "
            "is robust. Use rule='one_se', or drop such points."
        )
    if isinstance(X, Rows):  # those of `HoroPCACV`, perhaps with weights
        rows = X
    else:
        rows = check_rows(X, choose_coordinates(X, estimator.model, estimator.curvature), min_rows=2)
    n, d, rng = rows.shape[0], rows.shape[1] - 1, check_generator(random_state)
    members = None if groups is None else group_numbers(groups, n)
    if members is not None and members.max() + 1 == n:
        warn_caller(f"groups has no effect: each of its {n} groups has one row.")
    some = np.arange(n) if rows.weights is None else np.flatnonzero(rows.weights)
    some = some if len(some) <= MAX_ROWS else np.sort(rng.choice(some, size=MAX_ROWS, replace=False))
    x = rows.take(some)
    folds = make_folds(x, cv, members, some, n, int(rng.integers(2**31)))
    fewest = min(len(seen) for seen, _ in folds)
    K = min(DEFAULT_MAX_COMPONENTS, d, fewest)
    if max_components is not None:
        why = f" (the dimension of X is {d}, and the smallest part that is fitted has {fewest} rows)"
        K = check_count("max_components", max_components, 1, min(d, fewest), why)
    report, done = logged("component_curve", progress), count(1)
    total = len(folds) + (1 + copies * K if copies else 0)

    def run(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> list[Any]:
        found = []
        for result in run_jobs(function, calls, n_jobs):
            found.append(result)
            report(next(done), total)
        return found

    calls = [(estimator, rows.coordinates, K, x[seen], x[unseen]) for seen, unseen in folds]
    held = np.array(run(_held_out, calls))  # (folds, 3 measures, among or across, K)
    distortion, variance, neighbours = (HeldOut(held[:, k, 0], held[:, k, 1]) for k in range(3))
    added, null = compare_with_chance(x, K, copies, None if members is None else members[some], rng, run)
    dependent = groups is None and look_dependent(x)
    return ComponentCurve(np.arange(1, K + 1), distortion, variance, neighbours, added, null, rule, d, dependent)


def _maps(estimator: HyperbolicReduction, coordinates: Coordinates, K: int, x: np.ndarray) -> Iterator[Map]:
    """Yield maps to 1, 2, .., K components that are fitted to points x (n, d+1)."""
    if isinstance(estimator, HoroPCA) and estimator.strategy == "joint":
        yield from _nested(x, K, estimator)
        return
    X = coordinates.from_hyperboloid(x, np.float64)
    if isinstance(estimator, HoroPCA):  # one greedy fit contains the fits with fewer components
        fitted = clone(estimator).set_params(n_components=K).fit(X)
        yield from (partial(spine_images, spine=spine, mean=fitted._mean) for spine in fitted.nested_spines_)
    else:
        yield from (clone(estimator).set_params(n_components=k).fit(X)._project for k in range(1, K + 1))


def _nested(x: np.ndarray, K: int, estimator: HoroPCA) -> Iterator[Map]:
    """The maps of a joint `HoroPCA` to 1 .. K components, fitted to points x (n, d+1), each starting from the one before."""
    spine, objective = check_search(estimator)
    name = "stretch" if estimator.stretch else objective
    x, weights = distinct_points(x, np.ones(len(x)))
    _, frame, sample = centred_sample(x, name, weights)
    sample, d = sample.take(sample.shuffled_order()), sample.dimension
    basis = np.zeros((0, d + 1))
    for k in range(1, K + 1):
        if k <= THOROUGH_COMPONENTS and k < d:
            options = search_options(estimator, name, sample.size, k, sampled=False)
            basis = search_joint(Search(sample, name, options, np.random.default_rng(0)), k, spine == "free").bases[-1]
        else:
            basis = search_next(sample, basis[:, : d + 1], spine == "free", name)
        along = spine_of(basis[:, : d + 1], float(np.exp(basis[:, d + 1 :].sum())))
        yield partial(lambda along, y: np.asarray(spine_images(frame.enter(y), along)), along)


@one_blas_thread()
def _held_out(
    estimator: HyperbolicReduction, coordinates: Coordinates, K: int, others: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The measures (3, 2, K) of maps fitted to `others`, for the distances among unseen points x and from these to `others`."""
    before = [_without_diagonal(pairwise_distance(x)), pairwise_distance(x, others)]
    found = []
    for image in _maps(estimator, coordinates, K, others):
        y = image(x)
        after = [_without_diagonal(pairwise_distance(y)), pairwise_distance(y, image(others))]
        found.append([_measures(*distances) for distances in zip(before, after, strict=True)])
    return np.array(found).transpose(2, 1, 0)


def _without_diagonal(distances: np.ndarray) -> np.ndarray:
    """Distances (n, n) without those of a point to itself (n, n-1)."""
    n = len(distances)
    return np.asarray(distances[~np.eye(n, dtype=bool)].reshape(n, n - 1))


def _measures(before: np.ndarray, after: np.ndarray) -> tuple[float, float, float]:
    """Distortion, share of the variance and of the neighbours kept, of distances (n, m) from some points to others."""
    if not before.any():  # all points are equal to rounding
        return 0.0, 1.0, 1.0
    k = min(NEIGHBOURS, before.shape[1] // 3)
    kept = np.nan
    if k:
        reach = np.partition(before, k - 1, axis=1)[:, k - 1 : k]
        near = np.argpartition(after, k - 1, axis=1)[:, :k]
        kept = float(np.mean(np.take_along_axis(before, near, axis=1) <= reach))  # as `neighbours_kept` has it
    return float(np.mean(relative_change(before, after))), float(np.sum(after**2) / np.sum(before**2)), kept
