"""Rows in an array of another library that follows the array API standard (torch, CuPy, JAX), on the host or on a device."""

from __future__ import annotations

import sys
from typing import Any

from array_api_compat import is_torch_array

from ..geometry._arrays import Array, array_namespace
from . import cuda
from .coordinates import LARGEST_RADIUS
from .rows import Asked, Rows


class ForeignRows(Rows):
    """The rows of such an array as `Points`."""

    def check(self, name: str = "X", reach: float = LARGEST_RADIUS) -> None:
        model, scale, X = self.coordinates.model, self.coordinates.scale, detached(self.X)
        if cuda.usable_for(X, model) and cuda.rows_outside(X, model, scale) == 0:
            return
        super().check(name, reach)


def detached(X: Any) -> Any:
    """The numbers of an array, without what a gradient would need to know of it."""
    return X.detach() if hasattr(X, "detach") else X


def _recorded(X: Any) -> bool:
    """Whether what is done to an array is recorded for gradients: not under ``torch.no_grad()``."""
    return not is_torch_array(X) or sys.modules["torch"].is_grad_enabled()


def enter(X: Any, asked: Asked) -> Rows:
    """An array of another library as rows."""
    xp, name = array_namespace(X), asked.name
    X = X if asked.graph and _recorded(X) else detached(X)
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(f"{name} must be dense, but is a sparse tensor ({X.layout}). Pass {name}.to_dense().")
    if str(getattr(X, "device", "")) == "meta":
        raise ValueError(f"{name} must hold numbers, but is on the device 'meta', which has only their shapes.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-D array (points, coordinates), but has shape {tuple(X.shape)}.")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{name} must hold real numbers, but has dtype {X.dtype}.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    asked.check_shape(X)
    if asked.estimator is not None:
        _check_features(X, asked)
    return ForeignRows(X, asked.coordinates, asked.n_jobs)


def _check_features(X: Array, asked: Asked) -> None:
    """What scikit-learn's `validate_data` does for its own arrays."""
    estimator = asked.estimator
    if asked.reset:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{asked.name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
