"""Pickles read as data, without importing, constructing or calling anything that they name.

A pickle is a program for a small machine. Its numbers, strings, lists and dictionaries are taken as they are; a class or a
function that it names becomes an `Inert` object, which stores the arguments and does nothing. Arrays of NumPy are recognised
by their parts.
"""

from __future__ import annotations

import math
import pickletools
from collections.abc import Callable, Iterator
from mmap import mmap
from typing import IO, Any

import numpy as np

from .budget import Budget
from .files import FormatError, as_text, format_errors

STEP = 100  # Bytes that one instruction may allocate: none makes more than an empty dictionary.
LONGEST_NUMBER = 128  # Bits of an integer.
MOST_AXES = 64  # NumPy's own limit.
LARGEST_KEY = 1 << 60  # Larger integers can share one hash, and a dictionary of such keys takes quadratic time.
RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
# Protocols 2 to 5 without what no pickler writes for data; the text of protocols 0 and 1 is not read.
CONSTANTS = frozenset(
    "BININT BININT1 BININT2 LONG1 LONG4 BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 NONE "
    "SHORT_BINUNICODE BINUNICODE BINUNICODE8 BINFLOAT".split()
)
INSTRUCTIONS = {instruction.code: instruction for instruction in pickletools.opcodes}


class Inert:
    """What stands for a class, a function or an object of a pickle."""

    __slots__ = ("args", "name", "state")

    def __init__(self, name: str, args: tuple[Any, ...] | None = None) -> None:
        self.name, self.args, self.state = name, args, None


def read_pickle(file: IO[bytes] | mmap, budget: Budget) -> Any:
    """The value of the pickle that begins at the position of the file."""
    why = "is damaged or cut short: what it holds is no pickle"
    errors = (ValueError, IndexError, TypeError, KeyError, OverflowError, AttributeError)
    with format_errors(budget.path, why, *errors):
        return _Machine(budget).run(_instructions(file, budget))


def _instructions(file: Any, budget: Budget) -> Iterator[tuple[str, Any]]:
    """Names and arguments of the instructions, up to the one that ends the pickle."""
    while code := file.read(1):
        instruction = INSTRUCTIONS[code.decode("latin1")]
        name = instruction.name
        if name not in CONSTANTS and name not in STEPS and name != "STOP":
            raise FormatError(f"{budget.path} holds a pickle with the instruction {name}, which is not read.")
        if name == "GLOBAL":  # pickletools would warn about escapes in these lines
            yield name, ".".join(as_text(file.readline().rstrip(b"\n")) for _ in range(2))
        else:
            yield name, None if instruction.arg is None else instruction.arg.reader(file)


class _Machine:
    """A stack of values, the stacks set aside at marks, and the memo."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self, instructions: Iterator[tuple[str, Any]]) -> Any:
        for name, arg in instructions:
            self.budget.claim(STEP)
            if name == "STOP":
                return self.stack.pop()
            if name in CONSTANTS:
                self.stack.append(_plain(arg))
            else:
                STEPS[name](self, arg)
        raise ValueError("The pickle does not end.")

    def pop(self, count: int) -> list[Any]:
        """Remove the topmost values, the last on top. Raises IndexError if there are fewer."""
        if count > len(self.stack):
            raise IndexError("The stack is empty.")
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def since_mark(self) -> list[Any]:
        taken, self.stack = self.stack, self.marks.pop()
        return taken

    def put(self, value: Any) -> None:
        self.stack.append(value)

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def extend(self, items: list[Any]) -> None:
        if isinstance(self.stack[-1], list):  # items of an inert object are dropped
            self.stack[-1].extend(items)

    def assign(self, items: list[Any]) -> None:
        if isinstance(self.stack[-1], dict):
            self.stack[-1].update((_key(items[i]), items[i + 1]) for i in range(0, len(items) - 1, 2))

    def build(self) -> None:
        (state,) = self.pop(1)
        if isinstance(self.stack[-1], Inert):
            self.stack[-1].state = state

    def call(self, more: int = 0) -> None:
        called, args = self.pop(2 + more)[:2]
        self.stack.append(_called(called, args, self.budget))

    def named(self) -> None:
        parts = self.pop(2)
        if not all(isinstance(part, str) for part in parts):  # the text of nested tuples can be exponentially long
            raise TypeError("The name of a class is not a string.")
        self.stack.append(Inert(".".join(parts)[:200]))


def _plain(value: Any) -> Any:
    """A constant; integers that take long to print are dropped."""
    return Inert("number") if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER else value


def _key(value: Any) -> Any:
    """The key of a dictionary. Nested tuples take exponential time to hash, and large numbers can share one hash."""
    is_small = isinstance(value, int) and abs(value) < LARGEST_KEY
    return value if value is None or is_small or isinstance(value, str | bytes) else Inert("key")


def _called(called: Any, args: Any, budget: Budget) -> Any:
    """The value of a call if that is data. Copies are counted: a program may repeat the call."""
    if not isinstance(called, Inert) or not isinstance(args, tuple):
        return Inert("call")
    if called.name == "_codecs.encode" and len(args) == 2 and isinstance(args[0], str) and args[1] == "latin1":
        budget.claim(len(args[0]))
        return args[0].encode("latin1")
    return Inert(called.name, args)


# What an instruction does with the machine and its argument.
STEPS: dict[str, Callable[[_Machine, Any], Any]] = {
    "PROTO": lambda m, _: None,
    "FRAME": lambda m, _: None,
    "NEWTRUE": lambda m, _: m.stack.append(True),
    "NEWFALSE": lambda m, _: m.stack.append(False),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_SET": lambda m, _: m.stack.append([]),
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "TUPLE": lambda m, _: m.put(tuple(m.since_mark())),
    "FROZENSET": lambda m, _: m.put(m.since_mark()),
    "TUPLE1": lambda m, _: m.put(tuple(m.pop(1))),
    "TUPLE2": lambda m, _: m.put(tuple(m.pop(2))),
    "TUPLE3": lambda m, _: m.put(tuple(m.pop(3))),
    "APPEND": lambda m, _: m.extend(m.pop(1)),
    "APPENDS": lambda m, _: m.extend(m.since_mark()),
    "ADDITEMS": lambda m, _: m.extend(m.since_mark()),
    "SETITEM": lambda m, _: m.assign(m.pop(2)),
    "SETITEMS": lambda m, _: m.assign(m.since_mark()),
    "MARK": lambda m, _: m.mark(),
    "GLOBAL": lambda m, arg: m.stack.append(Inert(arg[:200])),
    "STACK_GLOBAL": lambda m, _: m.named(),
    "REDUCE": lambda m, _: m.call(),
    "NEWOBJ": lambda m, _: m.call(),
    "NEWOBJ_EX": lambda m, _: m.call(more=1),
    "BUILD": lambda m, _: m.build(),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), lambda m, arg: m.memo.__setitem__(arg, m.stack[-1])),
    "MEMOIZE": lambda m, _: m.memo.__setitem__(len(m.memo), m.stack[-1]),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda m, arg: m.stack.append(m.memo[arg])),
}


# ---------------------------------------------------------------- arrays of NumPy


def as_array(value: Any) -> Any:
    """The array of numbers, or the list of objects, that an inert object describes; other values unchanged."""
    if not isinstance(value, Inert) or value.name not in RECONSTRUCT or not isinstance(value.state, tuple):
        return value
    if len(value.state) != 5:
        return value
    _, shape, kind, fortran, content = value.state
    dtype = _dtype(kind)
    if isinstance(content, list):
        return content
    whole = isinstance(shape, tuple) and len(shape) <= MOST_AXES and all(isinstance(k, int) and k >= 0 for k in shape)
    if dtype is None or not whole or not isinstance(content, bytes) or math.prod(shape) * dtype.itemsize != len(content):
        return value
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _dtype(kind: Any) -> np.dtype[Any] | None:
    """The dtype of numbers that an inert object describes by a code such as "f4" and a byte order such as "<"."""
    if not isinstance(kind, Inert) or kind.name != "numpy.dtype" or not kind.args:
        return None
    code = kind.args[0]
    order = kind.state[1] if isinstance(kind.state, tuple) and len(kind.state) > 1 else "<"
    known = isinstance(code, str) and code[:1] in tuple("fiub") and code[1:] in tuple("1248") and order in ("<", ">", "|", "=")
    return np.dtype(order + code) if known and code not in ("f1", "b2", "b4", "b8") else None
