"""``python -m reproduction``: the paper's tables and figures, computed again."""

from .terminal import reproduce

reproduce()
