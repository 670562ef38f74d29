"""From graphs and trees to points of hyperbolic space."""

from .distortion import DistortionEmbedding
from .poincare import PoincareEmbedding, Reconstruction, reconstruction
from .sarkar import SarkarEmbedding
from .tree import TreeEmbedding

__all__ = [
    "DistortionEmbedding",
    "PoincareEmbedding",
    "Reconstruction",
    "SarkarEmbedding",
    "TreeEmbedding",
    "reconstruction",
]
