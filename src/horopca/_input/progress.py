"""Progress of long calls: the callback of the caller, and messages of level INFO on the logger "horopca".

Python shows no such message unless a user configures logging.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger("horopca")


def logged(name: str, progress: Callable[..., object]) -> Callable[..., None]:
    """A callback that logs ``name: done of total`` and calls `progress` with the same arguments."""

    def report(done: int, total: int, *doing: str) -> None:
        logger.info("%s: %s", name, ", ".join([*doing, f"{done} of {total}"]))
        progress(done, total, *doing)

    return report
