"""Checkpoints of torch and vectors of gensim, read without executing anything.

torch reads its own files, with ``weights_only=True``, in a separate process. Objects of other classes in a checkpoint, such as
geoopt's parameters or an argparse namespace, become objects that store their parts. gensim's files are pickles, which
`pickles` reads as data.
"""

from __future__ import annotations

import mmap
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from .arrays import map_npy
from .budget import Budget
from .files import FormatError, Table, as_text, choose, format_errors, matrix
from .pickles import Inert, as_array, read_pickle
from .subprocess_reader import in_subprocess

TORCH = (2, 6)  # Earlier versions could execute code with weights_only=True (CVE-2025-32434).
MANIFOLDS = {"poincare": "poincare", "lorentz": "lorentz", "euclidean": "tangent"}
NAMES = ("objects", "labels", "names")
DEEPEST = 64  # Dictionaries within dictionaries that are searched.

read_checkpoint = in_subprocess("checkpoints", "read_torch", "torch", "a checkpoint of torch", "torch")


def read_torch(path: Path, key: str | None) -> Table:
    """The points of a checkpoint, with the names and the model of one of the Poincaré-embeddings tool.

    Called in the separate process.
    """
    content, budget = _loaded(path), Budget(path)
    foreign = f" but an object of {content.name}, which was not executed" if isinstance(content, Foreign) else ""
    X = matrix(_as_array(choose(dict(_matrices(content)), key, path, "matrix", foreign), budget), path)
    if not isinstance(content, dict):
        return Table(X)
    conf = content.get("conf")
    conf = conf.state if isinstance(conf, Foreign) else conf
    manifold = content.get("manifold") or (conf.get("manifold") if isinstance(conf, dict) else None)
    model = MANIFOLDS.get(manifold) if isinstance(manifold, str) else None
    words = {name: [as_text(word) for word in content[name]] for name in NAMES if _is_names(content.get(name), len(X))}
    return Table(X, model=model, words=words)


class Foreign:
    """What stands for an object, a class or a function of another library in a checkpoint."""

    name = ""
    args: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __call__(self, *args: Any) -> Foreign:  # a partial function, as geoopt saves its parameters
        return Foreign(*args)

    def __eq__(self, other: object) -> bool:  # torch calls what equals one of the classes that it was given
        return isinstance(other, type) and issubclass(other, Foreign)

    __hash__ = object.__hash__

    def __setstate__(self, state: Any) -> None:
        self.state = state


def _loaded(path: Path) -> Any:
    """The content of a checkpoint, with `Foreign` objects for everything that torch does not read itself.

    torch lists these for its zip format only, and never reads some modules, such as os.
    """
    import torch

    if tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2]) < TORCH:
        raise ImportError(f"{path} is a checkpoint, which needs torch 2.6 or later, but torch is {torch.__version__}.")
    zipped = zipfile.is_zipfile(path)
    unknown = torch.serialization.get_unsafe_globals_in_checkpoint(path) if zipped else []
    stand_ins: list[Any] = [(type("Foreign", (Foreign,), {"name": name}), name) for name in unknown]
    why = "is damaged, not written by torch.save, or holds objects that are not read: save its state_dict or a tensor"
    with format_errors(path, why, UnpicklingError), torch.serialization.safe_globals(stand_ins):
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)


def _matrices(content: Any) -> Iterator[tuple[str, Any]]:
    """(name, tensor) of every matrix in nested dictionaries, names joined by dots; a dictionary is visited once."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        value = _tensor(value)
        if getattr(value, "ndim", None) == 2:
            yield ".".join(name), value
        value = value.state if isinstance(value, Foreign) else value
        if isinstance(value, dict) and id(value) not in seen and len(name) < DEEPEST:
            seen.add(id(value))
            waiting += [
                ((*name, str(part)[:80]), item) for part, item in reversed(value.items()) if isinstance(part, str | int)
            ]


def _tensor(value: Any) -> Any:
    """The tensor that a foreign object wraps, or has the parts of, such as a parameter of geoopt; other values unchanged."""
    import torch

    for _ in range(DEEPEST):
        if not isinstance(value, Foreign) or not value.args:
            return value
        first, *rest = value.args
        if isinstance(first, torch.storage.TypedStorage):
            return torch.empty(0, dtype=first.dtype).set_(first._untyped_storage, *rest[:3])
        value = first
    return value


def _as_array(tensor: Any, budget: Budget) -> np.ndarray:
    """The numbers of a tensor; bfloat16, which NumPy does not have, as float32."""
    import torch

    budget.claim(tensor.numel() * tensor.element_size())
    tensor = tensor.detach()
    return np.asarray(tensor.float() if tensor.dtype == torch.bfloat16 else tensor)


def _is_names(value: Any, n: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == n and all(isinstance(item, str | int) for item in value)


# ---------------------------------------------------------------- gensim


def read_keyed_vectors(path: Path, key: str | None) -> Table:
    """Vectors and names from gensim's ``KeyedVectors.save`` or a model; large vectors are in an ``.npy`` file beside it."""
    budget = Budget(path)
    if not budget.size:
        raise FormatError(f"{path} is empty.")
    with open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as file:
        content = read_pickle(file, budget)
    parts: dict[str, Any] = content.state if isinstance(content, Inert) and isinstance(content.state, dict) else {}
    keyed = [("", content), *((f".{name}", part) for name, part in parts.items() if isinstance(name, str))]
    within, state = next(((name, part.state) for name, part in keyed if _is_keyed(part)), ("", None))
    if state is None:
        raise FormatError(f"{path} holds no vectors of gensim's: expected what KeyedVectors.save or a model's save writes.")
    vectors = as_array(state.get("vectors"))
    beside = path.with_name(f"{path.name}{within}.vectors.npy")
    if not isinstance(vectors, np.ndarray):
        if not beside.is_file():
            raise FormatError(f"{path} has its vectors in {beside.name}, which is not beside it.")
        vectors = map_npy(beside)
    names = state.get("index_to_key") or state.get("index2word")
    X = matrix(vectors, path)
    return Table(X, words={"name": [as_text(name) for name in names]} if _is_names(names, len(X)) else {})


def _is_keyed(value: Any) -> bool:
    """Whether this is the object with vectors and their names."""
    state = value.state if isinstance(value, Inert) else None
    return isinstance(state, dict) and ("index_to_key" in state or "index2word" in state)
