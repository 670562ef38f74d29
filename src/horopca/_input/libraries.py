"""Points of libraries of hyperbolic networks: their arrays as they are, with our names for their model and curvature.

None of these libraries is imported: their manifolds are known by the names of their classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..geometry import ModelName
from .arguments import as_number
from .coordinates import check_coordinates


class Written(NamedTuple):
    """How a class of manifolds writes points: our model, and our curvature from theirs."""

    model: ModelName
    curvature: Callable[[Any], Any]


MANIFOLDS: dict[str, dict[str, Written]] = {
    "geoopt": {
        "Stereographic": Written("poincare", lambda manifold: manifold.k),  # PoincareBall(c) is one, with k = -c
        "Lorentz": Written("lorentz", lambda manifold: -1 / manifold.k),  # whose k is a squared radius
    },
    "hypll": {"PoincareBall": Written("poincare", lambda manifold: -manifold.c())},
    "hyperbolix": {
        "Poincare": Written("poincare", lambda manifold: -manifold.c),
        "Stereographic": Written("poincare", lambda manifold: -manifold.c),
        "Hyperboloid": Written("lorentz", lambda manifold: -manifold.c),
        "ProperVelocity": Written("lorentz-space", lambda manifold: -manifold.c),
        "Klein": Written("klein", lambda manifold: -manifold.c),
        "HalfSpace": Written("halfspace", lambda manifold: -manifold.c),
    },
}

Adopted = tuple[Any, ModelName, float]


def from_geoopt(points: Any, manifold: Any = None) -> Adopted:
    """Points of geoopt, as an array, a model and a curvature.

    Parameters
    ----------
    points : tensor of shape (..., n_features)
        A ``ManifoldTensor`` or ``ManifoldParameter``, or a plain tensor with its manifold.
    manifold : ``PoincareBall``, ``Stereographic`` of negative k, ``Lorentz`` or None
        None: that of the points themselves.

    Returns
    -------
    points : tensor, the same memory and the same graph
    model : str
    curvature : float

    Examples
    --------
    >>> import geoopt, torch                                                            # doctest: +SKIP
    >>> X, model, curvature = from_geoopt(embedding.weight, geoopt.Lorentz(k=2.0))      # doctest: +SKIP
    >>> HoroPCA(model=model, curvature=curvature).fit_transform(X)                      # doctest: +SKIP
    """
    manifold = getattr(points, "manifold", None) if manifold is None else manifold
    model, curvature = _written("geoopt", manifold)
    if hasattr(points, "manifold"):  # operations on a tensor that has one would be geoopt's
        import torch

        points = points.as_subclass(torch.Tensor)
    return points, model, curvature


def from_hypll(points: Any) -> Adopted:
    """A ``ManifoldTensor`` of HypLL, as an array, a model and a curvature.

    Parameters
    ----------
    points : ManifoldTensor on a ``PoincareBall``
        Its ``man_dim`` becomes the last axis.

    Returns
    -------
    points : tensor, the same memory and the same graph
    model : str
    curvature : float

    Examples
    --------
    >>> X, model, curvature = from_hypll(network(batch))           # doctest: +SKIP
    >>> pca.transform(X)                                           # doctest: +SKIP
    """
    model, curvature = _written("hypll", getattr(points, "manifold", None))
    return points.tensor.movedim(points.man_dim, -1), model, curvature


def from_hyperbolix(points: Any, manifold: Any, c: Any = None) -> Adopted:
    """Points of hyperbolix, as an array, a model and a curvature.

    Parameters
    ----------
    points : array of shape (..., n_features)
    manifold : ``Poincare``, ``Hyperboloid``, ``ProperVelocity``, ``Klein``, ``HalfSpace`` or ``Stereographic`` of positive c
    c : number or None
        The c > 0 of a space of curvature -c that the points were computed with; None: that of the manifold.

    Returns
    -------
    points : array, as it is
    model : str
    curvature : float

    Examples
    --------
    >>> X, model, curvature = from_hyperbolix(z, Hyperboloid(), c=0.5)      # doctest: +SKIP
    """
    if c is not None and not as_number(c) > 0:
        raise ValueError(f"c must be a positive number, of a space of curvature -c, but is {as_number(c)!r}.")
    return points, *_written("hyperbolix", manifold, None if c is None else -as_number(c))


def _written(library: str, manifold: Any, known: float | None = None) -> tuple[ModelName, float]:
    """Our model and curvature for a manifold of a library, or a sentence; a curvature that is known is not asked for."""
    rows = MANIFOLDS[library]
    for kind in type(manifold).__mro__:
        if kind.__module__.split(".")[0] == library and kind.__name__ in rows:
            model, curvature = rows[kind.__name__]
            found: Any = as_number(curvature(manifold)) if known is None else known
            if getattr(found, "shape", ()):
                raise ValueError(
                    f"manifold must have one curvature, but this {type(manifold).__name__} of {library} has an array of them, "
                    f"of shape {tuple(found.shape)}. Pass the points of each with a manifold of its own."
                )
            if not found < 0:
                raise ValueError(
                    f"manifold must be hyperbolic, but this {type(manifold).__name__} of {library} has curvature {found:g}."
                )
            return check_coordinates(model, found)
    raise ValueError(
        f"manifold must be one of {library}'s {', '.join(rows)}, but is {type(manifold).__name__}. Of a product, pass the "
        "coordinates of its hyperbolic factor with that factor."
    )
