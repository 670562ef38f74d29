"""For all tests, the examples of the docstrings included: figures are closed after each."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """pyplot keeps every figure until it is closed, and warns after 20 of them."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
