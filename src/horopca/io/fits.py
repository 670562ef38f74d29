"""Saved estimators: the parameters and the learnt attributes of a fitted estimator in an ``.npz`` file.

The member ``horopca`` is a JSON header: the format, the version of the package, the class, the parameters and the attributes.
An array is another member, which the header names; a named tuple is a mapping of its fields. Nothing is pickled. When a file is
read, classes and named tuples come from tables, and the estimator has to map points before it is returned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import __version__, estimators
from .._input.arguments import as_number
from .._input.coordinates import LARGEST_RADIUS, check_coordinates
from .._input.reservoir import Reservoir
from ..estimators.base import Transformer
from ..estimators.fitting import as_fitted, fitted_coordinates
from ..estimators.horopca_fit import NestedBases
from ..geometry._arrays import to_numpy
from ..geometry.isometries import Frame
from ..geometry.models import lift
from ..projections import Spine
from ..projections.horospherical import Slide
from .arrays import read_members
from .files import Budget, FormatError, as_text, existing, format_errors
from .metadata import MEMBER
from .output import atomic_output, fsync_file

FORMAT = 3  # Increase it when an attribute changes its name or its meaning.
ESTIMATORS = tuple(
    name for name in estimators.__all__ if hasattr(getattr(estimators, name), "transform") and name != "HoroPCACV"
)
TUPLES: dict[str, Any] = {kind.__name__: kind for kind in (Frame, NestedBases, Reservoir, Slide, Spine)}
TYPES = (np.ndarray, *TUPLES.values())  # Of the items of a list.
TEXTS = ("activation_", "metric_", "model_", "objective_", "status_")  # The public attributes that are strings.
UNIT_ERROR = 1e-6  # The tolerance for orthonormal vectors, far above their rounding error of 1e-15.
TRIAL_RADII = (0.0, 0.1, 1.0, 5.0, 20.0, 100.0, 0.99 * LARGEST_RADIUS)  # The distances from the origin of points to map.


def save_fitted(estimator: BaseEstimator, path: str | Path, *, force: bool = False) -> Path:
    """Write a fitted reduction or whitener to an ``.npz`` file, which `load_fitted` reads.

    Parameters
    ----------
    estimator : a fitted estimator of this package, except `HyperbolicSVC`
        A `HoroPCACV` is saved as the `HoroPCA` with the number of components that it has chosen.
    path : str or Path, ending in ``.npz``
        The file.
    force : bool, default=False
        Overwrite an existing file.

    Returns
    -------
    Path

    See Also
    --------
    load_fitted : reads the file

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
    members = to_members(estimator)
    with atomic_output(path, force=force, formats=(".npz",)) as temporary:
        write_members(temporary, members)
    return Path(path)


def load_fitted(path: str | Path) -> Any:
    """Read an estimator that `save_fitted` has written. Nothing in the file is executed.

    Parameters
    ----------
    path : str or Path
        The ``.npz`` file.

    Returns
    -------
    estimator
        The fitted estimator. Its ``random_state`` is None unless it was a number.

    See Also
    --------
    save_fitted : writes such files

    Examples
    --------
    >>> import tempfile
    >>> from horopca import TangentPCA
    >>> from horopca.io import load_fitted, save_fitted
    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    >>> path = save_fitted(TangentPCA(1).fit(X), tempfile.mkdtemp() + "/fit.npz")
    >>> load_fitted(path).transform(X).shape
    (3, 1)
    """
    path = existing(path)
    members = read_members(path, "is damaged, cut short, or not written by horopca")
    with format_errors(path, "holds no fitted estimator of horopca"):
        header = json.loads(as_text(members[MEMBER][()]))
        found, name = header["format"], header["class"]
    if found != FORMAT:
        raise FormatError(f"{path} is in format {str(found)[:40]}, but this version reads format {FORMAT}: fit again.")
    if name not in ESTIMATORS:
        raise FormatError(f"{path} holds a {str(name)[:40]!r}, but only these are restored: {', '.join(ESTIMATORS)}.")
    with format_errors(path, f"is damaged: its parts do not make a fitted {name}"), np.errstate(all="ignore"):
        estimator = _from_header(header, members)
        Budget(path).claim(64 * len(TRIAL_RADII) * estimator.n_features_in_)  # for `_check_maps`
        _check_maps(estimator)
    return estimator


def provenance(estimator: Any, basis: str | None = None) -> dict[str, Any]:
    """The metadata of the images of an estimator: its model, curvature, plain parameters and variance ratios."""
    coordinates = {name: as_fitted(estimator, name) for name in ("model", "curvature")}
    params = {"basis": basis, "estimator": type(estimator).__name__, **estimator.get_params(deep=False)}
    plain = {name: value for name, value in params.items() if isinstance(value, bool | int | float | str | np.number)}
    ratio = getattr(estimator, "explained_variance_ratio_", None)
    explained = {} if ratio is None else {"variance_ratio": np.asarray(ratio)}
    return {"version": __version__, **coordinates, "params": plain, **explained}


def to_members(estimator: BaseEstimator) -> dict[str, np.ndarray]:
    """The members of the archive for an estimator, fitted or not. Raises ValueError if it cannot be saved."""
    estimator = estimator._as_chosen() if isinstance(estimator, Transformer) else estimator
    name = type(estimator).__name__
    if name not in ESTIMATORS or type(estimator) is not getattr(estimators, name):
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}, but is {name}.")
    params = estimator.get_params(deep=False)
    learnt = {key: value for key, value in vars(estimator).items() if key not in params}
    params = {key: to_numpy(value) if is_array_api_obj(value) else value for key, value in params.items()}
    params["curvature"] = as_number(params["curvature"])
    if not isinstance(params.get("random_state"), int | np.integer):
        params.pop("random_state", None)  # a generator is in another state after the fit
    arrays: dict[str, np.ndarray] = {}
    header = {
        "format": FORMAT,
        "version": __version__,
        "class": name,
        "params": {key: _to_json(value, arrays, key) for key, value in params.items()},
        "learnt": {key: _to_json(value, arrays, key) for key, value in learnt.items()},
    }
    return {MEMBER: np.array(json.dumps(header).encode()), **arrays}


def _to_json(value: Any, arrays: dict[str, np.ndarray], name: str) -> Any:
    """A value as JSON. Its arrays are added to `arrays`."""
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype == object and all(isinstance(item, str) for item in np.ravel(value)):
            return {"names": np.ravel(value).tolist()}  # scikit-learn's feature_names_in_
        if value.dtype.kind in "fiubU":
            key = name if name not in arrays else f"{name}.{len(arrays)}"
            arrays[key] = np.asarray(value)
            return {"array": key}
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _to_json(item, arrays, f"{name}.{key}") for key, item in value.items()}}
    elif type(value) in (list, tuple):
        return {type(value).__name__: [_to_json(item, arrays, f"{name}.{k}") for k, item in enumerate(value)]}
    elif type(value) in TUPLES.values():
        fields = value._asdict().items()
        return {type(value).__name__: {key: _to_json(item, arrays, f"{name}.{key}") for key, item in fields}}
    raise ValueError(f"{name} must consist of arrays, numbers and strings to be saved, but is a {type(value).__name__}.")


def write_members(path: Path, members: Mapping[str, Any]) -> None:
    """Write arrays to a new archive, and wait until it is on the disk."""
    with open(path, "xb") as file:  # an existing file or link is an error
        np.savez(file, **members)
        fsync_file(file)


def _from_header(header: dict[str, Any], members: Mapping[str, np.ndarray]) -> Any:
    """The estimator that a header describes. Raises ValueError if it has an attribute that a fit does not set."""
    kind = getattr(estimators, header["class"])
    estimator = kind(**{key: _from_json(value, members) for key, value in header["params"].items()})
    for name, value in header["learnt"].items():
        if not name.isidentifier() or hasattr(kind, name) or name in header["params"]:
            raise ValueError(f"{name!r} is not an attribute that a fit sets.")
        found = _from_json(value, members)
        texts = isinstance(found, str) != (name in TEXTS) and not name.startswith("_")
        if texts or (type(found) in (list, tuple) and not all(isinstance(item, TYPES) for item in found)):
            raise ValueError(f"{name} has another type.")
        setattr(estimator, name, found)
    return estimator


def _from_json(value: Any, members: Mapping[str, np.ndarray]) -> Any:
    """The inverse of `_to_json`. Raises ValueError if a number is not finite, or a named tuple is invalid."""
    if not isinstance(value, dict):
        if isinstance(value, float) and not np.isfinite(value):
            raise ValueError("A number is not finite.")
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        array = members[content]
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{content} is not finite.")
        return array if array.ndim else array[()]
    if kind == "names":
        return np.array([str(item) for item in content], dtype=object)
    if kind in ("list", "tuple"):
        items = [_from_json(item, members) for item in content]
        return items if kind == "list" else tuple(items)
    fields = {key: _from_json(item, members) for key, item in content.items()}
    if kind == "dict":
        return fields
    found = TUPLES[kind](**fields)
    if isinstance(found, Frame):
        _check_orthonormal(found.axes)
        if not np.isclose(found.mean[0], np.hypot(1, np.linalg.norm(found.mean[1:])), rtol=UNIT_ERROR, atol=0):
            raise ValueError("The mean of a frame is not on the hyperboloid.")
    elif isinstance(found, Spine):
        _check_orthonormal(np.vstack([found.n, found.U]))
        if not (-1 <= found.kappa <= 1 and found.stretch > 0):
            raise ValueError("kappa must be from -1 to 1, and the stretch positive.")
    return found


def _check_orthonormal(rows: np.ndarray) -> None:
    """Raise ValueError if rows are not orthonormal."""
    if len(rows) > rows.shape[1] or not np.allclose(rows @ rows.T, np.eye(len(rows)), rtol=0, atol=UNIT_ERROR):
        raise ValueError("Vectors are not orthonormal.")


def _check_maps(estimator: Any) -> None:
    """Map points at the distances `TRIAL_RADII` from the origin, and back. Raises ValueError if an image is not finite."""
    if estimator.model != "auto":
        check_coordinates(estimator.model, estimator.curvature)
    columns, coordinates, n = estimator.n_features_in_, fitted_coordinates(estimator), len(TRIAL_RADII)
    if len(getattr(estimator, "feature_names_in_", range(columns))) != columns:
        raise ValueError("There must be as many names as columns.")
    estimator = copy(estimator)
    for name in ("feature_names_in_", "_sklearn_output_config"):  # without these, an array is mapped to an array
        vars(estimator).pop(name, None)
    X = np.ones((n, columns))
    if getattr(estimator, "metric", None) != "precomputed":
        directions = np.random.default_rng(0).normal(size=(n, coordinates.dimension(columns)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        X = coordinates.from_hyperboloid(lift(np.sinh(TRIAL_RADII)[:, None] * directions), X.dtype)
    Y = np.asarray(estimator.transform(X))
    back = np.asarray(estimator.inverse_transform(Y)) if hasattr(estimator, "inverse_transform") else X
    if (
        Y.shape != (n, estimator._n_features_out)
        or back.shape != X.shape
        or not (np.isfinite(Y).all() and np.isfinite(back).all())
    ):
        raise ValueError("Points have no images.")
