"""Checkpoints of torch, read without torch and without executing anything.

A checkpoint is a pickle, a little program. Ours is a reader of pickles that knows a few names: those that describe
a tensor and its storage, all turned into NumPy arrays here, and OrderedDict. Any other name ends the reading before it is
looked up, so nothing that a file asks for is imported or called.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .files import Table, matrix

MAGIC = 0x1950A86A20F9469CFC6C  # begins the format from before 2020, a row of pickles
STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}
MANIFOLDS = {"poincare": "poincare", "lorentz": "lorentz", "euclidean": "tangent"}
NAMES = ("objects", "labels", "names")


class _Refused(Exception):
    """The pickle asks for something else than tensors."""


def read_checkpoint(path: Path, key: str | None) -> Table:
    """The points of a checkpoint, with the names and the model of one of the Poincaré-embeddings tool."""
    try:
        content = _zipped(path) if zipfile.is_zipfile(path) else _legacy(path)
    except _Refused as refusal:
        raise ValueError(f"{path} {refusal}. Nothing of it was executed.") from None
    except (OSError, MemoryError):
        raise
    except Exception:
        raise ValueError(f"{path} is damaged, cut short, or not written by torch.save.") from None
    tensors = dict(_tensors(content))
    X = matrix(_chosen(tensors, key, path), path)
    if not isinstance(content, dict):
        return Table(X)
    conf = content.get("conf")
    manifold = content.get("manifold") or (conf.get("manifold") if isinstance(conf, dict) else None)
    labels = next((content[name] for name in NAMES if _is_names(content.get(name), len(X))), None)
    return Table(X, None if labels is None else [str(label) for label in labels], model=MANIFOLDS.get(str(manifold)))


def _is_names(value: Any, n: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == n and all(isinstance(item, str | int) for item in value)


def _tensors(content: Any) -> Iterator[tuple[str, np.ndarray]]:
    """(name, array) of every matrix in nested dictionaries, names joined by dots; a dictionary met again is passed over."""
    waiting, seen = [("", content)], set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, np.ndarray) and value.ndim == 2:
            yield name, value
        elif isinstance(value, dict) and id(value) not in seen:
            seen.add(id(value))
            waiting += [(f"{name}.{part}" if name else str(part), item) for part, item in reversed(value.items())]


def _chosen(tensors: dict[str, np.ndarray], key: str | None, path: Path) -> np.ndarray:
    if key is not None:
        if key not in tensors:
            raise ValueError(f"{path} has no matrix {key!r}; it holds {', '.join(tensors) or 'none'}.")
        return tensors[key]
    if len(tensors) == 1:
        return next(iter(tensors.values()))
    for name in ("embeddings", "model.lt.weight", "lt.weight", "weight", "X"):
        if name in tensors:
            return tensors[name]
    raise ValueError(f"{path} holds {', '.join(tensors) or 'no matrix'}: say which to read with key=.")


# ---------------------------------------------------------------- the pickle


class _Reader(pickle.Unpickler):
    """Knows tensors, their storages and dictionaries; `storage` makes an array of a dtype, a key and a length."""

    def __init__(self, file: Any, storage: Callable[[str, str, int], np.ndarray]) -> None:
        super().__init__(file)
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name == "_rebuild_tensor_v2":
            return lambda *parts: _tensor(*parts)  # a new one: a pickle can set attributes of what it has named
        if module == "torch._utils" and name == "_rebuild_parameter":
            return lambda data, *_: data
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        raise _Refused(f"holds an object of {module}.{name}, but only tensors, lists of strings and plain values are read")

    def persistent_load(self, pid: Any) -> np.ndarray:
        kind, dtype, key, _, length, *_ = pid
        if kind != "storage" or dtype not in STORAGES.values() or not isinstance(length, int) or length < 0:
            raise _Refused("holds a storage of an unknown kind")
        return self._storage(dtype, str(key), length)


def _tensor(storage: np.ndarray, offset: int, size: tuple, stride: tuple, *_: Any) -> np.ndarray:
    """A view of a storage, refused where it would reach outside or repeat what it holds."""
    whole = all(isinstance(k, int) and k >= 0 for k in (offset, *size, *stride))
    if not (whole and isinstance(storage, np.ndarray) and len(size) == len(stride)):
        raise _Refused("holds a tensor of an impossible shape")
    count = int(np.prod(size, dtype=object))
    reach = offset + sum((k - 1) * s for k, s in zip(size, stride, strict=True)) if count else 0
    if count > len(storage) or reach >= len(storage) > 0:
        raise _Refused("holds a tensor larger than its storage")
    strides = [s * storage.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(storage[offset:], size, strides, writeable=False)


def _zipped(path: Path) -> Any:
    """The content of a checkpoint of torch 1.6 and later: a zip file with a pickle and the bytes of each storage."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        root = next(name for name in names if name.endswith("data.pkl")).removesuffix("data.pkl")
        limit = 2 * path.stat().st_size + (1 << 20)  # torch does not compress: no member is larger than the file
        if sum(info.file_size for info in archive.infolist()) > limit:
            raise _Refused("is packed far smaller than what it holds, which torch never does")
        if f"{root}byteorder" in names and archive.read(f"{root}byteorder") != b"little":
            raise _Refused("was written on a big-endian machine")
        known: dict[str, np.ndarray] = {}

        def storage(dtype: str, key: str, length: int) -> np.ndarray:
            if key not in known:
                known[key] = np.frombuffer(archive.read(f"{root}data/{key}"), dtype=dtype, count=length)
            return known[key]

        return _Reader(io.BytesIO(archive.read(f"{root}data.pkl")), storage).load()


def _legacy(path: Path) -> Any:
    """The content of an older checkpoint: a row of pickles, then the bytes of the storages."""
    known: dict[str, np.ndarray] = {}
    size = path.stat().st_size

    def storage(dtype: str, key: str, length: int) -> np.ndarray:
        if length * np.dtype(dtype).itemsize > size:
            raise _Refused("is cut short")
        return known.setdefault(key, np.empty(length, dtype))

    with open(path, "rb") as file:
        if _Reader(file, storage).load() != MAGIC:
            raise _Refused("is not written by torch.save")
        _Reader(file, storage).load(), _Reader(file, storage).load()  # the version, the machine
        content = _Reader(file, storage).load()
        for key in _Reader(file, storage).load():
            array = known[str(key)]
            if int.from_bytes(file.read(8), "little") != len(array):
                raise _Refused("is damaged: a storage has another length than its tensor")
            array[:] = np.frombuffer(file.read(array.nbytes), dtype=array.dtype, count=len(array))
    return content
