"""What a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def sentence(function: Callable[..., Any], *given: Any, **options: Any) -> str:
    """The words of the ValueError that a call ends in."""
    with pytest.raises(ValueError) as refusal:
        function(*given, **options)
    return str(refusal.value)
