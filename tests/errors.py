"""Messages of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def error_message(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The message of the ValueError that a call raises."""
    with pytest.raises(ValueError) as error:
        function(*arguments, **options)
    return str(error.value)
