"""NumPy's formats, ``.npy`` and ``.npz``, of which nothing is unpickled, and ``.safetensors``."""

from __future__ import annotations

import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .files import Budget, FormatError, Table, as_text, choose, existing, format_errors, matrix
from .metadata import MEMBER, WORDS, from_json, with_metadata
from .subprocess_reader import in_subprocess

DAMAGED = "is damaged, cut short, or not written by numpy.save or numpy.savez from a plain array"
HOLDS_OBJECTS = "holds Python objects, which could run code and are not read: save an array of numbers"
HEADER_BYTES = 1 << 14  # The longest header that is read; that of a plain array has about 128 bytes.
HEADER = re.compile(  # Excludes "a8", a name of "S8" that NumPy has deprecated, and structured arrays.
    r"\{(?=.*'descr': *'([<>|=]?[b-zA-Z?]\d*(?:\[\w+\])?)')(?=.*'fortran_order': *(True|False))(?=.*'shape': *\(([\d, ]*)\))"
)
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Others allocate memory before their size is known.
SAFETENSORS_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "bfloat16", "BOOL": "?", "U8": "u1"}
SAFETENSORS_DTYPES |= {f"I{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)}
ROWS_PER_MAPPING = 1 << 10  # Scattered rows that are read from one memory map: each brings about 64 KB into memory.
BLOCK_BYTES = 1 << 25  # The size of a block of the input: large enough that a disk reads it at full speed.
MAX_SAFETENSORS_HEADER = 1 << 26  # Bytes; the limit of the format is a little higher.
JSON_BYTES = 32  # Memory in bytes per byte of JSON: "{}," becomes a dictionary.

_read_objects = in_subprocess("checkpoints", "read_objects", "numpy", "an archive of NumPy arrays", "io")


def read_header(file: BinaryIO, path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape of an array, whether it is in Fortran order, and its dtype.

    The header is not parsed by NumPy, which evaluates it as Python and is not safe in threads.
    """
    with format_errors(path, DAMAGED):
        version = np.lib.format.read_magic(file)
        size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
        found = HEADER.match(file.read(min(size, HEADER_BYTES)).decode("latin1").strip().replace('"', "'"))
        if size > HEADER_BYTES or found is None:
            raise ValueError("This is not a header.")
        dtype, shape = np.dtype(found[1]), tuple(int(k) for k in found[3].split(",") if k.strip())
        if not dtype.itemsize:
            raise ValueError("The items have no size.")
    return shape, found[2] == "True", dtype


def map_npy(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped."""
    if path.stat().st_size == 0:
        raise FormatError(f"{path} is empty.")
    return _as_array(np.memmap(path, np.uint8, "r"), path)


def parse_npy(content: bytes, path: Path) -> np.ndarray:
    """The array in the bytes of a ``.npy`` file."""
    return _as_array(np.frombuffer(content, np.uint8), path)


def _as_array(content: np.ndarray, path: Path) -> np.ndarray:
    """The array that the bytes of a ``.npy`` file describe, without a copy."""
    head = io.BytesIO(content[: 2 * HEADER_BYTES].tobytes())
    shape, fortran, dtype = read_header(head, path)
    if dtype.hasobject:
        raise FormatError(f"{path} {HOLDS_OBJECTS}.")
    with format_errors(path, DAMAGED):  # too few bytes, or more axes than NumPy allows
        numbers = content[head.tell() : head.tell() + math.prod(shape) * dtype.itemsize]
        if dtype.kind == "U" and (numbers.view(np.dtype("u4").newbyteorder(dtype.byteorder)) > sys.maxunicode).any():
            raise ValueError("The array has a code point beyond Unicode.")
        return numbers.view(dtype).reshape(shape, order="F" if fortran else "C")


class Source(NamedTuple):
    """A ``.npy`` file of points. It is mapped again for each read, so that none of its pages stay in memory."""

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype

    @classmethod
    def of(cls, path: str | Path) -> Source:
        path = existing(path)
        if path.suffix.lower() != ".npy":
            raise ValueError(f"{path} cannot be read one block at a time: only a .npy file can.")
        X = map_npy(path)
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(f"{path} must hold one point per row, but its array has shape {X.shape}.")
        if not (X.dtype.isnative and X.dtype in (np.float32, np.float64)):
            raise ValueError(f"{path} must hold float32 or float64 to be read one block at a time, but holds {X.dtype}.")
        return cls(path, X.shape, X.dtype)

    @property
    def block_rows(self) -> int:
        """The number of rows of a block: a power of two, as the chunks of estimators are."""
        fitting = max(1, BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize))
        return 1 << (fitting.bit_length() - 1)

    def rows(self, start: int, stop: int) -> np.ndarray:
        X = map_npy(self.path)
        if X.shape != self.shape or X.dtype != self.dtype:
            raise ValueError(f"{self.path} has changed while it was read. Run it again.")
        return np.array(X[start:stop])

    def take(self, indices: np.ndarray) -> np.ndarray:
        parts = [indices[start : start + ROWS_PER_MAPPING] for start in range(0, len(indices), ROWS_PER_MAPPING)]
        return np.concatenate([np.array(map_npy(self.path)[part]) for part in parts])

    def fingerprint(self) -> list[Any]:
        """Values that identify the file and its version: path, inode, size, times of the last change, shape and dtype."""
        status = self.path.stat()
        times = [status.st_mtime_ns, status.st_ctime_ns]
        return [str(self.path.resolve()), status.st_ino, status.st_size, *times, *self.shape, self.dtype.str]


@contextmanager
def open_archive(path: Path, why: str) -> Iterator[tuple[list[str], Callable[..., bytes]]]:
    """The names of the members of an archive, and a function that reads one. Errors in the context become FormatErrors."""
    with format_errors(path, why), zipfile.ZipFile(path) as archive:
        budget = Budget(path)

        def read(name: str, most: float = math.inf) -> bytes:
            """The bytes of a member, or the first `most` of them."""
            info = archive.getinfo(name)
            if info.compress_type not in COMPRESSIONS:
                raise NotImplementedError(f"The compression method {info.compress_type} is not supported.")
            size = int(min(most, info.file_size))
            budget.claim(size)
            with archive.open(info) as member:
                content = member.read(size)  # without the size, everything would be unpacked before it is checked
            if len(content) < size:
                raise EOFError(f"{name} does not have the length that the archive states.")
            return content

        yield archive.namelist(), read


def read_members(path: Path, why: str = DAMAGED) -> dict[str, np.ndarray]:
    """All arrays of an archive by their names."""
    with open_archive(path, why) as (names, read):
        return {name.removesuffix(".npy"): parse_npy(read(name), path) for name in names}


def read_npz(path: Path, key: str | None) -> Table:
    """An array of an archive, with the arrays `names` and `labels` beside it."""
    with open_archive(path, DAMAGED) as (names, read):
        members = {name.removesuffix(".npy"): name for name in names}
        metadata = from_json(parse_npy(read(members.pop(MEMBER)), path), path) if MEMBER in members else {}
        if key is None and ("class" in metadata or {"model", "array0"} <= members.keys()):
            how = "read it with horopca.io.load_fitted (on the command line, --from-fit)"
            raise FormatError(f"{path} contains a saved estimator, not points: {how}.")
        headers = {}
        for name, member in members.items():
            with suppress(*(() if name in WORDS else (FormatError,))):  # something else than an array
                headers[name] = read_header(io.BytesIO(read(member, HEADER_BYTES)), path)
        matrices = [name for name, (shape, *_) in headers.items() if len(shape) == 2]
        chosen = choose({name: name for name in (matrices if matrices and key is None else members)}, key, path, "array")
        X = matrix(parse_npy(read(members[chosen]), path), path)
        contents: dict[str, Any] = {name: list(shape) for name, (shape, *_) in headers.items()}
        words = {}
        for name, (shape, _, dtype) in headers.items():
            if math.prod(shape) == 1 and dtype.kind in "fiu":
                contents[name] = float(parse_npy(read(members[name]), path).item())
            if name in WORDS and name != chosen and math.prod(shape) == len(X):
                if dtype.hasobject:
                    words[name] = _read_objects(path, members[name]).words["objects"]
                else:
                    words[name] = as_words(parse_npy(read(members[name]), path).ravel().tolist(), name, path)
    return with_metadata(Table(X, words=words, contents=contents), metadata, path)


def as_words(values: Any, name: str, path: Path) -> list[str]:
    """The strings or numbers of the array `name` as text."""
    if not isinstance(values, list) or not all(isinstance(value, str | bytes | int | float) for value in values):
        raise FormatError(f"{path} must hold words or numbers in {name!r}: save them as strings.")
    return [as_text(value) for value in values]


def read_safetensors(path: Path, key: str | None) -> Table:
    """A matrix of the file; the other tensors are not read."""
    with open(path, "rb") as file, format_errors(path, "is damaged, cut short, or not a safetensors file"):
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(MAX_SAFETENSORS_HEADER, path.stat().st_size - 8):
            raise ValueError("The header is longer than the file.")
        Budget(path).claim(JSON_BYTES * size)
        header = json.loads(file.read(size))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        matrices = {name: entry for name, entry in tensors.items() if len(entry["shape"]) == 2}
        X = matrix(_tensor(file, choose(matrices, key, path, "matrix"), path, 8 + size), path)
        contents = {name: entry["shape"] for name, entry in tensors.items()}
        for name, entry in tensors.items():
            if all(k == 1 for k in entry["shape"]) and entry["dtype"] in SAFETENSORS_DTYPES:
                contents[name] = float(_tensor(file, entry, path, 8 + size).item())
        return Table(X, contents=contents)


def _tensor(file: BinaryIO, entry: dict[str, Any], path: Path, start: int) -> np.ndarray:
    """The array that an entry of the header describes; the offsets in it count from `start`."""
    (begin, end), kind = entry["data_offsets"], SAFETENSORS_DTYPES.get(entry["dtype"])
    if kind is None:
        raise FormatError(f"{path} holds a tensor of dtype {str(entry['dtype'])[:20]!r}, which is not supported.")
    if not 0 <= begin <= end <= path.stat().st_size - start:
        raise ValueError("The tensor is not in the file.")
    file.seek(start + begin)
    content = file.read(end - begin)
    if kind == "bfloat16":  # the upper half of a float32; NumPy does not have it
        return (np.frombuffer(content, dtype="<u2").astype("<u4") << 16).view("<f4").reshape(entry["shape"])
    return np.frombuffer(content, dtype=kind).reshape(entry["shape"])
