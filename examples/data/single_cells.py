"""
Single cells in AnnData
=======================

Cells that differentiate are a tree, and hyperbolic embeddings of them are kept in ``adata.obsm`` as any others. The
cells here are synthetic, a stand-in for an embedding of yours: a mixture around the nodes of a random tree.
"""

import anndata as ad
import matplotlib.pyplot as plt
import numpy as np

from horopca import anndata
from horopca.datasets import make_hierarchical_normals
from horopca.plots import plot_disk

# %%
# An AnnData with a Poincaré embedding in ten dimensions, and what is known of each cell.
cells = make_hierarchical_normals(800, 10, branching=2, depth=3, step=1.5, scale=0.25, random_state=0)
types = np.array(["stem", "A", "B", "A1", "A2", "B1", "B2", *(f"mature {k}" for k in range(1, 9))])
adata = ad.AnnData(np.zeros((800, 1)))
adata.obsm["X_poincare"] = cells.points
adata.obs["cell_type"] = types[cells.labels]
adata.obs["pseudotime"] = 2 * np.arctanh(np.linalg.norm(cells.points, axis=1))

# %%
# From ``obsm`` to ``obsm``; how it was made is in ``uns``.
anndata.reduce(adata, "poincare", spine="free", objective="distortion")
print(adata)
print(adata.uns["horopca"]["params"])

# %%
# Stem cells are in the middle, mature ones outside; the radius in ten dimensions stands for a pseudotime.
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
plot_disk(adata.obsm["X_horopca"], adata.obs["cell_type"], title="cell types", ax=axes[0])
plot_disk(adata.obsm["X_horopca"], values=adata.obs["pseudotime"], title="distance from the stem cells", ax=axes[1])
