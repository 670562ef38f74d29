"""Fitted estimators in files: their parameters and what they have learnt, as arrays, numbers and strings.

A file is an ``.npz``: the member ``model`` is a tree in JSON, the others are the arrays that it names. Nothing is pickled.
When a file is read, classes come from a table, names are checked, and the estimator has to map a point before it is handed out.
"""

from __future__ import annotations

import json
import keyword
import os
import re
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .archives import open_archive
from .arrays import parse_npy
from .budget import Budget
from .files import existing
from .output import atomic_output

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FORMAT = 2  # to be raised when an attribute changes its meaning
FIRST_FORMAT = 1  # of 0.1.0, whose attributes estimators translate


def kept() -> list[str]:
    """The names of the estimators that can be written to a file: the reductions and the whiteners."""
    from .. import estimators

    return [name for name in estimators.__all__ if hasattr(getattr(estimators, name), "transform")]


def save_fitted(estimator: BaseEstimator, path: str | Path, *, force: bool = False) -> Path:
    """Write a fitted reduction or whitener to an ``.npz`` file, from which `load_fitted` restores it.

    Parameters
    ----------
    estimator : a fitted estimator of this package, but for `HyperbolicSVC`
    path : str or Path, ending in ``.npz``
    force : bool, default=False
        Overwrite an existing file.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from horopca import TangentPCA
    >>> from horopca.datasets import make_hierarchy
    >>> X = make_hierarchy(random_state=0).points
    >>> path = save_fitted(TangentPCA(2).fit(X), Path(tempfile.mkdtemp()) / "fit.npz")
    >>> load_fitted(path).transform(X[:3]).shape
    (3, 2)
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    members = pack(estimator)
    with atomic_output(path, force=force, formats=(".npz",)) as temporary:
        write_members(temporary, members)
    return Path(path)


def load_fitted(path: str | Path) -> Any:
    """Restore an estimator that `save_fitted` has written. Nothing in the file is executed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    The estimator, fitted. A ``random_state`` that was not a number is None.
    """
    path = existing(path)
    return unpack(read_members(path), path)


# ---------------------------------------------------------------- to a file


def pack(estimator: BaseEstimator) -> dict[str, np.ndarray]:
    """The members of the archive for a fitted estimator, or for the parameters of one that is not fitted."""
    from .. import __version__, estimators

    name = type(estimator).__name__
    if name not in kept() or type(estimator) is not getattr(estimators, name):
        raise ValueError(f"estimator must be one of {', '.join(kept())}, but is {name}.")
    params = estimator.get_params(deep=False)
    if not isinstance(params.get("random_state"), int | np.integer):
        params = {key: value for key, value in params.items() if key != "random_state"}  # a generator has no use any more
    learnt = {key: value for key, value in vars(estimator).items() if key not in estimator.get_params(deep=False)}
    arrays: dict[str, np.ndarray] = {}
    tree = {
        "format": FORMAT,
        "version": __version__,
        "class": name,
        "params": {key: _put(value, arrays, key) for key, value in params.items()},
        "learnt": {key: _put(value, arrays, key) for key, value in learnt.items()},
    }
    return {"model": np.array(json.dumps(tree)), **arrays}


def _put(value: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    """A value as JSON, its arrays laid aside under names."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype == object and all(isinstance(item, str) for item in np.ravel(value)):
            return {"names": np.ravel(value).tolist()}  # of columns: scikit-learn keeps them so
        if value.dtype.kind in "fiubU":
            arrays[key := f"array{len(arrays)}"] = np.asarray(value)
            return {"array": key}
    elif value is None or isinstance(value, bool | int | float | str):
        return value
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _put(item, arrays, where) for key, item in value.items()}}
    elif type(value) in (list, tuple) or type(value) in _tuples().values():
        return {type(value).__name__: [_put(item, arrays, where) for item in value]}
    raise ValueError(
        f"{where} must be made of arrays, numbers and strings to be written to a file, but is of type {type(value).__name__}."
    )


def write_members(path: Path, members: Mapping[str, Any]) -> None:
    """Write arrays to an archive, and have them on the disk."""
    with open(path, "xb") as file:  # nothing that is there is followed or overwritten
        np.savez(file, **members)
        file.flush()
        os.fsync(file.fileno())


# ---------------------------------------------------------------- from a file


def read_members(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an archive that `write_members` has written, or a sentence."""
    with open_archive(path, Budget(path), "is damaged, cut short, or not written by horopca") as archive:
        return {name.removesuffix(".npy"): parse_npy(archive.read(name), path) for name in archive.sizes}


def unpack(members: Mapping[str, np.ndarray], path: Path) -> Any:
    """The estimator in the members of an archive, or a sentence."""
    try:
        tree = json.loads(str(members["model"][()]))
        found, name = tree["format"], tree["class"]
    except Exception:
        raise ValueError(f"{path} holds no fitted estimator of horopca.") from None
    if found not in (FIRST_FORMAT, FORMAT):
        raise ValueError(f"{path} is in format {found!r}, but this version of horopca reads format {FORMAT}: fit again.")
    if name not in kept():
        raise ValueError(f"{path} holds a {str(name)[:40]!r}, but only these are restored: {', '.join(kept())}.")
    try:
        estimator = _rebuilt(tree, members)
        Budget(path).claim(64 * int(estimator.n_features_in_))  # what a point of so many columns takes on its way
        _try_out(estimator)
    except Exception:
        raise ValueError(f"{path} is damaged: its parts do not make a fitted {name}.") from None
    return estimator


def _rebuilt(tree: dict[str, Any], members: Mapping[str, np.ndarray]) -> Any:
    from .. import estimators

    kind = getattr(estimators, tree["class"])
    estimator = kind(**{key: _take(value, members) for key, value in tree["params"].items()})
    for key, value in tree["learnt"].items():
        known = getattr(kind, key, None)
        if not _is_attribute(key) or callable(known) or isinstance(known, property):
            raise ValueError(f"{key!r} is nothing that is learnt.")
        setattr(estimator, key, _take(value, members))
    if tree["format"] == FIRST_FORMAT:
        estimator._translate_first_version()
    return estimator


def _is_attribute(key: str) -> bool:
    """Whether a name is one of those that estimators give to what they learn: ``name_`` or ``_name``."""
    return bool(re.fullmatch(r"_[a-z]\w*|[a-zA-Z]\w*_", key)) and not keyword.iskeyword(key)


def _take(value: Any, members: Mapping[str, np.ndarray]) -> Any:
    """A value from its JSON; the opposite of `_put`."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return members[content] if members[content].ndim else members[content][()]
    if kind == "names":
        return np.array([str(item) for item in content], dtype=object)
    if kind == "dict":
        return {key: _take(item, members) for key, item in content.items()}
    items = [_take(item, members) for item in content]
    return items if kind == "list" else tuple(items) if kind == "tuple" else _tuples()[kind](*items)


def _tuples() -> dict[str, Any]:
    """The kinds of named tuples that estimators keep."""
    from .._points.stream import Reservoir
    from ..estimators.horopca import Answer
    from ..estimators.network import Layer
    from ..geometry import Frame
    from ..projections.spines import Slide, Spine

    return {"Answer": Answer, "Frame": Frame, "Layer": Layer, "Reservoir": Reservoir, "Slide": Slide, "Spine": Spine}


def _try_out(estimator: Any) -> None:
    """Map the origin there and back: arrays that do not fit together fail here, and not later at a user's points."""
    from .._points.door import check_door

    columns, given = estimator.n_features_in_, check_door(estimator.model, estimator.curvature)
    if len(getattr(estimator, "feature_names_in_", range(columns))) != columns:
        raise ValueError("There are more or fewer names than columns.")
    estimator = copy(estimator)
    for name in ("feature_names_in_", "_sklearn_output_config"):  # an array goes in and comes out
        vars(estimator).pop(name, None)
    if getattr(estimator, "metric", None) == "precomputed":
        X = np.zeros((1, columns))
    else:
        origin = np.zeros((1, given.dimension(columns) + 1))
        origin[0, 0] = 1.0
        X = given.leave(origin, origin.dtype)
    with np.errstate(all="ignore"):
        Y = np.asarray(estimator.transform(X))
        back = np.asarray(estimator.inverse_transform(Y)) if hasattr(estimator, "inverse_transform") else X
    if Y.shape != (1, estimator._n_features_out) or back.shape != X.shape or not np.isfinite(Y).all():
        raise ValueError("The origin has no image.")
