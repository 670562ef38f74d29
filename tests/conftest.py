"""Set before SciPy is imported: scikit-learn's checks then try arrays of other libraries as well."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
