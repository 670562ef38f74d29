"""Progress of long calls: the callback of the caller, and messages of level INFO on the logger "horopca".

Python shows no such message unless a user configures logging.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger("horopca")
Progress = Callable[[int, int], object]  # called as progress(done, total)


def logged(name: str, progress: Progress) -> Progress:
    """A callback that logs ``name: done of total`` and calls `progress`."""

    def report(done: int, total: int) -> None:
        logger.info("%s: %d of %d", name, done, total)
        progress(done, total)

    return report
