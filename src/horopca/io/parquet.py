"""Parquet, read by pyarrow in a separate process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .files import LABEL_NAMES, FormatError, Table, as_text, matrix


def read_parquet(path: Path, key: str | None) -> Table:
    """The numeric columns of a Parquet file, or its one column of lists, with columns of words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, thrift_container_size_limit=1_000_000) as file:
        table = file.read(use_threads=False)
    table.validate(full=True)

    def named(*kinds: Any) -> list[str]:
        return [column.name for column in table.schema if any(is_kind(column.type) for is_kind in kinds)]

    types = pa.types
    lists = named(types.is_list, types.is_large_list, types.is_fixed_size_list)
    text = named(types.is_string, types.is_large_string, types.is_dictionary)
    text += [name for name in table.column_names if name.lower() in LABEL_NAMES and name not in (*lists, *text)]
    words = {name: ["" if value is None else as_text(value) for value in table.column(name).to_pylist()] for name in text}
    numeric = [name for name in named(types.is_integer, types.is_floating) if name not in words]
    columns = [table.column(name).to_numpy() for name in numeric]
    if len(lists) == 1:
        X = np.stack(table.column(lists[0]).to_numpy())  # raises an error if they differ in length
        values = dict(zip(numeric, (column.astype(float) for column in columns), strict=True))
        return Table(matrix(X, path), words=words, values=values)
    if not numeric:
        raise FormatError(f"{path} has neither columns of numbers nor one column of lists of numbers.")
    return Table(matrix(np.stack(columns, axis=1), path), names=numeric, words=words)
