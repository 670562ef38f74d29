"""Arrays and texts as one string of base64 that a browser unpacks: small, exact, and free of markup."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np


def pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """The header, as JSON, and the arrays, compressed, in base64.

    Base64 has no character that means anything in HTML, so no text in the header can end the element that contains it.
    """
    little = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    plan = [{"name": name, "type": array.dtype.str[1:], "length": array.size} for name, array in little.items()]
    text = json.dumps({**header, "arrays": plan}, separators=(",", ":"), allow_nan=False).encode()
    raw = b"".join([len(text).to_bytes(4, "little"), text, *(_planes(array) for array in little.values())])
    return base64.b64encode(zlib.compress(raw, 9)).decode()


def _planes(array: np.ndarray) -> bytes:
    """All first bytes, then all second ones, ...: signs, exponents and high digits compress well side by side."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes()


def smallest_integers(codes: np.ndarray) -> np.ndarray:
    """Whole numbers >= 0 in the smallest unsigned type that holds them."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def rounded(values: np.ndarray) -> np.ndarray:
    """float32 with nine binary digits, a thousandth, for values that are only displayed: they compress to half the size."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x2000) & np.uint32(0xFFFFC000)).view(np.float32)
