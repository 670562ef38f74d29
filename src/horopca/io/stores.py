"""Arrays in folders of chunks, read and written through Dask: Zarr stores and stacks of ``.npy`` files.

A stack is a folder of files ``0.npy``, ``1.npy``, ... with the rows in this order, as `dask.array.to_npy_stack` writes it. The
pickle that it puts beside them is not read: nothing is ever unpickled.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import map_npy
from .output import OutputSet

if TYPE_CHECKING:
    import dask.array as da

CHUNK_BYTES = 1 << 25  # Smaller chunks of a store are read several at a time, larger pieces of a stack in parts.
ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")


def open_store(path: str | Path, key: str | None = None) -> da.Array:
    """A Zarr store, a stack of ``.npy`` files or a single one as a Dask array with chunks of whole rows.

    Parameters
    ----------
    path : str or Path
        A folder (or, for one array, a ``.npy`` file) that the workers can read under the same name.
    key : str or None
        Which array to read of a Zarr group that holds several.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "0.npy", np.zeros((3, 2)))
    >>> np.save(folder / "1.npy", np.ones((2, 2)))
    >>> open_store(folder).chunks
    ((3, 2), (2,))
    """
    path = Path(path).resolve()
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if any((path / name).exists() for name in ZARR_FILES):
        found: da.Array = _open_zarr(path, key)
        return found
    files = [path] if path.is_file() and path.suffix.lower() == ".npy" else _pieces(path)
    if not files:
        raise ValueError(f"{path} is neither a Zarr store nor a folder of files 0.npy, 1.npy, ..., nor a .npy file.")
    stack: da.Array = _open_npy(files)
    return stack


def save_store(path: str | Path, Y: da.Array, *, force: bool = False) -> Path:
    """Write a Dask array to a Zarr store (a path that ends in ``.zarr``) or a stack of ``.npy`` files, whole or not at all.

    The workers write the chunks, to a folder beside the path, which is given its name at the end.
    """
    with OutputSet(force=force) as outputs:
        write_store(outputs.add(path, check_store), Y)
        outputs.publish()
    return Path(path)


def write_store(path: Path, Y: da.Array) -> None:
    """Have the workers write a Dask array into a folder that is not there yet, by the ending of its name."""
    if path.suffix.lower() == ".zarr":
        _save_zarr(path, Y)
    else:
        _dask_array().to_npy_stack(str(path), _dask_array().rechunk(Y, {1: -1}), axis=0)


def check_store(path: str | Path, *, force: bool = False) -> Path:
    """Refuse an output that could not be written, before the work that would fill it."""
    path = Path(path).resolve()
    if path.suffix.lower() not in (".zarr", ""):
        raise ValueError(f"The format of {path} is not known: its name must end in .zarr, or have no ending (.npy files).")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already; force (on the command line, --force) overwrites it.")
    if path.exists() and not _is_store(path):
        raise FileExistsError(f"{path} is not overwritten, since it is neither a Zarr store nor a folder of .npy files.")
    return path


def _is_store(path: Path) -> bool:
    return path.is_dir() and (not any(path.iterdir()) or any((path / name).exists() for name in (*ZARR_FILES, "0.npy")))


# ---------------------------------------------------------------- stacks of .npy files


def _pieces(folder: Path) -> list[Path]:
    """The files 0.npy, 1.npy, ... of a folder, in this order, none missing."""
    files = sorted((file for file in folder.glob("*.npy") if file.stem.isdecimal()), key=lambda file: int(file.stem))
    for number, file in enumerate(files):
        if file.name != f"{number}.npy":
            raise ValueError(f"{folder} must hold 0.npy, 1.npy, ... without a gap, but {number}.npy is missing.")
    return files


def _open_npy(files: list[Path]) -> Any:
    da = _dask_array()
    pieces = [map_npy(file) for file in files]
    for file, piece in zip(files, pieces, strict=True):
        if piece.ndim != 2 or piece.dtype.kind not in "fiub":
            raise ValueError(f"{file} must hold points, one to a row, but its array has shape {piece.shape}, {piece.dtype}.")
        if piece.shape[1] != pieces[0].shape[1]:
            raise ValueError(f"{file} has {piece.shape[1]} columns, but {files[0]} has {pieces[0].shape[1]}.")
    dtype = np.result_type(*(piece.dtype for piece in pieces))
    parts = [part for file, piece in zip(files, pieces, strict=True) for part in _parts(file, piece)]
    name, width = f"npy-{secrets.token_hex(8)}", pieces[0].shape[1]
    rows = tuple(stop - start for _, start, stop in parts)
    meta = np.empty((0, width), dtype)
    if not rows:
        raise ValueError(f"{files[0].parent} holds no points: its files have no rows.")
    table = np.array([(str(file), start, stop) for file, start, stop in parts], dtype=object)
    return da.map_blocks(
        _read_part, parts=table, dtype=dtype, chunks=(rows, (width,)), meta=meta, name=name, columns_dtype=dtype.str
    )


def _parts(file: Path, piece: np.ndarray) -> list[tuple[Path, int, int]]:
    """A file in parts of about CHUNK_BYTES: the numbers of their first rows, and of those after their last."""
    step = max(1, CHUNK_BYTES // max(1, piece.shape[1] * piece.itemsize))
    return [(file, start, min(start + step, len(piece))) for start in range(0, len(piece), step)]


def _read_part(parts: np.ndarray, columns_dtype: str, block_id: tuple[int, int] = (0, 0)) -> np.ndarray:
    file, start, stop = parts[block_id[0]]
    return np.array(map_npy(Path(file))[start:stop], dtype=columns_dtype)


# ---------------------------------------------------------------- Zarr


def _open_zarr(path: Path, key: str | None) -> Any:
    found: Any = _zarr().open(str(path), mode="r")
    if not hasattr(found, "dtype"):
        names = sorted(name for name, _ in found.arrays())
        chosen = key or (names[0] if len(names) == 1 else None)
        if chosen not in names:
            which = f"has no array {key!r}" if key else "holds several arrays"
            raise ValueError(f"{path} {which}: say which of {', '.join(names) or 'none'} to read with key=.")
        found = found[chosen]
    if "pickle" in json.dumps(found.metadata.to_dict(), default=str) or found.dtype.kind not in "fiub":
        raise ValueError(f"{path} must hold plain numbers, but its array has dtype {found.dtype} or runs code when read.")
    if found.ndim != 2:
        raise ValueError(f"{path} must hold one point per row, but its array has shape {found.shape}.")
    rows = (getattr(found, "shards", None) or found.chunks)[0]
    several = max(1, CHUNK_BYTES // max(1, rows * found.shape[1] * found.dtype.itemsize))
    return _dask_array().from_zarr(found, chunks=(rows * several, found.shape[1]))


def _save_zarr(path: Path, Y: da.Array) -> None:
    rows = max(Y.chunks[0])
    store = _zarr().open_array(str(path), mode="w", shape=Y.shape, chunks=(rows, Y.shape[1]), dtype=Y.dtype)
    _dask_array().store(_dask_array().rechunk(Y, (rows, -1)), store, lock=False)


def _dask_array() -> Any:
    try:
        import dask.array
    except ImportError as error:
        raise ImportError("Chunked stores need Dask: pip install 'dask[array]'.") from error
    return dask.array


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError("A Zarr store needs zarr: pip install zarr.") from error
    return zarr
