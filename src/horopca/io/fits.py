"""Fitted estimators in files: their parameters and what they have learnt, as arrays, numbers and strings.

A file is an ``.npz``. Its member ``model`` is a tree in JSON: the format, the version that wrote it, the class, its parameters
(``params``) and what it has learnt (``learnt``), by public names: an attribute that ends in ``_`` by its own, a private one by
its name in `PRIVATE`. The other members are the arrays that the tree names; a named tuple is a record of its fields. Nothing is
pickled. When a file is read, classes and records come from tables, names and kinds are checked, and the estimator has to map a
point before it is handed out.
"""

from __future__ import annotations

import json
import keyword
import os
import re
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import __version__, estimators
from .._input.arguments import as_number
from .._input.coordinates import check_coordinates
from .._input.reservoir import Reservoir
from ..estimators.base import Transformer
from ..estimators.fitting import fitted_coordinates
from ..estimators.horopca_fit import NestedBases
from ..geometry import Frame
from ..projections import Spine
from ..projections.horospherical import Slide
from .arrays import read_members
from .budget import Budget
from .files import FormatError, as_text, existing, format_errors
from .output import atomic_output

FORMAT = 2  # To be raised when a field changes its name or its meaning.
FIRST_FORMAT = 1  # That of 0.1.0 has attributes by their own names, private ones too; estimators translate them.
ESTIMATORS = tuple(
    name for name in estimators.__all__ if hasattr(getattr(estimators, name), "transform") and name != "HoroPCACV"
)
RECORDS: dict[str, Any] = {kind.__name__.lower(): kind for kind in (Frame, NestedBases, Reservoir, Slide, Spine)}
RECORDS["answer"] = NestedBases  # its name in earlier files
# A field of a file is this private attribute; a new one is a new row here.
PRIVATE = {
    "n_features_out": "_n_features_out",
    "mean_point": "_mean",
    "centre_point": "_centre",
    "image_frame": "_frame",
    "image_frames": "_frames",
    "directions": "_directions",
    "search": "_nested_bases",
    "slide": "_slide",
    "reservoir": "_reservoir",
    "colour": "_colour",
    "reach": "_reach",
    "weights": "_weights",
    "output_config": "_sklearn_output_config",
}
FIELDS = {attribute: field for field, attribute in PRIVATE.items()} | {"_answer": "search"}  # its name in the first format
FIRST_NAMES = ("_hull", "_base")  # These attributes of the first format are translated and gone.


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _is_array(value: Any) -> bool:
    return value is None or (isinstance(value, np.ndarray) and value.dtype.kind in "fiu")


# The values of these fields are of such kinds; others may be anything that a file can hold.
KINDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("n_features_in_", "n_components_", "n_samples_seen_", "n_features_out"), _is_count),
    **dict.fromkeys(
        (
            "total_variance_",
            "variance_error_",
            "departure_",
            "reconstruction_error_",
            "curvature_",
            "reach",
            "stretch_",
            "stretch_bound_",
        ),
        _is_number,
    ),
    **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "unexplained_variance_", "eigenvalues_"), _is_array),
    **dict.fromkeys(("mean_", "centre_", "components_", "ideal_points_", "base_point_", "reference_points_"), _is_array),
    **dict.fromkeys(("coordinate_mean_", "coordinate_scale_", "mean_direction_", "mean_point", "centre_point"), _is_array),
    "n_iter_": lambda value: _is_count(value) or _is_array(value),
    "converged_": lambda value: isinstance(value, bool | np.bool_),
    **dict.fromkeys(("status_", "model_", "objective_", "metric_", "activation_"), lambda value: isinstance(value, str)),
    "image_frame": lambda value: isinstance(value, Frame),
    "spine_": lambda value: isinstance(value, Spine),
    "nested_spines_": lambda value: isinstance(value, list) and all(isinstance(item, Spine) for item in value),
    "feature_names_in_": lambda value: isinstance(value, np.ndarray) and value.dtype == object,
    "output_config": lambda value: isinstance(value, dict),
}
# Estimators and the steps here raise these at parts that do not fit together.
MISFITS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def save_fitted(estimator: BaseEstimator, path: str | Path, *, force: bool = False) -> Path:
    """Write a fitted reduction or whitener to an ``.npz`` file, from which `load_fitted` restores it.

    Parameters
    ----------
    estimator : a fitted estimator of this package, but for `HyperbolicSVC`
        Of a `HoroPCACV` the `HoroPCA` is kept that it has come to be, with as many components.
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
    return unpack(read_members(path, "is damaged, cut short, or not written by horopca"), path)


# ---------------------------------------------------------------- to a file


def pack(estimator: BaseEstimator) -> dict[str, np.ndarray]:
    """The members of the archive for a fitted estimator, or for the parameters of one that is not fitted."""
    estimator = estimator._as_chosen() if isinstance(estimator, Transformer) else estimator
    name = type(estimator).__name__
    if name not in ESTIMATORS or type(estimator) is not getattr(estimators, name):
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}, but is {name}.")
    params = {key: as_number(value) for key, value in estimator.get_params(deep=False).items()}
    learnt = {_field(key): value for key, value in vars(estimator).items() if key not in params}
    if not isinstance(params.get("random_state"), int | np.integer):
        params = {key: value for key, value in params.items() if key != "random_state"}  # a generator has no use any more
    arrays: dict[str, np.ndarray] = {}
    tree = {
        "format": FORMAT,
        "version": __version__,
        "class": name,
        "params": {key: _put(value, arrays, key) for key, value in params.items()},
        "learnt": {key: _put(value, arrays, key) for key, value in learnt.items()},
    }
    return {"model": as_member(tree), **arrays}


def _field(attribute: str) -> str:
    """The name of an attribute in a file."""
    if attribute not in FIELDS and attribute.startswith("_"):
        raise ValueError(f"{attribute} is private and has no name in a file: give it one in horopca.io.fits.PRIVATE.")
    return FIELDS.get(attribute, attribute)


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
    elif type(value) in (list, tuple):
        return {type(value).__name__: [_put(item, arrays, where) for item in value]}
    elif type(value) in RECORDS.values():
        return {type(value).__name__.lower(): {key: _put(item, arrays, where) for key, item in value._asdict().items()}}
    raise ValueError(
        f"{where} must be made of arrays, numbers and strings to be written to a file, but is of type {type(value).__name__}."
    )


def as_member(tree: Any) -> np.ndarray:
    """What JSON can say, as a member of an archive (of bytes: NumPy's strings take four for a letter)."""
    return np.array(json.dumps(tree).encode())


def from_member(member: np.ndarray) -> Any:
    return json.loads(as_text(member[()]))


def write_members(path: Path, members: Mapping[str, Any]) -> None:
    """Write arrays to an archive, and have them on the disk."""
    with open(path, "xb") as file:  # nothing that is there is followed or overwritten
        np.savez(file, **members)
        file.flush()
        os.fsync(file.fileno())


# ---------------------------------------------------------------- from a file


def unpack(members: Mapping[str, np.ndarray], path: Path) -> Any:
    """The estimator in the members of an archive, or a sentence."""
    with format_errors(path, "holds no fitted estimator of horopca", *MISFITS):
        tree = from_member(members["model"])
        found, name = tree["format"], tree["class"]
    if found not in (FIRST_FORMAT, FORMAT):
        raise FormatError(
            f"{path} is in format {str(found)[:40]}, but this version of horopca reads format {FORMAT}: fit again."
        )
    if name not in ESTIMATORS:
        raise FormatError(f"{path} holds a {str(name)[:40]!r}, but only these are restored: {', '.join(ESTIMATORS)}.")
    with format_errors(path, f"is damaged: its parts do not make a fitted {name}", *MISFITS):
        estimator = _rebuilt(tree, members)
        Budget(path).claim(64 * estimator.n_features_in_)  # what a point of so many columns takes on its way
        _try_out(estimator)
    return estimator


def _rebuilt(tree: dict[str, Any], members: Mapping[str, np.ndarray]) -> Any:
    kind, first = getattr(estimators, tree["class"]), tree["format"] == FIRST_FORMAT
    estimator = kind(**{key: _take(value, members) for key, value in tree["params"].items()})
    for key, content in tree["learnt"].items():
        field = FIELDS.get(key, key) if first else key
        value = _take(content, members)
        if not (field in PRIVATE or _is_public(field, kind) or (first and key in FIRST_NAMES)):
            raise ValueError(f"{field!r} is nothing that is learnt.")
        if not KINDS.get(field, lambda _: True)(value):
            raise ValueError(f"{field!r} is not of the kind that it should be.")
        setattr(estimator, PRIVATE.get(field, field), value)
    if first:
        estimator._translate_first_version()
    return estimator


def _is_public(name: str, kind: type) -> bool:
    """Whether a name is one that the class may give to what it learns: ``name_``, and neither a method nor a property."""
    return bool(re.fullmatch(r"[a-zA-Z]\w*_", name)) and not keyword.iskeyword(name) and not hasattr(kind, name)


def _take(value: Any, members: Mapping[str, np.ndarray]) -> Any:
    """A value from its JSON; the opposite of `_put`. Records of the first format are lists, in the order of their fields."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return members[content] if members[content].ndim else members[content][()]
    if kind == "names":
        return np.array([str(item) for item in content], dtype=object)
    if kind in ("list", "tuple"):
        items = [_take(item, members) for item in content]
        return items if kind == "list" else tuple(items)
    if isinstance(content, list):
        return RECORDS[kind.lower()](*(_take(item, members) for item in content))
    parts = {key: _take(item, members) for key, item in content.items()}
    return parts if kind == "dict" else RECORDS[kind](**parts)


def _try_out(estimator: Any) -> None:
    """Map the origin there and back: arrays that do not fit together fail here, and not later at a user's points."""
    if estimator.model != "auto":
        check_coordinates(estimator.model, estimator.curvature)
    columns, given = estimator.n_features_in_, fitted_coordinates(estimator)
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
        X = given.from_hyperboloid(origin, origin.dtype)
    with np.errstate(all="ignore"):
        Y = np.asarray(estimator.transform(X))
        back = np.asarray(estimator.inverse_transform(Y)) if hasattr(estimator, "inverse_transform") else X
    if Y.shape != (1, estimator._n_features_out) or back.shape != X.shape or not np.isfinite(Y).all():
        raise ValueError("The origin has no image.")
