"""MATLAB's files, read by SciPy (levels 4 and 5) or h5py (level 7.3) in a separate process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .budget import Budget
from .files import LABEL_NAMES, FormatError, Table, as_text, choose, matrix
from .hdf import SIGNATURE
from .subprocess_reader import in_subprocess

NUMERIC = {"double", "single", "logical", "sparse", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}

_read_5 = in_subprocess("matlab", "read_level_5", "scipy", "a MATLAB file", "io")
_read_73 = in_subprocess("hdf", "read_mat_73", "h5py", "a MATLAB file of level 7.3, in HDF5", "io")


def read_mat(path: Path, key: str | None) -> Table:
    """A matrix of a MATLAB file, with the labels beside it."""
    with open(path, "rb") as file:
        is_73 = file.read(20).startswith((b"MATLAB 7.3", SIGNATURE))
    table: Table = (_read_73 if is_73 else _read_5)(path, key)
    return table


def read_level_5(path: Path, key: str | None) -> Table:
    """The same of a file that SciPy reads; called in the separate process."""
    from scipy.io import whosmat

    shapes = {name: shape for name, shape, kind in whosmat(path) if len(shape) == 2 and kind in NUMERIC}
    name = choose({name: name for name in shapes}, key, path, "matrix")
    Budget(path).claim(8 * int(np.prod(shapes[name], dtype=object)))
    X = matrix(_dense(_variable(path, name)), path)
    words = {other: _words(_variable(path, other), len(X)) for other, *_ in whosmat(path) if other.lower() in LABEL_NAMES}
    return Table(X, words={other: column for other, column in words.items() if column is not None})


def _variable(path: Path, name: str) -> Any:
    from scipy.io import loadmat

    found = loadmat(path, variable_names=[name])
    if name not in found:
        raise FormatError(f"{path} has no variable {name!r} that can be read.")
    return found[name]


def _dense(value: Any) -> np.ndarray:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _words(value: Any, n: int) -> list[str] | None:
    """n words of a variable: strings, cells with a string each, or numbers; None if there are not n of them."""
    values = _dense(value)
    if values.size != n or values.dtype.kind not in "OUSfiub":
        return None
    return [
        as_text(item.item() if isinstance(item, np.ndarray) and item.size == 1 else item).rstrip() for item in values.ravel()
    ]
