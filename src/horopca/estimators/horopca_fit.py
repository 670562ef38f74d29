"""The fit of HoroPCA: choose rows, search, move to the mean of all rows, measure the variances."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from .._input.arguments import check_choice, check_count, check_verbose
from .._input.means import mean_of_many
from .._input.rows import Rows
from .._optimize.multi_start import Flag, Search, SearchOptions, search_greedy, search_joint
from .._optimize.objectives import OBJECTIVES, SUBSET_ROWS, ObjectiveName, Sample, as_sample
from .._optimize.result import Ending
from ..geometry import lift, pairwise_distance, to_hyperboloid, translate_to_origin
from ..geometry._arrays import Array, array_namespace, from_numpy, to_numpy
from ..geometry._points import Chunk
from ..geometry.isometries import (
    BOOSTABLE_TIME,
    Frame,
    change_of_frame,
    translate_ideal,
    translate_ideal_to_origin,
)
from ..projections.horospherical import Slide, slide
from ..projections.spines import Spine, nested_ideal_points, spine_of
from ..statistics.means import Mean, frame_of, frechet_median, principal_axes, rotated_towards
from ..statistics.pairs import lower_quartile_distance
from .fitting import (
    check_point,
    check_starts,
    check_stopping,
    fitted_coordinates,
    in_model,
    log,
    pair_variances,
    search_ending,
    store_variances,
)

SpineName = Literal["ideal", "free"]

SEARCH_ROWS = 1 << 16
"""More points are searched on a random sample of this many. On Gaussian points in 64 dimensions a fit keeps 0.8 % less of the
variance of unseen pairs with 2^14 of them than with all of 10^6, and 0.3 % less with 2^16; 2^17 take half as long again."""
LEAST_SEARCH_ROWS = 1 << 14  # The least size of the sample, in any dimension. As many images determine the frame.
LAST_PAIRS = 1 << 20
"""Pairs in the last round. If there are at most twice as many, all are used. A quarter is used if true distances are needed,
and on a sample, whose own error is larger: with an eighth, fits of 200,000 points in 40 clusters keep 0.05 % less."""
AUTO_TOL = {"all": 1e-10, "some": 1e-6, "sample": 1e-5}
"""tol="auto": if all pairs are used, if some are, and on a sample. Sampling errors exceed smaller gains: 10^6 normal points,
fitted with 1e-6 and with 1e-5 on a sample, keep the same variance of unseen pairs to 0.01 %."""
AUTO_STARTS = {"many": 16, "few": 64, "rugged": 96}
"""n_init="auto": on a thousand points or more; the most on fewer points, where they cost little; and for objectives with many
optima that are nearly as good, up to the number of points in `ObjectiveRow.rugged`."""
WEIGHT_STEPS = 1 << 32
"""Weights are rounded to 32 bits, so that weights in another unit, which differ in the last bits, give the same fit: if optima
are nearly equal, one bit can decide between them."""
ERROR_ROWS = 512  # The standard error is estimated from all pairs of this many points.


class NestedBases(NamedTuple):
    """The result of a search: bases of nested spines in the frame of the search."""

    frame: Frame
    bases: list[np.ndarray]  # (k, d+1), k = 1 .. K; with a stretch the last has one more column


def previous_bases(previous: Any, frame: Frame, K: int, columns: int) -> list[np.ndarray] | None:
    """The bases of an earlier fit, in the frame of this one; None unless it has K of them with this number of columns."""
    found, d = previous._nested_bases, len(frame.axes)
    if len(found.bases) != K or found.bases[-1].shape[1] != columns or len(previous._mean) != d + 1:
        return None
    there = change_of_frame(found.frame, frame).T
    return [np.hstack([basis[:, : d + 1] @ there, basis[:, d + 1 :]]) for basis in found.bases]


def previous_images(previous: Any, x: np.ndarray, K: int) -> list[np.ndarray]:
    """Images of points x (n, d+1) in an earlier fit, on 1, 2, ... components: at most K, and as many as it has."""
    if len(previous._mean) != x.shape[1]:
        return []
    both = list(zip(previous.nested_spines_, previous._frames, strict=True))[:K]
    return [frame.enter(spine_images(x, spine, previous._mean)) for spine, frame in both]


def check_search(estimator: Any) -> tuple[SpineName, str]:
    """Check the parameters of `HoroPCA` for the search; return the spine and the objective that "auto" stands for."""
    check_choice("spine", estimator.spine, ("auto", *get_args(SpineName)))
    check_choice("strategy", estimator.strategy, ("joint", "greedy"))
    check_choice("objective", estimator.objective, ("auto", *get_args(ObjectiveName)))
    for name, more in (("stretch", " Its size is learnt: see stretch_."), ("warm_start", "")):
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise ValueError(f"{name} must be True or False, but is {getattr(estimator, name)!r}.{more}")
    if estimator.warm_start and isinstance(estimator.n_components, float | np.floating):
        raise ValueError(f"n_components must be a whole number or None if warm_start=True, but is {estimator.n_components!r}.")
    free, distortion = estimator.spine in ("auto", "free"), estimator.objective in ("auto", "distortion")
    if estimator.stretch and not (free and distortion and estimator.strategy == "joint"):
        raise ValueError(
            "stretch=True implies spine='free', objective='distortion' and strategy='joint', but these are "
            f"{estimator.spine!r}, {estimator.objective!r} and {estimator.strategy!r}. Leave them at their defaults."
        )
    check_stopping(estimator)
    check_verbose(estimator.verbose)
    check_starts(estimator.n_init, AUTO_STARTS["many"])
    if not (isinstance(estimator.pairs, str) and estimator.pairs in ("auto", "all")):
        check_count("pairs", estimator.pairs, 1, why=", 'auto' or 'all'")
    whole = isinstance(estimator.n_jobs, numbers.Integral) and not isinstance(estimator.n_jobs, bool)
    if estimator.n_jobs is not None and not (whole and estimator.n_jobs):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for one per core, but is {estimator.n_jobs!r}.")
    spine: SpineName = ("free" if estimator.stretch else "ideal") if estimator.spine == "auto" else estimator.spine
    objective = ("distortion" if estimator.stretch else "variance") if estimator.objective == "auto" else estimator.objective
    return spine, objective


def search_options(estimator: Any, name: str, n: int, K: int, sampled: bool) -> SearchOptions:
    """The options of a search with the objective `name` on n points, which are all points or a sample (`sampled`)."""
    row = OBJECTIVES[name]
    starts = min(AUTO_STARTS["few"], max(AUTO_STARTS["many"], AUTO_STARTS["many"] * 1024 // n))
    if n <= row.rugged:
        starts = AUTO_STARTS["rugged"]
    if estimator.pairs == "all":
        n_offsets = n
    elif estimator.pairs != "auto":
        n_offsets = int(estimator.pairs)
    elif row.distances and n * n > LAST_PAIRS:
        n_offsets = max(1, LAST_PAIRS // (4 * n))
    else:
        pairs = LAST_PAIRS // 4 if sampled else LAST_PAIRS
        n_offsets = n if n * n <= 4 * LAST_PAIRS and K <= 8 else max(1, pairs // (n * max(1, K // 4)))
    used = "sample" if sampled else "some" if 2 * n_offsets < n else "all"
    tol = AUTO_TOL[used] if estimator.tol == "auto" else estimator.tol
    return SearchOptions(check_starts(estimator.n_init, starts), n_offsets, estimator.max_iter, tol)


def search_rows(columns: int) -> int:
    """The largest number of points to search on: SEARCH_ROWS of up to 128 coordinates (64 MB), fewer of more coordinates."""
    return max(LEAST_SEARCH_ROWS, min(SEARCH_ROWS, 128 * SEARCH_ROWS // columns))


class ChosenRows(NamedTuple):
    """The points to search on: all, or a random sample of the rows of an array."""

    seen: int  # the number of points that they represent
    x: Any  # (m, d+1), all points, or the first of the sample, up to LEAST_SEARCH_ROWS
    weights: np.ndarray | None = None  # of all points, or of the whole sample
    rows: Rows | None = None  # the rows that the sample is drawn from; None: these are all points
    indices: np.ndarray | None = None  # of the rows in the sample


def choose_rows(rows: Rows, everything: bool, rng: np.random.Generator) -> ChosenRows:
    """All rows, or a random sample of as many as are searched, drawn by their weights.

    All rows are returned in an order that does not depend on theirs, and copies of a row become one point of a larger weight.
    """
    n, weights, most = rows.shape[0], rows.weights, search_rows(rows.shape[1])
    if n <= most or everything:
        x = rows.points(np.arange(n) if weights is None else np.flatnonzero(weights))
        weights = np.ones(x.shape[0]) if weights is None else weights[weights > 0]
        x, weights = distinct_points(x, weights)
        return ChosenRows(x.shape[0], x, weights)
    if weights is None:
        drawn, counts = rng.choice(n, size=most, replace=False), None
    else:
        drawn, counts = np.unique(rng.choice(n, size=most, p=weights / weights.sum()), return_counts=True)
        order = rng.permutation(len(drawn))
        drawn, counts = drawn[order], counts[order].astype(float)
    return ChosenRows(n, rows.points(drawn[:LEAST_SEARCH_ROWS]), counts, rows, drawn)


def distinct_points(x: Array, weights: np.ndarray) -> tuple[Array, np.ndarray | None]:
    """The distinct points (m, d+1) of x (n, d+1), and the total weights (m,) of their copies; None if these are equal.

    Their order depends only on the points, so that all later results are the same to the last bit for rows in any order.
    """
    order = np.argsort(to_numpy(x @ from_numpy(np.sqrt(1 + np.arange(x.shape[1])), x)), kind="stable")
    x, weights = x[order, :], weights[order]
    new = np.concatenate([[True], to_numpy(array_namespace(x).any(x[1:, :] != x[:-1, :], axis=1))])
    if 1 < np.count_nonzero(new) < len(new):
        x, weights = x[np.flatnonzero(new), :], np.add.reduceat(weights, np.flatnonzero(new))
    mantissas, exponents = np.frexp(weights / weights.max())
    weights = np.ldexp(np.round(mantissas * WEIGHT_STEPS) / WEIGHT_STEPS, exponents)
    return x, None if (weights == 1).all() else weights


def centred_sample(
    x: Array, name: str, weights: np.ndarray | None = None, rows: Rows | None = None, indices: np.ndarray | None = None
) -> tuple[Mean, Frame, Sample]:
    """The mean and frame of points x (n, d+1), and the points as a sample in that frame.

    With `rows`, the points are those at some `indices` of them, x holds the first of these, and the mean and the frame are
    those of a part of x.
    """
    m = x.shape[0] if rows is None else SUBSET_ROWS
    mean = OBJECTIVES[name].centre(x[:m, :], weights=None if weights is None else weights[:m])
    point = to_numpy(mean.point)
    moved = translate_to_origin(x[:m, :], from_numpy(point, x))
    axes, _ = principal_axes(moved, None if weights is None else weights[:m])
    frame = Frame(point, axes)
    if rows is None or indices is None:
        sample = as_sample(lift(moved[:, 1:] @ from_numpy(axes.T, x)), weights)
    elif point[0] > BOOSTABLE_TIME:
        sample = as_sample(frame.enter(rows.points(indices)), weights)
    else:
        sample = as_sample((from_numpy(frame.matrix(), x) @ rows.points(indices).T).T, weights)
    if name == "robust":
        sample = sample._replace(reach=lower_quartile_distance(sample.points(), sample.weights))
    return mean, frame, sample


def learn_components(estimator: Any, chosen: ChosenRows, K: int, rng: np.random.Generator, previous: Any = None) -> Ending:
    """Fit K components of `HoroPCA` to points, and store them and what they explain.

    An earlier fit adds its components as a start, and the picture is aligned with that fit.
    """
    spine, objective = check_search(estimator)
    name = "stretch" if estimator.stretch else objective
    row, (seen, x, weights, rows, indices) = OBJECTIVES[name], chosen
    mean, frame, sample = centred_sample(x, name, weights, rows, indices)
    if rows is None:
        order = sample.shuffled_order()
        x, sample, weights = x[order[:LEAST_SEARCH_ROWS], :], sample.take(order), None if weights is None else weights[order]
    options = search_options(estimator, name, sample.size, K, rows is not None)._replace(log=partial(log, estimator))
    if previous is not None:
        options = options._replace(warm=previous_bases(previous, frame, K, len(frame.axes) + 1 + row.stretched))
    search = search_greedy if estimator.strategy == "greedy" else search_joint
    flag = search(Search(sample, name, options, rng), K, spine == "free")
    if rows is not None and row.centre is frechet_median:
        mean = frechet_median(rows, start=to_numpy(mean.point), weights=rows.weights)
    elif rows is not None:
        mean = mean_of_many(rows, x[:SUBSET_ROWS, :], mean)
    _store_spines(estimator, to_numpy(mean.point), flag, frame, moved=rows is not None, ideal=spine == "ideal")
    inside = [spine_of(basis[:, : sample.dimension + 1], estimator.stretch_) for basis in flag.bases]
    variances, error = measured_variances(sample.points(), inside, rng, seen, weights)
    kept, total = np.maximum.accumulate(variances[:-1]), variances[-1]
    # a projection of a projection lengthens nothing, so only rounding can break the order
    store_variances(estimator, kept if estimator.stretch else np.minimum(kept, total), total)
    estimator.variance_error_ = error / fitted_coordinates(estimator).scale ** 2
    before = [] if previous is None else previous_images(previous, to_numpy(x), K)
    _store_frames(estimator, x, None if weights is None else weights[:LEAST_SEARCH_ROWS], before, row.centre)
    return search_ending(mean, flag, options)


def _store_frames(
    estimator: Any, x: Array, weights: np.ndarray | None, before: list[np.ndarray], middle: Callable[..., Mean]
) -> None:
    """Store the frames of the images of points x (n, d+1) on 1, 2, ... components, aligned with the images `before`."""
    centre = check_point(estimator, "centre", ("mean", "origin"))
    estimator._frames, mean = [], estimator._mean
    for k, spine in enumerate(estimator.nested_spines_):
        y = spine_images(x, spine, mean)
        point = middle(y, weights=weights).point if centre is None else spine_images(centre[None], spine, mean)[0]
        frame = frame_of(y, point, weights)
        estimator._frames.append(rotated_towards(frame, to_numpy(y), before[k]) if k < len(before) else frame)
    estimator._frame = estimator._frames[-1]
    estimator._slide = Slide.along(estimator.spine_, Frame.at(mean).matrix(), estimator._frame.matrix())


def _store_spines(estimator: Any, mean: np.ndarray, flag: Flag, frame: Frame, *, moved: bool, ideal: bool) -> None:
    """Store the mean, and the nested spines, their ideal points and the stretch in the frame with the mean at the origin.

    `moved` says that the search was centred at another point than the mean; `ideal`, that it was for ideal points.
    """
    d = len(frame.axes)
    bases = [basis[:, : d + 1] for basis in flag.bases]
    stretch = max(1.0, float(np.exp(flag.bases[-1][:, d + 1 :].sum())))  # below 1, some points would have no image
    q = nested_ideal_points(bases)
    directions = None if q is None else q @ frame.axes
    if moved:
        there = change_of_frame(frame, Frame.at(mean)).T
        spines = [spine_of(basis @ there, stretch) for basis in bases]
        if ideal:  # rounding must not carry the pole beyond infinity
            spines = [spine._replace(kappa=max(spine.kappa, 0.0) if k else 0.0) for k, spine in enumerate(spines)]
        if directions is not None:
            directions = translate_ideal_to_origin(translate_ideal(directions, frame.mean), mean)
    else:
        spines = [spine_of(basis, stretch) for basis in bases]
        spines = [spine._replace(n=spine.n @ frame.axes, U=spine.U @ frame.axes) for spine in spines]
    estimator._nested_bases, estimator._mean = NestedBases(frame, flag.bases), mean
    estimator.mean_ = in_model(estimator, mean)
    estimator.nested_spines_, estimator.spine_, estimator._directions = spines, spines[-1], directions
    estimator.ideal_points_ = None if directions is None else translate_ideal(directions, mean)
    estimator.stretch_ = stretch
    estimator.stretch_bound_ = 2 * float(np.log(stretch)) / fitted_coordinates(estimator).scale


def measured_variances(
    x: Array, spines: list[Spine], rng: np.random.Generator, seen: int, weights: Any = None
) -> tuple[np.ndarray, float]:
    """Pair variances of the images of points x (m, d+1) under nested spines, and of x itself (last); and a standard error.

    The points are a random sample of `seen` rows, or all of them.
    """
    images, m = [*(spine_images(x, spine) for spine in spines), x], x.shape[0]
    values, counted = pair_variances(images, rng, weights=weights)
    w = np.ones(m) if weights is None else to_numpy(weights)
    some = np.arange(min(m, ERROR_ROWS)) if weights is None else rng.choice(m, size=min(m, ERROR_ROWS), p=w / w.sum())
    # a squared distance is the sum of effects of its two points and a residual. In a mean over pairs in which all points occur
    # equally often, only the residual varies; the effects vary with the points that are drawn
    squares = pairwise_distance(to_numpy(images[-2])[some]) ** 2
    own = squares.mean(axis=1)  # plus a constant, which does not change a standard deviation
    error = (squares - own - own[:, None]).std() / np.sqrt(counted)
    if seen > m:
        error = np.hypot(error, 2 * own.std() * np.sqrt(1 / m - 1 / seen))
    lost = 1 / seen if weights is None or seen > m else float(w @ w) / float(w.sum()) ** 2
    return values * (1 - lost), float(error)  # the n^2 pairs of the definition include those of a point with itself


def spine_images(x: Array, spine: Spine, mean: np.ndarray | None = None) -> Any:
    """`exact_spine_images`, computed by products with the points where these are accurate enough."""
    images, lost = Slide.along(spine, None if mean is None else Frame.at(mean).matrix()).images(Chunk.of(x))
    if bool(array_namespace(lost).any(lost)):
        images[lost] = exact_spine_images(x[lost], spine, mean)
    return images


def exact_spine_images(x: Array, spine: Spine, mean: np.ndarray | None = None) -> Array:
    """Images (n, K+1) on the hyperboloid of H^K of points x (n, d+1), for a spine in the frame with the mean at the origin."""
    y = x if mean is None else translate_to_origin(x, from_numpy(mean, x))
    return to_hyperboloid(slide(y, spine), "halfspace")
