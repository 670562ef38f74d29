"""Development tools: the lowest versions that are tested, the targets of make."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_lowest_version_of_every_dependency_can_be_read_off():
    """As `make lowest` does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all(re.fullmatch(r"[a-z-]+>=\d+(\.\d+)*", dependency) for dependency in project["dependencies"])


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)
    assert set(re.findall(r"^([a-z-]+):.*  ## \S", makefile, flags=re.MULTILINE)) == set(targets.split())
