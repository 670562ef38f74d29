"""The sources of the site: pages that lead somewhere, a reference of every public name, short examples (`make docs`)."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import horopca

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))

sys.path.insert(0, str(DOCS))
from reference import ROOMS, public_names  # noqa: E402


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_are_short_and_compile(path):
    text = path.read_text(encoding="utf-8")
    compile(text, str(path), "exec")
    assert len(text.splitlines()) < 60
    title, line, blank, *rest = (text.split('"""')[1]).strip("\n").splitlines()
    assert set(line) == {"="} and len(line) >= len(title) and not blank and rest


def test_every_folder_of_examples_says_what_it_is_about():
    assert EXAMPLES
    assert all((path.parent / "GALLERY_HEADER.rst").exists() for path in EXAMPLES)
    others = [path for path in (ROOT / "examples").rglob("*") if path.is_file() and path.suffix not in (".py", ".rst", ".pyc")]
    assert not others, "an example has written a file beside itself: pass it a temporary folder"


def headings(page: Path) -> set[str]:
    """The places of a page that can be linked to, as code hosts and the site name them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_of_pages_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        path, _, place = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} leads to {target}, which is not there"
        if place:
            whole = included(there)
            assert place in headings(whole), f"{page.name} leads to {target}, but {whole.name} has no such heading"


def included(page: Path) -> Path:
    """The page itself, or the one that it consists of."""
    found = re.match(r"```{include} (\S+)", page.read_text(encoding="utf-8"))
    return (page.parent / found.group(1)).resolve() if found else page


def test_every_page_is_in_the_table_of_contents_once():
    trees = "".join(
        re.findall(r"```{toctree}\n(.*?)```", "".join(page.read_text(encoding="utf-8") for page in PAGES), re.DOTALL)
    )
    named = [line for line in trees.splitlines() if line and not line.startswith(":")]
    assert sorted(named) == sorted([*({page.stem for page in PAGES} - {"index"}), "api/index", "gallery/index"])


def test_the_reference_has_every_public_name_and_no_other():
    names = public_names()
    shown = {id(getattr(import_module(room), name)) for room, found in names.items() for name in found}
    rooms = {*horopca._SUBMODULES, *horopca._OPTIONAL_SUBMODULES, "explorer"}
    public = [import_module("horopca"), *(import_module(f"horopca.{room}") for room in sorted(rooms))]
    lists = [(module, name) for module in public for name in exported(module)]
    values = [getattr(module, name) for module, name in lists if name != "__version__"]
    missing = [value for value in values if id(value) not in shown and not isinstance(value, ModuleType)]
    assert not missing
    assert {f"horopca.{room}" for room in rooms} <= set(ROOMS)
    assert not [name for found in names.values() for name in found if name.startswith("_")]


def exported(module: ModuleType) -> list[str]:
    return list(module.__all__)


ESTIMATORS = [getattr(horopca, name) for name in horopca.__all__ if hasattr(getattr(horopca, name), "get_params")]
ESTIMATORS += [value for value in vars(horopca.embed).values() if hasattr(value, "get_params")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_parameter_of_an_estimator_has_its_default_and_its_meaning(estimator):
    text = inspect.getdoc(estimator)
    section = re.search(r"Parameters\n-+\n(.*?)\n\n\w+\n---", text, flags=re.DOTALL).group(1)
    entries = re.findall(r"^(\S[^\n:]*?)(?: : ([^\n]*))?\n((?: +[^\n]*\n?)*)", section + "\n", flags=re.MULTILINE)
    told = {name: (kind, meaning.strip()) for names, kind, meaning in entries for name in names.split(", ")}
    for name, parameter in inspect.signature(estimator).parameters.items():
        kind, meaning = told[name]
        assert meaning, f"{name} has no meaning"
        default = re.search(r"default=(.+)$", kind) or re.search(r'("\w+") by default', meaning)
        elsewhere = meaning.startswith("As for ") or (kind.endswith("optional") and parameter.default is None)
        assert elsewhere or ast.literal_eval(default.group(1)) == parameter.default, f"default of {name}"
    assert "See Also" in text
