"""Reductions, whitening and classification of hyperbolic data as scikit-learn estimators."""

from .bsa import BSA
from .busemann import BusemannWhitener
from .euclidean import EuclideanPCA
from .horopca import HoroPCA
from .horopca_cv import HoroPCACV
from .mds import HyperbolicMDS
from .pga import PGA
from .radial import RadialPCA
from .svm import HyperbolicSVC
from .tangent import TangentPCA
from .whitening import TangentWhitener

__all__ = [
    "BSA",
    "PGA",
    "BusemannWhitener",
    "EuclideanPCA",
    "HoroPCA",
    "HoroPCACV",
    "HyperbolicMDS",
    "HyperbolicSVC",
    "RadialPCA",
    "TangentPCA",
    "TangentWhitener",
]
