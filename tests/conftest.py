"""Settings of all tests, and fixtures: array libraries, and faster settings for tests of other things."""

import os
import signal
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

# before SciPy is imported (so nothing here imports the package): scikit-learn then checks arrays of other libraries as well
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# a background job ignores Ctrl-C, and so would the commands that tests start
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples every time; no deadline, since a busy machine may be slow
settings.register_profile("horopca", derandomize=True, deadline=None)
settings.load_profile("horopca")


# The longest tests and those that wait for browsers run first, so that no process waits for another at the end.
LONG = [
    "estimators/test_layers.py", "reproduction/test_reproduction.py", "embed/test_embed.py",
    "fuzz/test_files.py", "cli/test_map.py", "explorer/test_picture_browser.py", "explorer/test_navigation_browser.py",
    "explorer/test_original_browser.py", "explorer/test_files_browser.py",
]  # fmt: skip


def pytest_collection_modifyitems(items):
    order = {name: i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get("/".join(item.path.parts[-2:]), len(LONG)))


@pytest.fixture(params=["numpy", "torch", "array_api_strict", "cuda"])
def xp(request):
    """An array library: ``xp.asarray(x)`` is x in it; the last is torch on a device, where there is one."""
    if request.param == "numpy":
        return np
    if request.param != "cuda":
        return pytest.importorskip(request.param)
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA GPU")
    return SimpleNamespace(asarray=partial(torch.asarray, device="cuda"), float32=torch.float32, float64=torch.float64)


@pytest.fixture
def small_blocks(monkeypatch):
    """Files of a few kilobytes, such as that of `blocks`, count as large and are read in eight blocks."""
    monkeypatch.setattr("horopca.io.arrays.BLOCK_BYTES", 128 * 6 * 8)
    monkeypatch.setattr("horopca.io.streaming.LARGE", 1000)


@pytest.fixture(scope="module")
def runner(request):
    """Runs code in forks of one process, which has run the code SETUP of the module."""
    from forks import Runner

    if os.name == "nt":
        pytest.skip("needs fork, signals and limits")
    runner = Runner(request.module.SETUP)
    yield runner
    runner.close()


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.npy"


@pytest.fixture(scope="module")
def few_costs():
    """Two values of C for classifiers to choose from."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("horopca.metrics.classification.COSTS", (0.1, 10.0))
        yield


@pytest.fixture(scope="module")
def compared_classifiers(few_costs):
    """All classifiers on the points of `hierarchies.classes`."""
    from hierarchies import classes
    from horopca.metrics.classification import compare_classifiers

    return compare_classifiers(*classes(), splits=2)
