"""Principal component analysis in hyperbolic space.

>>> from horopca import HoroPCA
>>> from horopca.datasets import make_hierarchy
>>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(make_hierarchy(random_state=0).points)
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, embed, geometry, io, metrics, neighbors, plots, projections, statistics  # noqa: F401
    from ._input.libraries import from_geoopt, from_hyperbolix, from_hypll  # noqa: F401
    from .embed.refinement import refine  # noqa: F401
    from .estimators import *  # noqa: F403
    from .estimators import layers as torch  # noqa: F401
    from .explorer import explore  # noqa: F401
    from .io import anndata  # noqa: F401
    from .metrics.comparison import compare  # noqa: F401

__version__ = "0.1.0"

# These, and all estimators by their names, are loaded when first asked for: `horopca --help` does not wait for scikit-learn.
_ROOMS = ("datasets", "embed", "geometry", "io", "metrics", "neighbors", "plots", "projections", "statistics")
_HOMES = {"compare": "metrics.comparison", "explore": "explorer", "refine": "embed.refinement"}
_HOMES |= dict.fromkeys(("from_geoopt", "from_hypll", "from_hyperbolix"), "_input.libraries")
_ALIASES = {"anndata": "io.anndata", "torch": "estimators.layers"}


def __getattr__(name: str) -> Any:
    if name in _ROOMS or name in _ALIASES:
        return import_module(f".{_ALIASES.get(name, name)}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name == "__all__":
        aliases = _ALIASES.keys() - {"torch"}  # a star must not put it in the place of torch itself, nor need torch
        return sorted([*_ROOMS, *_HOMES, *aliases, "__version__", *_estimators().__all__])
    if not name.startswith("_") and name in _estimators().__all__:
        return getattr(_estimators(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Alias(ModuleType):
    """A module of a room under a second name, loaded when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(import_module(f".{_ALIASES[self.__name__.rpartition('.')[2]]}", __package__), name)


sys.modules |= {f"{__name__}.{name}": _Alias(f"{__name__}.{name}") for name in _ALIASES}  # for `import horopca.anndata`


def _deprecated(what: str, instead: str, goes: str) -> None:
    """Tell whoever called the caller that something public goes in a version to come, and what to do instead.

    For every room: ``_deprecated("pairs=", "pass objective=", "0.4")``. CONTRIBUTING.md says how long it stays.
    """
    warnings.warn(f"{what} is deprecated and goes in {__name__} {goes}: {instead}.", FutureWarning, stacklevel=3)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))


def _estimators() -> Any:
    return import_module(".estimators", __name__)
