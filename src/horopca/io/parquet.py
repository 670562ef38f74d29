"""Parquet, read by pyarrow in a separate process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .files import LABEL_NAMES, Budget, FormatError, Table, as_text, matrix

ROWS_AT_ONCE = 1 << 16  # Rows that are read at a time.


def read_parquet(path: Path, key: str | None) -> Table:
    """The numeric columns of a Parquet file, or its one column of lists, with columns of words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types, budget = pa.types, Budget(path)
    with pq.ParquetFile(path, pre_buffer=False, thrift_container_size_limit=1_000_000) as file:
        _claim(file, path)
        text = _named(file.schema_arrow, types.is_string, types.is_large_string)
    batches = []
    with pq.ParquetFile(path, read_dictionary=text) as file:  # a word that occurs in many rows is stored once
        for batch in file.iter_batches(ROWS_AT_ONCE, use_threads=False):
            batch.validate()
            budget.claim(batch.nbytes)
            batches.append(batch)
        table = pa.Table.from_batches(batches, file.schema_arrow)
    text = _named(table.schema, types.is_string, types.is_large_string, types.is_dictionary)
    lists = _named(table.schema, types.is_list, types.is_large_list, types.is_fixed_size_list)
    called = [name for name in table.column_names if name.lower() in LABEL_NAMES and name not in lists]
    words = {name: _words(table.column(name)) for name in dict.fromkeys([*text, *called])}
    numeric = [name for name in _named(table.schema, types.is_integer, types.is_floating) if name not in words]
    columns = [table.column(name).to_numpy() for name in numeric]
    if len(lists) == 1:
        values = dict(zip(numeric, (column.astype(float) for column in columns), strict=True))
        return Table(matrix(_stacked(table.column(lists[0]), path), path), words=words, values=values)
    if not numeric:
        raise FormatError(f"{path} has neither columns of numbers nor one column of lists of numbers.")
    return Table(matrix(np.stack(columns, axis=1), path), names=numeric, words=words)


def _claim(file: Any, path: Path) -> None:
    """Check the sizes that the file states: bytes of unpacked columns, and eight bytes per value."""
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    columns = [group.column(j) for group in groups for j in range(group.num_columns)]
    need = sum(max(column.total_uncompressed_size, 8 * column.num_values) for column in columns)
    Budget(path).claim(max(need, 8 * file.metadata.num_rows * file.metadata.num_columns))


def _named(schema: Any, *kinds: Any) -> list[str]:
    """Names of the columns of given types."""
    return [column.name for column in schema if any(is_kind(column.type) for is_kind in kinds)]


def _words(column: Any) -> list[str]:
    """The values of a column as text; equal values share one string."""
    found: list[str] = []
    for chunk in column.chunks:
        coded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        words = [as_text(value) for value in coded.dictionary.to_pylist()]
        found += ["" if code is None else words[code] for code in coded.indices.to_pylist()]
    return found


def _stacked(column: Any, path: Path) -> np.ndarray:
    """The rows of a column of lists as a matrix."""
    rows = column.combine_chunks()
    lengths = set(rows.value_lengths().to_pylist()) if hasattr(rows, "value_lengths") else {rows.type.list_size}
    if len(lengths) != 1 or None in lengths:
        raise FormatError(f"{path} must hold lists of one length, but they have {len(lengths)} different ones.")
    return np.asarray(rows.flatten().to_numpy(zero_copy_only=False)).reshape(len(rows), -1)
