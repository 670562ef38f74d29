"""Messages of errors."""

from collections.abc import Callable
from typing import Any

import pytest

from horopca._input.coordinates import Coordinates
from horopca._input.rows import check_rows


def error_message(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The message of the ValueError that a call raises."""
    with pytest.raises(ValueError) as error:
        function(*arguments, **options)
    return str(error.value)


def is_valid(X: Any, model: Any, curvature: float) -> bool:
    """Whether an array is accepted as points."""
    try:
        check_rows(X, Coordinates(model, curvature))
    except ValueError:
        return False
    return True
