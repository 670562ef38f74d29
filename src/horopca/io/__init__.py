"""Points and graphs in files, read with care and written whole or not at all.

Nothing that could run code is ever executed. What cannot be read is refused in a sentence that names the file and, in
text, the line.
"""

from .budget import memory_limit
from .description import Description, describe
from .edges import EdgeList, load_edges
from .files import Table
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
