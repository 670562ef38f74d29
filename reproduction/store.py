"""A folder of finished cells, one file each, whole or not there; and all of them in one file, results.json."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import horopca
from horopca.io import atomic_output

from .definitions import Cell, Results

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
SILENT = ("cli", "plots", "explorer")  # rooms whose code changes no number
NAMED = ("experiment", "name", "function", "arguments")  # what results.json says of a cell
DIGITS = 7  # significant ones that results.json keeps


def code_digest() -> str:
    """A short digest of the modules that compute and of bundled data: a working copy that was changed is other code."""
    digest = hashlib.sha256()
    for root in (Path(horopca.__file__).parent, Path(__file__).parent / "cells"):
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            room = path.relative_to(root).parts[0]
            if "data" in path.parts or (path.suffix == ".py" and room not in SILENT):
                digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def machine() -> str:
    """What the numbers depend on beside the code: versions and hardware, in a line."""
    found = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{', '.join(found)}; {_processor()}, {os.cpu_count()} cores, one thread a cell"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


class Record(NamedTuple):
    """A finished cell: its result, the processor seconds it took, and the code and machine that computed it."""

    cell: Cell
    result: dict[str, Any]
    seconds: float
    code: str
    machine: str


class Store:
    """The folder of a reproduction. A cell that other code has computed is computed again, unless `keep_older`."""

    def __init__(self, folder: Path, *, keep_older: bool = False) -> None:
        self.folder, self.keep_older = Path(folder), keep_older
        self.code, self.machine = code_digest(), machine()
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"out must be a folder, but {folder} is a file. Pass another one with --out.")

    def _path(self, cell: Cell) -> Path:
        return self.folder / "cells" / cell.experiment / f"{cell.name}.json"

    def load(self, cell: Cell) -> Record | None:
        """The finished cell, or None if it is not there, damaged, or of other arguments or code."""
        try:
            found = json.loads(self._path(cell).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        same = found.get("function") == cell.function and found.get("arguments") == cell.arguments
        if not same or not (self.keep_older or found["code"] == self.code):
            return None
        return Record(cell, found["result"], found["seconds"], found["code"], found["machine"])

    def save(self, cell: Cell, result: dict[str, Any], seconds: float) -> None:
        about = {"function": cell.function, "arguments": cell.arguments, "seconds": round(seconds, 3)}
        found = {**about, "code": self.code, "machine": self.machine, "result": result}
        write(self._path(cell), json.dumps(found, ensure_ascii=False) + "\n")


def write(path: Path, text: str) -> None:
    """Write text, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_output(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def as_json(records: Iterable[Record]) -> str:
    """results.json: every cell on a line, without clouds of points; what computed it is named by its place in a list."""
    records = list(records)
    made = sorted({(record.code, record.machine) for record in records})
    lines = [
        json.dumps(
            {**_named(cell), "made": made.index((code, machine)), "seconds": round(seconds, 1), "result": _small(result)},
            ensure_ascii=False,
        )
        for cell, result, seconds, code, machine in records
    ]
    head = json.dumps([{"code": code, "machine": machine} for code, machine in made], ensure_ascii=False)
    return f'{{"made": {head},\n"cells": [\n' + ",\n".join(lines) + "\n]}\n"


def from_json(text: str) -> list[Record]:
    """The records of a results.json."""
    found = json.loads(text)
    records = []
    for line in found["cells"]:
        made = found["made"][line["made"]]
        cell = Cell(*(line[name] for name in NAMED))
        records.append(Record(cell, line["result"], line["seconds"], made["code"], made["machine"]))
    return records


def _named(cell: Cell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in NAMED}


def results_of(records: Iterable[Record]) -> Results:
    return Results((record.cell, record.result) for record in records)


def _small(value: Any) -> Any:
    """A result without the clouds of points in it, its numbers to a few digits."""
    if isinstance(value, dict):
        return {key: _small(part) for key, part in value.items() if key != "points"}
    if isinstance(value, list):
        return [_small(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
