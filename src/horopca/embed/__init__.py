"""From graphs and trees to points of hyperbolic space."""

from .distortion import DistortionEmbedding
from .poincare import PoincareEmbedding
from .relations import Reconstruction, reconstruction
from .sarkar import SarkarEmbedding
from .skipgram import HyperbolicSkipGram

__all__ = [
    "DistortionEmbedding",
    "HyperbolicSkipGram",
    "PoincareEmbedding",
    "Reconstruction",
    "SarkarEmbedding",
    "reconstruction",
]
