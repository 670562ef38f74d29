"""MATLAB's files of level 5 (``save -v6`` and ``-v7``): tags and sizes are checked before anything is read by them.

A file is a row of elements, each a tag (kind, number of bytes) and its bytes; a variable is an element of kind MATRIX made of
elements: flags, dimensions, name, numbers. It may be packed with zlib, and is then unpacked only if it is wanted.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from .budget import Budget
from .files import LABEL_NAMES, FormatError, Table, as_text, choose, format_errors, matrix
from .hdf import SIGNATURE
from .subprocess_reader import in_subprocess

MATRIX, COMPRESSED = 14, 15
# An element of a kind holds such numbers.
NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
    16: "u1",
    17: "u2",
    18: "u4",
}
CELL, CHAR, SPARSE = 1, 4, 5
# An array of a class has such numbers.
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
COMPLEX, LOGICAL = 0x800, 0x200
HEAD = 1 << 12  # So many bytes of a packed variable tell its name and its shape.
DAMAGED = "is damaged, cut short, or not a file of MATLAB's"


read_mat_73 = in_subprocess("hdf", "read_mat_73", "h5py", "a MATLAB file of level 7.3, in HDF5")


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    with open(path, "rb") as file:
        head = file.read(20)
    if head.startswith((b"MATLAB 7.3", SIGNATURE)):
        return read_mat_73(path, key)
    refuse_level_4(head, path)
    found, budget = variables(path), Budget(path)
    usable = {name: variable for name, variable in found.items() if variable.is_matrix}
    X = matrix(read(choose(usable, key, path, "matrix"), path, budget), path)
    spoken = {name: as_words(read(found[name], path, budget), len(X)) for name in found if name.lower() in LABEL_NAMES}
    return Table(X, words={name: column for name, column in spoken.items() if column is not None})


def refuse_level_4(head: bytes, path: Path) -> None:
    """Say of a file of level 4 that it is one: it begins with its kind, two lengths, whether it is complex, and a third."""
    numbers = np.frombuffer(head.ljust(20, b"\xff"), "<i4")
    if 0 <= numbers[0] < 5000 and numbers[3] in (0, 1) and 0 < numbers[4] < 1000:
        raise FormatError(f"{path} is in MATLAB's format of level 4, which is not read: save it again, with save -v7.")


class Variable(NamedTuple):
    """A variable, not read yet: what its first elements say, and the bytes to read it from."""

    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    content: memoryview
    packed: bool
    order: str

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2 and not self.flags & COMPLEX and (self.kind in CLASSES or self.kind == SPARSE)


class Element(NamedTuple):
    kind: int
    content: memoryview


def variables(path: Path) -> dict[str, Variable]:
    """The variables of a file by their names."""
    content = memoryview(path.read_bytes())
    with format_errors(path, DAMAGED, ValueError, IndexError, zlib.error, OverflowError):
        if len(content) < 128 or bytes(content[126:128]) not in (b"IM", b"MI"):
            raise ValueError("This is not the head of a file.")
        order = "<" if bytes(content[126:128]) == b"IM" else ">"
        found = [_variable(element, order) for element in _elements(content[128:], order)]
        return {variable.name: variable for variable in found if variable is not None}


def _elements(content: memoryview, order: str) -> Iterator[Element]:
    """The elements in a row of bytes; those of at most four bytes share their tag's eight."""
    at = 0
    while at + 8 <= len(content):
        kind, size = (int(k) for k in np.frombuffer(content[at : at + 8], f"{order}u4"))
        if kind >> 16:
            kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
            if size > 4:
                raise ValueError("A small element of more than four bytes.")
        else:
            start, step = at + 8, 8 + size + (0 if kind == COMPRESSED else -size % 8)
        if start + size > len(content):
            raise ValueError("An element reaches beyond the end.")
        yield Element(kind, content[start : start + size])
        at += step


def _variable(element: Element, order: str) -> Variable | None:
    if element.kind == COMPRESSED:
        head = memoryview(zlib.decompressobj().decompress(element.content, HEAD))
        if len(head) < 8 or int(np.frombuffer(head[:4], f"{order}u4")[0]) != MATRIX:
            return None
        return _headed(head[8:], element.content, True, order)
    return _headed(element.content, element.content, False, order) if element.kind == MATRIX and len(element.content) else None


def _headed(head: memoryview, content: memoryview, packed: bool, order: str) -> Variable:
    """A variable from its first three elements, of which only the beginning of the fourth may be there."""
    parts: list[Element] = []
    try:
        for part in _elements(head, order):
            parts.append(part)
            if len(parts) == 3:
                break
    except ValueError:
        if not packed or len(parts) < 3:
            raise
    flags = int(_numbers(parts[0], order)[0])
    shape = tuple(int(k) for k in _numbers(parts[1], order))
    if len(shape) > 32 or min(shape, default=0) < 0:
        raise ValueError("These are not the lengths of an array's sides.")
    return Variable(as_text(bytes(parts[2].content)), flags & 0xFF, flags & 0xFF00, shape, content, packed, order)


def _numbers(element: Element, order: str) -> np.ndarray:
    return np.frombuffer(element.content, order + NUMBERS[element.kind]) if element.kind in NUMBERS else np.empty(0)


# ---------------------------------------------------------------- what a variable holds


def read(variable: Variable, path: Path, budget: Budget) -> Any:
    """The array of a variable: numbers, or a list of strings for rows of characters and for cells; None for anything else."""
    with format_errors(path, DAMAGED, ValueError, IndexError, zlib.error, OverflowError):
        parts = list(_elements(_unpacked(variable, budget), variable.order))[3:]
        return _value(variable, parts, budget)


def _unpacked(variable: Variable, budget: Budget) -> memoryview:
    if not variable.packed:
        return variable.content
    unpack = zlib.decompressobj()
    tag = np.frombuffer(unpack.decompress(variable.content, 8), f"{variable.order}u4")
    size = int(tag[1])
    budget.claim(size)
    content = unpack.decompress(unpack.unconsumed_tail, size) if size else b""
    if len(content) < size:
        raise ValueError("A packed variable is cut short.")
    return memoryview(content)


def _value(variable: Variable, parts: list[Element], budget: Budget) -> Any:
    count = math.prod(variable.shape)
    if variable.kind == SPARSE:
        return _sparse(variable, parts, budget)
    if variable.kind == CHAR:
        return _rows_of_text(variable, parts[0], budget)
    if variable.kind == CELL:
        cells = [_headed(part.content, part.content, False, variable.order) for part in parts if len(part.content)]
        if len(cells) != count:
            return None
        inner = [_value(cell, list(_elements(cell.content, cell.order))[3:], budget) for cell in cells if cell.kind == CHAR]
        return [" ".join(rows) for rows in inner] if len(inner) == count else None
    if variable.kind not in CLASSES or variable.flags & COMPLEX:
        return None
    dtype = np.dtype("?" if variable.flags & LOGICAL else CLASSES[variable.kind])
    values = _numbers(parts[0], variable.order) if parts else np.empty(0)
    if len(values) != count:
        raise ValueError("There are more or fewer numbers than places.")
    budget.claim(count * dtype.itemsize)
    return values.astype(dtype).reshape(variable.shape, order="F")


def _rows_of_text(variable: Variable, part: Element, budget: Budget) -> list[str]:
    """The rows of a matrix of characters, without the blanks that make them of one length."""
    count = math.prod(variable.shape)
    budget.claim(8 * count)
    if part.kind in (16, 2, 1):  # UTF-8; a character of several bytes is several places too few
        codes = np.array([ord(character) for character in bytes(part.content).decode("utf-8", "backslashreplace")])
    elif part.kind == 17:
        text = bytes(part.content).decode("utf-16-le" if variable.order == "<" else "utf-16-be", "backslashreplace")
        codes = np.array([ord(character) for character in text])
    else:
        codes = _numbers(part, variable.order).astype(int)
    rows, columns = variable.shape if len(variable.shape) == 2 else (0, 0)
    if rows == 1:
        return ["".join(map(chr, codes)).strip()]
    if len(codes) != count or not rows:
        raise ValueError("There are more or fewer characters than places.")
    return [as_text("".join(map(chr, row)).rstrip()) for row in codes.reshape(rows, columns, order="F")]


def _sparse(variable: Variable, parts: list[Element], budget: Budget) -> np.ndarray:
    """A sparse matrix, written out."""
    rows, columns = variable.shape
    indices, starts, values = (_numbers(part, variable.order) for part in parts[:3])
    if len(starts) != columns + 1 or np.any(np.diff(starts) < 0) or starts[0] != 0:
        raise ValueError("The columns of a sparse matrix have no order.")
    count = int(starts[-1])
    if count > min(len(indices), len(values)) or np.any((indices[:count] < 0) | (indices[:count] >= rows)):
        raise ValueError("An entry of a sparse matrix is outside.")
    budget.claim(8 * rows * columns)
    found = csc_array((values[:count].astype(float), indices[:count], starts), shape=(rows, columns))
    return np.asarray(found.toarray())


def as_words(value: Any, n: int) -> list[str] | None:
    """n words from what a variable holds: strings, or a row or a column of numbers."""
    if value is None or len(value := value if isinstance(value, list) else value.ravel()) != n:
        return None
    return [as_text(item) for item in value]
