"""The tools that watch over the tests: mutants, the lowest versions that are tried, the targets of make."""

import ast
import re
import tomllib

from mutants import ELSEWHERE, PACKAGE, ROOMS, ROOT, known, mutants_of, mutated_tree


def test_every_mutant_is_another_program():
    path = PACKAGE / "geometry" / "isometries.py"
    whole = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
    programs = [ast.unparse(mutated_tree(mutant)) for mutant in mutants_of(path)]
    assert len(programs) > 50 and whole not in programs
    for program in programs:
        compile(program, str(path), "exec")


def test_what_is_said_to_make_no_difference_is_still_in_the_code():
    paths = [path for room in ROOMS for path in (PACKAGE / room).rglob("*.py") if path.name not in ELSEWHERE]
    assert set(known()) <= {mutant.name() for path in paths for mutant in mutants_of(path)}


def test_the_lowest_version_of_every_dependency_can_be_read_off():
    """As `make lowest` does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all(re.fullmatch(r"[a-z-]+>=\d+(\.\d+)*", dependency) for dependency in project["dependencies"])


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)
    assert set(re.findall(r"^([a-z-]+):.*  ## \S", makefile, flags=re.MULTILINE)) == set(targets.split())
