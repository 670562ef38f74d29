"""Points of other libraries for hyperbolic networks: their arrays, with our names for their model and curvature.

None of these libraries is imported: their manifolds are recognised by the names of their classes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from os import PathLike
from typing import Any

from ..geometry import ModelName
from .arguments import as_number
from .coordinates import Coordinates, check_coordinates

#: By library and class of manifold: our model, and our curvature as a function of the manifold.
MANIFOLDS: dict[str, dict[str, tuple[ModelName, Callable[[Any], Any]]]] = {
    "geoopt": {
        "Stereographic": ("poincare", lambda manifold: manifold.k),  # PoincareBall(c) is a subclass, with k = -c
        "Lorentz": ("lorentz", lambda manifold: -1 / manifold.k),  # whose k is a squared radius
    },
    "hypll": {"PoincareBall": ("poincare", lambda manifold: -manifold.c())},
}

SAME_CURVATURE = 1e-5  # Relative difference of curvatures that are equal: some libraries keep theirs in float32.

ImportedPoints = tuple[Any, ModelName, float]


def from_geoopt(points: Any, manifold: Any = None) -> ImportedPoints:
    """Points of geoopt as an array, a model and a curvature.

    A ``ManifoldTensor`` or ``ManifoldParameter`` may also be passed to an estimator directly.

    Parameters
    ----------
    points : tensor of shape (..., n_features)
        A ``ManifoldTensor`` or ``ManifoldParameter``, or a plain tensor with its manifold.
    manifold : ``PoincareBall``, ``Stereographic`` of negative k, ``Lorentz`` or None
        None means the manifold of the points.

    Returns
    -------
    points : tensor that shares memory and graph
    model : str
    curvature : float

    See Also
    --------
    from_hypll : the same for HypLL

    Examples
    --------
    >>> import geoopt, torch
    >>> from horopca import HoroPCA, from_geoopt
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch._C.Generator object at 0x...>
    >>> manifold = geoopt.Lorentz(k=2.0)
    >>> points = manifold.random_normal(50, 6)
    >>> X, model, curvature = from_geoopt(points, manifold)
    >>> model, curvature
    ('lorentz', -0.5)
    >>> HoroPCA(model=model, curvature=curvature).fit_transform(X).shape
    torch.Size([50, 3])
    """
    manifold = getattr(points, "manifold", None) if manifold is None else manifold
    return _without_manifold(points), *_coordinates_in("geoopt", manifold)


def from_hypll(points: Any) -> ImportedPoints:
    """A ``ManifoldTensor`` of HypLL as an array, a model and a curvature. It may also be passed to an estimator directly.

    Parameters
    ----------
    points : ManifoldTensor on a ``PoincareBall``
        Its ``man_dim`` becomes the last axis.

    Returns
    -------
    points : tensor that shares memory and graph
    model : str
    curvature : float

    See Also
    --------
    from_geoopt : the same for geoopt

    Examples
    --------
    >>> import torch
    >>> from horopca import from_hypll
    >>> from hypll.manifolds.poincare_ball import Curvature, PoincareBall
    >>> from hypll.tensors import ManifoldTensor
    >>> ball = PoincareBall(Curvature(1.0, constraining_strategy=lambda c: c))
    >>> X, model, curvature = from_hypll(ManifoldTensor(torch.zeros(5, 3), manifold=ball))
    >>> model, curvature
    ('poincare', -1.0)
    """
    coordinates = _coordinates_in("hypll", getattr(points, "manifold", None))
    return _without_manifold(points), *coordinates


def coordinates_of(X: Any) -> Coordinates | None:
    """The coordinates of a ``ManifoldTensor`` or ``ManifoldParameter`` of geoopt or HypLL; None for anything else."""
    for kind in type(X).__mro__:
        library = kind.__module__.split(".")[0]
        if library in MANIFOLDS and kind.__name__ in ("ManifoldTensor", "ManifoldParameter"):
            # geoopt's default, the Euclidean manifold, does not state a model
            return None if type(X.manifold).__name__ == "Euclidean" else _coordinates_in(library, X.manifold)
    return None


def as_plain_array(X: Any, coordinates: Coordinates, name: str) -> Any:
    """X without the manifold of another library. Raises ValueError if that contradicts the coordinates, or X is a path."""
    if isinstance(X, str | PathLike):
        raise ValueError(f"{name} must be an array of points, but is {X!r}. Read a file with horopca.io.load.")
    own = coordinates_of(X)
    if own is None:
        return X
    if own.model != coordinates.model or not math.isclose(own.curvature, coordinates.curvature, rel_tol=SAME_CURVATURE):
        raise ValueError(
            f"model and curvature must agree with the manifold of {name}, a {type(X.manifold).__name__} with "
            f"model={own.model!r} and curvature={own.curvature:.6g}, but are {coordinates.model!r} and "
            f"{coordinates.curvature:.6g}. Pass those of the manifold."
        )
    return _without_manifold(X)


def _without_manifold(X: Any) -> Any:
    """A plain tensor that shares memory and graph, with the coordinates in its last axis."""
    if hasattr(X, "man_dim"):  # of HypLL
        return X.tensor.movedim(X.man_dim, -1)
    # geoopt would take over operations on its own tensors
    return X.as_subclass(sys.modules["torch"].Tensor) if hasattr(X, "manifold") else X


def _coordinates_in(library: str, manifold: Any) -> Coordinates:
    """Our coordinates for a manifold of a library. Raises ValueError if there are none."""
    conventions = MANIFOLDS[library]
    for kind in type(manifold).__mro__:
        if kind.__module__.split(".")[0] == library and kind.__name__ in conventions:
            model, curvature = conventions[kind.__name__]
            found = as_number(curvature(manifold))
            if getattr(found, "shape", ()) or not found < 0:
                raise ValueError(
                    f"manifold must have one negative curvature, but this {type(manifold).__name__} of {library} has {found}."
                )
            return check_coordinates(model, found)
    raise ValueError(
        f"manifold must be one of {library}'s {', '.join(conventions)}, but is {type(manifold).__name__}. For a product, pass "
        "the coordinates of its hyperbolic factor with that factor."
    )
