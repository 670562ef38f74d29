"""HoroPCA for AnnData objects, as used with scanpy.

>>> import horopca.anndata
>>> horopca.anndata.reduce(adata, basis="X_poincare", key_added="X_horopca")  # doctest: +SKIP
"""

from .io.anndata import reduce

__all__ = ["reduce"]
