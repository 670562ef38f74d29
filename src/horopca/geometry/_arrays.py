"""The few array operations every room of the geometry shares.

Functions here and in the rest of the geometry take arrays of any library that follows the array API
standard (NumPy, torch, CuPy, JAX): the last axis holds coordinates, the axes before it are a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_cupy_array, is_torch_array

__all__ = ["Array", "array_namespace", "concat_time", "dot", "from_numpy", "norm", "to_numpy", "unit", "with_rows"]

SHORTEST = 1e-150  # A vector below this length has no direction: the digits of its square are lost.

Array = Any


def dot(u: Array, v: Array) -> Array:
    """Euclidean inner product over the last axis."""
    return array_namespace(u, v).vecdot(u, v)


def norm(u: Array) -> Array:
    """Euclidean length over the last axis."""
    return array_namespace(u).sqrt(dot(u, u))


def unit(u: Array) -> Array:
    """u divided by its length; zero where that is 0, or so small that its square has lost digits."""
    xp = array_namespace(u)
    size = norm(u)[..., None]
    long = size > SHORTEST
    return xp.where(long, u / xp.where(long, size, xp.ones_like(size)), xp.zeros_like(u))


def concat_time(t: Array, s: Array) -> Array:
    """The array (t, s) with the time t (...) in front of the space part s (..., d)."""
    return array_namespace(t, s).concat([t[..., None], s], axis=-1)


def with_rows(a: Any, which: Any, rows: Array) -> Any:
    """a with some of its rows put in their place (in a itself, where its library allows that)."""
    if hasattr(a, "at"):
        return a.at[which].set(rows)
    a[which] = rows
    return a


def from_numpy(values: Any, like: Array) -> Any:
    """Small host-side `values` as an array of the library, dtype and device of `like`."""
    return array_namespace(like).asarray(values, dtype=like.dtype, device=device(like))


def to_numpy(a: Any) -> np.ndarray:
    """`a` on the host, as a float64 NumPy array."""
    if is_torch_array(a):
        a = a.detach().cpu().double()
    elif is_cupy_array(a):
        a = a.get()
    return np.asarray(a, dtype=float)
