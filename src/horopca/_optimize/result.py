"""How a search ended: stored by every fit."""

from __future__ import annotations

from typing import Any, NamedTuple


class Ending(NamedTuple):
    """How a search ended, and what to do if it did not converge."""

    n_iter: Any  # an int, or an array of them for several searches side by side
    converged: bool
    status: str
    remedy: str = ""
