"""``.h5ad`` of AnnData, read and written by h5py; ``.mat`` of MATLAB, read by SciPy or h5py; Parquet, read by pyarrow."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .files import LABEL_NAMES, Budget, FormatError, Table, as_text, choose, matrix
from .metadata import LABEL_COLUMN

HEX_COLOUR = re.compile("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?")
LEVEL_73 = (b"MATLAB 7.3", b"\x89HDF\r\n\x1a\n")  # The beginnings of MATLAB files that are HDF5 files.
NUMERIC = {"double", "single", "logical", "sparse", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


@contextmanager
def open_hdf(path: Path, mode: str = "r") -> Iterator[Any]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{path} is an HDF5 file, which needs h5py: pip install 'horopca[io]'.") from error
    with h5py.File(path, mode) as file:
        yield file


def read_h5ad(path: Path, key: str | None) -> Table:
    """An array of `obsm` of an AnnData file, with the names and the columns of the observations."""
    with open_hdf(path) as file:
        top = members(file, path)
        arrays = {name: item for name, item in members(top.get("obsm"), path).items() if is_matrix(item)}
        points = choose(arrays, (key or "").removeprefix("obsm/") or None, path, "array of obsm")
        X = matrix(_read(points, path), path)
        uns, obs = members(top.get("uns"), path), members(top.get("obs"), path)
        stated = _stated(members(uns.get(points.name.split("/")[-1].removeprefix("X_")), path))
        index = as_text(top["obs"].attrs.get("_index", "_index")) if obs else ""
        columns = {name: _column(obs[name], path) for name in dict.fromkeys([index, *obs]) if name in obs}
        colours = {as_text(name): _colours(uns.get(f"{name}_colors"), obs[name], path) for name in columns}
    full = {as_text(name): column for name, column in columns.items() if len(column) == len(X)}
    words = {name: column for name, column in full.items() if isinstance(column, list)}
    return Table(
        X,
        row_names=words.get(index),
        labels=words.get(stated.pop(LABEL_COLUMN, "")),
        words=words,
        values={name: column for name, column in full.items() if isinstance(column, np.ndarray)},
        colours={name: found for name, found in colours.items() if found},
        **stated,
    )


def _stated(items: Mapping[str, Any]) -> dict[str, Any]:
    """The model, the curvature and the name of the column of classes in a group of `uns`."""
    stated = {name: items[name][()] for name in ("model", "curvature", LABEL_COLUMN) if is_array(items.get(name))}
    return {
        name: as_text(value) if isinstance(value, bytes | str) else float(value)
        for name, value in stated.items()
        if np.ndim(value) == 0
    }


def _column(item: Any, path: Path) -> list[str] | np.ndarray:
    """A column of the observations, strings or categories as text and numbers as floats; empty for anything else."""
    parts = members(item, path)
    if {"codes", "categories"} <= parts.keys():
        categories = _texts(parts["categories"])
        return [categories[code] if code >= 0 else "" for code in parts["codes"][()]]
    return item[()].astype(float) if is_array(item) and item.dtype.kind in "fiub" and item.ndim == 1 else _texts(item)


def _texts(item: Any) -> list[str]:
    """The strings or numbers of an array as text; empty for anything else."""
    return [as_text(value) for value in item[()]] if is_array(item) and len(item.shape) == 1 else []


def _colours(item: Any, column: Any, path: Path) -> dict[str, str]:
    """The colours of the categories of a column, which scanpy stores in `uns` under its name and "_colors"."""
    colours, categories = _texts(item), _texts(members(column, path).get("categories"))
    if len(colours) < len(categories) or not all(HEX_COLOUR.fullmatch(colour) for colour in colours):
        return {}
    return {category: colour[:7] for category, colour in zip(categories, colours, strict=False)}


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


def is_matrix(item: Any) -> bool:
    return is_array(item) and len(item.shape) == 2 and item.dtype.kind in "fiub"


def _read(item: Any, path: Path) -> np.ndarray:
    """The numbers of an array. Raises FormatError if they would take too much memory."""
    Budget(path).claim(item.size * item.dtype.itemsize)
    return np.asarray(item[()])


def write_h5ad(
    path: Path,
    X: np.ndarray,
    words: Mapping[str, Any],
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
            header = str(metadata.get(LABEL_COLUMN, "labels"))
            _begin(file, len(X), {header if name == "labels" else name: column for name, column in words.items()})
        groups = members(file, path)
        _put(groups["obsm"], key, X)
        uns = groups["uns"] if "uns" in groups else _group(file, "uns", "dict", "0.1.0")
        if metadata:
            _put(uns, key.removeprefix("X_"), metadata)


def _begin(file: Any, n: int, words: Mapping[str, Any]) -> None:
    """Create the groups of an ``.h5ad`` file, with the tables of observations and of variables."""
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


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    from scipy.io import loadmat, whosmat

    with open(path, "rb") as raw:
        is_73 = raw.read(20).startswith(LEVEL_73)
    if is_73:
        with open_hdf(path) as file:
            usable = {name: item for name, item in members(file, path).items() if is_matrix(item)}
            X = _read(choose(usable, key, path, "matrix"), path).T  # columns come first there
            found = {name: item[()] for name, item in usable.items() if name.lower() in LABEL_NAMES}
    else:
        variables = whosmat(path)
        shapes = {name: shape for name, shape, kind in variables if len(shape) == 2 and kind in NUMERIC}
        chosen = choose({name: name for name in shapes}, key, path, "matrix")
        Budget(path).claim(8 * math.prod(shapes[chosen]))
        found = loadmat(path, variable_names=[chosen, *(name for name, *_ in variables if name.lower() in LABEL_NAMES)])
        X = _dense(found.pop(chosen))
    words = {name: _words(value) for name, value in found.items() if name.lower() in LABEL_NAMES}
    return Table(matrix(X, path), words={name: column for name, column in words.items() if len(column) == len(X)})


def _dense(value: Any) -> np.ndarray:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _words(value: Any) -> list[str]:
    """The words of a variable: strings, cells with a string each, or numbers; none for anything else."""
    values = _dense(value)
    items: Any = values.ravel() if values.dtype.kind in "OUSfiub" else []
    return [as_text(item.item() if isinstance(item, np.ndarray) and item.size == 1 else item).rstrip() for item in items]


def read_parquet(path: Path, key: str | None) -> Table:
    """The numeric columns of a Parquet file, or its one column of lists, with columns of words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, thrift_container_size_limit=1_000_000) as file:
        table = file.read(use_threads=False)
    table.validate(full=True)

    def named(*kinds: Any) -> list[str]:
        return [column.name for column in table.schema if any(is_kind(column.type) for is_kind in kinds)]

    types = pa.types
    lists = named(types.is_list, types.is_large_list, types.is_fixed_size_list)
    text = named(types.is_string, types.is_large_string, types.is_dictionary)
    text += [name for name in table.column_names if name.lower() in LABEL_NAMES and name not in (*lists, *text)]
    words = {name: ["" if value is None else as_text(value) for value in table.column(name).to_pylist()] for name in text}
    numeric = [name for name in named(types.is_integer, types.is_floating) if name not in words]
    columns = [table.column(name).to_numpy() for name in numeric]
    if len(lists) == 1:
        X = np.stack(table.column(lists[0]).to_numpy())  # raises an error if they differ in length
        values = dict(zip(numeric, (column.astype(float) for column in columns), strict=True))
        return Table(matrix(X, path), words=words, values=values)
    if not numeric:
        raise FormatError(f"{path} has neither columns of numbers nor one column of lists of numbers.")
    return Table(matrix(np.stack(columns, axis=1), path), names=numeric, words=words)
