"""What all commands share: help, errors and warnings in sentences, files that are never lost."""

import json
import subprocess
import sys

import numpy as np
import pytest

from .running import refused, run


@pytest.mark.parametrize("command", ["reduce", "info", "demo"])
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0 and f"horopca {command}" in result.stdout and "Examples" in result.stdout


def test_the_installed_command_works_in_a_shell(tmp_path, points):
    def shell(*arguments):
        command = [sys.executable, "-m", "horopca", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "0.1.0" in shell("--version").stdout
    good = shell("reduce", points, "--json", "-o", "out.npy")
    assert good.returncode == 0 and json.loads(good.stdout)["output"] == "out.npy" and good.stderr == ""
    bad = shell("reduce", "absent.npy")
    assert bad.returncode == 1 and bad.stderr == "Error: There is no file absent.npy.\n" and bad.stdout == ""


def test_sentences_of_the_library_speak_of_options():
    from horopca.cli.common import in_options

    said = in_options("For Lorentz coordinates pass model='lorentz'; for a larger ball e.g. curvature=-0.68 (radius 1.21).")
    assert said == "For Lorentz coordinates pass --model lorentz; for a larger ball e.g. --curvature -0.68 (radius 1.21)."


def test_the_module_is_the_command_line():
    said = subprocess.run([sys.executable, "-m", "horopca", "--version"], capture_output=True, text=True, check=True)
    assert "horopca" in said.stdout


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    for command in ("reduce", "info"):
        refused(run(command, tmp_path / "objects.npy"), "Python objects")
