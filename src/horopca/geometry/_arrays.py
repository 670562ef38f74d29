"""Array operations that the geometry shares.

Functions here and in the rest of the geometry take arrays of any library that follows the array API
standard (NumPy, torch, CuPy, JAX): the last axis holds coordinates, the axes before it are a batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TypeVar

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
from array_api_compat import device, is_cupy_array

NUMPY_TYPES = (np.ndarray, np.generic)  # a tuple, which torch.compile can trace
FLOATS = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16))  # NumPy arrays of these are used as they are
SHORTEST = 1e-150  # Below this length a vector has no direction: its square underflows.


Array = TypeVar("Array", bound=Any)  # Of any library; functions return arrays of the library of their arguments.


def is_numpy(a: Any) -> bool:
    """Whether `a` is an array or a number of NumPy."""
    return isinstance(a, NUMPY_TYPES)


def is_torch(a: Any) -> bool:
    """Whether `a` is a torch tensor; torch is not imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor)


def on_host(a: Array) -> bool:
    """Whether an array is in the memory of the host, not of an accelerator."""
    return "cpu" in str(a.device if is_torch(a) else device(a)).lower()  # torch.compile can trace the first


def array_namespace(*arrays: Array) -> Any:
    """The library of some arrays. Raises TypeError if one is not an array, or if they are of several libraries."""
    if all(map(is_numpy, arrays)):  # a shortcut: a search calls this some ten thousand times
        return numpy_namespace
    if all(map(is_torch, arrays)):  # a shortcut, which torch.compile can trace
        from array_api_compat import torch as torch_namespace

        return torch_namespace
    return array_api_compat.array_namespace(*arrays)


def as_floats(X: Any, name: str = "X") -> Any:
    """X as an array of floating-point numbers. Such an array is unchanged; integers, lists and data frames become float64.

    Missing values and masked entries become NaN. Raises ValueError or TypeError if X is not made of real numbers.
    """
    if is_torch(X) and X.is_floating_point():  # a shortcut, which torch.compile can trace
        return X
    if hasattr(X, "toarray"):
        raise TypeError(f"{name} must be dense, but is a sparse {type(X).__name__}. Pass {name}.toarray().")
    plain = X.to_numpy() if hasattr(X, "to_numpy") else X  # data frames of pandas and polars
    dtype = str(getattr(plain, "dtype", ""))
    if "complex" in dtype:
        raise ValueError(f"Complex data not supported: {name} must be real, but has dtype {dtype}.")
    if dtype.startswith(("datetime", "timedelta")):
        raise ValueError(f"{name} must be an array of numbers, but has dtype {dtype}. Drop or convert dates and times.")
    if array_api_compat.is_array_api_obj(plain) and not is_numpy(plain):
        xp = array_namespace(plain)
        return plain if xp.isdtype(plain.dtype, "real floating") else xp.astype(plain, xp.float64)
    try:
        known = isinstance(plain, np.ndarray) and plain.dtype in FLOATS and not isinstance(plain, np.ma.MaskedArray)
        plain = np.asarray(plain) if known else to_numpy(X)
    except (OverflowError, TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        words = list(X.select_dtypes(exclude="number")) if hasattr(X, "select_dtypes") else []
        remedy = f". Drop or convert the column {words[0]!r}." if words else ""
        raise kind(f"{name} must be an array of numbers with rows of equal length, but is not: {error}{remedy}") from None
    if plain.ndim == 0:
        raise ValueError(f"{name} must be an array of numbers, but is {X!r}.")
    return plain


def dot(u: Array, v: Array) -> Array:
    """Euclidean inner product over the last axis."""
    xp = array_namespace(u, v)
    if not is_numpy(u):
        return xp.sum(u * v, axis=-1)  # torch's vecdot has no rule for vmap
    if u.strides[-1:] != (u.itemsize,):  # a transposed array: vecdot takes twenty times as long
        return np.einsum("...i,...i->...", u, v)
    return xp.vecdot(u, v)


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
    """a with the rows that a mask selects replaced by `rows`; in place if the library allows it and no gradient is required."""
    if hasattr(a, "at"):
        return a.at[which].set(rows)
    if getattr(a, "requires_grad", False):  # autograd needs the original values
        a = a.clone()
    a[which] = rows
    return a


def take_rows(a: Array, indices: np.ndarray) -> Array:
    """The rows of a at some indices."""
    xp = array_namespace(a)
    return xp.take(a, xp.asarray(indices, device=device(a)), axis=0)


def row_slices(n: int, step: int) -> Iterator[slice]:
    """Consecutive slices of `step` rows that cover n rows."""
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def from_numpy(values: Any, like: Array) -> Array:
    """Small host-side `values` as an array of the library, dtype and device of `like`; a tensor keeps its graph."""
    if is_torch(values):
        return values.to(like)
    if is_numpy(like):
        return np.asarray(values, dtype=like.dtype)  # type: ignore[return-value]
    values = np.asarray(values, order="C")  # torch does not accept negative strides
    return array_namespace(like).asarray(values, dtype=like.dtype, device=device(like))


def to_numpy(a: Any) -> np.ndarray:
    """`a` on the host, as a float64 NumPy array; missing values of pandas and masked entries become NaN."""
    if is_torch(a):
        return a.detach().cpu().double().numpy()
    if is_cupy_array(a):
        a = a.get()
    elif hasattr(a, "iloc"):  # pandas
        return a.to_numpy(dtype=float, na_value=np.nan)
    elif isinstance(a, np.ma.MaskedArray):
        return np.ma.filled(a.astype(float), np.nan)
    return np.asarray(a, dtype=float)


def split_bases(A: np.ndarray) -> np.ndarray:
    """Bases (..., K, d+1) of the same spans as A, with orthonormal rows (v0, w), (0, U): only the first has a time v0 >= 0."""
    mirror = A[..., 0].copy()  # Householder reflection that moves the time components of all rows into the first row
    size = np.linalg.norm(mirror, axis=-1)
    mirror[..., 0] += np.where(mirror[..., 0] >= 0, size, -size)  # with the sign that avoids cancellation
    square = np.sum(mirror * mirror, axis=-1)
    turned = A - (2 / np.where(square > 0, square, 1.0))[..., None, None] * mirror[..., :, None] * (mirror[..., None, :] @ A)
    V = np.zeros_like(turned)
    V[..., 1:, 1:] = np.linalg.qr(turned[..., 1:, 1:].mT)[0].mT
    pole = turned[..., :1, :] * np.where(turned[..., :1, :1] < 0, -1.0, 1.0)
    pole -= (pole @ V[..., 1:, :].mT) @ V[..., 1:, :]
    V[..., :1, :] = pole / np.linalg.norm(pole, axis=-1, keepdims=True)
    return np.asarray(V)
