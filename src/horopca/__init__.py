"""Principal component analysis in hyperbolic space.

>>> from horopca import HoroPCA
>>> from horopca.datasets import make_hierarchy
>>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(make_hierarchy(random_state=0).points)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import anndata as anndata
    from . import datasets as datasets
    from . import embed as embed
    from . import estimators
    from . import geometry as geometry
    from . import io as io
    from . import metrics as metrics
    from . import neighbors as neighbors
    from . import plots as plots
    from . import projections as projections
    from . import statistics as statistics
    from . import torch as torch
    from ._input.libraries import from_geoopt as from_geoopt
    from ._input.libraries import from_hypll as from_hypll
    from .embed.refinement import refine as refine
    from .estimators import *  # noqa: F403
    from .explorer import explore as explore
    from .metrics.comparison import compare as compare

    __all__ = ["__version__", "compare", "explore", "from_geoopt", "from_hypll", "refine"]
    __all__ += estimators.__all__  # type checkers need it in this form; `__getattr__` makes the same list

__version__ = "0.2.0"

# Submodules, functions (with the module of each) and estimators are imported on first use: `horopca --help` does not wait for
# scikit-learn. A star import brings functions and estimators only: `io` and `statistics` would hide the standard library's.
_SUBMODULES = ("datasets", "embed", "geometry", "io", "metrics", "neighbors", "plots", "projections", "statistics")
_OPTIONAL_SUBMODULES = ("anndata", "torch")  # which need libraries of the same names
_FUNCTIONS = {"compare": "metrics.comparison", "explore": "explorer", "refine": "embed.refinement"}
_FUNCTIONS |= dict.fromkeys(("from_geoopt", "from_hypll"), "_input.libraries")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES or name in _OPTIONAL_SUBMODULES:
        return import_module(f".{name}", __name__)
    if name in _FUNCTIONS:
        return getattr(import_module(f".{_FUNCTIONS[name]}", __name__), name)
    if name == "__all__" or not name.startswith("_"):
        estimators = import_module(".estimators", __name__)
        if name == "__all__":
            return sorted([*_FUNCTIONS, *estimators.__all__, "__version__"])
        if name in estimators.__all__:
            return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), *_SUBMODULES, *_OPTIONAL_SUBMODULES])
