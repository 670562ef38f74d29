"""The few array operations every room of the geometry shares.

Functions here and in the rest of the geometry take arrays of any library that follows the array API
standard (NumPy, torch, CuPy, JAX): the last axis holds coordinates, the axes before it are a batch.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_cupy_array, is_torch_array

Array = Any

__all__ = ["Array", "array_namespace", "concat_time", "dot", "from_numpy", "has_kernels", "norm", "to_numpy", "unit"]

SHORTEST = 1e-150


def dot(u: Array, v: Array) -> Array:
    """Euclidean inner product over the last axis."""
    xp = array_namespace(u, v)
    return xp.sum(u * v, axis=-1)


def norm(u: Array) -> Array:
    """Euclidean length over the last axis."""
    xp = array_namespace(u)
    return xp.sqrt(xp.sum(u * u, axis=-1))


def unit(u: Array) -> Array:
    """u divided by its length; zero where that is 0, or so small that its square has lost digits."""
    xp = array_namespace(u)
    size = norm(u)[..., None]
    long = size > SHORTEST
    return xp.where(long, u / xp.where(long, size, xp.ones_like(size)), xp.zeros_like(u))


def concat_time(t: Array, s: Array) -> Array:
    """The array (t, s) with the time t (...) in front of the space part s (..., d)."""
    xp = array_namespace(t, s)
    return xp.concat([t[..., None], s], axis=-1)


def from_numpy(values: Array, like: Array) -> Array:
    """Small host-side `values` as an array of the library, dtype and device of `like`."""
    xp = array_namespace(like)
    return xp.asarray(values, dtype=like.dtype, device=device(like))


def has_kernels(a: Array) -> bool:
    """Whether the kernels of `_points.cuda` take an array: of torch or CuPy, on a CUDA device, torch and Triton installed."""
    if is_torch_array(a):
        return a.is_cuda and sys.modules["torch"].version.hip is None and _installed("triton")
    return is_cupy_array(a) and _installed("torch") and _installed("triton")


@cache
def _installed(name: str) -> bool:
    return find_spec(name) is not None


def to_numpy(a: Array) -> np.ndarray:
    """`a` on the host, as a float64 NumPy array."""
    if is_torch_array(a):
        a = a.detach().cpu().double()
    elif is_cupy_array(a):
        a = a.get()
    return np.asarray(a, dtype=float)
