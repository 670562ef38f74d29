"""NumPy's formats, ``.npy`` and ``.npz``. Nothing is unpickled."""

from __future__ import annotations

import ast
import io
import math
import re
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from .archives import open_archive
from .budget import Budget
from .files import FormatError, Table, as_text, choose, format_errors, matrix
from .metadata import MEMBER, from_json, with_metadata
from .pickles import as_array, read_pickle

DAMAGED = "is damaged, cut short, or not written by numpy.save or numpy.savez"
OBJECTS = "holds Python objects, which could run code and are not read: save an array of numbers"
WORDS = ("names", "labels")  # Arrays that are read beside the points.
HEAD = 1 << 14  # Bytes of the longest header that is read.
HEADER_ERRORS = (ValueError, TypeError, KeyError, SyntaxError, OverflowError, RecursionError, MemoryError)  # of a literal
LONG = re.compile(r"(\d)L\b")  # An integer that Python 2 wrote.


class Header(NamedTuple):
    """Shape, order and dtype of an array."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def _header(file: BinaryIO, path: Path) -> Header:
    """The header of an array, checked. (NumPy's own function warns, which cannot be silenced safely in threads.)"""
    with format_errors(path, DAMAGED, *HEADER_ERRORS):
        version = np.lib.format.read_magic(file)
        size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
        text = file.read(min(size, HEAD)).decode("utf-8" if version == (3, 0) else "latin1")
        if size > HEAD or "\\" in text:  # an escape, at which Python could warn
            raise ValueError("This is not a header.")
        fields = ast.literal_eval(LONG.sub(r"\1", text).strip())
        header = Header(fields["shape"], bool(fields["fortran_order"]), np.lib.format.descr_to_dtype(fields["descr"]))
        if any(type(k) is not int or k < 0 for k in header.shape) or (not header.dtype.itemsize and 0 not in header.shape):
            raise ValueError("These are not the lengths of an array's axes.")
    return header


def map_npy(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped."""
    if path.stat().st_size == 0:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as file:
        header = _header(file, path)
        if header.dtype.hasobject:
            raise FormatError(f"{path} {OBJECTS}.")
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


def parse_npy(content: bytes, path: Path) -> np.ndarray:
    """The array in the bytes of a ``.npy`` file."""
    file = io.BytesIO(content)
    header = _header(file, path)
    if header.dtype.hasobject:
        raise FormatError(f"{path} {OBJECTS}.")
    with format_errors(path, DAMAGED, ValueError, OverflowError):
        flat = np.frombuffer(content, header.dtype, math.prod(header.shape), file.tell()) if header.nbytes else np.empty(0)
        values = flat.astype(header.dtype, copy=False).reshape(header.shape, order="F" if header.fortran else "C")
    return _readable(values, path)


# ---------------------------------------------------------------- archives


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
        matrices = {name for name, member in members.items() if len(_shape(archive.read(member, HEAD), path)) == 2}
        usable = {name: name for name in members if key is not None or name in matrices or not matrices}
        name = choose(usable, key, path, "array")
        X = matrix(parse_npy(archive.read(members[name]), path), path)
        beside = {other: archive.read(members[other]) for other in WORDS if other in members and other != name}
    words = {other: _words(content, len(X), other, path) for other, content in beside.items()}
    table = Table(X, words={other: column for other, column in words.items() if column is not None})
    return with_metadata(table, {name: metadata[name] for name in ("model", "curvature") if name in metadata}, path)


def _shape(head: bytes, path: Path) -> tuple[int, ...]:
    """The shape of the array that begins with these bytes; () if they are not a header."""
    try:
        return _header(io.BytesIO(head), path).shape
    except FormatError:
        return ()


def _words(content: bytes, n: int, name: str, path: Path) -> list[str] | None:
    """The n words in a member: numbers, strings, or strings as Python objects, which data frames have. None for other n."""
    file = io.BytesIO(content)
    header = _header(file, path)
    if math.prod(header.shape) != n:
        return None
    if header.dtype.hasobject:
        found = as_array(read_pickle(file, Budget(path)))
        values = found if isinstance(found, list) else []
    else:
        values = parse_npy(content, path).ravel().tolist()
    if len(values) != n or not all(isinstance(value, str | bytes | int | float) for value in values):
        raise FormatError(f"{path} has an array {name!r} that is not of words and numbers: save it as strings.")
    return [as_text(value) for value in values]
