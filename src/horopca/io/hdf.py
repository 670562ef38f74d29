"""HDF5 files: ``.h5ad`` of AnnData and level 7.3 of MATLAB. Links to other files are not followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .budget import Budget
from .files import LABEL_NAMES, FormatError, Table, as_text, choose, format_errors, matrix

SIGNATURE = b"\x89HDF\r\n\x1a\n"
NAMES_AT_ONCE = 1 << 12  # Names that are read at a time.
ERRORS = (RuntimeError, KeyError, ValueError, TypeError, NotImplementedError, OverflowError)  # of h5py, for a damaged file


@contextmanager
def open_hdf(path: Path, mode: str = "r") -> Iterator[Any]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{path} is an HDF5 file, which needs h5py: pip install h5py.") from error
    with format_errors(path, "is damaged, cut short, or not an HDF5 file", *ERRORS), h5py.File(path, mode) as file:
        yield file


def read_h5ad(path: Path, key: str | None) -> Table:
    """An array of `obsm` of an AnnData file, with the names and the columns of the observations."""
    budget = Budget(path)
    with open_hdf(path) as file:
        top = members(file, path)
        arrays = {name: item for name, item in members(top.get("obsm"), path).items() if is_matrix(item)}
        points = choose(arrays, (key or "").removeprefix("obsm/") or None, path, "array of obsm")
        X = matrix(numbers(points, budget), path)
        stated = _stated(top.get("uns"), points.name.split("/")[-1].removeprefix("X_"))
        obs = members(top.get("obs"), path)
        index = as_text(top["obs"].attrs.get("_index", "_index")) if obs else ""
        values = {name: numbers(item, budget).astype(float) for name, item in obs.items() if _is_numbers(item, len(X))}
        text = [name for name in dict.fromkeys([index, *obs]) if name in obs and name not in values]
        columns = {as_text(name): column(obs, name, path, budget) for name in text}
    words = {name: words for name, words in columns.items() if words is not None and len(words) == len(X)}
    return Table(X, words=words, values={as_text(name): found for name, found in values.items()}, **stated)


def _stated(uns: Any, name: str) -> dict[str, Any]:
    """The model and the curvature that `uns` states under a name. Links are not followed."""
    import h5py

    def get(group: Any, key: str) -> Any:
        hard = isinstance(group, h5py.Group) and isinstance(group.get(key, getlink=True), h5py.HardLink)
        return group[key] if hard else None

    items = {key: get(get(uns, name), key) for key in ("model", "curvature")}
    found = {key: item[()] for key, item in items.items() if is_array(item) and item.shape == () and item.dtype.kind in "OSfiu"}
    return {key: as_text(value) if isinstance(value, bytes | str) else float(value) for key, value in found.items()}


def _is_numbers(item: Any, n: int) -> bool:
    """Whether a column of the observations holds numbers."""
    return is_array(item) and item.shape == (n,) and item.dtype.kind in "fiub"


def read_mat_73(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file of level 7.3, with the labels beside it."""
    budget = Budget(path)
    with open_hdf(path) as file:
        usable = {name: item for name, item in members(file, path).items() if is_matrix(item)}
        X = matrix(numbers(choose(usable, key, path, "matrix"), budget).T, path)  # columns come first there
        text = [name for name in usable if name.lower() in LABEL_NAMES and usable[name].size == len(X)]
        return Table(X, words={name: [as_text(value) for value in numbers(usable[name], budget).ravel()] for name in text})


def members(group: Any, path: Path) -> dict[str, Any]:
    """Arrays and groups of a group by name. Raises FormatError for links and for arrays that are stored in other files."""
    import h5py

    if not isinstance(group, h5py.Group):
        return {}
    found = {}
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise FormatError(f"{path} has a link, {name[:40]!r}, which is not followed.")
        item = group[name]
        if isinstance(item, h5py.Dataset) and (item.external is not None or item.is_virtual):
            raise FormatError(f"{path} stores its array {name[:40]!r} in other files, which are not read.")
        found[name] = item
    return found


def is_array(item: Any) -> bool:
    """Whether this is an array with a shape (an empty one has a dtype and no shape)."""
    return getattr(item, "shape", None) is not None and hasattr(item, "dtype")


def numbers(item: Any, budget: Budget) -> np.ndarray:
    """The numbers of an array, counted against the budget."""
    budget.claim(item.size * item.dtype.itemsize)
    return np.asarray(item[()])


def is_matrix(item: Any) -> bool:
    return is_array(item) and len(item.shape) == 2 and item.dtype.kind in "fiub"


def words(item: Any, budget: Budget) -> list[str] | None:
    """The strings or numbers of a column as text; None for anything else."""
    if not is_array(item) or len(item.shape) != 1 or item.dtype.kind not in "OSUfiub":
        return None
    # Strings may share bytes of the file: read only as many at once as would fit if each were as long as the file.
    step = max(1, min(NAMES_AT_ONCE, budget.limit // max(1, budget.size)))
    found: list[str] = []
    for start in range(0, item.shape[0], step):
        block = [as_text(value) for value in item[start : start + step]]
        budget.claim(sum(map(len, block)) + 64 * len(block))
        found += block
    return found


def column(obs: dict[str, Any], name: str, path: Path, budget: Budget) -> list[str] | None:
    """A column of the observations as text, also of categories; None for anything else."""
    item = obs.get(name)
    parts = members(item, path)
    if not {"codes", "categories"} <= parts.keys():
        return words(item, budget) if is_array(item) else None
    categories = words(parts["categories"], budget)
    codes = numbers(parts["codes"], budget)
    if categories is None or codes.ndim != 1 or codes.dtype.kind not in "iu" or (codes >= len(categories)).any():
        raise FormatError(f"{path} has a column {name!r} whose codes are not those of its categories.")
    return [categories[code] if code >= 0 else "" for code in codes]
