"""Files that hold many arrays: MATLAB's ``.mat``, AnnData's ``.h5ad``, Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .files import Table, matrix
from .text import LABEL_NAMES


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    with open(path, "rb") as file:
        is_hdf = file.read(128)[:20].startswith(b"MATLAB 7.3") or _is_hdf(path)
    variables = _mat_73(path) if is_hdf else _mat_5(path)
    usable = {name: value for name, value in variables.items() if value.ndim == 2 and value.dtype.kind in "fiub"}
    X = matrix(_choose(usable, key, path, "matrix"), path)
    labels = next((_flat_labels(variables[name], len(X)) for name in variables if name.lower() in LABEL_NAMES), None)
    return Table(X, labels)


def _mat_5(path: Path) -> dict[str, np.ndarray]:
    from scipy.io import loadmat

    try:
        content = loadmat(path, chars_as_strings=True)
    except (OSError, MemoryError):
        raise
    except Exception:
        raise ValueError(f"{path} is damaged, cut short, or not a file of MATLAB's.") from None
    return {name: value for name, value in content.items() if isinstance(value, np.ndarray)}


def _mat_73(path: Path) -> dict[str, np.ndarray]:
    with _open_hdf(path) as file:  # columns come first there
        return {name: np.asarray(value).T for name, value in file.items() if _is_array(value)}


def _flat_labels(values: np.ndarray, n: int) -> list[str] | None:
    """n labels from a row or a column of numbers, of strings, or of cells with one string each."""
    flat = np.asarray(values).ravel()
    if len(flat) != n:
        return None
    return [str(item.item() if isinstance(item, np.ndarray) and item.size == 1 else item).strip() for item in flat]


def read_h5ad(path: Path, key: str | None) -> Table:
    """An array of `obsm` of an AnnData file, with the names of the observations."""
    with _open_hdf(path) as file:
        group = file.get("obsm")
        arrays = {name: value for name, value in group.items() if _is_array(value)} if hasattr(group, "items") else {}
        X = matrix(np.asarray(_choose(arrays, key, path, "array of obsm")), path)
        obs: Any = file.get("obs")
        index: Any = obs.get(_text(obs.attrs.get("_index", "_index"))) if hasattr(obs, "items") else None
        labels = [_text(name) for name in index[()]] if _is_array(index) and index.shape == (len(X),) else None
    return Table(X, labels)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _is_hdf(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


@contextmanager
def _open_hdf(path: Path) -> Iterator[Any]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{path} is an HDF5 file, which needs h5py: pip install 'horopca[io]'.") from error
    try:
        with h5py.File(path, "r") as file:
            yield file
    except PermissionError:
        raise
    except (OSError, RuntimeError, KeyError):
        raise ValueError(f"{path} is damaged, cut short, or not an HDF5 file.") from None


def read_parquet(path: Path) -> Table:
    """The numeric columns of a Parquet file, or its one column of lists, with a column of names."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(f"{path} is a Parquet file, which needs pyarrow: pip install 'horopca[io]'.") from error
    try:
        table = pq.read_table(path)
    except PermissionError:
        raise
    except (pa.ArrowException, ValueError, OSError):
        raise ValueError(f"{path} is damaged, cut short, or not a Parquet file.") from None
    types = pa.types
    text = _columns(table, types.is_string, types.is_large_string, types.is_dictionary)
    lists = _columns(table, types.is_list, types.is_large_list, types.is_fixed_size_list)
    label = _label_column(table.column_names, text, path)
    labels = None if label is None else [str(value) for value in table.column(label).to_pylist()]
    if len(lists) == 1:
        return Table(matrix(_stacked(table.column(lists[0]), path), path), labels)
    numeric = [name for name in _columns(table, types.is_integer, types.is_floating) if name != label]
    if not numeric:
        raise ValueError(f"{path} has neither columns of numbers nor one column of lists of numbers.")
    columns = [table.column(name).to_numpy() for name in numeric]
    return Table(matrix(np.stack(columns, axis=1), path), labels, numeric)


def _columns(table: Any, *kinds: Any) -> list[str]:
    """Names of the columns of some types."""
    return [column.name for column in table.schema if any(is_kind(column.type) for is_kind in kinds)]


def _label_column(names: list[str], text: list[str], path: Path) -> str | None:
    """The column of names: the one with text, or one that is called so."""
    called = [name for name in names if name.lower() in LABEL_NAMES or name == "__index_level_0__"]
    if len(text) > 1 and not set(text) & set(called):
        raise ValueError(f"{path} has {len(text)} columns of text ({', '.join(text)}): keep one, or call it 'label'.")
    return next((name for name in called if name in text), text[0] if text else called[0] if called else None)


def _stacked(column: Any, path: Path) -> np.ndarray:
    rows = column.combine_chunks()
    lengths = set(rows.value_lengths().to_pylist()) if hasattr(rows, "value_lengths") else {rows.type.list_size}
    if len(lengths) != 1 or None in lengths:
        raise ValueError(f"{path} must hold lists of one length, but they have {len(lengths)} different ones.")
    return rows.flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)


def _choose(arrays: dict[str, Any], key: str | None, path: Path, what: str) -> Any:
    if key is not None and key not in arrays:
        raise ValueError(f"{path} has no {what} {key!r}; it holds {_listed(arrays)}.")
    for choice in (key, *(arrays if len(arrays) == 1 else ()), "X", "embeddings"):
        if choice in arrays:
            return arrays[choice]
    raise ValueError(f"{path} holds {_listed(arrays)}: say which {what} to read with key=.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
