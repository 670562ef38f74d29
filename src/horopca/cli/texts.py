"""What is written on points: labels, names and edges, from files and into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..explorer.edges import load_row_edges
from ..io import Table, load_labels, save
from ..io.files import named
from .files import Writer
from .options import NO_FILES, TextFiles


class Texts(NamedTuple):
    """What is known of points beside their places, each of it or None: n labels, n names, edges (m, 2)."""

    labels: list[str] | None = None
    names: list[str] | None = None
    edges: np.ndarray | None = None


def texts_of(table: Table, files: TextFiles = NO_FILES) -> Texts:
    """What the files of the options say, and else the file of points. Words that are all different are no classes."""
    labels, names, edges = files
    n, words = len(table.X), table.labels
    unique = words is not None and len(set(words)) == n
    classes = read_words(labels, n, "label") if labels is not None else None if unique else words
    called = read_words(names, n, "name") if names is not None else table.row_names
    if edges is None:
        return Texts(classes, called)
    with named(edges):
        return Texts(classes, called, load_row_edges(edges, called))


def read_words(path: Path, n: int, what: str) -> list[str]:
    """A word for each of n rows."""
    with named(path):
        found = load_labels(path)
    if len(found) != n:
        raise ValueError(f"{path} must hold one {what} for each of the {n} rows, but holds {len(found)}.")
    return found


def row_of(called: str | None, names: list[str] | None, option: str) -> int | None:
    """The row that a user calls by its name or its number."""
    if called is None:
        return None
    if names is not None and called in names:
        return names.index(called)
    if not called.isdecimal():
        raise ValueError(f"{option} must be the name or the row number of a point, but is {called!r}.")
    return int(called)


def point_writer(Y: Any, texts: Texts, source: dict[str, Any], output: Path | None, **h5ad: Any) -> Writer:
    """A function that writes points with their labels, names and metadata; the output's name selects the format."""
    more = h5ad if output is not None and output.suffix.lower() == ".h5ad" else {}
    return lambda path: save(path, Y, texts.labels, names=texts.names, source=source, **more)


def word_writer(words: list[str]) -> Writer:
    """A function that writes words, one to a line. Raises ValueError if a word has a line break."""
    broken = next((word for word in words if "\n" in word or "\r" in word), None)
    if broken is not None:
        raise ValueError(f"{broken!r} has a line break and cannot be written one to a line: an .npz file holds such names.")
    return lambda path: path.write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")
