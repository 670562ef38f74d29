"""The map of the package: who may import whom, and what `import horopca` may load."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import horopca

ROOT = Path(horopca.__file__).parent


# the packages in layers, from the line of CONTRIBUTING.md that says who may import whom
(LINE,) = re.findall(r"^    geometry <.*$", (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
LAYERS = [set(layer.replace(",", " ").split()) for layer in LINE.split("<")]


def imported_packages(path: Path) -> set[str]:
    """The packages of horopca that a file imports, also inside functions."""
    here = path.relative_to(ROOT.parent).with_suffix("").parts
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = ".".join([*(here[: -node.level] if node.level else ()), *filter(None, [node.module])])
            names += [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    found = {name.split(".")[1] for name in names if name.startswith("horopca.")}
    return {name for name in found if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()}


def test_modules_import_only_from_their_left():
    layer = {package: i for i, packages in enumerate(LAYERS) for package in packages}
    files = [path for path in ROOT.rglob("*.py") if path.parent != ROOT]
    package = lambda path: path.relative_to(ROOT).parts[0]
    pairs = [(path, other) for path in files for other in imported_packages(path) - {package(path)}]
    assert len(files) > 100 and not [(path, other) for path, other in pairs if layer[other] >= layer[package(path)]]


def test_the_folders_are_the_map():
    packages = {p.stem for p in ROOT.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert packages == set().union(*LAYERS)
    assert len(LAYERS) <= 10 and len(packages) <= 15
    files = {"__init__.py", "__main__.py", "anndata.py", "py.typed", "torch.py"}
    assert {p.name for p in ROOT.iterdir() if p.is_file()} == files


def test_the_optimiser_knows_callables_only():
    assert imported_packages(ROOT / "_optimize" / "lbfgs.py") == set()


def test_import_loads_little_more_than_scikit_learn():
    """The package itself loads nothing heavy, and what computes, draws or makes pages loads no optional library."""
    stages = (
        "import horopca.cli",
        "import sklearn.svm, scipy.optimize, scipy.spatial",
        "from horopca import HoroPCA, explore, metrics, plots; explore([[0.0, 0.0]])",
    )
    code = "; ".join(f"{stage}; print(*{{m.split('.')[0] for m in sys.modules}})" for stage in stages)
    done = subprocess.run([sys.executable, "-c", f"import sys; {code}"], capture_output=True, text=True, check=True)
    first, before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not first & {"sklearn", "scipy", "numpy"}
    third_party = {m for m in after - before if not m.startswith("_") and m not in sys.stdlib_module_names}
    assert third_party <= {"array_api_compat"}


def test_every_public_name_is_there():
    assert all(hasattr(horopca, name) for name in horopca.__all__)
    assert set(horopca.__all__) < set(dir(horopca))
    assert not {"io", "statistics", "torch"} & set(horopca.__all__)  # a star import must not hide these libraries
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = horopca.nothing
