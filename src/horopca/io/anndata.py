"""AnnData: reduce an array of `obsm` to another, with the parameters in `uns`; and write ``.h5ad`` files.

>>> from horopca import anndata
>>> anndata.reduce(adata, basis="X_poincare", key_added="X_horopca")  # doctest: +SKIP
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..estimators import HoroPCA
from ..estimators.fitting import as_fitted
from .files import listed
from .hdf import members, open_hdf

__all__ = ["reduce"]


def reduce(
    adata: Any,
    basis: str = "X_poincare",
    n_components: int = 2,
    *,
    key_added: str = "X_horopca",
    estimator: Any = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Reduce the points in an array of ``adata.obsm`` and store the result in another.

    Parameters
    ----------
    adata : AnnData
    basis : str, default="X_poincare"
        The array of ``adata.obsm`` with the points; the prefix "X_" is optional, as in scanpy.
    n_components : int, default=2
    key_added : str, default="X_horopca"
        The array of ``adata.obsm`` for the result. ``adata.uns[key_added]``, without the prefix "X_", holds its "params",
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

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from horopca.datasets import make_hierarchy
    >>> adata = SimpleNamespace(obsm={"X_poincare": make_hierarchy(random_state=0).points}, uns={})  # or an AnnData
    >>> reduce(adata, "poincare", random_state=0)
    >>> adata.obsm["X_horopca"].shape[1], adata.uns["horopca"]["params"]["basis"]
    (2, 'X_poincare')
    """
    basis = next((name for name in (basis, f"X_{basis}") if name in adata.obsm), basis)
    if basis not in adata.obsm:
        raise ValueError(f"basis must be an array of adata.obsm, but {basis!r} is not; it has {listed(map(str, adata.obsm))}.")
    if estimator is not None and options:
        raise ValueError(f"estimator and {listed(options)} were both passed: set these parameters on the estimator.")
    adata = adata.copy() if copy else adata
    estimator = HoroPCA(n_components, **options) if estimator is None else estimator
    points = adata.obsm[basis]
    adata.obsm[key_added] = np.asarray(estimator.fit_transform(getattr(points, "values", points)))
    adata.uns[key_added.removeprefix("X_")] = how(estimator, basis)
    return adata if copy else None


def how(estimator: Any, basis: str | None = None) -> dict[str, Any]:
    """Model, curvature, parameters that a file can hold, and variance ratios of an estimator."""
    coordinates = {name: as_fitted(estimator, name) for name in ("model", "curvature")}
    params = {"basis": basis, "estimator": type(estimator).__name__, **estimator.get_params(deep=False)}
    plain = {name: value for name, value in params.items() if isinstance(value, bool | int | float | str | np.number)}
    ratio = getattr(estimator, "explained_variance_ratio_", None)
    explained = {} if ratio is None else {"variance_ratio": np.asarray(ratio)}
    return {"version": __version__, **coordinates, "params": plain, **explained}


# ---------------------------------------------------------------- files


def write_h5ad(
    path: Path,
    X: np.ndarray,
    words: Mapping[str, list[str]],
    metadata: Mapping[str, Any],
    *,
    key: str = "X_horopca",
    base: Path | None = None,
) -> None:
    """Write points to `obsm` of an ``.h5ad`` file: a copy of the file `base`, or a new one with names and classes."""
    if base is not None:
        shutil.copyfile(base, path)
    with open_hdf(path, "w" if base is None else "r+") as file:
        if base is None:
            _begin(file, len(X), words)
        groups = members(file, path)
        _put(groups["obsm"], key, X)
        uns = groups["uns"] if "uns" in groups else _group(file, "uns", "dict", "0.1.0")
        if metadata:
            _put(uns, key.removeprefix("X_"), metadata)


def _begin(file: Any, n: int, words: Mapping[str, list[str]]) -> None:
    """Create the groups of an ``.h5ad`` file, and the table of observations."""
    import h5py

    file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    for name in ("layers", "obsm", "obsp", "uns", "varm", "varp"):
        _group(file, name, "dict", "0.1.0")
    index = words.get("names") or [str(row) for row in range(n)]
    columns = {name: column for name, column in words.items() if name != "names"}
    for name, frame in (("obs", {"_index": index, **columns}), ("var", {"_index": []})):
        group = _group(file, name, "dataframe", "0.2.0")
        group.attrs["_index"] = "_index"
        group.attrs.create("column-order", [column for column in frame if column != "_index"], dtype=h5py.string_dtype())
        for column, found in frame.items():
            _put(group, column, found)


def _put(group: Any, name: str, value: Any) -> None:
    """Store an array, a string, a number or a mapping of these in a group, in the encodings of AnnData."""
    import h5py

    if name in group:
        del group[name]
    if isinstance(value, Mapping):
        inner = _group(group, name, "dict", "0.1.0")
        for key, item in value.items():
            _put(inner, key, item)
        return
    if isinstance(value, list):
        item, kind = group.create_dataset(name, data=value, dtype=h5py.string_dtype(), shape=(len(value),)), "string-array"
    else:
        group[name] = value
        item, kind = group[name], "string" if isinstance(value, str) else "array" if np.ndim(value) else "numeric-scalar"
    item.attrs.update({"encoding-type": kind, "encoding-version": "0.2.0"})


def _group(parent: Any, name: str, kind: str, version: str) -> Any:
    group = parent.create_group(name)
    group.attrs.update({"encoding-type": kind, "encoding-version": version})
    return group
