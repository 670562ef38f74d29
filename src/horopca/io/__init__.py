"""Points and graphs in files, read with care and written whole or not at all.

Nothing that could run code is ever executed. What cannot be read is refused in a sentence that names the file and, in
text, the line.
"""

from .edges import EdgeList, load_edges
from .files import Table
from .output import FORMATS, atomic_output, check_output, save
from .reading import READABLE, load
from .text import load_labels

__all__ = [
    "FORMATS",
    "READABLE",
    "EdgeList",
    "Table",
    "atomic_output",
    "check_output",
    "load",
    "load_edges",
    "load_labels",
    "save",
]
