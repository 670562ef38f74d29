"""Kernels for arrays on a CUDA device: a pass over rows, and all pairs of many points.

Both need torch and Triton, and are called where `geometry._arrays.has_kernels` says so; elsewhere the same is computed, slower,
by the code for any array library. Sums are in float64 and in a fixed order: the same input gives the same bits.
"""

# mypy: disable-error-code="assignment,misc"
# (tuples grow in kernels)

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..geometry import MODELS
from ..geometry._arrays import Array, array_namespace

try:
    import torch
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    jit: Callable = triton.jit
except ImportError:  # nothing here is called then
    jit = lambda function: function

MOST_COMPONENTS = 8  # for more, a product of matrices is as good as a kernel
MOST_COLUMNS = 2048  # whose sums stay in registers
TILE = 1024  # elements of the rows that a program holds at a time
PASS_BYTES = 1 << 28  # of the products of the rows that a pass takes at a time
PAIR_ROWS = 256  # points that a program of the pairs owns
PAIR_PROGRAMS = 1 << 13  # programs of the pairs that keep the device busy to the end

# |X|^2 below which a row is surely a point: others are looked at again
SURE = {"poincare": 1 - 1e-12, "klein": 1 - 1e-12, "lorentz": float(np.sinh(349.0) ** 2), "tangent": 349.0**2}


@jit
def _seed_reciprocal(x):
    """1 / x to 20 bits."""
    return tl.inline_asm_elementwise("rcp.approx.ftz.f64 $0, $1;", "=d,d", [x], dtype=tl.float64, is_pure=True, pack=1)


@jit
def _seed_rsqrt(x):
    """1 / sqrt(x) to 20 bits."""
    return tl.inline_asm_elementwise("rsqrt.approx.ftz.f64 $0, $1;", "=d,d", [x], dtype=tl.float64, is_pure=True, pack=1)


@jit
def _rsqrt(x):
    """1 / sqrt(x) for x > 0: one step of third order from the seed."""
    y = _seed_rsqrt(x)
    e = 1.0 - (x * y) * y
    return y + (y * e) * (0.5 + 0.375 * e)


@jit
def _root(x):
    """sqrt(x) for x >= 0."""
    return x * _rsqrt(tl.maximum(x, 1e-290))


@jit
def _reciprocal(x):
    """1 / x: one step of third order from the seed."""
    y = _seed_reciprocal(x)
    e = 1.0 - x * y
    return y + y * (e + e * e)


@jit
def _log1p(x):
    """log(1 + x) for x >= 0, all its digits for small x as well: 2 atanh(s) = s (2 + z (2/3 + ...)), z = s^2, to 2^-58."""
    bits = (1.0 + x).to(tl.int64, bitcast=True)
    k = (bits - 0x3FE6A09E00000000) >> 52  # 1 + x = 2^k m with m between sqrt(1/2) and sqrt(2)
    m = (bits - (k << 52)).to(tl.float64, bitcast=True)
    f = tl.where(k == 0, x, m - 1.0)
    s = f * _reciprocal(2.0 + f)
    z = s * s
    p = 0.1531383769920937332 + z * 0.1479819860511658591
    p = 0.2222219843214978396 + z * (0.1818357216161805012 + z * p)
    p = 0.3999999999940941908 + z * (0.2857142874366239149 + z * p)
    power = (k + 0x4330000000000000).to(tl.float64, bitcast=True) - 4503599627370496.0  # k, without a conversion
    return power * 0.6931471805599453094 + s * (2.0 + z * (0.6666666666666735130 + z * p))


@jit
def _met(own, own_near, other, other_near, pulls, level, value, K: tl.constexpr):
    """The sums of points that have met others: K pulls, slope * a^2, and d^2."""
    deltas, gap = (), own_near * 0.0
    for k in tl.static_range(K):
        deltas = deltas + (own[k] - other[k],)
        gap += deltas[k] * deltas[k]
    near = own_near * other_near  # 1 / (4 eta eta')
    square = 1e-290 + gap * near  # a^2
    product = square + square * square  # (a c)^2
    inverse = _rsqrt(product)
    d = _log1p(2.0 * (square + product * inverse))  # (a + c)^2 = 1 + 2 a^2 + 2 a c
    slope = d * inverse
    near = near * slope
    moved = ()
    for k in tl.static_range(K):
        moved = moved + (pulls[k] + deltas[k] * near,)
    return moved, level + square * slope, value + d * d


@jit
def _points_at(points, where, n, live, K: tl.constexpr):
    """The coordinates of points, and half their inverse heights."""
    found = ()
    for k in tl.static_range(K):
        found = found + (tl.load(points + k * n + where, mask=live, other=0.0),)
    return found, tl.load(points + K * n + where, mask=live, other=0.0)


@jit
def _pairs_kernel(points, offsets, sums, n, others, span, K: tl.constexpr, ALL: tl.constexpr, ROWS: tl.constexpr):
    """Sums over a span of the others, for ROWS points: of all points, or of those at offsets before and behind.

    points (K+1, n): coordinates in the half-space and half the inverse height; sums (spans, K+2, n).
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    live = rows < n
    own, own_near = _points_at(points, rows, n, live, K)
    pulls, level, value = (), tl.zeros([ROWS], tl.float64), tl.zeros([ROWS], tl.float64)
    for _ in tl.static_range(K):
        pulls = pulls + (tl.zeros([ROWS], tl.float64),)
    start = tl.program_id(1) * span
    if ALL:
        here = points + start
        for _ in tl.range(start, min(start + span, others), loop_unroll_factor=2):
            other = ()
            for k in tl.static_range(K):
                other = other + (tl.load(here + k * n),)
            pulls, level, value = _met(own, own_near, other, tl.load(here + K * n), pulls, level, value, K)
            here += 1
    else:
        for s in tl.range(start, min(start + span, others)):
            offset = tl.load(offsets + s)
            behind, before = rows + offset, rows - offset
            other, near = _points_at(points, tl.where(behind < n, behind, behind - n), n, live, K)
            pulls, level, value = _met(own, own_near, other, near, pulls, level, value, K)
            other, near = _points_at(points, tl.where(before < 0, before + n, before), n, live, K)
            pulls, level, value = _met(own, own_near, other, near, pulls, level, value, K)
    out = sums + tl.program_id(1).to(tl.int64) * (K + 2) * n + rows
    for k in tl.static_range(K):
        tl.store(out, pulls[k], mask=live)
        out += n
    tl.store(out, level, mask=live)
    tl.store(out + n, value, mask=live)


def mean_over_many_pairs(beta: Array, eta: Array, offsets: tuple[int, ...] | None) -> tuple[float, Array, Array]:
    """`objectives.mean_over_pairs` with the variance's profile, of all pairs or of those at offsets.

    One logarithm and one root per pair. Every point meets its others, so each pair is computed twice: nothing is added up out
    of order. The value is NaN where a distance is beyond 350, since its sinh^4 leaves float64.
    """
    like, beta, eta = eta, as_torch(beta), as_torch(eta)
    K, n = beta.shape[0] + 1, eta.shape[0]
    points = torch.cat([beta, eta[None], 0.5 / eta[None]])
    blocks, others = triton.cdiv(n, PAIR_ROWS), n if offsets is None else len(offsets)
    span = triton.cdiv(others, max(1, min(PAIR_PROGRAMS // blocks, others // (64 if offsets is None else 4))))
    sums = torch.empty((triton.cdiv(others, span), K + 2, n), dtype=torch.float64, device=eta.device)
    shifts = points if offsets is None else _offsets_on(offsets, eta.device)
    with torch.cuda.device(eta.device):
        _pairs_kernel[(blocks, len(sums))](points, shifts, sums, n, others, span, K, offsets is None, PAIR_ROWS, num_warps=4)
    total = n * (n - 1) / 2 if offsets is None else n * len(offsets)
    sums = torch.sum(sums, 0) / total
    # with h = d/2: the kernel's slope is twice that of h^2, its d^2 four times h^2, and it met every pair at both ends
    g_beta, g_eta = sums[: K - 1], sums[K - 1] - sums[K] / (2 * eta)
    level, value = torch.sum(sums[K:], 1).tolist()
    return value / 8 + 0 * level, as_library_of(like, g_beta), as_library_of(like, g_eta)


@lru_cache(maxsize=64)
def _offsets_on(offsets: tuple[int, ...], device: Any) -> Any:
    return torch.tensor(offsets, dtype=torch.int32, device=device)


@jit
def _radial(square, MODEL: tl.constexpr):
    """t and stretch of points at |X|^2 = square: `Model.radial` of the model."""
    if MODEL == "lorentz":
        t = _root(1.0 + square)
        return t, t * 0.0 + 1.0
    size = _root(square)
    if MODEL == "poincare":
        stretch = 2.0 * _reciprocal((1.0 - size) * (1.0 + size))
        return stretch - 1.0, stretch
    if MODEL == "klein":
        t = _rsqrt((1.0 - size) * (1.0 + size))
        return t, t
    safe = tl.where(size > 0.0, size, 1.0)
    return libdevice.cosh(size), tl.where(size > 0.0, libdevice.sinh(safe) / safe, 1.0)


@jit
def _shrink(square, t, MODEL: tl.constexpr):
    """What takes the space part s of a point, |s|^2 = square, to its coordinates in the model."""
    if MODEL == "lorentz":
        return t * 0.0 + 1.0
    if MODEL == "poincare":
        return _reciprocal(1.0 + t)
    if MODEL == "klein":
        return _reciprocal(t)
    size = _root(tl.where(square > 0.0, square, 1.0))
    return tl.where(square > 0.0, libdevice.asinh(size) / size, 1.0)


@jit
def _products_kernel(
    X, numbers, sums, n, stride, step,
    D: tl.constexpr, FIRST: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """|X|^2 of rows X (n, D, from the column FIRST on) and their products with the space parts of K vectors: (K+1, n).

    numbers: see below.
    """
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = rows < n
    square, along = tl.zeros([ROWS, COLUMNS], tl.float64), ()
    for _ in tl.static_range(K):
        along = along + (tl.zeros([ROWS, COLUMNS], tl.float64),)
    for start in tl.static_range(0, D, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        wanted = live[:, None] & (columns < D)[None, :] if start + COLUMNS > D else live[:, None]
        x = tl.load(X + rows[:, None] * stride + (columns + FIRST)[None, :] * step, mask=wanted, other=0.0).to(tl.float64)
        square += x * x
        more = ()
        for k in tl.static_range(K):
            vector = tl.load(numbers + 6 + k * (D + 1) + columns, mask=columns < D, other=0.0)
            more = more + (along[k] + x * vector[None, :],)
        along = more
    out = sums + rows
    tl.store(out, tl.sum(square, 1), mask=live)
    for k in tl.static_range(K):
        out += n
        tl.store(out, tl.sum(along[k], 1), mask=live)


@jit
def _images_kernel(
    X, sums, Y, status, numbers, n, stride,
    D: tl.constexpr, K: tl.constexpr, MODEL: tl.constexpr, BEYOND: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Check rows X, given the sums of the kernel above, and write their images Y under a slide; K = 0: only check.

    numbers: the coordinates' scale, what |X|^2 times its square has to be below, then kappa, the error per t, the largest
    square of an image, the K vectors (D+1) of the slide and the K rows (K+1) of its turn. An image that is not to be
    trusted is NaN. To status are added the number of these and 2^32 times the number of rows outside the model.
    """
    LORENTZ: tl.constexpr = 1 if MODEL == "lorentz" else 0
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = rows < n
    scale, vectors, sum_at = tl.load(numbers), numbers + 5, sums + rows
    square = tl.load(sum_at, mask=live, other=0.0) * scale * scale
    inside = square < tl.load(numbers + 1)  # false for NaN
    if LORENTZ:
        time = tl.load(X + rows * stride, mask=live, other=1.0).to(tl.float64) * scale
        inside = inside & (time > 0.0) & (tl.abs(time * time - square - 1.0) <= 1e-4 * (1.0 + time * time))
    flags = (live & (inside == 0)).to(tl.int64) << 32
    if K > 0:
        kappa, error, most = tl.load(numbers + 2), tl.load(numbers + 3), tl.load(numbers + 4)
        t, stretch = _radial(tl.where(inside, square, 0.0), MODEL)
        kept, size = (), t * 0.0 + 1.0
        for k in tl.static_range(K):
            sum_at += n
            y = tl.load(vectors + k * (D + 1)) * t + tl.load(sum_at, mask=live, other=0.0) * (stretch * scale)
            kept = kept + (y,)
            if k > 0:
                size += y * y
        c = kept[0]
        under = c * c - 4.0 * kappa * size
        root = _root(tl.maximum(under, 0.0))
        r = 0.5 * (c + root)
        if BEYOND:
            r = tl.where(c >= 0.0, r, -2.0 * kappa * size * _reciprocal(root + tl.abs(c)))
        fine = inside & (error * t < tl.abs(c)) & (error * t < 1.0) & (under > 1e-6 * c * c)
        high = size * _reciprocal(r)
        image, total = (), t * 0.0
        turn = vectors + K * (D + 1)
        for _ in tl.static_range(K):
            y = tl.load(turn) * (0.5 * (high + r)) + tl.load(turn + K) * (0.5 * (high - r))
            for k in tl.static_range(1, K):
                y += tl.load(turn + k) * kept[k]
            image = image + (y,)
            total += y * y
            turn += K + 1
        time = _root(1.0 + total)
        shrink = _shrink(total, time, MODEL)
        fine = fine & (total * shrink * shrink <= most)
        flags += (live & (fine == 0)).to(tl.int64)
        out, unit = Y + rows * (K + LORENTZ), 1.0 / scale
        if LORENTZ:
            tl.store(out, tl.where(fine, time * unit, float("nan")), mask=live)
        for i in tl.static_range(K):
            tl.store(out + LORENTZ + i, tl.where(fine, image[i] * (shrink * unit), float("nan")), mask=live)
    found = tl.sum(flags, 0)
    if found > 0:
        tl.atomic_add(status, found)


def rows_outside(X: Array, model: str, scale: float) -> int | None:
    """How many rows are not surely points of the model, once multiplied by `scale`; None where there is no kernel for them."""
    tensor = as_torch(X)
    if not _served(tensor, model, 0):
        return None
    return _pass(tensor, None, model, np.array([scale, SURE[model]]), 0, False) >> 32


def images_of_rows(X: Array, model: str, scale: float, slide: Any) -> tuple[Array, int, int] | None:
    """The images of rows under a `projections.Slide`, in the model, scale and dtype of the rows: a single pass over them.

    Returns them, NaN where they are not to be trusted, the number of these, and the number of rows among these that are not
    surely points of the model; or None where there is no kernel for such rows.
    """
    tensor = as_torch(X)
    K, lorentz = len(slide.vectors), MODELS[model].extra_columns
    if not _served(tensor, model, K):
        return None
    Y = torch.empty((tensor.shape[0], K + lorentz), dtype=tensor.dtype, device=tensor.device)
    most = np.inf if model in ("lorentz", "tangent") else (1 - 4 * torch.finfo(tensor.dtype).eps) ** 2
    parts = [scale, SURE[model], slide.kappa, slide.error(), most], slide.vectors.ravel(), slide.turn[1:].ravel()
    status = _pass(tensor, Y, model, np.concatenate(parts), K, slide.kappa < 0)
    return as_library_of(X, Y), status & 0xFFFFFFFF, status >> 32


def _served(X: Any, model: str, K: int) -> bool:
    floating = X.dtype in (torch.float32, torch.float64)
    return floating and MODELS[model].radial is not None and K <= MOST_COMPONENTS and X.shape[1] <= MOST_COLUMNS


def _pass(X: Any, Y: Any, model: str, numbers: np.ndarray, K: int, beyond: bool) -> int:
    """Run the kernels over the rows of X and return their status."""
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
            _products_kernel[(triton.cdiv(m, height),)](
                x, given, sums, m, stride, step, D, first, K, height, columns, num_warps=4
            )
            _images_kernel[(triton.cdiv(m, 256),)](x, sums, y, status, given, m, stride, D, K, model, beyond, 256, num_warps=4)
    return int(status)


@lru_cache(maxsize=64)  # the copy of a few numbers costs a tenth of a pass
def _numbers_on(numbers: bytes, device: Any) -> Any:
    return torch.frombuffer(bytearray(numbers), dtype=torch.float64).to(device)


def as_torch(a: Array) -> Any:
    """A tensor that shares the memory of an array on a CUDA device."""
    if isinstance(a, torch.Tensor):
        return a
    return torch.from_dlpack(a if min(a.strides) >= 0 else a.copy())  # torch knows no negative strides


def as_library_of(like: Array, tensor: Any) -> Array:
    """The tensor as an array of the library of `like`, its memory shared."""
    return tensor if isinstance(like, torch.Tensor) else array_namespace(like).from_dlpack(tensor)
