"""The paper's experiments, computed again: ``python -m reproduction``, or ``reproduce()``.

An experiment is a table or figure of the paper, made of cells, each one pure computation; finished cells are files in a
folder, so
that an interrupted reproduction goes on where it was. What is made of them (tables, pictures, one page) is made anew each time.
"""

from .command import Outcome, reproduce
from .experiments import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Outcome", "reproduce"]
