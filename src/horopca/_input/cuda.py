"""Triton kernels for arrays on a CUDA device. Other arrays use the code for any array library."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

from ..geometry import MODELS, lift
from ..geometry._arrays import Array, array_namespace
from ..geometry.models import ON_BOUNDARY
from .coordinates import LARGEST_RADIUS

MOST_COMPONENTS = 8  # With more components a matrix product is as fast as a kernel.
MOST_COLUMNS = 2048  # Up to this many columns the sums of products fit into registers.
TILE = 1024  # Elements of the rows that one program of a pass processes.
PASS_BYTES = 1 << 28  # Bytes of products that a pass holds.

CERTAIN_RADIUS = LARGEST_RADIUS - 1  # Rows within this radius are certainly valid; others are validated on the host.


@cache
def _square_bound(model: str) -> float:
    """A bound such that rows with a smaller |X|^2 are certainly points of a model."""
    row = MODELS[model]
    if row.domain == "ball":
        return 1 - ON_BOUNDARY
    X = row.from_hyperboloid(lift(np.array([np.sinh(CERTAIN_RADIUS)])))[row.space]
    return float(X @ X)


def usable_for(X: Any, model: str, K: int = 0) -> bool:
    """Whether the kernels support rows X of a model and images in K dimensions.

    X is a tensor (without gradients) or a CuPy array on a CUDA device, and Triton is installed.
    """
    if is_torch_array(X):
        there = X.is_cuda and not X.requires_grad and sys.modules["torch"].version.hip is None and _installed("triton")
    else:
        there = is_cupy_array(X) and _installed("torch") and _installed("triton")
    floating = str(X.dtype).removeprefix("torch.") in ("float32", "float64")
    return bool(there) and floating and MODELS[model].kernel and K <= MOST_COMPONENTS and X.shape[1] <= MOST_COLUMNS


@cache
def _installed(name: str) -> bool:
    return find_spec(name) is not None


def rows_outside(X: Array, model: str, scale: float) -> int:
    """The number of rows that are not certainly points of the model, after multiplication by `scale`."""
    return _pass(as_torch(X), None, model, np.array([scale, _square_bound(model)]), 0, False) >> 32


def images_of_rows(X: Array, model: str, scale: float, slide: Any) -> tuple[Any, int, int]:
    """The images of rows under a `projections.Slide`, in the model, scale and dtype of the rows: a single pass over them.

    Returns the images, NaN where they are not accurate, the number of these, and the number of rows among these that are not
    certainly points of the model.
    """
    import torch

    tensor = as_torch(X)
    K, lorentz = len(slide.vectors), MODELS[model].extra_columns
    Y = torch.empty((tensor.shape[0], K + lorentz), dtype=tensor.dtype, device=tensor.device)
    eps = torch.finfo(tensor.dtype).eps
    most, error = (1 - 4 * eps) ** 2 if MODELS[model].domain == "ball" else np.inf, slide.error(eps / 8)
    parts = [scale, _square_bound(model), slide.kappa, error, most], slide.vectors.ravel(), slide.turn[1:].ravel()
    status = _pass(tensor, Y, model, np.concatenate(parts), K, slide.kappa < 0)
    images = Y if is_torch_array(X) else array_namespace(X).from_dlpack(Y)
    return images, status & 0xFFFFFFFF, status >> 32


def _pass(X: Any, Y: Any, model: str, numbers: np.ndarray, K: int, beyond: bool) -> int:
    """Run the kernels over the rows of X and return their status."""
    import torch
    import triton

    from .kernels import images_kernel, products_kernel

    n, first = X.shape[0], MODELS[model].extra_columns
    D, device = X.shape[1] - first, X.device
    columns = triton.next_power_of_2(max(min(D, 16), triton.cdiv(D, 8)))
    height = max(1, TILE // columns // (1 if K <= 3 else 2))
    given, status = _numbers_on(numbers.tobytes(), device), torch.zeros(1, dtype=torch.int64, device=device)
    most = PASS_BYTES // (8 * (K + 1))
    sums = torch.empty((K + 1, min(n, most)), dtype=torch.float64, device=device)
    (stride, step), Y = X.stride(), X if Y is None else Y
    with torch.cuda.device(device):
        for start in range(0, n, most):
            x, y = (X, Y) if n <= most else (X[start : start + most], Y[start : start + most])
            m = x.shape[0]
            products_kernel[(triton.cdiv(m, height),)](
                x, given, sums, m, stride, step, D, first, K, height, columns, num_warps=4
            )
            images_kernel[(triton.cdiv(m, 256),)](x, sums, y, status, given, m, stride, D, K, model, beyond, 256, num_warps=4)
    return int(status)


@lru_cache(maxsize=64)  # the copy of a few numbers costs a tenth of a pass
def _numbers_on(numbers: bytes, device: Any) -> Any:
    import torch

    return torch.frombuffer(bytearray(numbers), dtype=torch.float64).to(device)


def as_torch(a: Any) -> Any:
    """A tensor that shares the memory of an array on a CUDA device."""
    if is_torch_array(a):
        return a
    from torch.utils.dlpack import from_dlpack

    return from_dlpack(a if min(a.strides) >= 0 else a.copy())  # torch does not support negative strides
