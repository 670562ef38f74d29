"""Points with their names, classes and other columns, from their own file or from a table of metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from .. import plots
from ..explorer.edges import load_row_edges
from ..io import load_labels, save
from ..io.files import Budget, existing, listed
from ..io.metadata import LABEL_COLUMN
from ..io.text import ending, is_number, open_lines, table_rows
from ..plots.palette import COLOURS
from .console import count
from .files import Reading, Writer, read

DISTINCT_TEXTS = 0.5  # A column with more distinct texts than this fraction of its rows holds details of points, not classes.
CAPTION_SIZE, CAPTION_WIDTH = 7, 110  # Points, and letters in a line: a figure is 7 inches wide.
GENERATED_NAME = re.compile(r"(inner|leaf) \d+")  # The names that `load_edges` gives to nodes without one.
OWN_LABELS = "class"  # The name of the column of the classes in a file of points, which may not name it.
UNNAMED = re.compile(r"labels?|column \d+", re.IGNORECASE)  # Generic headers, and the names of columns without a header.
BARCODE = re.compile(r"(?<![A-Za-z])[ACGT]{10,}(?![A-Za-z])")  # of a cell, such as AAACCTGAGCATCATC-1
NAMES = ("auto", "all", "leaves", "none")
Column = list[str] | np.ndarray  # classes, "" where one is missing; or numbers, NaN where one is missing


class Points(NamedTuple):
    """Points with their coordinates, names and columns."""

    X: Any  # (n, d)
    coordinates: Mapping[str, Any] = {}  # model and curvature
    names: list[str] | None = None
    columns: Mapping[str, Column] = {}
    colour: str | None = None  # the column to colour by
    note: str | None = None  # how many points a table of metadata describes
    palette: Mapping[str, str] | None = None  # colours of the classes, if the file has them
    others: Sequence[str] = ()  # further columns of --colour-by
    cells: bool = False  # whether the names are barcodes of cells

    @property
    def labels(self) -> list[str | None] | None:
        """Classes to colour by; None for a missing one."""
        column = None if self.colour is None else self.columns[self.colour]
        return None if column is None or isinstance(column, np.ndarray) else [text or None for text in column]

    def column(self, source: Path | None, noun: str) -> list[str] | None:
        """One text for each point: a column, or the lines of a file."""
        if source is None:
            return None
        if str(source) in self.columns:
            return [str(value) for value in self.columns[str(source)]]
        found = load_labels(source)
        if len(found) != len(self.X):
            raise ValueError(f"{source} must hold one {noun} for each of the {len(self.X)} rows, but holds {len(found)}.")
        return found

    def edges(self, path: Path | None) -> np.ndarray | None:
        """Pairs of rows (m, 2) in a file."""
        return None if path is None else load_row_edges(path, self.names)

    def row(self, name: str, option: str) -> int:
        """The row of a point by its name (with or without its code), its code, its number, or a part of its name."""
        names, n = self.names or [], len(self.X)
        part, is_row = name.lower(), name.isdecimal() and int(name) < n
        exact = (
            lambda other: other == name,
            lambda other: other.endswith(f"({name})"),
            lambda other: other.startswith(f"{name} (") and other.endswith(")"),
        )
        for fits in exact if is_row else (*exact, lambda other: part in other.lower()):
            found = [i for i, other in enumerate(names) if fits(other)]
            if len(found) == 1:
                return found[0]
            if found:
                some = listed(names[i] for i in found)
                raise ValueError(f"{option} must be the name of one point, but {len(found):,} match {name!r}: {some}.")
        if not is_row:
            raise ValueError(f"{option} must be the name or the row number (0 to {n - 1:,}) of a point, but is {name!r}.")
        return int(name)

    def draw(
        self,
        figure: Any,
        edges: np.ndarray | None = None,
        *,
        names: str = NAMES[0],
        with_edges: bool = True,
        caption: str | None = None,
        **options: Any,
    ) -> None:
        """Draw points of the plane with their colours, and with the names that `names` of ``--names`` selects."""
        numbers = self.colour is not None and self.labels is None
        colours = {"values": self.columns[str(self.colour)], "value_name": self.colour} if numbers else {"labels": self.labels}
        options = {"palette": self.palette, "names": self._drawn_names(names, edges), **self.coordinates, **colours, **options}
        plots.plot_plane(self.X, edges=edges if with_edges else None, ax=figure.subplots(), **options)
        if caption is not None:
            figure.supxlabel(fill(caption, CAPTION_WIDTH, break_on_hyphens=False), fontsize=CAPTION_SIZE, x=0.01, ha="left")

    def _drawn_names(self, which: str, edges: np.ndarray | None) -> list[str] | None:
        if self.names is None or which == "none" or (which == "auto" and self.cells):
            return None
        names = own_names(self.names)
        if which != "leaves":
            return names
        if edges is None:
            raise ValueError("--names leaves needs --edges, which determine the leaves.")
        degrees = np.bincount(edges.ravel(), minlength=len(names))
        return [name if degree < 2 else "" for name, degree in zip(names, degrees, strict=True)]

    def page_arguments(self) -> dict[str, Any]:
        """Arguments of `explore`: coordinates, names, and columns, the one to colour by first: classes, numbers and texts."""
        labels: Any = {}
        values: dict[str, np.ndarray] = {}
        details: dict[str, list[str]] = {}
        for name in sorted(self.columns, key=lambda name: name != self.colour):
            column = self.columns[name]
            if isinstance(column, np.ndarray):
                values[name] = column
            elif name != self.colour and len(set(column)) > DISTINCT_TEXTS * len(column):
                details[name] = column
            else:
                labels[name] = [text or None for text in column]
        if self.cells and self.names is not None:  # to be searched, but not to be written on the page
            details["cell"] = self.names
        if len(labels) == 1 and not details and not values:
            (labels,) = labels.values()
        names = None if self.names is None or self.cells else own_names(self.names)
        found = {"names": names, "labels": labels, "values": values, "details": details}
        return {**self.coordinates, **{name: value for name, value in found.items() if value}}

    def writer(self, source: dict[str, Any], output: Path | None, **h5ad: Any) -> Writer:
        """A function that writes points with their classes, names and metadata; the output's name selects the format."""
        more = h5ad if output is not None and output.suffix.lower() == ".h5ad" else {}
        labels = None if self.labels is None else [label or "" for label in self.labels]
        columns = {name: self.columns[name] for name in self.others}
        if labels is not None and self.colour != OWN_LABELS:  # the next command knows the classes by the name of their column
            source = {**source, LABEL_COLUMN: self.colour}
        return lambda path: save(path, self.X, labels, names=self.names, columns=columns, source=source, **more)


def own_names(names: Sequence[str]) -> list[str]:
    """The names, with "" for nodes that have none in their file."""
    return ["" if GENERATED_NAME.fullmatch(name) else name for name in names]


def read_points(path: Path, reading: Reading, *columns: object) -> Points:
    """The points in a file, with its columns and those of ``--metadata``. Numbers in `columns` are not coordinates."""
    wanted = {*(reading.colour_by or ()), *map(str, columns)}
    table = read(path, reading, values=wanted)
    classes = None if table.labels == table.row_names else table.labels
    header = next((name for name, words in table.words.items() if words == classes), OWN_LABELS)
    called = OWN_LABELS if OWN_LABELS in wanted or UNNAMED.fullmatch(header) else header
    words = {name: words for name, words in table.words.items() if name in wanted or words not in (table.row_names, classes)}
    own: dict[str, Column] = {**({} if classes is None else {called: classes}), **words, **table.values}
    found = annotate(Points(table.X, reading.coordinates(table.model, table.curvature), table.row_names, own), reading)
    if found.colour is None and classes is not None and len(set(classes)) < len(classes):
        found = found._replace(colour=called)
    palette = table.colours.get(header if found.colour == called else found.colour or "")
    cells = ending(path) == ".h5ad" or all(BARCODE.search(name) for name in found.names or [""])
    return found._replace(palette=palette, cells=cells)


def annotate(points: Points, reading: Reading) -> Points:
    """Points with the columns of ``--metadata`` too, and the columns to colour by."""
    columns, colours, names, note = dict(points.columns), reading.colour_by or [], points.names, None
    if reading.metadata is not None:
        table = _read_table(reading.metadata, len(points.X))
        joined, names, note = _join(table, names, len(points.X), reading.metadata)
        columns |= joined
        colours = colours or (list(joined) if len(table) == 1 else [])
    for name in colours:
        if name not in columns:
            raise ValueError(
                f"--colour-by must be a column, but there is no column {name!r}; the columns are: {listed(columns)}."
            )
    typed = {name: _typed(column) for name, column in columns.items()}
    return points._replace(names=names, columns=typed, colour=next(iter(colours), None), note=note, others=colours[1:])


def _typed(column: Column) -> Column:
    """A column as numbers if all its entries are numbers, unless these are integers with few values, such as clusters."""
    if isinstance(column, list):
        if not any(column) or not all(is_number(text) for text in column if text):
            return column
        column = np.array([float(text or "nan") for text in column])
    known = column[np.isfinite(column)]
    few = known.size and (known == np.round(known)).all() and len(np.unique(known)) <= len(COLOURS)
    return [f"{value:.0f}" if np.isfinite(value) else "" for value in column] if few else np.asarray(column, dtype=np.float64)


def _read_table(path: Path, n: int) -> dict[str, list[str]]:
    """The columns of a table in text by their headings. A file without tabs or commas has one column, called "metadata"."""
    path = existing(path)
    with open_lines(path, Budget(path)) as lines:
        text = list(lines)
    delimiter = next((mark for mark in ("\t", ",") if text and mark in text[0]), None)
    if delimiter is None or ending(path) == ".txt":
        return {"metadata": [line.strip() for line in text[len(text) == n + 1 :]]}  # without a heading
    (_, header), *rows = table_rows(iter(text), path, delimiter)
    for line, fields in rows:
        if len(fields) != len(header):
            raise ValueError(f"{path}, line {line}: {len(fields)} values, but the first line has {len(header)}.")
    return {name.strip(): [fields[j].strip() for _, fields in rows] for j, name in enumerate(header)}


def _join(
    table: Mapping[str, list[str]], names: list[str] | None, n: int, path: Path
) -> tuple[Mapping[str, list[str]], list[str] | None, str]:
    """The columns of a table joined by the column with most of the names, or in order; the names; and how they were joined."""
    if names is None or len(table) == 1:
        first, column = next(iter(table.items()))
        if len(column) != n:
            raise ValueError(f"{path} must hold one line for each of the {n} points, but holds {len(column)}.")
        if names is None and len(set(column)) == n:
            table, names = {name: table[name] for name in table if name != first}, column
        return table, names, f"{n:,} points, in order"
    known = set(names) - {""}
    key = max(table, key=lambda name: len(known.intersection(table[name])))
    rows = [(name, k) for k, name in enumerate(table[key]) if name in known]
    row = dict(reversed(rows))  # the first row of a repeated name
    found = sum(name in row for name in names)
    if not found:
        example = max(([name for name in own_names(names) if name] or names)[:9], key=len)
        raise ValueError(f"{path} has no column with names of points, such as {example!r}; its columns are {listed(table)}.")
    chosen = [row.get(name) for name in names]
    columns = {c: ["" if k is None else column[k] for k in chosen] for c, column in table.items() if c != key}
    again = f"; {count(len(rows) - len(row), 'row')} with a repeated name left out" if len(rows) > len(row) else ""
    return columns, names, f"{found:,} of {n:,} points, joined by {key!r}{again}"
