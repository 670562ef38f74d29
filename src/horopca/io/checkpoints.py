"""Checkpoints of torch and vectors of gensim, read without either and without executing anything.

Both are pickles, which `pickles` reads as data. A tensor is known by its parts, a storage with an offset, sizes and strides,
whatever class is named beside them; what else a checkpoint holds of foreign classes is passed over.
"""

from __future__ import annotations

import io
import mmap
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .archives import open_archive
from .arrays import map_npy
from .budget import Budget
from .files import FormatError, Table, as_text, choose, matrix
from .pickles import Inert, as_array, read_pickle

MAGIC = 0x1950A86A20F9469CFC6C  # With this the format from before 2020 begins, a row of pickles.
# The bytes of a storage are of this dtype; bfloat16, which NumPy has not, is the upper half of a float32.
STORAGES = {
    "torch.DoubleStorage": "<f8",
    "torch.FloatStorage": "<f4",
    "torch.HalfStorage": "<f2",
    "torch.BFloat16Storage": "bfloat16",
    "torch.LongStorage": "<i8",
    "torch.IntStorage": "<i4",
    "torch.ShortStorage": "<i2",
    "torch.CharStorage": "i1",
    "torch.ByteStorage": "u1",
    "torch.BoolStorage": "?",
}
MANIFOLDS = {"poincare": "poincare", "lorentz": "lorentz", "euclidean": "tangent"}
NAMES = ("objects", "labels", "names")
DEEPEST = 64  # So many dictionaries within dictionaries are looked into.


def read_checkpoint(path: Path, key: str | None) -> Table:
    """The points of a checkpoint, with the names and the model of one of the Poincaré-embeddings tool."""
    content = _zipped(path) if _is_zip(path) else _legacy(path)
    foreign = f" but an object of {content.name}, which was not executed" if isinstance(content, Inert) else ""
    X = matrix(choose(dict(_matrices(content, path)), key, path, "matrix", foreign), path)
    if not isinstance(content, dict):
        return Table(X)
    conf = content.get("conf")
    conf = conf.state if isinstance(conf, Inert) else conf
    manifold = content.get("manifold") or (conf.get("manifold") if isinstance(conf, dict) else None)
    model = MANIFOLDS.get(manifold) if isinstance(manifold, str) else None
    words = {name: [as_text(word) for word in content[name]] for name in NAMES if _is_names(content.get(name), len(X))}
    return Table(X, model=model, words=words)


def _is_names(value: Any, n: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == n and all(isinstance(item, str | int) for item in value)


def _matrices(content: Any, path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """(name, array) of every matrix in nested dictionaries, names joined by dots; a dictionary met again is passed over."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        value = _tensor(value, path)
        if isinstance(value, np.ndarray) and value.ndim == 2:
            yield ".".join(name), value
        value = value.state if isinstance(value, Inert) else value
        if isinstance(value, dict) and id(value) not in seen and len(name) < DEEPEST:
            seen.add(id(value))
            waiting += [((*name, str(part)[:80]), item) for part, item in reversed(value.items())]


# ---------------------------------------------------------------- tensors


def _tensor(value: Any, path: Path) -> Any:
    """The array that an inert object describes: that of NumPy, or a view of a storage of torch; other values as they are."""
    for _ in range(DEEPEST):  # a parameter is made of a tensor, a foreign parameter of a parameter
        value = as_array(value)
        if not isinstance(value, Inert) or not value.args:
            return value
        first, *rest = value.args
        if isinstance(first, np.ndarray) and first.ndim == 1 and len(rest) >= 3:
            return _view(first, rest[0], rest[1], rest[2], path)
        if not isinstance(first, Inert):
            return value
        value = first
    return value


def _view(storage: np.ndarray, offset: Any, size: Any, stride: Any, path: Path) -> np.ndarray:
    """A view of a storage, refused where it would reach outside or repeat what it holds."""
    tuples = isinstance(size, tuple) and isinstance(stride, tuple) and len(size) == len(stride) <= 32
    if not tuples or not all(type(k) is int and 0 <= k < 1 << 60 for k in (offset, *size, *stride)):
        raise FormatError(f"{path} holds a tensor of an impossible shape.")
    count = int(np.prod(size, dtype=object))
    reach = offset + sum((k - 1) * s for k, s in zip(size, stride, strict=True)) if count else 0
    if count > len(storage) or reach >= len(storage) > 0 or offset > len(storage):
        raise FormatError(f"{path} holds a tensor larger than its storage.")
    strides = [s * storage.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(storage[offset:], size, strides, writeable=False)


def _found(pid: Any, path: Path, storage: Callable[[str, str, int], np.ndarray]) -> Any:
    """What a persistent identifier stands for: a storage, by its dtype, its key and its length, or a class with its source."""
    if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
        return pid[1]
    if isinstance(pid, tuple) and len(pid) >= 5:
        kind, named, key, _, length = pid[:5]
        dtype = STORAGES.get(named.name) if isinstance(named, Inert) else None
        if kind == "storage" and dtype and isinstance(key, str | int) and type(length) is int and 0 <= length < 1 << 60:
            return storage(dtype, str(key), length)
    raise FormatError(f"{path} holds a storage of an unknown kind.")


def from_bytes(content: Any, dtype: str) -> np.ndarray:
    """Numbers of a dtype, or of bfloat16, from their bytes."""
    if dtype != "bfloat16":
        return np.frombuffer(content, dtype=dtype)
    return (np.frombuffer(content, dtype="<u2").astype("<u4") << 16).view("<f4")


def item_bytes(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


# ---------------------------------------------------------------- the two formats of torch


def _is_zip(path: Path) -> bool:
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile:  # one in several parts, it says
        return True


def _zipped(path: Path) -> Any:
    """The content of a checkpoint of torch 1.6 and later: a zip file with a pickle and the bytes of each storage."""
    budget, known = Budget(path), dict[str, np.ndarray]()
    with open_archive(path, budget, "is damaged, cut short, or not written by torch.save") as archive:
        root = next((name for name in archive.sizes if name.endswith("data.pkl")), "data.pkl").removesuffix("data.pkl")
        if f"{root}data.pkl" not in archive.sizes:
            raise ValueError("This archive is none of torch's.")
        if f"{root}byteorder" in archive.sizes and archive.read(f"{root}byteorder", 16) != b"little":
            raise FormatError(f"{path} was written on a big-endian machine, whose numbers are not read.")

        def storage(dtype: str, key: str, length: int) -> np.ndarray:
            if key not in known:
                if archive.sizes.get(f"{root}data/{key}", 0) < length * item_bytes(dtype):
                    raise ValueError("A storage is cut short.")
                known[key] = from_bytes(archive.read(f"{root}data/{key}")[: length * item_bytes(dtype)], dtype)
            return known[key]

        return read_pickle(io.BytesIO(archive.read(f"{root}data.pkl")), budget, lambda pid: _found(pid, path, storage))


def _legacy(path: Path) -> Any:
    """The content of an older checkpoint: a row of pickles, then the bytes of the storages.

    The storages come last, so the pickle is read twice: for their kinds, and with their numbers.
    """
    budget, kinds, known = Budget(path), dict[str, tuple[str, int]](), dict[str, np.ndarray]()

    def kind(dtype: str, key: str, length: int) -> np.ndarray:
        kinds[key] = (dtype, length)
        return np.empty(0)

    if not budget.size:
        raise FormatError(f"{path} is empty: it is damaged, or was never written.")
    with open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as file:
        if read_pickle(file, budget) != MAGIC:
            raise FormatError(f"{path} is not written by torch.save.")
        read_pickle(file, budget), read_pickle(file, budget)  # the version, the machine
        start = file.tell()
        read_pickle(file, budget, lambda pid: _found(pid, path, kind))
        for key in _keys(read_pickle(file, budget), kinds, path):
            dtype, length = kinds[key]
            count, nbytes = int.from_bytes(file.read(8), "little"), length * item_bytes(dtype)
            if count != length or nbytes > budget.size - file.tell():
                raise FormatError(f"{path} is damaged or cut short: a storage has another length than its tensor.")
            budget.claim(nbytes)
            known[key] = from_bytes(file.read(nbytes), dtype)
        file.seek(start)
        return read_pickle(file, budget, lambda pid: _found(pid, path, lambda dtype, key, length: known[key]))


def _keys(found: Any, kinds: dict[str, tuple[str, int]], path: Path) -> list[str]:
    keys = [str(key) for key in found if isinstance(key, str | int)] if isinstance(found, list) else []
    if set(keys) != kinds.keys():
        raise FormatError(f"{path} is damaged: its storages are not those of its tensors.")
    return keys


# ---------------------------------------------------------------- gensim


def read_keyed_vectors(path: Path, key: str | None) -> Table:
    """The vectors of gensim's ``KeyedVectors.save``, or of a model, and their names; large ones are in an ``.npy`` beside."""
    budget = Budget(path)
    if not budget.size:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as file:
        content = read_pickle(file, budget)
    parts: dict[str, Any] = content.state if isinstance(content, Inert) and isinstance(content.state, dict) else {}
    keyed = [("", content), *((f".{name}", part) for name, part in parts.items())]
    within, state = next(((name, part.state) for name, part in keyed if _is_keyed(part)), ("", None))
    if state is None:
        raise FormatError(f"{path} holds no vectors of gensim's: expected what KeyedVectors.save or a model's save writes.")
    vectors = as_array(state.get("vectors"))
    beside = path.with_name(f"{path.name}{within}.vectors.npy")
    if not isinstance(vectors, np.ndarray):
        if not beside.is_file():
            raise FormatError(f"{path} has its vectors in {beside.name}, which is not beside it.")
        vectors = map_npy(beside)
    names = state.get("index_to_key") or state.get("index2word")
    X = matrix(vectors, path)
    return Table(X, words={"name": [as_text(name) for name in names]} if _is_names(names, len(X)) else {})


def _is_keyed(value: Any) -> bool:
    """Whether this is the object with vectors and their names."""
    state = value.state if isinstance(value, Inert) else None
    return isinstance(state, dict) and ("index_to_key" in state or "index2word" in state)
