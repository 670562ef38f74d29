"""Set before SciPy is imported: scikit-learn's checks then try arrays of other libraries as well."""

import os

from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")

# the same examples every time, and as much time for each as a busy machine may need
settings.register_profile("horopca", derandomize=True, deadline=None)
settings.load_profile("horopca")
