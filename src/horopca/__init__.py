"""Principal component analysis in hyperbolic space.

>>> from horopca import HoroPCA
>>> from horopca.datasets import make_hierarchy
>>> Y = HoroPCA(n_components=2, random_state=0).fit_transform(make_hierarchy(random_state=0).points)
"""

from . import geometry, metrics
from .estimators import HoroPCA

__version__ = "0.1.0"
__all__ = ["HoroPCA", "__version__", "geometry", "metrics"]
