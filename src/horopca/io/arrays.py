"""NumPy's formats, ``.npy`` and ``.npz``, of which nothing is unpickled, and ``.safetensors``."""

from __future__ import annotations

import ast
import io
import json
import math
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .files import Budget, FormatError, Table, as_text, choose, existing, format_errors, matrix
from .metadata import MEMBER, from_json, with_metadata
from .subprocess_reader import in_subprocess

DAMAGED = "is damaged, cut short, or not written by numpy.save or numpy.savez"
HOLDS_OBJECTS = "holds Python objects, which could run code and are not read: save an array of numbers"
WORDS = ("names", "labels")  # Arrays that are read beside the points.
HEADER_BYTES = 1 << 14  # Bytes of the longest header that is read.
HEADER_ERRORS = (ValueError, TypeError, KeyError, SyntaxError, OverflowError, RecursionError, MemoryError)  # of a literal
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Other methods allocate memory before their size is known.
PIECE = 1 << 20  # Bytes that are unpacked at a time.
# RuntimeError: a member that needs a password, or (NotImplementedError) another method of compression.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, RuntimeError)
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "bfloat16", "BOOL": "?", "U8": "u1"}  # of safetensors
DTYPES |= {f"I{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)}
SAFETENSORS_ERRORS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)  # of a wrong header
MOST_AXES = 64  # NumPy's own limit.
TAKEN_ROWS = 1 << 10  # Single rows that are read through one mapping, because each brings about 64 KB into memory.
BLOCK_BYTES = 1 << 25  # The size of a block of the input: large enough that a disk reads it at full speed.
LONGEST_HEADER = 1 << 26  # Bytes; the format's own limit is a little higher.
JSON_BYTES = 32  # Bytes in memory per byte of JSON: "{}," makes a dictionary.

_read_object_words = in_subprocess("checkpoints", "read_object_words", "numpy", "an archive of NumPy arrays", "io")


class Header(NamedTuple):
    """Shape, order and dtype of an array."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: BinaryIO, path: Path) -> Header:
    """The header of an array, checked. (NumPy's own function warns, which cannot be silenced safely in threads.)"""
    with format_errors(path, DAMAGED, *HEADER_ERRORS):
        version = np.lib.format.read_magic(file)
        size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
        text = file.read(min(size, HEADER_BYTES)).decode("utf-8" if version == (3, 0) else "latin1")
        if size > HEADER_BYTES or "\\" in text:  # an escape, at which Python could warn
            raise ValueError("This is not a header.")
        fields = ast.literal_eval(text.strip())
        header = Header(fields["shape"], bool(fields["fortran_order"]), np.lib.format.descr_to_dtype(fields["descr"]))
        if any(type(k) is not int or k < 0 for k in header.shape) or (not header.dtype.itemsize and 0 not in header.shape):
            raise ValueError("These are not the lengths of an array's axes.")
    return header


def map_npy(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped."""
    if path.stat().st_size == 0:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as file:
        header = read_header(file, path)
        if header.dtype.hasobject:
            raise FormatError(f"{path} {HOLDS_OBJECTS}.")
        at = file.tell()
        if at + header.nbytes > path.stat().st_size:
            raise FormatError(f"{path} {DAMAGED}.")
        if not header.nbytes:
            return np.empty(header.shape, header.dtype)
        with format_errors(path, DAMAGED, ValueError, OverflowError):  # a shape with more axes than NumPy allows
            return np.memmap(path, header.dtype, "r", at, header.shape, "F" if header.fortran else "C")


def read_npy(path: Path) -> np.ndarray:
    return _readable(np.array(map_npy(path)), path)


def _readable(values: np.ndarray, path: Path) -> np.ndarray:
    """The array. Raises FormatError if its strings contain code points that do not exist, at which Python fails."""
    if values.dtype.kind == "U" and values.size:
        codes = np.ascontiguousarray(values).view(np.dtype("u4").newbyteorder(values.dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise FormatError(f"{path} {DAMAGED}.")
    return values


class Source(NamedTuple):
    """A file of rows. It is mapped again for each read, so that none of its pages stay in memory."""

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

    def rows(self, start: int, stop: int, step: int = 1) -> np.ndarray:
        X = map_npy(self.path)
        if X.shape != self.shape or X.dtype != self.dtype:
            raise ValueError(f"{self.path} has changed while it was read. Run it again.")
        return np.array(X[start:stop:step])

    def take(self, indices: np.ndarray) -> np.ndarray:
        parts = [indices[start : start + TAKEN_ROWS] for start in range(0, len(indices), TAKEN_ROWS)]
        return np.concatenate([np.array(map_npy(self.path)[part]) for part in parts])

    def fingerprint(self) -> list[Any]:
        """Values that differ for another file, and after a change: the system sets the time of the last change."""
        status = self.path.stat()
        times = [status.st_mtime_ns, status.st_ctime_ns]
        return [str(self.path.resolve()), status.st_ino, status.st_size, *times, *self.shape, self.dtype.str]


def parse_npy(content: bytes, path: Path) -> np.ndarray:
    """The array in the bytes of a ``.npy`` file."""
    file = io.BytesIO(content)
    header = read_header(file, path)
    if header.dtype.hasobject:
        raise FormatError(f"{path} {HOLDS_OBJECTS}.")
    with format_errors(path, DAMAGED, ValueError, OverflowError):
        flat = np.frombuffer(content, header.dtype, math.prod(header.shape), file.tell()) if header.nbytes else np.empty(0)
        values = flat.astype(header.dtype, copy=False).reshape(header.shape, order="F" if header.fortran else "C")
    return _readable(values, path)


# ---------------------------------------------------------------- archives


class Archive:
    """The members of an open zip file."""

    def __init__(self, file: zipfile.ZipFile, budget: Budget) -> None:
        self.file, self.budget = file, budget
        self.sizes = {info.filename: info.file_size for info in file.infolist()}

    def read(self, name: str, most: int | None = None) -> bytes:
        """The bytes of a member, or the first `most` of them. Raises EOFError if it is not as long as the archive says."""
        info = self.file.getinfo(name)
        if info.compress_type not in METHODS:
            raise NotImplementedError(f"The method {info.compress_type} of compression is not read.")
        left = info.file_size if most is None else min(most, info.file_size)
        self.budget.claim(left)
        content = bytearray()
        with self.file.open(info) as member:
            while left > len(content) and (piece := member.read(min(PIECE, left - len(content)))):
                content += piece  # reading all at once would unpack everything before the size is checked
            if most is None and (len(content) < left or member.read(1)):
                raise EOFError(f"{name} does not have the length that the archive states.")
        return bytes(content)


@contextmanager
def open_archive(path: Path, budget: Budget, why: str) -> Iterator[Archive]:
    """The archive in a file. Errors inside the block raise FormatError with the reason `why`."""
    with format_errors(path, why, *ZIP_ERRORS), zipfile.ZipFile(path) as file:
        yield Archive(file, budget)


def read_members(path: Path, why: str = DAMAGED) -> dict[str, np.ndarray]:
    """All arrays of an archive by their names."""
    with open_archive(path, Budget(path), why) as archive:
        return {name.removesuffix(".npy"): parse_npy(archive.read(name), path) for name in archive.sizes}


def read_npz(path: Path, key: str | None) -> Table:
    """An array of an archive, with the arrays `names` and `labels` beside it."""
    with open_archive(path, Budget(path), DAMAGED) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.sizes}
        metadata = from_json(parse_npy(archive.read(members.pop(MEMBER)), path), path) if MEMBER in members else {}
        if key is None and ("class" in metadata or {"model", "array0"} <= members.keys()):
            how = "read it with horopca.io.load_fitted (on the command line, --from-fit)"
            raise FormatError(f"{path} contains a saved estimator, not points: {how}.")
        headers = {name: _try_header(archive.read(member, HEADER_BYTES), path) for name, member in members.items()}
        matrices = {name for name, header in headers.items() if header is not None and len(header.shape) == 2}
        usable = {name: headers[name] for name in members if key is not None or name in matrices or not matrices}
        chosen = choose({name: name for name in usable}, key, path, "array")
        X = matrix(parse_npy(archive.read(members[chosen]), path), path)
        contents: dict[str, Any] = {name: list(header.shape) for name, header in headers.items() if header is not None}
        for name, header in headers.items():
            if header is not None and math.prod(header.shape) == 1 and header.dtype.kind in "fiu":
                contents[name] = float(parse_npy(archive.read(members[name]), path).item())
        words = {}
        for name in WORDS:
            if name in members and name != chosen and (column := _words(archive, members[name], len(X), path)) is not None:
                words[name] = column
    return with_metadata(Table(X, words=words, contents=contents), metadata, path)


def _try_header(head: bytes, path: Path) -> Header | None:
    """The header of the array that begins with these bytes; None if they are not a header."""
    try:
        return read_header(io.BytesIO(head), path)
    except FormatError:
        return None


def _words(archive: Archive, member: str, n: int, path: Path) -> list[str] | None:
    """The n words in a member: numbers, strings, or strings as Python objects, as in data frames. None if there are not n."""
    header = read_header(io.BytesIO(archive.read(member, HEADER_BYTES)), path)
    if math.prod(header.shape) != n:
        return None
    if header.dtype.hasobject:
        table: Table = _read_object_words(path, member)
        values: list[Any] = table.words["objects"]
    else:
        values = parse_npy(archive.read(member), path).ravel().tolist()
    if len(values) != n or not all(isinstance(value, str | bytes | int | float) for value in values):
        raise FormatError(f"{path} must hold words or numbers in {member.removesuffix('.npy')!r}: save them as strings.")
    return [as_text(value) for value in values]


# ---------------------------------------------------------------- safetensors


def read_safetensors(path: Path, key: str | None) -> Table:
    """A matrix of the file; the other tensors are not read."""
    with open(path, "rb") as file, format_errors(path, "is damaged, cut short, or not a safetensors file", *SAFETENSORS_ERRORS):
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(LONGEST_HEADER, path.stat().st_size - 8):
            raise ValueError("The header is longer than the file.")
        Budget(path).claim(JSON_BYTES * size)
        header = json.loads(file.read(size))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        matrices = {name: entry for name, entry in tensors.items() if len(entry["shape"]) == 2}
        X = matrix(_tensor(file, 8 + size, choose(matrices, key, path, "matrix"), path), path)
        contents = {name: entry["shape"] for name, entry in tensors.items()}
        for name, shape in contents.items():
            if math.prod(shape[:MOST_AXES]) == 1 and tensors[name]["dtype"] in DTYPES:
                contents[name] = float(_tensor(file, 8 + size, tensors[name], path).item())
        return Table(X, contents=contents)


def _tensor(file: Any, start: int, entry: dict[str, Any], path: Path) -> np.ndarray:
    """The array that an entry of the header describes."""
    (begin, end), shape, dtype = entry["data_offsets"], entry["shape"], DTYPES.get(entry["dtype"])
    if dtype is None:
        raise FormatError(f"{path} holds numbers of the type {str(entry['dtype'])[:20]!r}, which are not read.")
    whole = all(type(k) is int and k >= 0 for k in (begin, end, *shape))
    itemsize = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    if not whole or end > path.stat().st_size - start or end - begin != math.prod(shape) * itemsize:
        raise ValueError("The length of a tensor does not match its shape.")
    file.seek(start + begin)
    content = file.read(end - begin)
    if dtype == "bfloat16":  # the upper half of a float32; NumPy does not have it
        return (np.frombuffer(content, dtype="<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return np.frombuffer(content, dtype=dtype).reshape(shape)
