"""Array operations that the geometry shares.

Functions here and in the rest of the geometry take arrays of any library that follows the array API
standard (NumPy, torch, CuPy, JAX): the last axis holds coordinates, the axes before it are a batch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
from array_api_compat import device, is_cupy_array

NUMPY_TYPES = (np.ndarray, np.generic)
SHORTEST = 1e-150  # Below this length a vector has no direction: its square underflows.


@runtime_checkable
class AnyArray(Protocol):
    """An array with the attributes and operators of the array API standard."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def device(self) -> Any: ...
    @property
    def T(self) -> Self: ...
    def __getitem__(self, key: Any, /) -> Self: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __radd__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __rsub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __rmul__(self, other: Any, /) -> Self: ...
    def __truediv__(self, other: Any, /) -> Self: ...
    def __rtruediv__(self, other: Any, /) -> Self: ...
    def __mod__(self, other: Any, /) -> Self: ...
    def __pow__(self, other: Any, /) -> Self: ...
    def __matmul__(self, other: Any, /) -> Self: ...
    def __and__(self, other: Any, /) -> Self: ...
    def __or__(self, other: Any, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __lt__(self, other: Any, /) -> AnyArray: ...
    def __le__(self, other: Any, /) -> AnyArray: ...
    def __gt__(self, other: Any, /) -> AnyArray: ...
    def __ge__(self, other: Any, /) -> AnyArray: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...


Array = TypeVar("Array", bound=AnyArray)  # An array of any library: functions return arrays of the library of their arguments.
Made = TypeVar("Made", bound=AnyArray, covariant=True)


class Namespace(Hashable, Protocol[Made]):
    """The functions of an array library."""

    float64: Any

    def finfo(self, dtype: Any, /) -> Any: ...
    def isdtype(self, dtype: Any, kind: str, /) -> bool: ...
    def __getattr__(self, name: str, /) -> Callable[..., Made]: ...


def is_numpy(a: Any) -> bool:
    """Whether `a` is an array or a number of NumPy."""
    return isinstance(a, NUMPY_TYPES)


def is_torch(a: Any) -> bool:
    """Whether `a` is a torch tensor; torch is not imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(a, torch.Tensor)


def array_namespace(*arrays: Array) -> Namespace[Array]:
    """The library of some arrays."""
    if all(map(is_numpy, arrays)):  # a short way: a search asks some ten thousand times
        return numpy_namespace  # type: ignore[return-value]
    if all(map(is_torch, arrays)):  # a short way, which torch.compile can trace
        from array_api_compat import torch as torch_namespace

        return torch_namespace  # type: ignore[return-value]
    library: Namespace[Array] = array_api_compat.array_namespace(*arrays)
    return library


def dot(u: Array, v: Array) -> Array:
    """Euclidean inner product over the last axis."""
    xp = array_namespace(u, v)
    return xp.vecdot(u, v) if is_numpy(u) else xp.sum(u * v, axis=-1)  # torch's vecdot has no rule for vmap


def finite_root(a: Array) -> Array:
    """The square root, with gradient 0 (rather than infinity) where a is 0."""
    xp = array_namespace(a)
    if is_numpy(a):  # which has no gradients
        return xp.sqrt(a)
    nothing = xp.equal(a, xp.zeros_like(a))
    # gradients of both branches of `where` are computed: the root of 0 must not be one of them
    return xp.where(nothing, xp.zeros_like(a), xp.sqrt(xp.where(nothing, xp.ones_like(a), a)))


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
        return a.at[which].set(rows)  # type: ignore[no-any-return]
    if getattr(a, "requires_grad", False):  # autograd needs the original values
        a = a.clone()  # type: ignore[attr-defined]
    a[which] = rows
    return a


def from_numpy(values: Any, like: Array) -> Array:
    """Small host-side `values` as an array of the library, dtype and device of `like`; a tensor keeps its graph."""
    if is_torch(values):
        moved: Any = values.to(like)
        return moved  # type: ignore[no-any-return]
    if is_numpy(like):
        return np.asarray(values, dtype=like.dtype)  # type: ignore[return-value]
    return array_namespace(like).asarray(values, dtype=like.dtype, device=device(like))


def to_numpy(a: Any) -> np.ndarray:
    """`a` on the host, as a float64 NumPy array."""
    if is_torch(a):
        a = a.detach().cpu().double()
    elif is_cupy_array(a):
        a = a.get()
    return np.asarray(a, dtype=float)
