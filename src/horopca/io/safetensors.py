"""``.safetensors``: a length, a header in JSON, and the bytes of the tensors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from .checkpoints import from_bytes, item_bytes
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
# A header that is none raises these.
ERRORS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
LONGEST_HEADER = 1 << 26  # A header has at most so many bytes; the format's own limit is not far above.


def read_safetensors(path: Path, key: str | None) -> Table:
    """A matrix of the file; no more of it is read than that."""
    with open(path, "rb") as file, format_errors(path, "is damaged, cut short, or not a safetensors file", *ERRORS):
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(LONGEST_HEADER, path.stat().st_size - 8):
            raise ValueError("The header is longer than the file.")
        header = json.loads(file.read(size))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__" and len(entry["shape"]) == 2}
        return Table(matrix(_tensor(file, 8 + size, choose(tensors, key, path, "matrix"), path), path))


def _tensor(file: Any, start: int, entry: dict[str, Any], path: Path) -> np.ndarray:
    """The array that an entry of the header describes."""
    (begin, end), shape, dtype = entry["data_offsets"], entry["shape"], DTYPES.get(entry["dtype"])
    if dtype is None:
        raise FormatError(f"{path} holds numbers of the kind {str(entry['dtype'])[:20]!r}, which are not read.")
    whole = all(type(k) is int and k >= 0 for k in (begin, end, *shape))
    if not whole or end > path.stat().st_size - start or end - begin != math.prod(shape) * item_bytes(dtype):
        raise ValueError("A tensor has another length than its shape.")
    file.seek(start + begin)
    return from_bytes(file.read(end - begin), dtype).reshape(shape)
