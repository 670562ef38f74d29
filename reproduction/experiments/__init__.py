"""The experiments, by their names on the command line and in the order of the page."""

from ..definitions import Experiment
from .dimensions import DIMENSIONS
from .embedding import EMBEDDING
from .histogram import HISTOGRAM
from .illustrations import ILLUSTRATIONS
from .reduction import REDUCTION
from .sarkar import SARKAR
from .theorems import THEOREMS
from .whitening import WHITENING
from .wordnet import WORDNET

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (REDUCTION, WHITENING, WORDNET, EMBEDDING, SARKAR, HISTOGRAM, DIMENSIONS, THEOREMS, ILLUSTRATIONS)
}
