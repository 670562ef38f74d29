"""``.safetensors``: a length, a header in JSON, and the bytes of the tensors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from .budget import Budget
from .files import FormatError, Table, choose, format_errors, matrix

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "bfloat16",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}
ERRORS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)  # of a header that is not one
LONGEST_HEADER = 1 << 26  # Bytes; the format's own limit is a little higher.
JSON = 32  # Bytes in memory per byte of JSON: "{}," makes a dictionary.


def read_safetensors(path: Path, key: str | None) -> Table:
    """A matrix of the file; the other tensors are not read."""
    with open(path, "rb") as file, format_errors(path, "is damaged, cut short, or not a safetensors file", *ERRORS):
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(LONGEST_HEADER, path.stat().st_size - 8):
            raise ValueError("The header is longer than the file.")
        Budget(path).claim(JSON * size)
        header = json.loads(file.read(size))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__" and len(entry["shape"]) == 2}
        return Table(matrix(_tensor(file, 8 + size, choose(tensors, key, path, "matrix"), path), path))


def _tensor(file: Any, start: int, entry: dict[str, Any], path: Path) -> np.ndarray:
    """The array that an entry of the header describes."""
    (begin, end), shape, dtype = entry["data_offsets"], entry["shape"], DTYPES.get(entry["dtype"])
    if dtype is None:
        raise FormatError(f"{path} holds numbers of the kind {str(entry['dtype'])[:20]!r}, which are not read.")
    whole = all(type(k) is int and k >= 0 for k in (begin, end, *shape))
    itemsize = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    if not whole or end > path.stat().st_size - start or end - begin != math.prod(shape) * itemsize:
        raise ValueError("The length of a tensor does not match its shape.")
    file.seek(start + begin)
    content = file.read(end - begin)
    if dtype == "bfloat16":  # the upper half of a float32; NumPy does not have it
        return (np.frombuffer(content, dtype="<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return np.frombuffer(content, dtype=dtype).reshape(shape)
