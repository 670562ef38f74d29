"""The sources of the documentation: links, the API reference, examples (`make docs`)."""

import ast
import doctest
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
from reference import MODULES, public_names  # noqa: E402


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
    """The anchors of the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_between_pages_work(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor:
            target_page = included(there)
            assert anchor in headings(target_page), f"{page.name} links to {target}, but {target_page.name} has no such heading"


def included(page: Path) -> Path:
    """The page itself, or the file that it includes."""
    found = re.match(r"```{include} (\S+)", page.read_text(encoding="utf-8"))
    return (page.parent / found.group(1)).resolve() if found else page


def test_the_reference_has_every_public_name_and_no_other():
    names = public_names()
    shown = {id(getattr(import_module(module), name)) for module, found in names.items() for name in found}
    submodules = {*horopca._SUBMODULES, *horopca._OPTIONAL_SUBMODULES, "explorer"}
    public = [import_module("horopca"), *(import_module(f"horopca.{name}") for name in sorted(submodules))]
    lists = [(module, name) for module in public for name in module.__all__]
    values = [getattr(module, name) for module, name in lists if name != "__version__"]
    missing = [value for value in values if id(value) not in shown and not isinstance(value, ModuleType)]
    assert not missing
    assert {f"horopca.{name}" for name in submodules} <= set(MODULES)
    assert not [name for found in names.values() for name in found if name.startswith("_")]


PUBLIC = {f"{page}.{name}": getattr(import_module(page), name) for page, names in public_names().items() for name in names}
TYPES = {
    name: value for name, value in PUBLIC.items() if callable(value) and hasattr(value, "_fields")
}  # results, made by functions
CALLED = {name: value for name, value in PUBLIC.items() if inspect.isroutine(value) or inspect.isclass(value)}


def sections(value: object) -> dict[str, str]:
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n---+\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


# examples that cannot run here: they download data
NOT_RUN = {"fetch_embedding", "fetch_graph", "fetch_network"}


@pytest.mark.parametrize("name", sorted(CALLED.keys() - TYPES.keys()))
def test_public_names_have_an_example_that_runs_a_see_also_and_described_parameters(name):
    found = sections(CALLED[name])
    assert found.get("See Also")
    assert ">>> " in found.get("Examples", ""), "no example"
    examples = doctest.DocTestParser().get_examples(found["Examples"])
    run = [one for one in examples if doctest.SKIP not in one.options and not re.match("(from|import) ", one.source)]
    assert run or name.rpartition(".")[2] in NOT_RUN, "no example runs"
    entries = re.findall(r"^(\S[^\n]*?)(?: : [^\n]*)?\n +\S", found.get("Parameters", ""), flags=re.MULTILINE)
    described = {parameter.strip("* ") for entry in entries for parameter in entry.split(",")}
    parameters = inspect.signature(CALLED[name]).parameters.values()
    named = {parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD}
    assert named <= described, f"{named - described} not described"


@pytest.mark.parametrize("name", TYPES)
def test_every_field_of_a_result_is_described(name):
    text = inspect.getsource(TYPES[name])
    missing = [field for field in TYPES[name]._fields if not re.search(rf"#: [^\n]*\n +{field}: |\n +{field}: [^\n]*#: ", text)]
    text = inspect.getdoc(TYPES[name]) or ""
    assert not missing and len(text) > 10
    maker = re.search(r"`(?:\w+\.)*(\w+)`", text)
    assert maker and ">>> " in (inspect.getdoc(getattr(import_module(name.rpartition(".")[0]), maker.group(1))) or ""), (
        "the docstring of a result must name the function that returns it, which has an example"
    )


ESTIMATORS = [getattr(horopca, name) for name in horopca.__all__ if hasattr(getattr(horopca, name), "get_params")]
ESTIMATORS += [value for value in vars(horopca.embed).values() if hasattr(value, "get_params")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_parameter_of_an_estimator_has_its_default_and_its_meaning(estimator):
    text = inspect.getdoc(estimator)
    section = re.search(r"Parameters\n-+\n(.*?)\n\n\w+\n---", text, flags=re.DOTALL).group(1)
    entries = re.findall(r"^(\S[^\n:]*?)(?: : ([^\n]*))?\n((?: +[^\n]*\n?)*)", section + "\n", flags=re.MULTILINE)
    documented = {name: (kind, meaning.strip()) for names, kind, meaning in entries for name in names.split(", ")}
    for name, parameter in inspect.signature(estimator).parameters.items():
        kind, meaning = documented[name]
        assert meaning, f"{name} has no meaning"
        default = re.search(r"default=(.+)$", kind) or re.search(r'("\w+") by default', meaning)
        elsewhere = meaning.startswith("As for ") or (kind.endswith("optional") and parameter.default is None)
        assert elsewhere or ast.literal_eval(default.group(1)) == parameter.default, f"default of {name}"
    assert "See Also" in text
    assert "References\n---" in text or estimator.__name__ in WITHOUT_REFERENCES


WITHOUT_REFERENCES = {"EuclideanPCA", "RadialPCA"}  # baselines that no paper describes
