"""What the tests of pictures share."""

import pytest

from horopca.plots import new_figure


@pytest.fixture
def ax():
    return new_figure(interactive=False).subplots()
