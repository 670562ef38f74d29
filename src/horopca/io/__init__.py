"""Read and write points, graphs and fitted estimators.

Nothing in a file is executed. A file that cannot be read raises an error that names the file and, in text, the line. An output
is written completely or not at all.
"""

from .budget import memory_limit
from .description import Description, describe
from .edges import load_edges
from .files import EdgeList, Table
from .fits import load_fitted, save_fitted
from .output import FORMATS, atomic_output, check_output, save
from .reading import READABLE, load
from .streaming import Streamed, is_large, reduce_file
from .text import load_labels

__all__ = [
    "FORMATS",
    "READABLE",
    "Description",
    "EdgeList",
    "Streamed",
    "Table",
    "atomic_output",
    "check_output",
    "describe",
    "is_large",
    "load",
    "load_edges",
    "load_fitted",
    "load_labels",
    "memory_limit",
    "reduce_file",
    "save",
    "save_fitted",
]
