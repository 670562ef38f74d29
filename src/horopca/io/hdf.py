"""``.h5ad`` of AnnData, read and written by h5py, and ``.mat`` of MATLAB, read by SciPy or h5py."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .files import LABEL_NAMES, Budget, FormatError, Table, as_text, choose, format_errors, matrix
from .metadata import LABEL_COLUMN
from .subprocess_reader import in_subprocess

SIGNATURE = b"\x89HDF\r\n\x1a\n"
NAMES_AT_ONCE = 1 << 12  # Names that are read at a time.
ERRORS = (RuntimeError, KeyError, ValueError, TypeError, NotImplementedError, OverflowError)  # of h5py, for a damaged file

HEX_COLOUR = re.compile("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?")
NUMERIC = {"double", "single", "logical", "sparse", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
_read_5 = in_subprocess("hdf", "read_level_5", "scipy", "a MATLAB file", "io")
_read_73 = in_subprocess("hdf", "read_mat_73", "h5py", "a MATLAB file of level 7.3, in HDF5", "io")


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
        uns = members(top.get("uns"), path)
        stated = _stated(members(uns.get(points.name.split("/")[-1].removeprefix("X_")), path))
        classes = stated.pop(LABEL_COLUMN, "")
        obs = members(top.get("obs"), path)
        index = as_text(top["obs"].attrs.get("_index", "_index")) if obs else ""
        values = {name: numbers(item, budget).astype(float) for name, item in obs.items() if _is_numbers(item, len(X))}
        text = [name for name in dict.fromkeys([index, *obs]) if name in obs and name not in values]
        columns = {as_text(name): column(obs, name, path, budget) for name in text}
        colours = {as_text(name): _colours(uns, obs[name], name, path, budget) for name in text}
    words = {name: words for name, words in columns.items() if words is not None and len(words) == len(X)}
    numbers_of = {as_text(name): found for name, found in values.items()}
    known = {name: found for name, found in colours.items() if found}
    return Table(
        X, row_names=words.get(index), labels=words.get(classes), words=words, values=numbers_of, colours=known, **stated
    )


def _stated(items: Mapping[str, Any]) -> dict[str, Any]:
    """The model, the curvature and the column of the classes that a group of `uns` states."""
    stated = {key: items[key] for key in ("model", "curvature", LABEL_COLUMN) if is_array(items.get(key))}
    found = {key: item[()] for key, item in stated.items() if item.shape == () and item.dtype.kind in "OSfiu"}
    return {key: as_text(value) if isinstance(value, bytes | str) else float(value) for key, value in found.items()}


def _colours(uns: Mapping[str, Any], item: Any, name: str, path: Path, budget: Budget) -> dict[str, str]:
    """The colours of the categories of a column, which scanpy stores in `uns` under its name and "_colors"."""
    colours = words(uns.get(f"{name}_colors"), budget) or []
    categories = words(members(item, path).get("categories"), budget) or []
    if len(colours) < len(categories) or not all(HEX_COLOUR.fullmatch(colour) for colour in colours):
        return {}
    return {category: colour[:7] for category, colour in zip(categories, colours, strict=False)}


def _is_numbers(item: Any, n: int) -> bool:
    """Whether a column of the observations holds numbers."""
    return is_array(item) and item.shape == (n,) and item.dtype.kind in "fiub"


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


# ---------------------------------------------------------------- MATLAB


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    with open(path, "rb") as file:
        is_73 = file.read(20).startswith((b"MATLAB 7.3", SIGNATURE))
    table: Table = (_read_73 if is_73 else _read_5)(path, key)
    return table


def read_level_5(path: Path, key: str | None) -> Table:
    """The same for a file that SciPy reads; called in the separate process."""
    from scipy.io import loadmat, whosmat

    variables = whosmat(path)
    shapes = {name: shape for name, shape, kind in variables if len(shape) == 2 and kind in NUMERIC}
    name = choose({name: name for name in shapes}, key, path, "matrix")
    if min(shapes[name]) < 0:  # SciPy would infer a negative length
        raise FormatError(f"{path} is damaged: its matrix {name!r} has the shape {shapes[name]}.")
    Budget(path).claim(8 * int(np.prod(shapes[name], dtype=object)))
    labels = [other for other, *_ in variables if other.lower() in LABEL_NAMES]
    found = loadmat(path, variable_names=[name, *labels])
    X = matrix(_dense(found[name]), path)
    words = {other: _words(found[other], len(X)) for other in labels if other in found}
    return Table(X, words={other: column for other, column in words.items() if column is not None})


def _dense(value: Any) -> np.ndarray:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _words(value: Any, n: int) -> list[str] | None:
    """n words of a variable: strings, cells with a string each, or numbers; None if there are not n of them."""
    values = _dense(value)
    if values.size != n or values.dtype.kind not in "OUSfiub":
        return None
    return [
        as_text(item.item() if isinstance(item, np.ndarray) and item.size == 1 else item).rstrip() for item in values.ravel()
    ]


def read_mat_73(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file of level 7.3, with the labels beside it."""
    budget = Budget(path)
    with open_hdf(path) as file:
        usable = {name: item for name, item in members(file, path).items() if is_matrix(item)}
        X = matrix(numbers(choose(usable, key, path, "matrix"), budget).T, path)  # columns come first there
        text = [name for name in usable if name.lower() in LABEL_NAMES and usable[name].size == len(X)]
        return Table(X, words={name: [as_text(value) for value in numbers(usable[name], budget).ravel()] for name in text})
