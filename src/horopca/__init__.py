"""Principal component analysis in hyperbolic space.

>>> from horopca import HoroPCA
>>> from horopca.datasets import make_hierarchy
>>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(make_hierarchy(random_state=0).points)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, embed, geometry, io, metrics, plots, projections, statistics
    from .estimators import (
        BSA,
        PGA,
        BusemannWhitener,
        EuclideanPCA,
        HoroPCA,
        HyperbolicAutoencoder,
        HyperbolicMDS,
        HyperbolicSVC,
        TangentPCA,
        TangentWhitener,
    )
    from .explorer import explore
    from .metrics.comparison import compare

__version__ = "0.1.0"

# name -> module: loaded when first asked for, so that `horopca --help` does not wait for scikit-learn
_ROOMS = ("datasets", "embed", "geometry", "io", "metrics", "plots", "projections", "statistics")
_ESTIMATORS = (
    "BSA",
    "PGA",
    "BusemannWhitener",
    "EuclideanPCA",
    "HoroPCA",
    "HyperbolicAutoencoder",
    "HyperbolicMDS",
    "HyperbolicSVC",
    "TangentPCA",
    "TangentWhitener",
)
_HOMES = {**dict.fromkeys(_ESTIMATORS, "estimators"), "compare": "metrics.comparison", "explore": "explorer"}

__all__ = [
    "BSA",
    "PGA",
    "BusemannWhitener",
    "EuclideanPCA",
    "HoroPCA",
    "HyperbolicAutoencoder",
    "HyperbolicMDS",
    "HyperbolicSVC",
    "TangentPCA",
    "TangentWhitener",
    "__version__",
    "compare",
    "datasets",
    "embed",
    "explore",
    "geometry",
    "io",
    "metrics",
    "plots",
    "projections",
    "statistics",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
