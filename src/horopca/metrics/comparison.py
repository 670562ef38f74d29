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

from .._input.arguments import check_count
from .._input.coordinates import check_coordinates
from .._input.progress import Progress, logged
from .._input.rows import Rows, check_rows
from ..estimators import BSA, PGA, EuclideanPCA, HoroPCA, HyperbolicMDS, RadialPCA, TangentPCA
from ..estimators.base import HyperbolicReduction
from ..geometry import ModelName, pairwise_distance, to_hyperboloid
from ..neighbors import to_umap
from .distances import average_distortion, best_scale, frechet_variance, pair_variance
from .euclidean import classical_mds, triangulated
from .neighbours import near_measures

__all__ = ["METHODS", "compare"]

NEIGHBOURS = 10  # Neighbours of each point that are compared, or a third of all points if that is less.
REPORT_PAIRS = 4_000_000  # Up to this many pairs all are counted; of more, a random sample of this size.
FEWEST_POINTS = 64  # The neighbours of at least this many points are compared.
LANDMARKS = 1 << 11  # Euclidean MDS of more points is that of this many, and the others are added by their distances to them.
NEAR_MEASURES = ("neighbours_kept", "trustworthiness", "continuity")


class Method(NamedTuple):
    """A method to compare: a reduction, or a function whose pictures are in Euclidean space."""

    title: str  #: as shown in tables
    estimator: Any  #: its class; None for a flat method
    options: Mapping[str, Any] = {}  #: of the estimator, if they are not its defaults
    usual: bool = True  #: whether it is compared by default
    picture: Callable[[Rows, int, int], np.ndarray] | None = None  #: of a flat method: of points, the dimension and a seed


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


def _euclidean_mds(rows: Rows, K: int, seed: int) -> np.ndarray:
    some = rows.take(np.arange(0, rows.shape[0], -(-rows.shape[0] // LANDMARKS)))
    scale = rows.coordinates.scale
    D = pairwise_distance(some) / scale
    picture = classical_mds(D, K)
    if len(some) == rows.shape[0]:
        return picture
    return np.concatenate(
        [triangulated(pairwise_distance(np.asarray(c.points()), some) / scale, D, picture) for c in rows.chunks()]
    )


def _umap(rows: Rows, K: int, seed: int) -> np.ndarray:
    UMAP = import_module("umap").UMAP
    settings: Any = rows.coordinates._asdict()
    start = HoroPCA(K, random_state=seed, **settings).fit_transform(rows.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot transform new points, and with a seed uses one thread
        picture = UMAP(n_components=K, **to_umap(rows.X, start, **settings), random_state=seed).fit_transform(
            np.asarray(rows.X)
        )
    return np.asarray(picture, dtype=np.float64) * _scale_of_picture(rows, picture)  # UMAP has no unit of length


# All methods of `compare`. The last two are the best that flat pictures keep of distances, and of neighbours.
ALL_METHODS = {
    **METHODS,
    "mds": Method("Euclidean MDS", None, picture=_euclidean_mds),
    "umap": Method("UMAP", None, usual=False, picture=_umap),
}


# A row of `compare` as a dict; the images (n, K), in the model and curvature of the points, those of a flat picture being the
# exponentials of its vectors at the origin; and the fitted reduction, None for a flat picture.
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
    """Reduce points by several methods and measure what each keeps.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    n_components : int or sequence of int, default=2
        The dimensions to reduce to.
    methods : sequence of str, optional
        Names in `METHODS`, or "mds" (classical MDS of the hyperbolic distances in Euclidean space) or "umap" (UMAP of the
        hyperbolic neighbours, which needs umap-learn). By default those of `default_methods`. Tangent PCA and Euclidean MDS
        show what flat pictures keep.
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
    if find_spec("pandas") is None:
        return records
    import pandas

    return pandas.DataFrame(records)


def reductions(
    X: Any,
    n_components: int | Sequence[int] = 2,
    methods: Sequence[str] | None = None,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    random_state: int = 0,
) -> Iterator[Reduction]:
    """Yield each row of `compare`, as a dict, with its images and the fitted reduction (None for a flat picture).

    The arguments are validated before the first fit. The images are in the model and curvature of X.
    """
    rows = check_rows(X, check_coordinates(model, curvature), min_rows=2)
    most = min(rows.shape[1] - 1, rows.shape[0])
    wanted: list[Any] = np.atleast_1d(n_components).tolist()
    if isinstance(methods, str):
        raise ValueError(f"methods must be a list of names, such as [{methods!r}], but is {methods!r}.")
    why = f" (X has {rows.shape[0]} rows of dimension {rows.shape[1] - 1})"
    counts = [check_count("n_components", K, 1, most, why) for K in wanted]
    names = default_methods() if methods is None else [_check_method(name) for name in methods]
    return _run(rows, counts, names, {"model": model, "curvature": curvature, "random_state": random_state})


def _run(rows: Rows, counts: list[int], names: list[str], settings: dict[str, Any]) -> Iterator[Reduction]:
    total = _variances(rows.X, settings)
    for K in counts:
        for name in names:
            start, method = time.perf_counter(), ALL_METHODS[name]
            estimator: Any = None if method.picture else make_reduction(name, K, **settings)
            Y = method.picture(rows, K, settings["random_state"]) if method.picture else estimator.fit_transform(rows.X)
            seconds, flat = time.perf_counter() - start, estimator is None
            record = {"method": name, "title": method.title, "n_components": K}
            record |= _measure(rows.X, Y, total, flat, settings)
            record |= {"seconds": seconds, "converged": flat or bool(estimator.converged_)}
            if flat:  # its vectors as tangent vectors at the origin
                v = to_hyperboloid(Y * rows.coordinates.scale, "tangent")
                Y = rows.coordinates.from_hyperboloid(v, np.dtype(float))
            yield record, Y, estimator


def _scale_of_picture(rows: Rows, Y: np.ndarray) -> float:
    """The factor by which a flat picture has the least average distortion, from at most 1024 points."""
    some = np.arange(0, len(Y), -(-len(Y) // 1024))
    d = pairwise_distance(rows.take(some)) / rows.coordinates.scale
    e = np.linalg.norm(Y[some][:, None] - Y[some][None], axis=-1)
    return 1 / best_scale(e[d > 0] / d[d > 0])


def _measure(X: Any, Y: Any, total: tuple[float, float], flat: bool, settings: dict[str, Any]) -> dict[str, float]:
    value, error = average_distortion(X, Y, return_error=True, flat=flat, n_pairs=report_pairs(X.shape[0]), **settings)
    # of flat points, the mean squared distance of ordered pairs is twice that to the mean
    spread = float(np.var(Y, axis=0).sum()) if flat else 0.0
    frechet, pairs = (spread, 2 * spread) if flat else _variances(Y, settings)
    return {
        "distortion": value,
        "distortion_error": error,
        "frechet_variance": frechet,
        "frechet_kept": frechet / total[0] if total[0] > 0 else 1.0,
        "variance_kept": pairs / total[1] if total[1] > 0 else 1.0,
        **kept_neighbours(X, Y, flat=flat, **settings),
    }


def report_pairs(n: int) -> int | None:
    """The number of random pairs of n points that a report counts, or None for all pairs."""
    return REPORT_PAIRS if n * (n - 1) // 2 > REPORT_PAIRS else None


def kept_neighbours(X: Any, Y: Any, **settings: Any) -> dict[str, float]:
    """The measures of neighbours and the number of neighbours of each point; NaN and 0 for fewer than four points."""
    n = X.shape[0]
    k, pairs = min(NEIGHBOURS, (n - 1) // 3), report_pairs(n)
    settings |= {"n_neighbors": k, "n_points": n if pairs is None else max(FEWEST_POINTS, 2 * pairs // n)}
    return {"n_neighbors": k, **(near_measures(X, Y, **settings) if k else dict.fromkeys(NEAR_MEASURES, math.nan))}


def _variances(X: Any, settings: dict[str, Any]) -> tuple[float, float]:
    """Fréchet variance and pair variance."""
    frechet = frechet_variance(X, model=settings["model"], curvature=settings["curvature"])
    return frechet, pair_variance(X, n_pairs=report_pairs(X.shape[0]), **settings)


def make_reduction(name: str, n_components: int | float | None, **settings: Any) -> HyperbolicReduction:
    """The unfitted estimator of a method. `settings` that it does not have, such as a seed, are left out."""
    kind: type[HyperbolicReduction] = METHODS[name].estimator
    known = {key: value for key, value in settings.items() if key in kind._get_param_names()}
    return kind(n_components, **METHODS[name].options, **known)


def _check_method(name: str) -> str:
    if name not in ALL_METHODS:
        raise ValueError(f"methods must be among {', '.join(ALL_METHODS)}, but one is {name!r}.")
    if name == "umap" and find_spec("umap") is None:
        raise ImportError("methods='umap' needs the package umap-learn. Install it: pip install umap-learn")
    return name
