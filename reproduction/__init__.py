"""The paper's experiments, computed again: ``reproduce()``, or ``horopca reproduce`` on the command line.

An experiment is a list of cells, each one pure computation; finished cells are files in a folder, so that an
interrupted reproduction goes on where it was. What is made of them (tables, pictures, one page) is made anew each time.
"""

from .command import Outcome, Watch, reproduce
from .experiments import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Outcome", "Watch", "reproduce"]
