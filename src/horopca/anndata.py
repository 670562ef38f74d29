"""HoroPCA for AnnData objects, as used with scanpy.

>>> import horopca.anndata
>>> horopca.anndata.reduce(adata, basis="X_poincare", key_added="X_horopca")  # doctest: +SKIP
>>> horopca.anndata.map(adata, color="cell_type").save("cells.html")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .embed import DistortionEmbedding
from .estimators import HoroPCA
from .explorer import Page, explore
from .io.files import listed
from .io.fits import provenance

__all__ = ["map", "reduce"]


def reduce(
    adata: Any,
    basis: str = "X_poincare",
    n_components: int = 2,
    *,
    n_comps: int | None = None,
    key_added: str = "X_horopca",
    estimator: Any = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Reduce the points in an array of ``adata.obsm`` and store the result in another.

    Parameters
    ----------
    adata : AnnData
        The cells. It is changed unless ``copy=True``.
    basis : str, default="X_poincare"
        The array of ``adata.obsm`` with the points; the prefix "X_" is optional, as in scanpy.
    n_components : int, default=2
        The dimension of the result.
    n_comps : int, optional
        An alias of `n_components`, the name in ``scanpy.pp.pca(adata, n_comps=2)``.
    key_added : str, default="X_horopca"
        The array of ``adata.obsm`` for the result. ``adata.uns[key_added]``, without the prefix "X_", has its "params",
        and the "variance_ratio" if the estimator has one.
    estimator : estimator or None, default=None
        The reduction, such as ``TangentPCA(2)``; None is ``HoroPCA(n_components, **options)``.
    copy : bool, default=False
        Return a copy of `adata` with the result instead of changing `adata`.
    **options
        Parameters of `HoroPCA`: ``model="lorentz"``, ``spine="free"``, ``random_state=0``.

    Returns
    -------
    None, or the copy

    See Also
    --------
    map : from a graph of neighbours to the plane

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from horopca.datasets import make_hierarchy
    >>> adata = SimpleNamespace(obsm={"X_poincare": make_hierarchy(2, 3, random_state=0).points}, uns={})  # or an AnnData
    >>> reduce(adata, basis="poincare", n_comps=3, random_state=0)
    >>> adata.obsm["X_horopca"].shape[1], adata.uns["horopca"]["params"]["basis"]
    (3, 'X_poincare')
    """
    basis = next((name for name in (basis, f"X_{basis}") if name in adata.obsm), basis)
    if basis not in adata.obsm:
        raise ValueError(
            f"basis must be an array of adata.obsm, but {basis!r} is not; it has {listed(str(name) for name in adata.obsm)}."
        )
    if estimator is not None and options:
        raise ValueError(f"estimator and {listed(options)} were both passed: set these parameters on the estimator.")
    adata = adata.copy() if copy else adata
    estimator = HoroPCA(n_comps or n_components, **options) if estimator is None else estimator
    points = adata.obsm[basis]
    adata.obsm[key_added] = np.asarray(estimator.fit_transform(getattr(points, "values", points)))
    adata.uns[key_added.removeprefix("X_")] = provenance(estimator, basis)
    return adata if copy else None


def map(
    adata: Any, key: str = "distances", *, color: str | None = None, key_added: str = "X_hyperbolic", **options: Any
) -> Page:
    """Embed the neighbour graph of an AnnData object in the hyperbolic plane, and return a page to explore it.

    The lengths of shortest paths in the graph are the target distances of ``DistortionEmbedding(2, neighbor_weight=0.2)``,
    which keeps more neighbours than the distances alone would.

    Parameters
    ----------
    adata : AnnData
        After ``scanpy.pp.neighbors(adata)``.
    key : str, default="distances"
        Array of ``adata.obsp`` with the graph. Entries of "distances" are lengths of edges. Entries of an array whose name
        contains "connectivities" are similarities between 0 and 1, from which lengths are ``1 - log(similarity)``: similar
        cells are near, and every edge has a length of at least 1.
    color : str or None, default=None
        Column of ``adata.obs`` that colours the points.
    key_added : str, default="X_hyperbolic"
        Array of ``adata.obsm`` for the points. ``adata.uns[key_added]`` without "X_" describes how they were made.
    **options
        Parameters of `DistortionEmbedding`, such as ``random_state=0``, ``largest_component=True``, ``max_radius=6``.

    Returns
    -------
    Page
        To show in a notebook or to save. The page compares the points with the graph.

    See Also
    --------
    reduce : points that are in ``obsm`` already

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from horopca.datasets import make_hierarchy
    >>> graph = kneighbors_graph(make_hierarchy(2, 3, random_state=0).points, 5, mode="distance")
    >>> cells = [f"cell {i}" for i in range(15)]
    >>> adata = SimpleNamespace(obsp={"distances": graph}, obsm={}, uns={}, obs_names=cells)  # or an AnnData
    >>> page = map(adata, random_state=0, n_init=0)
    >>> adata.obsm["X_hyperbolic"].shape
    (15, 2)
    """
    if key not in adata.obsp:
        raise ValueError(
            f"key must be an array of adata.obsp, but {key!r} is not; it has {sorted(adata.obsp)}. "
            "Run scanpy.pp.neighbors(adata) first."
        )
    if color is not None and color not in adata.obs:
        raise ValueError(f"color must be a column of adata.obs, but {color!r} is not; it has {list(adata.obs)}.")
    lengths = _lengths(adata.obsp[key], key)
    embedding = DistortionEmbedding(**{"n_components": 2, "neighbor_weight": 0.2, **options}).fit(lengths)
    points = np.full((lengths.shape[0], embedding.embedding_.shape[1]), np.nan)
    points[embedding.names_] = embedding.embedding_
    adata.obsm[key_added] = points
    adata.uns[key_added.removeprefix("X_")] = provenance(embedding, key)
    rows = np.asarray(embedding.names_)  # all of them, unless the graph is not connected
    return explore(
        embedding.embedding_,
        None if color is None else np.asarray(adata.obs[color].astype(str))[rows],
        names=[str(adata.obs_names[row]) for row in rows],
        original=lengths[rows][:, rows],
        title=key_added,
        model=embedding.model,
        curvature=embedding.curvature,
    )


def _lengths(matrix: Any, key: str) -> csr_array:
    """The symmetric matrix of the lengths of edges; of two lengths of an edge, the larger."""
    graph = csr_array(matrix, dtype=np.float64)
    graph.eliminate_zeros()
    if "connectivities" in key:
        if graph.nnz and not 0 < graph.data.min() <= graph.data.max() <= 1:
            raise ValueError(
                f"adata.obsp[{key!r}] must contain similarities between 0 and 1, but they run from {graph.data.min():g} to "
                f"{graph.data.max():g}."
            )
        graph.data = 1 - np.log(graph.data)
    return csr_array(graph.maximum(graph.T))
