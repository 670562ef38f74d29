"""Several reductions of the same points, side by side."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from .._input.arguments import check_choice, check_count
from .._input.coordinates import check_coordinates
from .._input.progress import Progress, logged
from .._input.rows import Rows, check_rows
from ..estimators import BSA, PGA, EuclideanPCA, HoroPCA, HyperbolicMDS, RadialPCA, TangentPCA
from ..estimators.base import HyperbolicReduction
from ..geometry import ModelName, pairwise_distance, to_hyperboloid
from ..neighbors import to_umap
from .distances import average_distortion, best_scale, frechet_variance, pair_variance
from .euclidean import classical_mds, triangulated
from .neighbours import NEAR_MEASURES, near_measures

__all__ = ["METHODS", "compare"]

NEIGHBOURS = 10  # Neighbours of each point that are compared, or a third of all points if that is less.
REPORT_PAIRS = 4_000_000  # Up to this many pairs all are counted; of more, a random sample of this size.
MIN_POINTS = 64  # The neighbours of at least this many points are compared.
LANDMARKS = 1 << 11  # Of more points, Euclidean MDS takes this many, and adds the others by their distances to these.


class Method(NamedTuple):
    """A method to compare: a reduction, or a function whose pictures are in Euclidean space."""

    title: str  #: as shown in tables
    estimator: Any  #: its class; None for a flat method
    options: Mapping[str, Any] = {}  #: parameters of the estimator that are not its defaults
    usual: bool = True  #: whether it is compared by default
    picture: Callable[[Rows, int, int], np.ndarray] | None = None  #: for a flat method: (points, dimension, seed) -> picture


#: The reductions that `compare` knows, by the names that it and ``horopca reduce --method`` take.
METHODS = {
    "horopca": Method("HoroPCA", HoroPCA),
    "horopca-free": Method("HoroPCA, free", HoroPCA, {"spine": "free"}),
    "horopca-distortion": Method("HoroPCA, free, distortion", HoroPCA, {"spine": "free", "objective": "distortion"}, False),
    "horopca-stretch": Method("HoroPCA, stretched", HoroPCA, {"spine": "free", "objective": "distortion", "stretch": True}),
    "pca": Method("Euclidean PCA", EuclideanPCA),
    "tpca": Method("Tangent PCA", TangentPCA),
    "radial": Method("Radial PCA", RadialPCA),
    "pga": Method("PGA", PGA),
    "bsa": Method("BSA", BSA),
    "hmds": Method("Hyperbolic MDS", HyperbolicMDS),
}


def _landmarks(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At most `LANDMARKS` evenly spaced rows: their indices, their points, and the distances between them."""
    which = np.arange(0, rows.shape[0], -(-rows.shape[0] // LANDMARKS))
    points = rows.take(which)
    return which, points, pairwise_distance(points) / rows.coordinates.scale


def _euclidean_mds(rows: Rows, K: int, seed: int) -> np.ndarray:
    """Classical MDS (n, K) of the hyperbolic distances."""
    _, points, D = _landmarks(rows)
    picture, scale = classical_mds(D, K), rows.coordinates.scale
    if len(picture) == rows.shape[0]:
        return picture
    distances = (pairwise_distance(np.asarray(chunk.points()), points) / scale for chunk in rows.chunks())
    return np.concatenate([triangulated(d, D, picture) for d in distances])


def _umap(rows: Rows, K: int, seed: int) -> np.ndarray:
    """The picture (n, K) of UMAP of the hyperbolic neighbours, at the scale with the least distortion."""
    settings: Any = rows.coordinates._asdict()
    start = HoroPCA(K, random_state=seed, **settings).fit_transform(rows.X)
    umap = import_module("umap").UMAP(n_components=K, random_state=seed, **to_umap(rows.X, start, **settings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP warns that it cannot transform new points, and that a seed means one thread
        picture = np.asarray(umap.fit_transform(np.asarray(rows.X)), dtype=np.float64)
    which, _, D = _landmarks(rows)  # UMAP has no unit of length: the scale is that of the least distortion
    return picture / best_scale(cdist(picture[which], picture[which])[D > 0] / D[D > 0])


# All methods of `compare`. The last two show how well flat pictures preserve distances and neighbours.
ALL_METHODS = {
    **METHODS,
    "mds": Method("Euclidean MDS", None, picture=_euclidean_mds),
    "umap": Method("UMAP", None, usual=False, picture=_umap),
}


# A row of `compare` as a dict; the images (n, K) in the model and curvature of the points (those of a flat picture are the
# exponential map of its vectors at the origin); and the fitted reduction, None for a flat picture.
Reduction: TypeAlias = tuple[dict[str, Any], Any, Any]


def default_methods() -> list[str]:
    """Names of the methods that `compare` runs by default."""
    return [name for name, method in ALL_METHODS.items() if method.usual]


def compare(
    X: Any,
    n_components: int | Sequence[int] = 2,
    methods: Sequence[str] | None = None,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    random_state: int = 0,
    progress: Progress = lambda done, total: None,
) -> Any:
    """Reduce points by several methods and measure what each preserves.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    n_components : int or sequence of int, default=2
        The dimensions to reduce to.
    methods : sequence of str, optional
        Names in `METHODS`, or "mds" (classical MDS of the hyperbolic distances in Euclidean space) or "umap" (UMAP of the
        hyperbolic neighbours, which needs umap-learn). By default all but "horopca-distortion" and "umap". Tangent PCA
        and Euclidean MDS show what flat pictures keep.
    model, curvature : str and float
        The coordinates of X.
    random_state : int, default=0
        Seeds every method. With more than four million pairs, it also seeds the samples of pairs, and of points whose
        neighbours are compared.
    progress : callable
        Called as ``progress(done, total)`` with the numbers of reductions.

    Returns
    -------
    pandas.DataFrame, or a list of dict if pandas is not installed
        One row for each number of components and method: ``method``, ``title``, ``n_components``, ``distortion`` (average,
        over pairs) and its standard error ``distortion_error`` (0 if all pairs were counted), ``frechet_variance`` of the
        images, ``frechet_kept`` and ``variance_kept`` (Fréchet variance and pair variance of the images divided by those of
        the points), ``neighbours_kept``, ``trustworthiness`` and ``continuity`` of the ``n_neighbors`` nearest of each point
        (ten, or a third of the points), ``seconds`` of the fit, and ``converged``. UMAP has no unit of length: its picture is
        scaled to the least distortion.

    See Also
    --------
    horopca.plots.plot_comparison : draws the pictures of the methods
    horopca.metrics.average_distortion : one of the columns

    Examples
    --------
    >>> from horopca import compare
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> len(compare(X, 2, ["horopca", "tpca", "mds"]))
    3
    """
    rows = reductions(X, n_components, methods, model=model, curvature=curvature, random_state=random_state)
    total = np.size(n_components) * len(default_methods() if methods is None else methods)
    records, report = [], logged("compare", progress)
    for record, _, _ in rows:
        records.append(record)
        report(len(records), total)
    return records if find_spec("pandas") is None else import_module("pandas").DataFrame(records)


def reductions(
    X: Any,
    n_components: int | Sequence[int] = 2,
    methods: Sequence[str] | None = None,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    random_state: int = 0,
) -> Iterator[Reduction]:
    """Yield each row of `compare`, as a dict, with its images and reduction. Arguments are validated before the first fit."""
    rows = check_rows(X, check_coordinates(model, curvature), min_rows=2)
    (n, columns), settings = rows.shape, {"model": model, "curvature": curvature, "random_state": random_state}
    if isinstance(methods, str):
        raise ValueError(f"methods must be a list of names, such as [{methods!r}], but is {methods!r}.")
    names = default_methods() if methods is None else list(methods)
    for name in names:
        check_choice("methods", name, ALL_METHODS)
    if "umap" in names and find_spec("umap") is None:
        raise ImportError("methods='umap' needs the package umap-learn. Install it: pip install umap-learn")
    wanted: list[Any] = np.atleast_1d(n_components).tolist()
    why = f" (X has {n} rows of dimension {columns - 1})"
    counts = [check_count("n_components", K, 1, min(columns - 1, n), why) for K in wanted]
    total = _variances(rows.X, **settings)
    return (_reduce(rows, name, K, total, settings) for K in counts for name in names)


def _reduce(rows: Rows, name: str, K: int, total: tuple[float, float], settings: dict[str, Any]) -> Reduction:
    """A row of `compare`; `total` are the Fréchet variance and the pair variance of the points."""
    start, method = time.perf_counter(), ALL_METHODS[name]
    estimator: Any = None if method.picture else make_reduction(name, K, **settings)
    Y = method.picture(rows, K, settings["random_state"]) if method.picture else estimator.fit_transform(rows.X)
    seconds, flat, n_pairs = time.perf_counter() - start, estimator is None, report_pairs(rows.shape[0])
    distortion, error = average_distortion(rows.X, Y, return_error=True, flat=flat, n_pairs=n_pairs, **settings)
    near = kept_neighbours(rows.X, Y, flat=flat, **settings)
    if flat:  # the mean squared distance of ordered pairs is twice that to the mean
        spread = float(np.var(Y, axis=0).sum())
        frechet, pairs = spread, 2 * spread
        x = to_hyperboloid(Y * rows.coordinates.scale, "tangent")  # its vectors as tangent vectors at the origin
        Y = rows.coordinates.from_hyperboloid(x, np.dtype(float))
    else:
        frechet, pairs = _variances(Y, **settings)
    kept = [part / whole if whole > 0 else 1.0 for part, whole in zip((frechet, pairs), total, strict=True)]
    record = {"method": name, "title": method.title, "n_components": K, "distortion": distortion, "distortion_error": error}
    record |= {"frechet_variance": frechet, "frechet_kept": kept[0], "variance_kept": kept[1], **near}
    return record | {"seconds": seconds, "converged": flat or bool(estimator.converged_)}, Y, estimator


def report_pairs(n: int) -> int | None:
    """The number of random pairs of n points that a report counts, or None for all pairs."""
    return REPORT_PAIRS if n * (n - 1) // 2 > REPORT_PAIRS else None


def kept_neighbours(X: Any, Y: Any, **settings: Any) -> dict[str, float]:
    """The measures of `near_measures` and their number of neighbours; NaN and 0 for fewer than four points."""
    n = X.shape[0]
    k, pairs = min(NEIGHBOURS, (n - 1) // 3), report_pairs(n)
    settings |= {"n_neighbors": k, "n_points": n if pairs is None else max(MIN_POINTS, 2 * pairs // n)}
    return {"n_neighbors": k, **(near_measures(X, Y, **settings) if k else dict.fromkeys(NEAR_MEASURES, math.nan))}


def _variances(X: Any, **settings: Any) -> tuple[float, float]:
    """Fréchet variance and pair variance."""
    frechet = frechet_variance(X, model=settings["model"], curvature=settings["curvature"])
    return frechet, pair_variance(X, n_pairs=report_pairs(X.shape[0]), **settings)


def make_reduction(name: str, n_components: int | float | None, **settings: Any) -> HyperbolicReduction:
    """The unfitted estimator of a method. `settings` that it does not have, such as a seed, are left out."""
    kind: type[HyperbolicReduction] = METHODS[name].estimator
    known = {key: value for key, value in settings.items() if key in kind._get_param_names()}
    return kind(n_components, **METHODS[name].options, **known)
