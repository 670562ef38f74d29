"""What all tests share: settings, and every array library."""

import os
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

# before SciPy is imported: scikit-learn's checks then try arrays of other libraries as well
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# the same examples every time, and as much time for each as a busy machine may need
settings.register_profile("horopca", derandomize=True, deadline=None)
settings.load_profile("horopca")


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
