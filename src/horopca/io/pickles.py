"""Pickles read as data: a machine that follows their instructions without importing, making or calling anything.

A pickle is a little program. Its numbers, strings, lists and dictionaries are taken as they are; a class or a function that it
names is an `Inert` object, which remembers what the program wanted done with it and does nothing. Arrays of NumPy and
tensors of torch are recognised among those by their parts.
"""

from __future__ import annotations

import math
import pickletools
import warnings
from collections.abc import Callable, Iterable
from mmap import mmap
from typing import IO, Any

import numpy as np

from .budget import Budget
from .files import FormatError, format_errors

STEP = 100  # An instruction may make so many bytes: none makes more than an empty dictionary.
LONGEST_NUMBER = 128  # A number has at most so many bits.
RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
CONSTANTS = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 "
    "NONE UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 FLOAT BINFLOAT".split()
)


class Inert:
    """What stands for a class, a function or an object of a pickle."""

    __slots__ = ("args", "name", "state")

    def __init__(self, name: str, args: tuple[Any, ...] | None = None) -> None:
        self.name, self.args, self.state = name, args, None


def read_pickle(file: IO[bytes] | mmap, budget: Budget, storage: Callable[[Any], Any] = lambda pid: Inert("storage")) -> Any:
    """The value of the pickle that begins here; `storage` makes what a persistent identifier stands for."""
    why = "is damaged or cut short: what it holds is no pickle"
    errors = (ValueError, IndexError, TypeError, KeyError, OverflowError, AttributeError)
    with format_errors(budget.path, why, *errors), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's, at a string with a backslash before any letter
        return _Machine(budget, storage).run(pickletools.genops(file))  # type: ignore[arg-type]  # a map has what it needs of a file


class _Machine:
    """A stack of values, the stacks put aside at marks, and what the program has taken note of."""

    def __init__(self, budget: Budget, storage: Callable[[Any], Any]) -> None:
        self.budget, self.storage = budget, storage
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self, instructions: Iterable[Any]) -> Any:
        for operation, arg, _ in instructions:
            self.budget.claim(STEP)
            name = operation.name
            if name in CONSTANTS:
                self.stack.append(_plain(arg))
            elif name in STEPS:
                STEPS[name](self, arg)
            elif name == "STOP":
                return self.stack.pop()
            else:
                raise FormatError(f"{self.budget.path} holds a pickle with the instruction {name}, which is not read.")
        raise ValueError("The pickle does not end.")

    def pop(self, count: int) -> list[Any]:
        """The uppermost values, the last on top; and no fewer than asked for."""
        if count > len(self.stack):
            raise IndexError("The stack is empty.")
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def since_mark(self) -> list[Any]:
        taken, self.stack = self.stack, self.marks.pop()
        return taken

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def extend(self, items: list[Any]) -> None:
        if isinstance(self.stack[-1], list):  # of an inert object nothing is kept
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
        module, name = self.pop(2)
        self.stack.append(Inert(f"{module}.{name}"[:200]))


def _plain(value: Any) -> Any:
    """A constant; a number too long to print stands for nothing."""
    return Inert("number") if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER else value


def _key(value: Any) -> Any:
    """A key as dictionaries here have it; finding a pair of pairs of pairs in one would take for ever."""
    return value if value is None or isinstance(value, str | int | float | bytes) else Inert("key")


def _called(called: Any, args: Any, budget: Budget) -> Any:
    """What a call returns, as far as it is data. What it copies is claimed: a program may call again and again."""
    if not isinstance(called, Inert) or not isinstance(args, tuple):
        return Inert("call")
    if called.name == "collections.OrderedDict":
        pairs = args[0] if args and isinstance(args[0], list) else []
        budget.claim(STEP * len(pairs))
        return {_key(pair[0]): pair[1] for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2}
    if called.name == "_codecs.encode" and len(args) == 2 and isinstance(args[0], str) and args[1] == "latin1":
        budget.claim(len(args[0]))
        return args[0].encode("latin1")
    return Inert(called.name, args)


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return {_key(items[i]): items[i + 1] for i in range(0, len(items) - 1, 2)}


# An instruction does this with the machine and its argument; those that mean nothing to data do nothing.
STEPS: dict[str, Callable[[_Machine, Any], Any]] = {
    "PROTO": lambda m, _: None,
    "FRAME": lambda m, _: None,
    "NEWTRUE": lambda m, _: m.stack.append(True),
    "NEWFALSE": lambda m, _: m.stack.append(False),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_SET": lambda m, _: m.stack.append([]),
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "LIST": lambda m, _: _put(m, m.since_mark()),
    "TUPLE": lambda m, _: _put(m, tuple(m.since_mark())),
    "FROZENSET": lambda m, _: _put(m, m.since_mark()),
    "DICT": lambda m, _: _put(m, _pairs(m.since_mark())),
    "TUPLE1": lambda m, _: _put(m, tuple(m.pop(1))),
    "TUPLE2": lambda m, _: _put(m, tuple(m.pop(2))),
    "TUPLE3": lambda m, _: _put(m, tuple(m.pop(3))),
    "APPEND": lambda m, _: m.extend(m.pop(1)),
    "APPENDS": lambda m, _: m.extend(m.since_mark()),
    "ADDITEMS": lambda m, _: m.extend(m.since_mark()),
    "SETITEM": lambda m, _: m.assign(m.pop(2)),
    "SETITEMS": lambda m, _: m.assign(m.since_mark()),
    "MARK": lambda m, _: m.mark(),
    "POP": lambda m, _: m.stack.pop() if m.stack else m.since_mark(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "GLOBAL": lambda m, arg: m.stack.append(Inert(str(arg).replace(" ", ".")[:200])),
    "STACK_GLOBAL": lambda m, _: m.named(),
    "REDUCE": lambda m, _: m.call(),
    "NEWOBJ": lambda m, _: m.call(),
    "NEWOBJ_EX": lambda m, _: m.call(more=1),
    "INST": lambda m, arg: _put(m, Inert(str(arg).replace(" ", ".")[:200], tuple(m.since_mark()))),
    "OBJ": lambda m, _: _put(m, _called((parts := m.since_mark())[0], tuple(parts[1:]), m.budget)),
    "BUILD": lambda m, _: m.build(),
    "BINPERSID": lambda m, _: m.stack.append(m.storage(m.pop(1)[0])),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda m, arg: m.memo.__setitem__(arg, m.stack[-1])),
    "MEMOIZE": lambda m, _: m.memo.__setitem__(len(m.memo), m.stack[-1]),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda m, arg: m.stack.append(m.memo[arg])),
}


def _put(machine: _Machine, value: Any) -> None:
    machine.stack.append(value)


# ---------------------------------------------------------------- arrays of NumPy


def as_array(value: Any) -> Any:
    """The array of NumPy, or the list of objects, that an inert object describes by its parts; other values as they are."""
    if not isinstance(value, Inert) or value.name not in RECONSTRUCT or not isinstance(value.state, tuple):
        return value
    if len(value.state) != 5:
        return value
    _, shape, kind, fortran, content = value.state
    dtype = _dtype(kind)
    if isinstance(content, list):
        return content
    whole = isinstance(shape, tuple) and all(isinstance(k, int) and 0 <= k for k in shape)
    if dtype is None or not whole or not isinstance(content, bytes) or math.prod(shape) * dtype.itemsize != len(content):
        return value
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _dtype(kind: Any) -> np.dtype[Any] | None:
    """The dtype of numbers that an inert object describes: "f4" with "<" beside it."""
    if not isinstance(kind, Inert) or kind.name != "numpy.dtype" or not kind.args:
        return None
    code = kind.args[0]
    order = kind.state[1] if isinstance(kind.state, tuple) and len(kind.state) > 1 else "<"
    known = isinstance(code, str) and code[:1] in tuple("fiub") and code[1:] in tuple("1248") and order in ("<", ">", "|", "=")
    return np.dtype(order + code) if known and code not in ("f1", "b2", "b4", "b8") else None
