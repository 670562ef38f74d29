"""Which pairs of points are counted: all, in tiles, or (i, i + sigma mod n) for a handful of shifts sigma.

Slices, never gathers: each yields blocks of pairs, with the values at their two ends and the way back for their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..geometry._arrays import Array, array_namespace

BLOCK_PAIRS = 1 << 13
"""So many pairs are worked on at a time: the dozen temporaries of a block stay in a core's cache and, at 64 kilobytes, in
memory that the process has already (larger ones are given back and asked for anew: three times as slow)."""
DEVICE_PAIRS = 1 << 22  # An accelerator works on so many at a time: for longer than it takes to ask for it.


class Block(NamedTuple):
    """Some pairs: the columns of a stack (k, n) at their two ends, broadcastable to (k, ., .), and where their terms go."""

    first: Any
    second: Any
    extra: Any  # index of these pairs in an array of one number per pair
    halve: slice | None  # the columns of the block whose pairs come twice
    collect: Callable[[Any, Any, int], None]  # (total, terms, sign): terms at the first ends, sign * terms at the second


class AllPairs(NamedTuple):
    """Every unordered pair of n points once, in tiles of whole rows."""

    n: int

    @property
    def total(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def width(self) -> int:
        """Columns of the buffer that `collect` adds to: n, and those past n stand for the first ones again."""
        return self.n

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        ones = xp.ones_like(stack[0, :])
        start = 0
        while start < self.n:
            height = max(1, min(2 * _block_pairs(stack) // (self.n - start), self.n // 8 + 1))
            rows, columns = slice(start, min(start + height, self.n)), slice(start, self.n)

            def collect(total: Any, terms: Any, sign: int, rows: slice = rows, columns: slice = columns) -> None:
                total[:, rows] += terms @ ones[columns]
                total[:, columns] += sign * (ones[rows] @ terms)

            square = slice(0, rows.stop - rows.start)  # both halves of the tile on the diagonal
            yield Block(stack[:, rows, None], stack[:, None, columns], (rows, columns), square, collect)
            start = rows.stop


class Shifts(NamedTuple):
    """The pairs (i, i + sigma mod n) of n points for each sigma of `offsets`, all below n/2: every point equally often."""

    n: int
    offsets: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.n * len(self.offsets)

    @property
    def width(self) -> int:
        return self.n + max(self.offsets)

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        n, most = self.n, 2 * _block_pairs(stack) // stack.shape[0]
        width = min(n, most)
        height = max(1, most // width)
        wrapped = xp.concat([stack, stack[:, : max(self.offsets)]], axis=1)
        for k in range(0, len(self.offsets), height):
            shifts = self.offsets[k : k + height]
            for start in range(0, n, width):
                stop = min(start + width, n)

                def collect(
                    total: Any, terms: Any, sign: int, shifts: Any = shifts, start: int = start, stop: int = stop
                ) -> None:
                    total[:, start:stop] += xp.sum(terms, axis=1)
                    terms = terms if sign > 0 else -terms
                    for j, o in enumerate(shifts):
                        total[:, start + o : stop + o] += terms[:, j, :]

                second = xp.stack([wrapped[:, start + o : stop + o] for o in shifts], axis=1)
                where = (slice(k, k + len(shifts)), slice(start, stop))
                yield Block(stack[:, None, start:stop], second, where, None, collect)


class Across(NamedTuple):
    """Pairs between two clouds, n points and m others behind them: (i, n + (i + sigma mod m)) for each sigma of `offsets`."""

    first: int
    others: int
    offsets: tuple[int, ...]

    @property
    def n(self) -> int:
        return self.first + self.others

    @property
    def total(self) -> int:
        return self.first * len(self.offsets)

    @property
    def width(self) -> int:
        return self.n

    def blocks(self, stack: Array) -> Iterator[Block]:
        xp = array_namespace(stack)
        m, most = self.others, 2 * _block_pairs(stack) // stack.shape[0]
        width = min(self.first, m, most)
        height = max(1, most // width)
        others = xp.concat([stack[:, self.first :], stack[:, self.first : self.first + width]], axis=1)
        for start in range(0, self.first, width):
            stop = min(start + width, self.first)
            for k in range(0, len(self.offsets), height):
                shifts = self.offsets[k : k + height]
                begins = [(start + o) % m for o in shifts]

                def collect(
                    total: Any, terms: Any, sign: int, begins: Any = begins, start: int = start, stop: int = stop
                ) -> None:
                    total[:, start:stop] += xp.sum(terms, axis=1)
                    terms = terms if sign > 0 else -terms
                    for j, a in enumerate(begins):
                        cut = min(stop - start, m - a)  # what is past the last of the others goes to the first
                        total[:, self.first + a : self.first + a + cut] += terms[:, j, :cut]
                        total[:, self.first : self.first + stop - start - cut] += terms[:, j, cut:]

                second = xp.stack([others[:, a : a + stop - start] for a in begins], axis=1)
                where = (slice(start, stop), shifts)
                yield Block(stack[:, None, start:stop], second, where, None, collect)


def _block_pairs(a: Array) -> int:
    return BLOCK_PAIRS if str(device(a)) == "cpu" else DEVICE_PAIRS


def some_pairs(n: int, shifts: int, rng: np.random.Generator) -> AllPairs | Shifts:
    """`shifts` random shifts of n rows; all pairs when they are no more."""
    return AllPairs(n) if shifts >= (n - 1) // 2 else Shifts(n, some_offsets(n, shifts, rng))


def some_offsets(n: int, shifts: int, rng: np.random.Generator) -> tuple[int, ...]:
    """`shifts` different random shifts of n rows (or as many as there are), all below n/2."""
    most = (n - 1) // 2
    return tuple(sorted(1 + int(o) for o in rng.choice(most, size=min(shifts, most), replace=False)))
