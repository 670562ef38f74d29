"""The files of a release agree with pyproject.toml and the package."""

import re
import tomllib
from pathlib import Path

import pytest

import horopca

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def test_the_version_is_defined_once():
    assert "version" in PYPROJECT["project"]["dynamic"] and "version" not in PYPROJECT["project"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/horopca/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", horopca.__version__)


@pytest.mark.parametrize("page, line", [("CITATION.cff", r"^version: (.+)$"), ("recipe/recipe.yaml", r'^  version: "(.+)"$')])
def test_other_files_have_the_same_version(page, line):
    assert re.findall(line, (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE) == [horopca.__version__]


def test_the_changelog_has_the_version_and_its_date():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## \[(\d.+)\] - (\d{4}-\d\d-\d\d)$", changelog, flags=re.MULTILINE)[0]
    assert version == horopca.__version__
    assert f"\ndate-released: {date}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_links_of_the_long_description_are_absolute():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20 and all(target.startswith("https://") for target in targets)
    images = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert images and all(image.startswith("https://raw.") for image in images)


def test_the_recipe_needs_what_the_package_needs():
    run = RECIPE[RECIPE.index("  run:\n") : RECIPE.index("\ntests:")]
    needed = [line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()[1:] if line.strip()]
    assert needed == ["python>=${{python_min}}", *PYPROJECT["project"]["dependencies"]]
    assert f'python_min: "{PYPROJECT["project"]["requires-python"].removeprefix(">=")}"' in RECIPE


def test_every_claimed_python_is_tested():
    """The matrix of the hosted tests has every Python with a classifier, and starts with the lowest one that is allowed."""
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(PYPROJECT["project"]["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (matrix,) = re.findall(r"^ +python: \[(.+)\]$", workflow, flags=re.MULTILINE)
    tested = matrix.replace('"', "").split(", ")
    assert set(claimed) <= set(tested) and f">={tested[0]}" == PYPROJECT["project"]["requires-python"]


def test_yaml_files_are_valid():
    """A host ignores a template that it cannot read."""
    yaml = pytest.importorskip("yaml")
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / "recipe" / "recipe.yaml", ROOT / "CITATION.cff"]
    assert len(files) > 6 and all(yaml.safe_load(path.read_text(encoding="utf-8")) for path in files)


def test_workflows_pin_every_action_by_digest():
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    used = re.findall(r"uses: (?!\./)(\S+)", "\n".join(path.read_text(encoding="utf-8") for path in workflows))
    assert used and not [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)]


def test_the_lowest_version_of_every_dependency_can_be_read_off():
    """As `make lowest` does."""
    assert all(re.fullmatch(r"[a-z-]+>=\d+(\.\d+)*", dependency) for dependency in PYPROJECT["project"]["dependencies"])


@pytest.mark.parametrize("listed", ["inner.txt", "extras.txt"])
def test_the_tests_with_the_lowest_versions_exist(listed):
    for line in (ROOT / "tests" / listed).read_text(encoding="utf-8").splitlines():
        path, _, name = line.partition("::")
        if not line.startswith("-"):
            assert (ROOT / path).exists(), line
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), line


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)
    assert set(re.findall(r"^([a-z-]+):.*  ## \S", makefile, flags=re.MULTILINE)) == set(targets.split())
