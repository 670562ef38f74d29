"""What types promise. mypy checks this file too: what goes in as an array of one library comes out as one of the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from horopca import HoroPCA
from horopca.geometry import distance, from_hyperboloid, lift, translate

if TYPE_CHECKING:
    from torch import Tensor


def of_numpy(s: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
    return distance(lift(s), translate(lift(s), m))


def of_torch(s: Tensor, m: Tensor) -> Tensor:
    return from_hyperboloid(translate(lift(s), m), "klein")


def reduced(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return HoroPCA(model="lorentz").fit(X).fit_transform(X)


def test_functions_return_arrays_of_the_library_of_their_arguments(xp: Any) -> None:
    s = xp.asarray([[3.0, 4.0]])
    assert isinstance(from_hyperboloid(translate(lift(s), lift(s)), "klein"), type(s))
