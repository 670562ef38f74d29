"""Points that Dask reads and writes in chunks: Zarr stores; and ``.npy`` files, which it only reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import map_npy
from .files import Budget, FormatError, format_errors, listed
from .metadata import MEMBER, read_side_file, to_json
from .output import ZARR_FILES, is_zarr

if TYPE_CHECKING:
    import dask.array as da

CHUNK_BYTES = 1 << 25  # The size of a Dask chunk: small enough for the memory of a worker, large enough for few tasks.
DAMAGED = "is damaged, or not a Zarr store"


def open_store(path: str | Path, key: str | None = None) -> da.Array:
    """A Zarr store or a ``.npy`` file as a Dask array with chunks of whole rows.

    A missing chunk is an error; ``dask.array.from_zarr`` reads it as zeros.

    Parameters
    ----------
    path : str or Path
        A folder, or a ``.npy`` file, that the workers can read under the same name.
    key : str or None
        The array to read of a Zarr group that holds several.

    See Also
    --------
    load : reads files of points into memory
    reduce_file : reduces a ``.npy`` file that is larger than memory, without Dask

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "points.npy"
    >>> np.save(path, np.zeros((3, 2)))
    >>> open_store(path).chunks
    ((3,), (2,))
    """
    path = Path(path).resolve()
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    store = None
    if is_zarr(path):
        store, path = _zarr_array(path, key)
    elif not path.is_file() or path.suffix.lower() != ".npy":
        raise ValueError(f"{path} is neither a Zarr store nor a .npy file.")
    X = map_npy(path) if store is None else store
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "fiub":
        raise FormatError(f"{path} must hold plain numbers, one point per row, but its array has shape {X.shape}, {X.dtype}.")
    rows = 1 if store is None else _rows_of_chunks(store, path)
    step = rows * max(1, CHUNK_BYTES // (rows * X.shape[1] * X.dtype.itemsize))
    dask_array, read = _library("dask.array"), _library("dask").delayed(read_rows, traverse=False)
    parts = [(start, min(start + step, X.shape[0])) for start in range(0, X.shape[0], step)]
    found: da.Array = dask_array.concatenate(
        [dask_array.from_delayed(read(path, store, start, stop), (stop - start, X.shape[1]), X.dtype) for start, stop in parts]
    )
    return found


def read_store_metadata(path: str | Path, key: str | None = None) -> dict[str, Any]:
    """The metadata of a Zarr store, which is in its attributes, or of a ``.npy`` file; empty if there is none."""
    path = Path(path).resolve()
    if not is_zarr(path):
        return read_side_file(path)
    found = _zarr_array(path, key)[0].attrs.get(MEMBER)
    return found if isinstance(found, dict) else {}


def read_rows(path: Path, store: Any, start: int, stop: int) -> np.ndarray:
    """Rows of a Zarr array or, without one, of a ``.npy`` file; called by the workers."""
    if store is None:
        return np.array(map_npy(path)[start:stop])
    with format_errors(path, DAMAGED):
        return np.asarray(store[start:stop])


def write_store(path: Path, Y: da.Array, metadata: Mapping[str, Any] | None = None) -> Path:
    """Write a Dask array to a new Zarr store, from the workers, with the metadata in its attributes."""
    da = _library("dask.array")
    chunks, complete = (max(Y.chunks[0]), Y.shape[1]), {"write_empty_chunks": True}  # `open_store` rejects missing chunks
    store = _library("zarr").create_array(str(path), shape=Y.shape, chunks=chunks, dtype=Y.dtype, config=complete)
    da.store(da.rechunk(Y, chunks), store, lock=False)
    if metadata:
        store.attrs[MEMBER] = json.loads(to_json(metadata))
    return path


def _zarr_array(path: Path, key: str | None) -> tuple[Any, Path]:
    """The array of a store, and its place in the store."""
    with format_errors(path, DAMAGED):
        found: Any = _library("zarr").open(str(path), mode="r")
        if not hasattr(found, "dtype"):
            names = sorted(str(name) for name, _ in found.arrays())
            chosen = names[0] if key is None and len(names) == 1 else str(key)
            if chosen not in names:
                reason = "holds several arrays" if key is None else f"has no array {key!r}"
                raise FormatError(f"{path} {reason}: pass one of {listed(names)} as key=.")
            found, path = found[chosen], path / chosen
        if "pickle" in json.dumps(found.metadata.to_dict(), default=str):
            raise FormatError(f"{path} needs pickle, which could run code: write plain numbers.")
    return found, path


def _rows_of_chunks(array: Any, path: Path) -> int:
    """The number of rows of a chunk. Raises FormatError if a chunk is missing (Zarr reads zeros) or too large for memory."""
    # files are counted before chunks are listed: a header of 150 bytes can claim 10^13 rows
    size = getattr(array, "shards", None) or array.chunks
    needed = math.prod(-(-n // max(1, k)) for n, k in zip(array.shape, size, strict=True))
    present = sum(1 for file in path.rglob("*") if file.name not in ZARR_FILES and file.is_file())
    if present < needed:
        raise FormatError(
            f"{path} is incomplete: it should hold {needed:,} chunks, but holds {present:,}. If the others are zeros that were "
            "left out, write it again with Zarr's write_empty_chunks."
        )
    Budget(path).claim(int(size[0]) * math.prod(array.shape[1:]) * int(array.dtype.itemsize))
    return max(1, int(size[0]))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"Zarr stores need Dask and Zarr, but {name} is missing: pip install 'horopca[dask]'.") from error
