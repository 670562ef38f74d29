"""How a search ended: stored by every fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Ending(NamedTuple):
    """How a search ended, and what to do if it did not converge."""

    n_iter: Any  # an int, or an array of them for several searches side by side
    converged: bool
    status: str
    remedy: str = ""

    @classmethod
    def of_all(cls, searches: Iterable[Any], remedy: str = "") -> Ending:
        """The result of consecutive searches: converged if all have, else with the status of the first that has not."""
        searches = list(searches)
        if not searches:
            return cls(0, True, "nothing to search", remedy)
        worst = next((search for search in searches if not search.converged), searches[-1])
        return cls(sum(search.n_iter for search in searches), bool(worst.converged), worst.status, remedy)
