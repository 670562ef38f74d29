"""UMAP of hyperbolic points, from their exact hyperbolic neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._input.coordinates import FARTHEST_IMAGE
from .._input.rows import check_rows, choose_coordinates
from ..geometry import ModelName, from_hyperboloid
from ..geometry._arrays import to_numpy
from .estimator import HyperbolicNeighbors

INIT_SIZE = 10.0  # The largest coordinate of UMAP's own initial pictures.


def to_umap(
    X: Any, init: Any = None, *, n_neighbors: int = 10, model: ModelName = "poincare", curvature: float = -1.0
) -> dict[str, Any]:
    """Arguments of ``umap.UMAP`` with which it preserves hyperbolic neighbours.

    umap-learn is an optional library; this function does not import it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Points in the model and curvature.
    init : array of shape (n_samples, n_components), optional
        The initial picture, usually the result of `HoroPCA`, in the model and curvature of X. UMAP receives it as tangent
        vectors at the origin. By default, UMAP initialises itself.
    n_neighbors : int, default=10
        The number of neighbours of each point, without the point itself.
    model, curvature : str and float
        The coordinates of X and `init`.

    Returns
    -------
    dict
        ``n_neighbors`` (in which UMAP includes the point itself), ``precomputed_knn`` and ``init``.

    See Also
    --------
    HyperbolicNeighbors : the neighbours

    Examples
    --------
    >>> from horopca import HoroPCA
    >>> from horopca.datasets import make_hierarchy
    >>> from horopca.neighbors import to_umap
    >>> X = make_hierarchy(3, 3, random_state=0).points
    >>> arguments = to_umap(X, HoroPCA(2, random_state=0).fit_transform(X))
    >>> arguments["precomputed_knn"][0].shape
    (40, 11)
    >>> Y = umap.UMAP(**arguments, random_state=0).fit_transform(X)  # doctest: +SKIP
    """
    found = HyperbolicNeighbors(n_neighbors, model=model, curvature=curvature).fit(X)
    distances, indices = (to_numpy(part) for part in found.kneighbors())
    n = found.n_samples_fit_
    indices = np.column_stack([np.arange(n), indices.astype(np.int64)])
    distances = np.column_stack([np.zeros(n), distances]).astype(np.float32)
    arguments: dict[str, Any] = {"n_neighbors": n_neighbors + 1, "precomputed_knn": (indices, distances)}
    if init is not None:
        rows = check_rows(init, choose_coordinates(init, model, curvature, "init"), name="init", reach=FARTHEST_IMAGE)
        if rows.shape[0] != n:
            raise ValueError(f"init must have one row for each of the {n} points of X, but has {rows.shape[0]}.")
        v = from_hyperboloid(rows.take(np.arange(n)), "tangent")
        arguments["init"] = (INIT_SIZE * v / max(float(np.abs(v).max()), 1e-300)).astype(np.float32)
    return arguments
