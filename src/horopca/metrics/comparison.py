"""Every reduction on the same points, side by side."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from .. import estimators
from .._input.arguments import check_count
from .._input.coordinates import check_coordinates
from .._input.rows import check_rows
from ..estimators.base import HyperbolicReduction
from ..geometry import ModelName
from .distances import average_distortion, frechet_variance, pair_variance
from .neighbours import continuity, neighbours_kept, trustworthiness

__all__ = ["METHODS", "Method", "Reduction", "compare", "default_methods", "reductions"]

NEIGHBOURS = 10  # So many neighbours of each point are looked at, or a third of all points where those are fewer.
REPORT_PAIRS = 4_000_000  # A report counts all pairs if they are no more than this, and else a random sample of so many.
FEWEST_POINTS = 64  # The neighbours of at least so many points are looked at.
NEAR_MEASURES = (neighbours_kept, trustworthiness, continuity)


class Method(NamedTuple):
    """A row of the comparison: its title, the estimator and its options."""

    title: str  #: as a table shows it
    estimator: str  #: name of its class
    options: dict[str, Any]  #: of the estimator, where they are not its defaults
    usual: bool = True  #: compared unless others are asked for


#: The reductions that `compare` knows, by the name that it and ``horopca reduce --method`` take.
METHODS = {
    "horopca": Method("HoroPCA", "HoroPCA", {}),
    "horopca-free": Method("HoroPCA, free", "HoroPCA", {"spine": "free"}),
    "horopca-distortion": Method("HoroPCA, free, distortion", "HoroPCA", {"spine": "free", "objective": "distortion"}, False),
    "horopca-stretch": Method("HoroPCA, stretched", "HoroPCA", {"spine": "free", "objective": "distortion", "stretch": True}),
    "pca": Method("Euclidean PCA", "EuclideanPCA", {}),
    "tpca": Method("Tangent PCA", "TangentPCA", {}),
    "radial": Method("Radial PCA", "RadialPCA", {}),
    "halfspace": Method("Random half-space", "HalfSpaceProjection", {}),
    "pga": Method("PGA", "PGA", {}),
    "pga-noise": Method("PGA, noisy base", "PGA", {"base_noise": 0.5}, False),
    "bsa": Method("BSA", "BSA", {}),
    "bsa-noise": Method("BSA, noisy base", "BSA", {"base_point": "mean", "base_noise": 0.5}, False),
    "hmds": Method("Hyperbolic MDS", "HyperbolicMDS", {}),
}


class Reduction(NamedTuple):
    """One row of a comparison, and the points it is about."""

    record: dict[str, Any]  #: what was measured, as a row of `compare`
    Y: Any  #: (n, K), in the model and curvature of the input


def default_methods() -> list[str]:
    """Names of the methods that `compare` runs by default."""
    return [name for name, method in METHODS.items() if method.usual]


def compare(
    X: Any,
    n_components: int | Sequence[int] = 2,
    methods: Sequence[str] | None = None,
    *,
    model: ModelName = "poincare",
    curvature: float = -1.0,
    random_state: int = 0,
) -> Any:
    """Reduce points by several methods, and measure what each keeps.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    n_components : int or sequence of int, default=2
        The dimensions to reduce to.
    methods : sequence of str, optional
        Names in `METHODS`; by default those of `default_methods`.
    model, curvature : of X
    random_state : int, default=0
        Seeds every method, and the sample of pairs, and of points whose neighbours are looked at, where there are more than
        four million pairs.

    Returns
    -------
    pandas.DataFrame, or a list of dict where pandas is not installed
        One row for each number of components and method: ``method``, ``title``, ``n_components``, ``distortion`` (average,
        over pairs) and its standard error ``distortion_error`` (0 where all pairs were counted), ``frechet_variance`` of the
        images, ``frechet_kept`` and ``variance_kept`` (Fréchet variance and pair variance of the images over those of the
        points), ``neighbours_kept``, ``trustworthiness`` and ``continuity`` of the ``n_neighbors`` nearest of each point (ten,
        or a third of the points), ``seconds`` of the fit, and ``converged``.

    Examples
    --------
    >>> from horopca import compare
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> len(compare(X, 2, ["horopca", "tpca", "radial"]))
    3
    """
    rows = reductions(X, n_components, methods, model=model, curvature=curvature, random_state=random_state)
    records = [row.record for row in rows]
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
    """The rows of `compare` one at a time, each with its images. Its arguments are checked before the first of them."""
    rows = check_rows(X, check_coordinates(model, curvature), min_rows=2)
    most = min(rows.shape[1] - 1, rows.shape[0])
    asked = list(n_components) if isinstance(n_components, Sequence) else [n_components]
    why = f" (X has {rows.shape[0]} rows of dimension {rows.shape[1] - 1})"
    counts = [check_count("n_components", K, 1, most, why) for K in asked]
    names = default_methods() if methods is None else [_check_method(name) for name in methods]
    settings = {"model": model, "curvature": curvature, "random_state": random_state}
    return _run(rows.X, counts, names, settings)


def _run(X: Any, counts: list[int], names: list[str], settings: dict[str, Any]) -> Iterator[Reduction]:
    n = X.shape[0]
    sampling = {"n_pairs": report_pairs(n), **settings}
    total = _variances(X, sampling)
    for K in counts:
        for name in names:
            estimator = make(name, K, **settings)
            start = time.perf_counter()
            Y = estimator.fit_transform(X)
            seconds = time.perf_counter() - start
            measured = _measure(X, Y, total, sampling)
            ended = {"seconds": seconds, "converged": bool(estimator.converged_)}
            record = {"method": name, "title": METHODS[name].title, "n_components": K, **measured, **ended}
            yield Reduction(record, Y)


def _measure(X: Any, Y: Any, total: tuple[float, float], sampling: dict[str, Any]) -> dict[str, float]:
    distortion: Any = average_distortion(X, Y, return_error=True, **sampling)
    frechet, pairs = _variances(Y, sampling)
    return {
        "distortion": distortion[0],
        "distortion_error": distortion[1],
        "frechet_variance": frechet,
        "frechet_kept": frechet / total[0] if total[0] > 0 else 1.0,
        "variance_kept": pairs / total[1] if total[1] > 0 else 1.0,
        **kept_neighbours(X, Y, **{key: value for key, value in sampling.items() if key != "n_pairs"}),
    }


def report_pairs(n: int) -> int | None:
    """How many random pairs of n points a report counts; None: all. The one rule of `compare` and of the command line."""
    return REPORT_PAIRS if n * (n - 1) // 2 > REPORT_PAIRS else None


def kept_neighbours(X: Any, Y: Any, **settings: Any) -> dict[str, float]:
    """What becomes of the nearest neighbours of points, and how many of each were looked at; NaN and 0 of too few points."""
    n = X.shape[0]
    k, pairs = min(NEIGHBOURS, (n - 1) // 3), report_pairs(n)
    settings |= {"n_neighbors": k, "n_points": n if pairs is None else max(FEWEST_POINTS, 2 * pairs // n)}
    return {"n_neighbors": k, **{measure.__name__: measure(X, Y, **settings) if k else math.nan for measure in NEAR_MEASURES}}


def _variances(X: Any, sampling: dict[str, Any]) -> tuple[float, float]:
    """Fréchet variance and pair variance."""
    return frechet_variance(X, model=sampling["model"], curvature=sampling["curvature"]), pair_variance(X, **sampling)


def make(name: str, n_components: int | float | None, **settings: Any) -> HyperbolicReduction:
    """The estimator of a method, unfitted; `settings` it does not have (a closed form has no seed) are left out."""
    kind: type[HyperbolicReduction] = getattr(estimators, METHODS[name].estimator)
    known = {key: value for key, value in settings.items() if key in kind._get_param_names()}
    return kind(n_components, **METHODS[name].options, **known)


def _check_method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"methods must be among {', '.join(METHODS)}, but one is {name!r}.")
    return name
