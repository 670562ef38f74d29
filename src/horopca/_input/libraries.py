"""Points of other libraries for hyperbolic networks: their arrays, with our names for their model and curvature.

None of these libraries is imported: their manifolds are recognised by the names of their classes.
"""

from __future__ import annotations

import math
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
    """A ``ManifoldTensor`` of HypLL as an array, a model and a curvature.

    Parameters
    ----------
    points : ManifoldTensor on a ``PoincareBall``
        Its ``man_dim`` becomes the last axis.

    Returns
    -------
    points : tensor that shares memory and graph
    model : str
    curvature : float

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
    model, curvature = _coordinates_in("hypll", getattr(points, "manifold", None))
    return points.tensor.movedim(points.man_dim, -1), model, curvature


def coordinates_of(X: Any) -> Coordinates | None:
    """The coordinates of a ``ManifoldTensor`` or ``ManifoldParameter`` of geoopt; None for anything else."""
    known = any(kind.__module__.split(".")[0] == "geoopt" for kind in type(X).__mro__)
    manifold = getattr(X, "manifold", None) if known else None
    if manifold is None or type(manifold).__name__ == "Euclidean":  # the default, which does not state a model
        return None
    return _coordinates_in("geoopt", manifold)


def as_plain_array(X: Any, coordinates: Coordinates, name: str) -> Any:
    """X without the manifold of another library. Raises ValueError if X is not an array, or contradicts the coordinates."""
    if isinstance(X, str | bytes | PathLike):
        raise ValueError(f"{name} must be an array of points, but is {X!r}. Read a file with horopca.io.load.")
    if hasattr(type(X), "state_dict") and hasattr(type(X), "forward"):  # ask the type: a Dask task has every attribute
        raise ValueError(
            f"{name} must be an array of points, but is a module of a network ({type(X).__name__}). Pass its output "
            "or its weight."
        )
    if type(X).__module__.split(".")[0] == "hypll":
        raise ValueError(f"{name} must be an array of points, but is a tensor of HypLL. Call horopca.from_hypll({name}).")
    own = coordinates_of(X)
    if own is None:
        return X
    _check_agreement(X, own, coordinates, name)
    return _without_manifold(X)


def merge_coordinates(X: Any, own: Coordinates, model: str, curvature: Any, name: str = "X") -> Coordinates:
    """The coordinates of geoopt's X. A model or curvature other than the default must agree with them, or ValueError."""
    given = check_coordinates(own.model if model in ("auto", "poincare") else model, curvature)
    _check_agreement(X, own, given if given.curvature != -1 else given._replace(curvature=own.curvature), name)
    return own


def _check_agreement(X: Any, own: Coordinates, given: Coordinates, name: str) -> None:
    """Raise ValueError if the coordinates of a manifold contradict those that were passed."""
    if own.model != given.model or not math.isclose(own.curvature, given.curvature, rel_tol=SAME_CURVATURE):
        raise ValueError(
            f"model and curvature must agree with the manifold of {name}, a {type(X.manifold).__name__} of geoopt with "
            f"model={own.model!r} and curvature={own.curvature:.6g}, but are {given.model!r} and {given.curvature:.6g}. "
            "Pass those of the manifold."
        )


def _without_manifold(X: Any) -> Any:
    """A plain tensor that shares memory and graph: geoopt would take over operations on its own."""
    if not hasattr(X, "manifold"):
        return X
    import torch

    return X.as_subclass(torch.Tensor)


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
