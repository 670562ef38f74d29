"""Checkpoints of torch and vectors of gensim, read in a separate process without importing or calling what they name.

torch reads its own files, with ``weights_only=True``. gensim's files are pickles. In both, an object of another class, such as
a parameter of geoopt or an argparse namespace, becomes an `Inert` object, which stores its parts.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .arrays import DAMAGED, as_words, map_npy, open_archive, read_header
from .files import FormatError, Table, as_text, choose, format_errors, matrix
from .subprocess_reader import in_subprocess

OLDEST_TORCH = (2, 6)  # Earlier versions could execute code with weights_only=True (CVE-2025-32434).
MANIFOLDS = {"poincare": "poincare", "lorentz": "lorentz", "euclidean": "tangent"}
# For each manifold of geoopt: the model, the name of its parameter, and the curvature as a function of the parameter. That of
# the ball is the inverse softplus of -curvature.
BALL, LORENTZ = "geoopt.manifolds.stereographic.manifold.PoincareBall", "geoopt.manifolds.lorentz.Lorentz"
GEOOPT: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    BALL: ("poincare", "isp_c", lambda value: -np.logaddexp(0 * value, value)),
    LORENTZ: ("lorentz", "k", lambda value: -1 / value),
}
NAMES = ("objects", "labels", "names")
GENSIM_NAMES = {"index_to_key", "index2word"}  # The attribute with the names of the vectors, in gensim 4 and before.
MAX_DEPTH = 64  # The deepest nesting of dictionaries that is searched.
RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")

read_checkpoint = in_subprocess("checkpoints", "read_torch", "torch", "a checkpoint of torch", "torch")
read_keyed_vectors = in_subprocess("checkpoints", "read_gensim", "numpy", "a file of gensim", "io")


class Inert:
    """A placeholder for an object, a class or a function that a file names. It stores its arguments and its state."""

    name = ""
    args: tuple[Any, ...] = ()
    state: Any = None

    def __new__(cls, *args: Any) -> Inert:
        made = super().__new__(cls)
        made.args = args
        return made

    @staticmethod
    def named(name: str) -> type[Inert]:
        return type("Inert", (Inert,), {"name": name[:200]})

    def __call__(self, *args: Any) -> Inert:  # geoopt saves its parameters as partial functions
        return Inert(*args)

    def __eq__(self, other: object) -> bool:  # torch calls an object only if it equals one of the allowed classes
        return isinstance(other, type) and issubclass(other, Inert)

    __hash__ = object.__hash__

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        """Drop the items of a mapping of another library."""

    def append(self, item: Any) -> None:
        """Drop the items of a list of another library."""


def read_torch(path: Path, key: str | None) -> Table:
    """The points of a checkpoint, with names, model and curvature if the Poincaré-embeddings tool or geoopt wrote them."""
    content = _loaded(path)
    items = list(_items(content))
    found = {name: item for name, _, item in items if hasattr(item, "numel")}
    contents = {name: list(item.shape) if item.numel() != 1 else item.item() for name, item in found.items() if name}
    matrices = {name: item for name, item in found.items() if item.ndim == 2}
    foreign = f" but an object of {content.name}, which was not executed" if isinstance(content, Inert) else ""
    chosen = choose(matrices, key, path, "matrix", foreign)
    chosen_array = chosen.detach().float() if str(chosen.dtype) == "torch.bfloat16" else chosen.detach()
    X = matrix(np.asarray(chosen_array), path)
    contents |= {name: float(value) for name, value, _ in items if type(value) in (int, float) and name not in contents}
    table = Table(X, contents=contents, **_stated(next(value for _, value, item in items if item is chosen)))
    if not isinstance(content, dict):
        return table
    conf = content.get("conf")
    conf = conf.state if isinstance(conf, Inert) else conf
    manifold = content.get("manifold") or (conf.get("manifold") if isinstance(conf, dict) else None)
    model = MANIFOLDS.get(manifold, table.model) if isinstance(manifold, str) else table.model
    words = {name: [as_text(word) for word in content[name]] for name in NAMES if _is_names(content.get(name), len(X))}
    return table._replace(model=model, words=words)


def _stated(parameter: Any) -> dict[str, Any]:
    """The model and the curvature of a parameter of geoopt; empty for other values."""
    parts = parameter.args if isinstance(parameter, Inert) else ()
    manifold = next((part for part in parts if isinstance(part, Inert) and part.name in GEOOPT), None)
    if manifold is None:
        return {}
    model, name, curvature = GEOOPT[manifold.name]
    stored = manifold.state["_parameters"][name].detach().numpy()[()]
    return {"model": model, "curvature": float(curvature(stored))}  # as precise as it is stored


def _loaded(path: Path) -> Any:
    """The content of a checkpoint, with `Inert` objects for everything that torch does not read itself."""
    import torch

    if tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2]) < OLDEST_TORCH:
        raise ImportError(f"{path} is a checkpoint, which needs torch 2.6 or later, but torch is {torch.__version__}.")
    zipped = zipfile.is_zipfile(path)
    unknown = torch.serialization.get_unsafe_globals_in_checkpoint(path) if zipped else []
    # torch lists unknown classes only for its zip format, and rejects some modules, such as os, in any case
    placeholders: list[Any] = [(Inert.named(name), name) for name in unknown]
    why = "is damaged, not written by torch.save, or holds objects that are not read: save its state_dict or a tensor"
    with format_errors(path, why, pickle.UnpicklingError), torch.serialization.safe_globals(placeholders):
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)


def _items(content: Any) -> Iterator[tuple[str, Any, Any]]:
    """(name, value, its tensor) of everything in nested dictionaries, names joined by dots; a dictionary is visited once."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        tensor = _tensor(value)
        yield ".".join(name), value, tensor
        value = tensor.state if isinstance(tensor, Inert) else tensor
        if isinstance(value, dict) and id(value) not in seen and len(name) < MAX_DEPTH:
            seen.add(id(value))
            waiting += [
                ((*name, str(part)[:80]), item) for part, item in reversed(value.items()) if isinstance(part, str | int)
            ]


def _tensor(value: Any) -> Any:
    """The tensor that a foreign object wraps, or has the parts of, such as a parameter of geoopt; other values unchanged."""
    import torch

    for _ in range(MAX_DEPTH):
        if not isinstance(value, Inert) or not value.args:
            return value
        first, *rest = value.args
        if isinstance(first, torch.storage.TypedStorage):
            return torch.empty(0, dtype=first.dtype).set_(first._untyped_storage, *rest[:3])
        value = first
    return value


def _is_names(value: Any, n: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == n and all(isinstance(item, str | int) for item in value)


class _Unpickler(pickle.Unpickler):
    """Reads numbers, strings and containers. Whatever a pickle names becomes `Inert`: nothing is imported."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="latin1")

    def find_class(self, module: str, name: str) -> type[Inert]:
        return Inert.named(f"{module}.{name}")


def read_gensim(path: Path, key: str | None) -> Table:
    """Vectors and names from gensim's ``KeyedVectors.save`` or a model; large vectors are in an ``.npy`` file beside it."""
    with open(path, "rb") as file:
        content = _Unpickler(file).load()
    parts = _state(content)
    keyed = [("", content), *((f".{name}", part) for name, part in parts.items() if isinstance(name, str))]
    chosen = [(within, part, _state(part)[name]) for within, part in keyed for name in GENSIM_NAMES & _state(part).keys()]
    if not chosen:
        raise FormatError(
            f"{path} holds no vectors of gensim: expected a file that KeyedVectors.save or a model's save has written."
        )
    within, found, names = chosen[0]
    vectors = _as_plain(found.state.get("vectors"))
    beside = path.with_name(f"{path.name}{within}.vectors.npy")
    if not isinstance(vectors, np.ndarray):
        if not beside.is_file():
            raise FormatError(f"{path} has its vectors in {beside.name}, which is not beside it.")
        vectors = map_npy(beside)
    X = matrix(vectors, path)
    model = "poincare" if any(part.name.startswith("gensim.models.poincare.") for part in (content, found)) else None
    return Table(X, model=model, words={"name": [as_text(name) for name in names]} if _is_names(names, len(X)) else {})


def _state(value: Any) -> dict[Any, Any]:
    """The attributes of an object."""
    return value.state if isinstance(value, Inert) and isinstance(value.state, dict) else {}


def read_objects(path: Path, member: str) -> Table:
    """The words in an array of Python objects of an ``.npz`` file, such as a column of a data frame."""
    with open_archive(path, DAMAGED) as (_, read):
        file = io.BytesIO(read(member))
    shape, *_ = read_header(file, path)
    words = as_words(_as_plain(_Unpickler(file).load()), member.removesuffix(".npy"), path)
    if len(words) != math.prod(shape):
        raise FormatError(f"{path} is damaged: {member} does not have the shape {shape}.")
    return Table(np.empty((0, 0)), words={"objects": words})


def _as_plain(value: Any) -> Any:
    """The array of numbers, or the list of objects, that an `Inert` object describes; other values unchanged."""
    if not isinstance(value, Inert) or value.name not in RECONSTRUCT:
        return value
    _, shape, kind, fortran, content = value.state
    if isinstance(content, list):
        return content
    content = content.args[0] if isinstance(content, Inert) else content  # a call of _codecs.encode in protocols below 3
    content = content.encode("latin1") if isinstance(content, str) else content
    if not re.fullmatch("[<>|=](f[248]|[iu][1248]|b1)", code := kind.state[1] + kind.args[0]):
        raise ValueError(f"an array of {code}")
    return np.frombuffer(content, code).reshape(shape, order="F" if fortran else "C")
