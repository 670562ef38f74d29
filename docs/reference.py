"""Write the pages of the API reference from the `__all__` of the package and its modules."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# modules with public names, and the titles of their pages
MODULES = {
    "horopca": "Methods",
    "horopca.neighbors": "Nearest neighbours",
    "horopca.metrics": "Metrics",
    "horopca.metrics.comparison": "Comparison of methods",
    "horopca.metrics.classification": "Comparison of classifiers",
    "horopca.plots": "Plots",
    "horopca.explorer": "The explorer",
    "horopca.embed": "Embeddings of graphs and trees",
    "horopca.datasets": "Data",
    "horopca.io": "Files",
    "horopca.anndata": "AnnData",
    "horopca.torch": "A layer for networks",
    "horopca.geometry": "Geometry",
    "horopca.projections": "Projections",
    "horopca.statistics": "Statistics",
}


def public_names() -> dict[str, list[str]]:
    """The names on the page of each module. A name that two modules export is on the page of the first."""
    seen: set[int] = set()
    found = {}
    for module_name in MODULES:
        module = import_module(module_name)
        names = {name: getattr(module, name) for name in module.__all__ if name != "__version__"}
        names = {name: value for name, value in names.items() if not isinstance(value, ModuleType) and id(value) not in seen}
        seen |= {id(value) for value in names.values()}
        found[module_name] = sorted(names, key=str.lower)
    return found


def write_pages(folder: Path) -> None:
    """Write a page for each module if it has changed, because Sphinx reads changed pages again."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {module_name: _page(module_name, names) for module_name, names in public_names().items()} | {"index": _index()}
    for name, lines in pages.items():
        path, text = folder / f"{name}.rst", "\n".join(lines)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _index() -> list[str]:
    title = "API reference"
    text = "All public names. Names that are not listed here may change without notice."
    return [
        title,
        "=" * len(title),
        "",
        text,
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {name}" for name in MODULES),
        "",
    ]


def _page(module_name: str, names: list[str]) -> list[str]:
    """The page of a module: its docstring and its names, grouped by file if a file has several."""
    module = import_module(module_name)
    title = f"{MODULES[module_name]}: ``{module_name}``"
    text = inspect.cleandoc(module.__doc__ or "") if module_name != "horopca" else ""
    lines = [title, "=" * len(title), "", f".. module:: {module_name}", "", text.partition(">>>")[0], ""]
    files = _files(module)
    groups = defaultdict(list)
    for name in names:
        groups[files.get(name, "")].append(name)
    alone = [name for group in groups.values() if len(group) == 1 for name in group]
    lines += _table(sorted(alone, key=str.lower))
    for file, group in groups.items():
        if len(group) > 1 and file:
            heading = (import_module(file).__doc__ or file).splitlines()[0].rstrip(".")
            lines += [heading, "-" * len(heading), ""]
        lines += _table(group) if len(group) > 1 else []
    return lines


def _table(names: list[str]) -> list[str]:
    head = [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    return [*head, *(f"   {name}" for name in names), ""] if names else []


def _files(module: Any) -> dict[str, str]:
    """The module of each name that a module imports from its own folder."""
    path = Path(module.__file__)
    if path.name != "__init__.py" or module.__name__ == "horopca":
        return {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {alias.name: f"{module.__name__}.{node.module}" for node in imports for alias in node.names}
