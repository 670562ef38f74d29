"""How a search ended, in words: every search says so, and every fit keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol


class Ended(Protocol):
    """Anything that says how it ended: an ascent, a mean, a training."""

    @property
    def n_iter(self) -> Any: ...
    @property
    def converged(self) -> bool: ...
    @property
    def status(self) -> str: ...


class Ending(NamedTuple):
    """How a search ended, and what to do if it did not converge."""

    n_iter: Any  # an int, or an array of them for several searches side by side
    converged: bool
    status: str
    remedy: str = ""

    @classmethod
    def of(cls, search: Ended, remedy: str = "") -> Ending:
        return cls(search.n_iter, bool(search.converged), search.status, remedy)

    @classmethod
    def of_all(cls, searches: Iterable[Ended], remedy: str = "") -> Ending:
        """One for several searches that follow each other: converged if all are, and the first that is not says why."""
        searches = list(searches)
        if not searches:
            return cls(0, True, "nothing to search", remedy)
        worst = next((search for search in searches if not search.converged), searches[-1])
        return cls(sum(search.n_iter for search in searches), bool(worst.converged), worst.status, remedy)
