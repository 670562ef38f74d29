"""Read and write points, graphs and fitted estimators.

Nothing in a file is executed. A file that cannot be read raises an error that names the file and, in text, the line. An output
is written completely or not at all.
"""

from .description import Description, describe
from .files import EdgeList, Table, memory_limit
from .fits import load_fitted, save_fitted
from .graphs import load_edges
from .output import FORMATS, atomic_output, save
from .reading import READABLE, load
from .stores import open_store
from .streaming import Streamed, reduce_file
from .text import load_labels

__all__ = [
    "FORMATS",
    "READABLE",
    "Description",
    "EdgeList",
    "Streamed",
    "Table",
    "atomic_output",
    "describe",
    "load",
    "load_edges",
    "load_fitted",
    "load_labels",
    "memory_limit",
    "open_store",
    "reduce_file",
    "save",
    "save_fitted",
]
