"""Array operations that the geometry shares.

Functions here and in the rest of the geometry take arrays of any library that follows the array API
standard (NumPy, torch, CuPy, JAX): the last axis holds coordinates, the axes before it are a batch.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
from array_api_compat import device, is_cupy_array

NUMPY_TYPES = (np.ndarray, np.generic)
SHORTEST = 1e-150  # Below this length a vector has no direction: its square underflows.


Array = TypeVar("Array", bound=Any)  # of any library that follows the array API standard: functions return arrays of the same


def is_numpy(a: Any) -> bool:
    """Whether `a` is an array or a number of NumPy."""
    return isinstance(a, NUMPY_TYPES)


def is_torch(a: Any) -> bool:
    """Whether `a` is a torch tensor; torch is not imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor)


def array_namespace(*arrays: Array) -> Any:
    """The library of some arrays."""
    if all(map(is_numpy, arrays)):  # a shortcut: a search calls this some ten thousand times
        return numpy_namespace
    if all(map(is_torch, arrays)):  # a shortcut, which torch.compile can trace
        from array_api_compat import torch as torch_namespace

        return torch_namespace
    return array_api_compat.array_namespace(*arrays)


def dot(u: Array, v: Array) -> Array:
    """Euclidean inner product over the last axis."""
    xp = array_namespace(u, v)
    return xp.vecdot(u, v) if is_numpy(u) else xp.sum(u * v, axis=-1)  # torch's vecdot has no rule for vmap


def finite_root(a: Array) -> Array:
    """The square root, with gradient 0 (rather than infinity) where a is 0."""
    xp = array_namespace(a)
    if is_numpy(a):  # which has no gradients
        return xp.sqrt(a)
    zero = xp.equal(a, xp.zeros_like(a))
    # gradients of both branches of `where` are computed: the root of 0 must not be one of them
    return xp.where(zero, xp.zeros_like(a), xp.sqrt(xp.where(zero, xp.ones_like(a), a)))


def norm(u: Array) -> Array:
    """Euclidean length over the last axis."""
    return finite_root(dot(u, u))


def unit(u: Array) -> Array:
    """u divided by its length; zero if that is 0 or below SHORTEST."""
    xp = array_namespace(u)
    size = norm(u)[..., None]
    long = size > SHORTEST
    return xp.where(long, u / xp.where(long, size, xp.ones_like(size)), xp.zeros_like(u))


def concat_time(t: Array, s: Array) -> Array:
    """The array (t, s) with the time t (...) in front of the space part s (..., d)."""
    return array_namespace(t, s).concat([t[..., None], s], axis=-1)


def with_rows(a: Array, which: Any, rows: Any) -> Array:
    """a with the rows at a mask replaced; in place if the library allows it and no gradient is required."""
    if hasattr(a, "at"):
        return a.at[which].set(rows)
    if getattr(a, "requires_grad", False):  # autograd needs the original values
        a = a.clone()
    a[which] = rows
    return a


def from_numpy(values: Any, like: Array) -> Array:
    """Small host-side `values` as an array of the library, dtype and device of `like`; a tensor keeps its graph."""
    if is_torch(values):
        return values.to(like)
    if is_numpy(like):
        return np.asarray(values, dtype=like.dtype)  # type: ignore[return-value]
    return array_namespace(like).asarray(values, dtype=like.dtype, device=device(like))


def to_numpy(a: Any) -> np.ndarray:
    """`a` on the host, as a float64 NumPy array."""
    if is_torch(a):
        a = a.detach().cpu().double()
    elif is_cupy_array(a):
        a = a.get()
    elif hasattr(a, "iloc"):  # pandas, whose NA becomes NaN
        return a.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(a, dtype=float)
