"""
Single cells: blood cells in AnnData
====================================

From gene expression to a hyperbolic map of 700 blood cells, and an answer: which cell types form groups of their own?
The data are ``pbmc68k_reduced``, real cells published by 10x Genomics, which scanpy contains.
"""

import numpy as np
import scanpy as sc

from horopca import anndata
from horopca.embed import DistortionEmbedding
from horopca.metrics import neighbours_kept, trustworthiness
from horopca.neighbors import HyperbolicNeighbors
from horopca.plots import plot_plane

# %%
# **The data** have the graph of each cell's nearest neighbours, as ``sc.pp.neighbors`` computes it from the first 50
# principal components. ``sc.read_h5ad`` reads your own file.
adata = sc.datasets.pbmc68k_reduced()
graph = adata.obsp["distances"]
print(f"{adata.n_obs} cells, {graph.nnz} distances to neighbours")

# %%
# **Embed the graph** in ten dimensions, so that distances between points are lengths of shortest paths in the graph.
embedding = DistortionEmbedding(10, random_state=0).fit(graph.maximum(graph.T))
adata.obsm["X_hyperbolic"] = embedding.embedding_
print(f"paths are off by {embedding.distortion_:.1%} on average")

# %%
# **Reduce it to the plane.** The result is in ``adata.obsm``, and how it was made in ``adata.uns``.
anndata.reduce(adata, "hyperbolic", stretch=True)
X, Y, types = adata.obsm["X_hyperbolic"], adata.obsm["X_horopca"], adata.obs["bulk_labels"].to_numpy()
plot_plane(Y, types, title="700 blood cells by type")

# %%
# **How far to trust it**: neighbours in the picture are mostly near each other in ten dimensions, but two dimensions do
# not hold all neighbours.
print(f"trustworthiness {trustworthiness(X, Y):.2f}, neighbours kept {neighbours_kept(X, Y):.0%}")

# %%
# **The conclusion**: for each type, the fraction of the ten nearest cells that have the same type, in ten dimensions
# and in the picture. B cells, dendritic cells, CD34+ cells and monocytes form groups of their own. The kinds of T cells are
# mixed already in ten dimensions, so their mixture in the picture is not an artefact of the reduction.
near = [HyperbolicNeighbors(10).fit(Z).kneighbors(return_distance=False) for Z in (X, Y)]
for name in np.unique(types):
    same = [(types[rows] == name)[types == name].mean() for rows in near]
    print(f"{name:30} {(types == name).sum():4} cells {same[0]:5.0%} {same[1]:5.0%}")
