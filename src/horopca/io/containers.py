"""Files that hold many arrays: MATLAB's ``.mat``, AnnData's ``.h5ad``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import hdf, matlab
from .budget import Budget
from .files import Refusal, Table, as_text, listed, matrix
from .text import LABEL_NAMES


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    with open(path, "rb") as file:
        is_hdf = file.read(10) == b"MATLAB 7.3" or hdf.is_hdf(path)
    return _mat_73(path, key) if is_hdf else _mat_5(path, key)


def _mat_5(path: Path, key: str | None) -> Table:
    matlab.refuse_others(path)
    variables, budget = matlab.variables(path), Budget(path)
    usable = {name: variable for name, variable in variables.items() if variable.is_matrix}
    X = matrix(matlab.read(_choose(usable, key, path, "matrix"), path, budget), path)
    label = _label(variables)
    return Table(X, None if label is None else matlab.as_labels(matlab.read(variables[label], path, budget), len(X)))


def _mat_73(path: Path, key: str | None) -> Table:
    budget = Budget(path)
    with hdf.open_hdf(path) as file:
        found = {name: item for name, item in hdf.members(file, path).items() if hdf.is_array(item)}
        usable = {name: item for name, item in found.items() if hdf.is_matrix(item)}
        X = matrix(hdf.numbers(_choose(usable, key, path, "matrix"), budget).T, path)  # columns come first there
        label = _label(usable)
        values = None if label is None or 1 not in usable[label].shape else hdf.numbers(usable[label], budget)
        return Table(X, matlab.as_labels(values, len(X)))


def _label(names: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name.lower() in LABEL_NAMES), None)


def read_h5ad(path: Path, key: str | None) -> Table:
    """An array of `obsm` of an AnnData file, with the names of the observations."""
    budget = Budget(path)
    with hdf.open_hdf(path) as file:
        top = hdf.members(file, path)
        arrays = {name: item for name, item in hdf.members(top.get("obsm"), path).items() if hdf.is_matrix(item)}
        X = matrix(hdf.numbers(_choose(arrays, (key or "").removeprefix("obsm/") or None, path, "array of obsm"), budget), path)
        obs = hdf.members(top.get("obs"), path)
        index = as_text(top["obs"].attrs.get("_index", "_index")) if obs else ""
        names = hdf.column(obs, index, path, budget)
    return Table(X, names if names is not None and len(names) == len(X) else None)


def _choose(arrays: Mapping[str, Any], key: str | None, path: Path, what: str) -> Any:
    if key is not None and key not in arrays:
        raise Refusal(f"{path} has no {what} {key!r}; it holds {listed(arrays)}.")
    for choice in (key, *(arrays if len(arrays) == 1 else ()), "X", "embeddings"):
        if choice in arrays:
            return arrays[choice]
    raise Refusal(f"{path} holds {listed(arrays)}: say which {what} to read with key=.")
