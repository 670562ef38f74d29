"""A folder of finished cells: one file each, whole or not there, and never of two versions."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import horopca
from horopca.io import atomic_output

from .experiment import Cell

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
SILENT = ("cli", "plots", "explorer", "reproduction")  # rooms whose code changes no number, but for the cells themselves


def versions() -> dict[str, str]:
    """What the numbers depend on: this package, the code in it, and the libraries below it."""
    found = {"horopca": horopca.__version__, "code": code_digest(), "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def code_digest() -> str:
    """A short digest of the modules that compute and of bundled data: a working copy that was changed is another version."""
    root = Path(horopca.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        room, computes = path.relative_to(root).parts[0], path.suffix == ".py" and path.parent.name == "cells"
        if computes or room == "data" or (path.suffix == ".py" and not room.startswith(SILENT)):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


class Store:
    """The folder of a reproduction. Results of another version are refused, not mixed in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.versions = Path(folder), versions()
        manifest = self.folder / "manifest.json"
        if manifest.exists():
            self._check_manifest(manifest)
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise ValueError(f"{folder} is no folder of a reproduction, and not empty. Pass another one with --out.")
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.write(manifest, {"versions": self.versions})

    def _check_manifest(self, manifest: Path) -> None:
        try:
            theirs = json.loads(manifest.read_text(encoding="utf-8"))["versions"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{manifest} is damaged. Pass another folder with --out, or remove {self.folder}.") from None
        names = theirs.keys() | self.versions.keys()
        other = sorted(name for name in names if theirs.get(name) != self.versions.get(name))
        if other:
            said = ", ".join(f"{name} {theirs.get(name)}, now {self.versions.get(name)}" for name in other)
            raise ValueError(
                f"{self.folder} holds results of another version ({said}), and results of two versions are never mixed. "
                f"Pass another folder with --out, or remove {self.folder} to begin anew."
            )

    def _path(self, cell: Cell) -> Path:
        return self.folder / cell.experiment / "cells" / f"{cell.name}.json"

    def load(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a cell and its seconds, or None if it is not there."""
        try:
            record = json.loads(self._path(cell).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return record if record.get("arguments") == cell.arguments and record.get("function") == cell.function else None

    def save(self, cell: Cell, result: Mapping[str, Any], seconds: float) -> None:
        record = {"function": cell.function, "arguments": cell.arguments, "seconds": round(seconds, 3), "result": result}
        self.write(self._path(cell), json.dumps(record, ensure_ascii=False) + "\n")

    def write(self, path: Path, content: Any) -> None:
        """Write text, or anything else as JSON, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        with atomic_output(path, force=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
