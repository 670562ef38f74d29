"""Triton kernels for a pass over rows. Imported only if `cuda.usable_for` returns True.

Sums are in float64 and in a fixed order: the same input gives the same bits.
"""

# mypy: disable-error-code="assignment,misc,no-untyped-def,no-untyped-call,untyped-decorator,import-untyped"
# (tuples grow in kernels, and Triton has types of its own)

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

jit = triton.jit


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
def _radial(square, MODEL: tl.constexpr):
    """t and factor of points at |X|^2 = square: `Model.radial` of the model."""
    if MODEL == "lorentz" or MODEL == "lorentz-space":
        t = _root(1.0 + square)
        return t, t * 0.0 + 1.0
    if MODEL == "poincare":
        factor = 2.0 * _reciprocal(1.0 - square)
        return factor - 1.0, factor
    if MODEL == "klein":
        t = _rsqrt(1.0 - square)
        return t, t
    size = _root(square)
    safe = tl.where(size > 0.0, size, 1.0)
    return libdevice.cosh(size), tl.where(size > 0.0, libdevice.sinh(safe) / safe, 1.0)


@jit
def _shrink(square, t, MODEL: tl.constexpr):
    """The factor from the space part s of a point, |s|^2 = square, to its coordinates in the model."""
    if MODEL == "lorentz" or MODEL == "lorentz-space":
        return t * 0.0 + 1.0
    if MODEL == "poincare":
        return _reciprocal(1.0 + t)
    if MODEL == "klein":
        return _reciprocal(t)
    size = _root(tl.where(square > 0.0, square, 1.0))
    return tl.where(square > 0.0, libdevice.asinh(size) / size, 1.0)


@jit
def products_kernel(
    X, numbers, sums, n, stride, step,
    D: tl.constexpr, FIRST: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """|X|^2 of rows X (n, D, from the column FIRST on) and their products with the space parts of K vectors: (K+1, n).

    numbers: as for `images_kernel`.
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
def images_kernel(
    X, sums, Y, status, numbers, n, stride,
    D: tl.constexpr, K: tl.constexpr, MODEL: tl.constexpr, BEYOND: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Check rows X, given the sums of `products_kernel`, and write their images Y under a `Slide`; K = 0: only check.

    numbers: the scale of the coordinates; the upper bound of |X|^2 scale^2; then kappa, the error per t, the largest
    squared norm of an image, the K vectors (D+1) of the slide and the K rows (K+1) of its turn. An image that is not accurate
    is NaN. The number of these and 2^32 times the number of rows outside the model are added to status.
    """
    LORENTZ: tl.constexpr = 1 if MODEL == "lorentz" else 0
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = rows < n
    scale, vectors, sum_at = tl.load(numbers), numbers + 5, sums + rows
    square = tl.load(sum_at, mask=live, other=0.0) * scale * scale
    inside = square < tl.load(numbers + 1)  # false for NaN
    if LORENTZ:
        time = tl.load(X + rows * stride, mask=live, other=1.0).to(tl.float64) * scale
        # 1e-4 is HYPERBOLOID_SLACK
        inside = inside & (time > 0.0) & (tl.abs(time * time - square - 1.0) <= 1e-4 * (1.0 + time * time))
    flags = (live & (inside == 0)).to(tl.int64) << 32
    if K > 0:
        kappa, error, most = tl.load(numbers + 2), tl.load(numbers + 3), tl.load(numbers + 4)
        t, factor = _radial(tl.where(inside, square, 0.0), MODEL)
        kept, size = (), t * 0.0 + 1.0
        for k in tl.static_range(K):
            sum_at += n
            y = tl.load(vectors + k * (D + 1)) * t + tl.load(sum_at, mask=live, other=0.0) * (factor * scale)
            kept = kept + (y,)
            if k > 0:
                size += y * y
        c = kept[0]
        under = c * c - 4.0 * kappa * size
        root = _root(tl.maximum(under, 0.0))
        r = 0.5 * (c + root)
        if BEYOND:
            r = tl.where(c >= 0.0, r, -2.0 * kappa * size * _reciprocal(root + tl.abs(c)))
        # the test of `Slide.images`
        fine = inside & (error * t * (error * t) < tl.maximum(c * c, under)) & (error * t < 1.0) & (under > 1e-6 * c * c)
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
