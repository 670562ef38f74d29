"""Run a command as a user would, and check how it fails."""

import re
import subprocess
import sys

from click.testing import CliRunner, Result

from horopca.cli import main

PNG = b"\x89PNG"


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def shell(*arguments: object, **options: object) -> subprocess.CompletedProcess:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "horopca", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def said(result: Result) -> str:
    """What is on stderr, without frames and line ends."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split())


def refused(result: Result, text: str, code: int = 1) -> None:
    assert result.exit_code == code, result.output
    assert text in said(result), said(result)
    assert result.stdout == "" and "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.startswith("Error: ")
